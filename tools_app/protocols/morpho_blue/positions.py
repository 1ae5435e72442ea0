"""Reads what an account has at Morpho Blue: one position for each market, by the market's id.

The contract lists no markets of an account. Looked at are the known markets of the chain and those that hints name;
`born` tells from logs which they are. For an account without anything it is one batch of reads.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from tools_app.chain.abi import decode_log, encode_event_topics, event_topic
from tools_app.chain.deployments import load_deployment
from tools_app.chain.networks import KNOWN_NETWORKS
from tools_app.core.stored_json import read_stored
from tools_app.protocols.morpho_blue import math
from tools_app.protocols.morpho_blue.addresses import MORPHO, NAME, deployments, known_markets
from tools_app.protocols.morpho_blue.market import NOBODY, Holding, Market
from tools_app.protocols.morpho_blue.reads import ask_holdings, ask_markets
from tools_app.standards import erc20
from tools_app.toolkit.positions import (
    WHEN_REPAID,
    Act,
    ExitStep,
    Leg,
    Locked,
    NeedsTrade,
    Position,
    PositionRef,
    PositionsUnreadable,
    Reads,
    Trail,
    Wait,
)
from tools_app.toolkit.views import LogEntry

KIND: Final = "market"
_ID: Final = re.compile(r"^0x[0-9a-f]{64}$")
# The argument that names whose position it is.
BORN_EVENTS: Final[Mapping[str, str]] = {
    "event Supply(bytes32 indexed id, address indexed caller, address indexed onBehalf, uint256 assets,"
    " uint256 shares)": "onBehalf",
    "event SupplyCollateral(bytes32 indexed id, address indexed caller, address indexed onBehalf,"
    " uint256 assets)": "onBehalf",
    "event Borrow(bytes32 indexed id, address caller, address indexed onBehalf, address indexed receiver,"
    " uint256 assets, uint256 shares)": "onBehalf",
}


def trails(chain_id: int, account: str) -> tuple[Trail, ...]:
    """The logs by which `account` enters markets: those that name it at the same place are one question."""
    place = deployments(chain_id)
    if place is None:
        return ()
    topic = "0x" + account[2:].lower().rjust(64, "0")
    by_place: dict[int, list[str]] = {}
    for event, owner in BORN_EVENTS.items():
        at = encode_event_topics(event, **{owner: account}).index(topic)
        by_place.setdefault(at, []).append(event_topic(event))
    return tuple(
        Trail((place[MORPHO],), (tuple(topics), *([None] * (at - 1)), topic)) for at, topics in by_place.items()
    )


def ref_of(chain_id: int, market: str) -> PositionRef:
    """The name of an account's position in a market."""
    return PositionRef(NAME, KIND, chain_id, market)


class MorphoPositions:
    """Reads what is lent, pledged and owed, with the interest up to the block."""

    def list(self, chain_id: int, account: str, hints: Sequence[PositionRef]) -> Reads[tuple[Position, ...]]:
        """Every position in the known and the hinted markets. Raises PositionsUnreadable."""
        if deployments(chain_id) is None:
            return ()
        hinted = (ref.id for ref in hints if ref.kind == KIND and _ID.match(ref.id))
        ids = tuple(dict.fromkeys((*(params.id for params in known_markets(chain_id)), *hinted)))
        if not ids:
            return ()
        holdings = yield from ask_holdings(chain_id, account, ids)
        held = {market: holding for market, holding in zip(ids, holdings, strict=True) if not holding.is_empty}
        if not held:
            return ()
        found = yield from ask_markets(chain_id, tuple(held))
        markets = [_known(market) for market in found]
        uncovered = yield from _ask_uncovered(chain_id, markets, tuple(held.values()))
        return tuple(
            _make(chain_id, market, holding, uncovered.get(market.id, 0))
            for market, holding in zip(markets, held.values(), strict=True)
        )

    def born(self, logs: Sequence[LogEntry], account: str, chain_id: int) -> tuple[PositionRef, ...]:
        """The markets that logs say `account` has something in."""
        place = deployments(chain_id)
        if place is None:
            return ()
        found: dict[PositionRef, None] = {}
        for log in logs:
            if log.address != place[MORPHO]:
                continue
            for event, owner in BORN_EVENTS.items():
                told = decode_log(event, log)
                if told is not None and told[owner] == account:
                    found[ref_of(chain_id, "0x" + told["id"].hex())] = None
        return tuple(found)


def make_position(chain_id: int, market: Market, holding: Holding) -> Position:
    """The position of a holding: what is lent and pledged, less what is owed."""
    return _make(chain_id, market, holding)


def _ask_uncovered(chain_id: int, markets: Sequence[Market], holdings: Sequence[Holding]) -> Reads[dict[str, int]]:
    """By market id, of those that have less left than is lent there: what borrowers owe and at least nothing covers.

    A market's collateral is in no sum of the contract, but all of it together is what the contract holds of the token.
    """
    stuck = [
        market
        for market, holding in zip(markets, holdings, strict=True)
        if not market.params.is_idle and market.state.lent_of(holding.supply_shares) > market.liquidity
    ]
    if not stuck:
        return {}
    morpho = (deployments(chain_id) or {})[MORPHO]
    outcomes = yield [erc20.balance_call(market.params.collateral_token, morpho) for market in stuck]
    if not all(outcome.ok for outcome in outcomes):
        raise PositionsUnreadable("the collateral of a market of Morpho Blue does not tell balances")
    return {
        market.id: market.least_uncovered(int(outcome.values[0]))
        for market, outcome in zip(stuck, outcomes, strict=True)
    }


def _known(market: Market | None) -> Market:
    if market is None:
        raise PositionsUnreadable("Morpho Blue tells shares in a market that it says was never created")
    return market


def _make(chain_id: int, market: Market, holding: Holding, uncovered: int = 0) -> Position:
    params, state = market.params, market.state
    lent, owed = state.lent_of(holding.supply_shares), state.owed_of(holding.borrow_shares)
    stuck = max(0, lent - market.liquidity)
    worth = market.worth_of(lent, uncovered)
    legs = [
        Leg(params.loan_token, worth, free_at=WHEN_REPAID if lent and not market.liquidity else None),
        Leg(params.collateral_token, holding.collateral, cover_bps=params.lltv_bps),
        Leg(params.loan_token, -owed),
    ]
    health: int | None = None
    if owed:
        # Nobody can say what covers it: as good as nothing does.
        health = 0
        if market.price is not None:
            health = math.health_bps(collateral=holding.collateral, price=market.price, lltv=params.lltv, debt=owed)
    loan, collateral = (name_token(chain_id, token) for token in (params.loan_token, params.collateral_token))
    label = f"Morpho market {loan} against {collateral}" if not params.is_idle else f"Morpho market {loan}, idle"
    return Position(
        ref=ref_of(chain_id, market.id),
        label=f"{label}, {_say_stuck(stuck, lent)}{_say_lost(lent - worth, lent)}" if stuck else label,
        legs=tuple(leg for leg in legs if leg.raw),
        health_bps=health,
        facts={
            "market_id": market.id,
            "loan_token": params.loan_token,
            "collateral_token": params.collateral_token,
            "lltv_bps": str(params.lltv_bps),
            "supplied": str(lent),
            "collateral": str(holding.collateral),
            "owed": str(owed),
            "available_liquidity": str(market.liquidity),
            "uncovered_at_least": str(uncovered),
            "oracle_answers": "yes" if market.price is not None else "no",
        },
        relies_on=frozenset({params.oracle, params.irm} - {NOBODY}),
        oracles=frozenset({params.oracle} - {NOBODY}),
        silent_oracles=frozenset({params.oracle} - {NOBODY}) if market.price is None else frozenset(),
        locked=(Locked(params.loan_token, worth - market.liquidity, "used"),) if stuck else (),
    )


def _say_stuck(stuck: int, lent: int) -> str:
    """How much of what is lent is borrowed by others, so that it cannot be taken out now."""
    if stuck == lent:
        return "all of it borrowed: nothing can be taken out until borrowers repay"
    percent = max(1, stuck * 100 // lent)
    return f"{percent}% of what is lent cannot be taken out until borrowers repay"


def _say_lost(lost: int, lent: int) -> str:
    return f"; at least {max(1, lost * 100 // lent)}% of it is lent to who has nothing for it any more" if lost else ""


def name_token(chain_id: int, token: str) -> str:
    """A token's registered symbol, or the ends of its address."""
    for known in load_deployment(KNOWN_NETWORKS[chain_id]).tokens:
        if known.address == token:
            return known.symbol
    return f"{token[:6]}..{token[-4:]}"


EXIT_HEALTH_BPS: Final = 16_000
"""Down to here collateral is taken out on the way, so that what it buys can pay debt back."""
_LEAST_SPARE_BPS: Final = 100
# Interest of the blocks until the repayment is mined, of an account that has just enough.
_REPAY_SPARE_BPS: Final = 5


@dataclass(frozen=True, slots=True)
class _Facts:
    loan_token: str
    collateral_token: str
    supplied: int
    collateral: int
    owed: int
    available_liquidity: int


class MorphoExits:
    """Out of a market: pay back and take the collateral in one plan, take what is lent; where the wallet has too
    little, with what spare collateral buys in between.
    """

    def next_step(self, position: Position, held: Mapping[str, int], now: int) -> ExitStep | None:
        """The next step; a debt first, since it holds the collateral."""
        facts = read_stored(_Facts, position.facts)
        lent, collateral, owed = facts.supplied, facts.collateral, facts.owed
        liquidity, loan = facts.available_liquidity, facts.loan_token
        if owed:
            return self._pay_back(position, facts, held.get(loan, 0), min(lent, liquidity))
        if collateral:
            return self._take_out(position, facts.collateral_token, "max", "the collateral is taken back")
        if lent and not liquidity:
            return Wait(None, "all that is lent in the market is borrowed; it comes back as borrowers repay")
        if lent > liquidity:
            return self._take_out(position, loan, str(liquidity), "what nobody borrows is taken back")
        return self._take_out(position, loan, "max", "what is lent is taken back") if lent else None

    def _pay_back(self, position: Position, facts: _Facts, funds: int, own: int) -> ExitStep:
        loan, owed, collateral = facts.loan_token, facts.owed, facts.collateral
        wanted = {"market_id": position.ref.id, "chain_id": position.ref.chain_id}
        with_interest = owed + owed * _REPAY_SPARE_BPS // math.BPS + 2
        if funds >= with_interest:
            alone = Act("morpho_repay_market", {**wanted, "amount": "max"}, "the debt is paid back")
            if not collateral:
                return alone
            params = {**alone.params, "withdraw_collateral": True}
            return Act(alone.tool, params, "the debt is paid back and its collateral taken out", in_part=alone)
        if own and own + funds >= with_interest:
            return self._take_out(position, loan, str(with_interest - funds), "what is lent pays the debt back")
        short = NeedsTrade(loan, with_interest - funds, "the debt in the market is to be paid back")
        if funds and funds < owed:
            return Act(
                "morpho_repay_market", {**wanted, "amount": str(funds)}, "a part of the debt is paid back", short
            )
        health = position.health_bps or 0
        spare = collateral - math.mul_div_up(collateral, EXIT_HEALTH_BPS, health) if health > EXIT_HEALTH_BPS else 0
        if spare * math.BPS > collateral * _LEAST_SPARE_BPS:
            token = facts.collateral_token
            reason = "collateral that the debt does not need is taken out"
            return self._take_out(position, token, str(spare), reason, short)
        return short

    def _take_out(
        self, position: Position, token: str, amount: str, reason: str, or_trade: NeedsTrade | None = None
    ) -> Act:
        wanted = {"market_id": position.ref.id, "chain_id": position.ref.chain_id}
        return Act("morpho_withdraw_market", {**wanted, "asset": token, "amount": amount}, reason, or_trade)
