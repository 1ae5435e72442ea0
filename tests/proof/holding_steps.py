"""Every way into a position of the local chain's protocols, out of it, and on within it."""

from __future__ import annotations

import importlib
import importlib.util
import pkgutil
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, TypeAlias

from golem_project.embedded.world.accounts import CHAIN_ID
from tests.proof.holding_walk import Act, HoldingsWalk
from tools_app.portfolio.holdings import PriceBook
from tools_app.toolkit.case import Borrow, Leave, PutIn, TakeOut, Way
from tools_app.toolkit.positions import REQUEST_KIND, drive
from tools_app.toolkit.protocol import SHELF
from tools_app.toolkit.views import NATIVE

DEPOSIT_FEE_BPS: Final = 5
"""What Rocket Pool keeps of a deposit."""

_PROTOCOLS: Final = "tools_app.protocols"

Step: TypeAlias = Callable[[HoldingsWalk, int, int], Act | None]
"""Makes the act of a walk, by a share of what there is in per cent (100: all of it) and a number to choose by; None
where there is nothing to act on."""


def _part(amount: int, share: int) -> str:
    return str(max(1, amount * share // 100))


def _put(tool: str, symbol: str, params: Mapping[str, Any]) -> Step:
    """A share of a token in the wallet, at most a fifth of it, goes in."""

    def step(walk: HoldingsWalk, share: int, choice: int) -> Act | None:
        amount = walk.balance(symbol)
        return Act(tool, {**params, "amount": _part(amount, share // 5)}) if amount else None

    return step


def _reserve(tool: str, protocol: str, *, is_owed: bool) -> Step:
    """A share of what is supplied or owed in one reserve, all of it by its own word."""

    def step(walk: HoldingsWalk, share: int, choice: int) -> Act | None:
        legs = [
            leg for each in walk.positions(protocol) for leg in each.legs if (leg.raw < 0) is is_owed and leg.raw != 0
        ]
        if not legs:
            return None
        leg = legs[choice % len(legs)]
        return Act(tool, {"asset": leg.token, "amount": "max" if share == 100 else _part(abs(leg.raw), share)})

    return step


def _market(tool: str, fact: str, token: str = "") -> Step:
    """A share of what one figure of a market says; `token` is the fact that names the asset."""

    def step(walk: HoldingsWalk, share: int, choice: int) -> Act | None:
        found = [each for each in walk.positions("morpho") if int(each.facts[fact])]
        if not found:
            return None
        position = found[choice % len(found)]
        asset = {"asset": position.facts[token]} if token else {}
        amount = "max" if share == 100 else _part(int(position.facts[fact]), share)
        return Act(tool, {"market_id": position.ref.id, "amount": amount, **asset})

    return step


def _enter_market(symbol: str) -> Step:
    def step(walk: HoldingsWalk, share: int, choice: int) -> Act | None:
        reader, _ = walk.read()
        protocol = SHELF.get("morpho")
        if protocol is None or protocol.lending is None:
            return None
        # The coin is pledged in either market, a dollar is lent in its own.
        loan = symbol if symbol != "WETH" else ("USDC", "DAI")[choice % 2]
        (market,) = drive(protocol.lending.markets(CHAIN_ID, walk.address_of(loan)), reader.call_many)
        amount = walk.balance(symbol)
        wanted = {"market_id": market.market, "asset": walk.address_of(symbol), "amount": _part(amount, share // 5)}
        return Act("morpho_supply_market", wanted) if amount else None

    return step


def _borrow_market(walk: HoldingsWalk, share: int, choice: int) -> Act | None:
    found = [each for each in walk.positions("morpho") if int(each.facts["collateral"])]
    if not found:
        return None
    position = found[choice % len(found)]
    unit = 10**6 if position.facts["loan_token"] == walk.address_of("USDC") else 10**18
    return Act("morpho_borrow_market", {"market_id": position.ref.id, "amount": str((100 + 40 * share) * unit)})


def _maker(tool: str) -> Step:
    """On one of the account's vaults, of which a new one shows itself when something is in it."""

    def step(walk: HoldingsWalk, share: int, choice: int) -> Act | None:
        manager, list_of = walk.contracts["maker"]["cdp_manager"], walk.contracts["maker"]["get_cdps"]
        returns = "(uint256[],address[],bytes32[])"
        signature = "getCdpsAsc(address,address)"
        (ids, _, _) = walk.rpc.read(list_of, signature, manager, walk.address, returns=returns)
        if not ids:
            return None
        wanted: dict[str, str] = {"vault_id": str(ids[choice % len(ids)])}
        if tool == "maker_deposit_collateral":
            wanted["amount"] = _part(walk.balance("WETH"), share // 5)
        elif tool == "maker_generate_dai":
            wanted["dai_amount"] = str((100 + 40 * share) * 10**18)
        return Act(tool, wanted)

    return step


def _shares(
    tool: str, contract: tuple[str, str], name: str, params: Mapping[str, Any] | None = None, loses_bps: int = 0
) -> Step:
    """A share of a balance of a token that stands for a position; `amounts` is a list of one."""

    def step(walk: HoldingsWalk, share: int, choice: int) -> Act | None:
        held = walk.rpc.balance_of(walk.contracts[contract[0]][contract[1]], walk.address)
        amount = _part(held, share)
        wanted = {**(params or {}), name: [amount] if name == "amounts" else amount}
        return Act(tool, wanted, loses_bps=loses_bps) if held else None

    return step


def _claim(walk: HoldingsWalk, share: int, choice: int) -> Act | None:
    final = [each for each in walk.positions("lido", REQUEST_KIND) if each.facts["is_final"]]
    return Act("lido_claim_withdrawal", {"request_ids": [each.ref.id for each in final]}) if final else None


def _stake_at_rocketpool(walk: HoldingsWalk, share: int, choice: int) -> Act | None:
    amount = walk.balance("ETH") * (share // 5) // 100
    if not amount:
        return None
    reader, _ = walk.read()
    fee = PriceBook(reader).value_of(NATIVE, amount * DEPOSIT_FEE_BPS // 10_000)
    return Act("rocketpool_stake", {"amount": str(amount)}, fee_micro_usd=fee)


def _lend(family: str, name: str) -> dict[str, Step]:
    supply, borrow = f"{family}_supply", f"{family}_borrow"
    steps: dict[str, Step] = {
        f"{supply} {symbol}": _put(supply, symbol, {"asset": symbol}) for symbol in ("WETH", "USDC", "DAI")
    }
    for symbol, unit in (("USDC", 10**6), ("DAI", 10**18)):
        steps[f"{borrow} {symbol}"] = _borrow(borrow, symbol, unit)
    steps[f"{family}_repay"] = _reserve(f"{family}_repay", name, is_owed=True)
    steps[f"{family}_withdraw"] = _reserve(f"{family}_withdraw", name, is_owed=False)
    return steps


def _borrow(tool: str, symbol: str, unit: int) -> Step:
    def step(walk: HoldingsWalk, share: int, choice: int) -> Act | None:
        return Act(tool, {"asset": symbol, "amount": str((100 + 40 * share) * unit)})

    return step


def _find_walks() -> dict[str, tuple[Way, ...]]:
    """What protocols say of their own ways in and out: `WALK` in their `cases.py`, by the protocol's name."""
    found: dict[str, tuple[Way, ...]] = {}
    root = importlib.import_module(_PROTOCOLS)
    for folder in pkgutil.iter_modules(root.__path__, prefix=f"{_PROTOCOLS}."):
        if not folder.ispkg or importlib.util.find_spec(f"{folder.name}.cases") is None:
            continue
        walk = getattr(importlib.import_module(f"{folder.name}.cases"), "WALK", ())
        if walk:
            found[importlib.import_module(f"{folder.name}.protocol").PROTOCOL.name] = walk
    return found


def name_ways(walk: Sequence[Way]) -> dict[str, Way]:
    """Each way by its tool; of several of one tool those that follow by their token or contract too."""
    named: dict[str, Way] = {}
    for way in walk:
        what = way.key if isinstance(way, TakeOut) else way.symbol
        name = way.tool if way.tool not in named else f"{way.tool} {what}"
        if name in named:
            raise ValueError(f"two ways in or out are called {name}")
        named[name] = way
    return named


def _say(way: Way, protocol: str) -> Step:
    if isinstance(way, PutIn):
        return _put_said(way)
    if isinstance(way, Borrow):
        return _borrow_said(way)
    if isinstance(way, Leave):
        return _leave_said(way, protocol)
    return _shares(way.tool, (protocol, way.key), way.parameter, way.params, way.loses_bps)


def _put_said(way: PutIn) -> Step:
    def step(walk: HoldingsWalk, share: int, choice: int) -> Act | None:
        amount = walk.balance(way.symbol)
        wanted = {**way.params, way.parameter: way.shaped(_part(amount, share // 5))}
        return Act(way.tool, wanted, loses_bps=way.loses_bps) if amount else None

    return step


def _borrow_said(way: Borrow) -> Step:
    def step(walk: HoldingsWalk, share: int, choice: int) -> Act | None:
        unit = 10**6 if way.symbol == "USDC" else 10**18
        return Act(way.tool, {**way.params, "amount": str((100 + 40 * share) * unit)})

    return step


def _leave_said(way: Leave, protocol: str) -> Step:
    def step(walk: HoldingsWalk, share: int, choice: int) -> Act | None:
        token = walk.address_of(way.symbol)
        legs = [leg.raw for each in walk.positions(protocol) for leg in each.legs if leg.token == token]
        found = [abs(raw) for raw in legs if (raw < 0) is way.is_owed and raw]
        if not found:
            return None
        part = {way.parameter: way.shaped(_part(found[choice % len(found)], share))} if way.parameter else {}
        return Act(way.tool, {**way.params, **part})

    return step


WALKS: Final = _find_walks()
SAID: Final[Mapping[str, Step]] = {
    name: _say(way, protocol) for protocol, walk in WALKS.items() for name, way in name_ways(walk).items()
}
"""Steps that protocols say themselves, in an order in which each finds something to act on."""
STEPS: Final[Mapping[str, Step]] = {
    **_lend("aave", "aave_v3"),
    **_lend("spark", "spark"),
    **{f"morpho_supply_market {symbol}": _enter_market(symbol) for symbol in ("WETH", "USDC", "DAI")},
    "morpho_borrow_market": _borrow_market,
    "morpho_repay_market": _market("morpho_repay_market", "owed"),
    "morpho_withdraw_market lent": _market("morpho_withdraw_market", "supplied", "loan_token"),
    "morpho_withdraw_market collateral": _market("morpho_withdraw_market", "collateral", "collateral_token"),
    "maker_open_vault": lambda walk, share, choice: Act(
        "maker_open_vault", {"collateral_type": ("ETH-A", "ETH-C")[choice % 2]}
    ),
    "maker_deposit_collateral": _maker("maker_deposit_collateral"),
    "maker_generate_dai": _maker("maker_generate_dai"),
    "maker_close_vault": _maker("maker_close_vault"),
    "lido_stake stETH": _put("lido_stake", "ETH", {"output_token": "stETH"}),
    "lido_stake wstETH": _put("lido_stake", "ETH", {"output_token": "wstETH"}),
    "lido_wrap": _shares("lido_wrap", ("lido", "steth"), "amount"),
    "lido_unwrap": _shares("lido_unwrap", ("lido", "wsteth"), "amount"),
    "lido_unstake stETH": _shares("lido_unstake", ("lido", "steth"), "amounts", {"token": "stETH"}),
    "lido_unstake wstETH": _shares("lido_unstake", ("lido", "wsteth"), "amounts", {"token": "wstETH"}),
    "lido_claim_withdrawal": _claim,
    "rocketpool_stake": _stake_at_rocketpool,
    "rocketpool_unstake": _shares("rocketpool_unstake", ("rocketpool", "reth"), "amount"),
    **SAID,
}
"""By a name that says what is moved."""
