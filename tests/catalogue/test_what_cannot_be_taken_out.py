"""A lender that is lent out whole, paused, frozen or shut down: its position says what cannot be taken out now, the
owner is told after the tick that saw it, and nothing more goes in.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from golem_project.alerts.topics import tell_event
from golem_project.cockpit.risks import build_risks
from golem_project.embedded.world.accounts import derive_account
from golem_project.embedded.world.rpc import call_data
from golem_project.heartbeat.duties.position_monitor import judge_locked
from permits_app.pages.portfolio_card import read_portfolio_card
from tests.catalogue.door import Door
from tests.golem_project.heartbeat.pulses import tick, turn_on
from tests.proof.caged.engines import make_account
from tests.tools_app.factories import call_tool, make_context
from tools_app.chain.abi import checksum
from tools_app.core import clock
from tools_app.core.models import OutboxEvent
from tools_app.protocols.aave_v3.addresses import deployments as aave
from tools_app.protocols.lido.addresses import deployments as lido
from tools_app.protocols.maker_sky.addresses import deployments as maker
from tools_app.protocols.morpho_blue.addresses import LOCAL
from tools_app.protocols.morpho_blue.market import Market, MarketParams
from tools_app.protocols.morpho_blue.math import MarketState
from tools_app.protocols.morpho_blue.plan_checks import check_used
from tools_app.protocols.rocketpool.addresses import deployments as rocketpool
from tools_app.standards.erc4626 import Vault, VaultFamily
from tools_app.toolkit.context import ReadCall, ReadOutcome
from tools_app.toolkit.lending import LendingMarket, MarketClosed
from tools_app.toolkit.positions import Position, drive
from tools_app.toolkit.protocol import SHELF
from tools_app.toolkit.views import TokenMeta

ETH, USD = 10**18, 10**6

LENDERS = {
    # Its tools, what they are called with, what is lent, how much of it the golem lends, and the call to borrow it.
    "aave_v3": ("aave_supply", {"asset": "USDC", "amount": str(1_000 * USD)}, "USDC", "aave_borrow"),
    "spark": ("spark_supply", {"asset": "DAI", "amount": str(1_000 * ETH)}, "DAI", "spark_borrow"),
    "compound_v3": ("compound_v3_supply", {"market": "USDC", "amount": str(1_000 * USD)}, "USDC", "compound_v3_borrow"),
    "moonwell": ("moonwell_supply", {"asset": "USDC", "amount": str(1_000 * USD)}, "USDC", "moonwell_borrow"),
    "morpho": ("morpho_supply_market", {"amount": str(1_000 * USD)}, "USDC", "morpho_borrow_market"),
}


def market_of(door: Door, protocol: str, symbol: str) -> LendingMarket:
    """Where the golem lent, as every lender tells it."""
    lender = SHELF.get(protocol)
    assert lender is not None and lender.lending is not None
    token = door.stage.world.tokens[symbol].address
    found = drive(lender.lending.markets(31337, token), door.stage.reader().call_many)
    return max(found, key=lambda each: each.liquidity if each.collateral or protocol != "morpho" else -1)


def as_whale(door: Door, tool: str, **params: Any) -> None:
    """Somebody else, past every rule."""
    world, whale = door.stage.world, make_account("a whale").address
    for call in call_tool(make_context(world, address=whale), tool, **params).calls:
        send_as_whale(door, call.to, "0x" + call.data.hex())


def send_as_whale(door: Door, to: str, data: str) -> None:
    world, whale = door.stage.world, make_account("a whale").address
    world.rpc.call("anvil_impersonateAccount", whale)
    request = {"from": whale, "to": to, "data": data, "gas": hex(3_000_000)}
    assert world.wait(world.rpc.call("eth_sendTransaction", request))["status"] == "0x1"
    world.rpc.call("anvil_stopImpersonatingAccount", whale)


def lend_out_whole(door: Door, protocol: str, symbol: str) -> None:
    """A whale borrows all there is."""
    world, whale = door.stage.world, make_account("a whale").address
    world.fund(whale, 10 * ETH, {"WETH": 100_000 * ETH})
    market = market_of(door, protocol, symbol)
    left = market.liquidity
    if protocol == "morpho":
        as_whale(
            door,
            "morpho_borrow_market",
            market_id=market.market,
            amount=str(left),
            collateral_amount=str(left * 10**12 // 1_000),
        )
        return
    if protocol == "compound_v3":
        as_whale(door, "compound_v3_supply", market=symbol, asset="WETH", amount=str(2_000 * ETH))
        base = world.tokens[symbol].address
        send_as_whale(door, market.market, call_data("withdraw(address,uint256)", base, left))
        return
    if protocol == "moonwell":
        as_whale(door, "moonwell_supply", asset="WETH", amount=str(2_000 * ETH))
        send_as_whale(door, market.market, call_data("borrow(uint256)", left))
        return
    prefix = protocol.split("_")[0]
    unit = USD if symbol == "USDC" else ETH
    as_whale(door, f"{prefix}_supply", asset="WETH", amount=str(left * ETH // unit // 2_300))
    # Down to the lender's own limit, which is less than our tools keep.
    lender = SHELF.get(protocol)
    assert lender is not None
    borrow = "borrow(address,uint256,uint256,uint16,address)"
    pool = str(lender.address(31337, "pool"))
    send_as_whale(door, pool, call_data(borrow, world.tokens[symbol].address, left, 2, 0, whale))


def told(door: Door) -> list[str]:
    rows = OutboxEvent.objects.filter(
        golem_id=door.stage.live.golem.pk, type="heartbeat:alert", payload__source="locked-positions"
    )
    return [alert["rule"] for row in rows.order_by("sequence") for alert in row.payload["alerts"]]


def look(door: Door) -> None:
    """A tick and nothing else."""
    tick(door.stage.live.golem)


def position_at(door: Door, protocol: str) -> Position:
    (found,) = (each for each in door.stage.positions() if each.ref.protocol == protocol)
    return found


@pytest.mark.parametrize("protocol", [pytest.param(each, marks=pytest.mark.protocols(each)) for each in LENDERS])
def test_a_lender_that_is_lent_out_whole_is_told_and_entered_no_more(door: Door, protocol: str) -> None:
    supply, params, symbol, borrow = LENDERS[protocol]
    turn_on(door.stage.live.golem, is_live=False)
    assert door.commit(door.preview(supply, **params))["status"] == "COMMITTED"
    assert position_at(door, protocol).locked == ()
    look(door)
    assert told(door) == []

    lend_out_whole(door, protocol, symbol)
    (locked,) = position_at(door, protocol).locked
    assert locked.reason == "used" and locked.raw > 0
    holdings = door.stage.holdings()
    now = int(clock.now().timestamp())
    assert holdings.nav_micro_usd - holdings.liquid_micro_usd(now) > 990 * USD
    look(door)
    look(door)
    (rule,) = told(door)
    assert rule.startswith("cannot be taken out now: ")
    event = OutboxEvent.objects.filter(type="heartbeat:alert", payload__source="locked-positions").latest("sequence")
    line, is_urgent = tell_event("heartbeat:alert", event.payload, golem="Ada")
    assert is_urgent and "what can be taken out" in line
    card = read_portfolio_card(door.stage.live.golem, now=clock.now())
    (shown,) = (each for each in card.positions if each.unlocks)
    assert "not now" in shown.unlocks and "lent out" in shown.unlocks
    assert "cannot be left whole now: " in "".join(build_risks(door.stage.live.golem, now=clock.now()).held_in)

    more = door.preview(supply, **{**params, "amount": str(int(params["amount"]) // 2)})
    assert (more["code"], more["reason"]) == ("MARKET_CLOSED", "used"), more
    small = str(int(params["amount"]) // 100)
    words = {"morpho": {"collateral_amount": str(ETH)}, "compound_v3": {"market": symbol}}
    of_loan = words.get(protocol, {"asset": symbol})
    debt = door.preview(borrow, **{"amount": small, **of_loan})
    assert debt["code"] == "MARKET_CLOSED", debt


@pytest.mark.protocols("aave_v3")
@pytest.mark.parametrize(
    ("signature", "reason"), [("setReservePause(address,bool)", "paused"), ("setReserveFreeze(address,bool)", "frozen")]
)
def test_a_reserve_that_is_paused_or_frozen_is_told(door: Door, signature: str, reason: str) -> None:
    door.do("aave_supply")
    turn_on(door.stage.live.golem, is_live=False)
    weth = door.stage.world.tokens["WETH"].address
    configurator = (aave(31337) or {})["pool_configurator"]
    door.stage.world.transact(derive_account("aave_v3 deployer"), configurator, signature, weth, True)
    (locked,) = position_at(door, "aave_v3").locked
    assert (locked.reason, locked.raw > 0) == (reason, reason == "paused")
    look(door)
    assert len(told(door)) == 1
    assert door.preview("aave_supply", amount=str(ETH))["code"] == "MARKET_CLOSED"
    # Told once, in the tick that saw it; told as over in the tick that saw that, whatever the window.
    look(door)
    assert len(told(door)) == 1
    door.stage.world.transact(derive_account("aave_v3 deployer"), configurator, signature, weth, False)
    look(door)
    look(door)
    assert told(door)[1:] == ["well again"]
    assert door.preview("aave_supply", amount=str(ETH))["status"] == "CREATED"


@pytest.mark.protocols("maker")
def test_a_maker_that_was_shut_down_is_told_and_entered_no_more(door: Door) -> None:
    door.do("maker_deposit_collateral")
    turn_on(door.stage.live.golem, is_live=False)
    door.stage.world.transact(derive_account("maker deployer"), (maker(31337) or {})["vat"], "cage()")
    (locked,) = position_at(door, "maker").locked
    assert locked.reason == "closed" and locked.raw == 10 * ETH
    look(door)
    assert len(told(door)) == 1
    for case in ("maker_open_vault", "maker_deposit_collateral", "maker_generate_dai"):
        refused = door.preview(case)
        assert (refused["code"], refused["reason"]) == ("MARKET_CLOSED", "closed"), refused


@pytest.mark.protocols("morpho")
def test_what_morpho_lent_to_who_has_nothing_for_it_any_more_is_not_counted(door: Door) -> None:
    """Nobody was liquidated: the contract's own books still say that all of it comes back."""
    supply, params, symbol, _ = LENDERS["morpho"]
    assert door.commit(door.preview(supply, **params))["status"] == "COMMITTED"
    (before,) = position_at(door, "morpho").legs
    lend_out_whole(door, "morpho", symbol)
    (lent_out,) = position_at(door, "morpho").legs
    assert lent_out.raw >= before.raw - 1, "what is lent out and covered counts in full"
    world = door.stage.world
    # What the market's own oracle says of its collateral; the lenders before the golem have some there as well.
    oracle = LOCAL["oracle_weth_usdc"]
    world.transact(world.actors.makers[0], oracle, "setPrice(uint256)", 3_000 * 10**24 // 10_000)
    position = position_at(door, "morpho")
    (leg,) = position.legs
    assert 0 <= leg.raw < before.raw // 2
    assert int(position.facts["uncovered_at_least"]) > 0 and "nothing for it any more" in position.label
    assert int(position.facts["supplied"]) >= before.raw - 1
    (locked,) = position.locked
    assert (locked.raw, locked.reason) == (leg.raw, "used")


@pytest.mark.parametrize(("taken", "free"), [(0, 400), (150, 400), (400, 400), (0, 0)])
def test_taking_out_of_a_market_with_bad_debt_changes_its_worth_by_what_is_taken(taken: int, free: int) -> None:
    def market_after(taken: int) -> Market:
        state = SimpleNamespace(supply_assets=10_000 - taken, borrow_assets=10_000 - free)
        params = cast(MarketParams, SimpleNamespace(is_idle=False))
        return Market(params, cast(MarketState, state), 0, 10**36, 0)

    uncovered = market_after(0).least_uncovered(5_000)
    assert uncovered == 5_000 - free
    worth = market_after(0).worth_of(1_000, uncovered)
    assert free <= worth < 1_000
    assert worth - market_after(taken).worth_of(1_000 - taken, uncovered) == taken
    # What can be taken out whole counts in full.
    assert market_after(0).worth_of(free, uncovered) == free


@pytest.mark.protocols("lido")
def test_a_lido_whose_queue_is_paused_is_told_and_entered_no_more(door: Door) -> None:
    """At the simulated contracts of the local world."""
    door.do("lido_stake")
    turn_on(door.stage.live.golem, is_live=False)
    look(door)
    assert told(door) == []
    admin, queue = derive_account("lido deployer"), (lido(31337) or {})["queue"]
    door.stage.world.rpc.call("anvil_setBalance", admin.address, hex(10**24))
    door.stage.world.transact(admin, queue, "pauseFor(bool)", True)
    # A wei or two of stETH that wrapping left behind is too little for the queue anyway.
    (locked,) = (locked for each in door.stage.positions() for locked in each.locked)
    assert locked.reason == "queue" and locked.raw > 0
    holdings = door.stage.holdings()
    assert holdings.liquid_micro_usd(int(clock.now().timestamp())) < holdings.nav_micro_usd
    look(door)
    look(door)
    assert len(told(door)) == 1
    refused = door.preview("lido_stake", amount=str(ETH // 4))
    assert (refused["code"], refused["reason"]) == ("MARKET_CLOSED", "queue"), refused
    door.stage.world.transact(admin, queue, "pauseFor(bool)", False)
    look(door)
    assert told(door)[1:] == ["well again"]


@pytest.mark.protocols("rocketpool")
def test_a_rocket_pool_without_ether_behind_its_token_is_told_and_entered_no_more(door: Door) -> None:
    """At the simulated contracts of the local world."""
    door.do("rocketpool_stake")
    turn_on(door.stage.live.golem, is_live=False)
    look(door)
    assert told(door) == []
    world, at = door.stage.world, rocketpool(31337) or {}
    pools = [at["reth"], at["deposit_pool"]]
    before = [world.rpc.call("eth_getBalance", each, "latest") for each in pools]
    for each in pools:
        world.rpc.call("anvil_setBalance", each, "0x0")
    world.rpc.call("evm_mine")
    (locked,) = position_at(door, "rocketpool").locked
    assert locked.reason == "dry" and locked.raw > 0
    look(door)
    look(door)
    assert len(told(door)) == 1
    refused = door.preview("rocketpool_stake", amount=str(ETH // 4))
    assert (refused["code"], refused["reason"]) == ("MARKET_CLOSED", "dry"), refused
    for each, balance in zip(pools, before, strict=True):
        world.rpc.call("anvil_setBalance", each, balance)
    world.rpc.call("evm_mine")
    look(door)
    assert told(door)[1:] == ["well again"]


@pytest.mark.parametrize(("redeemable", "fast"), [(100, 0), (40, 63), (0, 105), (None, 105)])
def test_what_a_vault_does_not_take_back_now_is_locked(redeemable: int | None, fast: int) -> None:
    """As the vault's own answers say: it has 100 shares for 105."""
    vault = Vault(checksum("0x" + "11" * 20), checksum("0x" + "22" * 20), "A vault")
    account = checksum("0x" + "33" * 20)

    def answer(calls: Any) -> list[ReadOutcome]:
        def one(call: ReadCall) -> ReadOutcome:
            if "maxRedeem" in call.signature:
                return ReadOutcome(ok=redeemable is not None, values=(redeemable,), revert_reason=None)
            told = 100 if "balanceOf" in call.signature else 105
            return ReadOutcome(ok=True, values=(told,), revert_reason=None)

        return [one(call) for call in calls]

    (position,) = drive(VaultFamily("erc4626").list_positions(31337, account, (vault,)), answer)
    assert sum(each.raw for each in position.locked) == fast


def test_an_amount_that_changes_with_each_block_is_no_news() -> None:
    def seen(raw: str) -> dict[str, Any]:
        locked = [{"token": "0x11", "raw": raw, "reason": "used"}]
        return {"held_elsewhere": [{"label": "Account", "locked": locked}]}

    assert judge_locked(seen("5"))[0].rule == judge_locked(seen("6"))[0].rule
    assert judge_locked(seen("0"))[0].rule != judge_locked(seen("6"))[0].rule


@pytest.mark.parametrize(("free", "is_entered"), [(100, True), (99, False), (0, False)])
def test_a_market_is_entered_while_a_hundredth_of_it_can_be_taken_out(free: int, is_entered: bool) -> None:
    state = SimpleNamespace(supply_assets=10_000)
    market = cast(Market, SimpleNamespace(id="0x11", liquidity=free, state=state))
    token = TokenMeta(31337, "0x" + "22" * 20, "USDC", 6, "USD Coin", is_registered=True)
    if is_entered:
        check_used(market, token)
        return
    with pytest.raises(MarketClosed) as refused:
        check_used(market, token)
    assert refused.value.data["reason"] == "used"
