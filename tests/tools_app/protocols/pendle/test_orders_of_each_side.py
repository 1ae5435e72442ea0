"""Limit orders that sell claims, and that buy and sell yield tokens, on Pendle's real limit router."""

from __future__ import annotations

from datetime import timedelta

import pytest

from archetypes_app.models import Golem
from golem_project.embedded.world.accounts import derive_account
from permits_app.actions.check_signed_promises import check_signed_promises
from permits_app.actions.halt import carry_out_halt, halt_golem
from permits_app.models import OutboundTransaction, StandingAllowance
from tests.tools_app.protocols.pendle.sides import TRADES, Trade, each_side, least_of, wait
from tests.tools_app.protocols.pendle.sides import maker as maker
from tests.tools_app.protocols.pendle.sides import owner as owner
from tests.tools_app.protocols.pendle.test_limit_orders import Maker, entry_of
from tools_app.core import clock
from tools_app.toolkit.enums import Phase

WAD = 10**18
pytestmark = pytest.mark.protocols("pendle")


@each_side
def test_it_is_signed_handed_in_and_filled_once_by_a_stranger_for_no_less_than_was_told(
    owner: Maker, trade: Trade
) -> None:
    row, sent = trade.sign(owner), OutboundTransaction.objects.count()
    assert row.handed_in_at is not None and owner.received[-1]["type"] == ["", "sell_pt", "buy_yt", "sell_yt"].index(
        trade.side
    )
    told = owner.told(row)
    assert (told["status"], told["side"], told["amount_in"]) == ("open", trade.side, str(trade.amount))
    assert entry_of(row).state == "RESERVED"
    gave, got = trade.given(owner), trade.got(owner)
    assert trade.fill(owner, row)
    assert gave - trade.given(owner) == trade.amount
    came = trade.got(owner) - got
    assert least_of(row) <= came <= least_of(row) * 1_009 // 1_000, "so much is for shares that rise and lose some"
    assert (owner.told(row)["status"], owner.told(row)["left"]) == ("filled", "0")
    row = owner.follow(row)
    assert (row.state, entry_of(row).state) == ("FILLED", "SETTLED")
    assert trade.fill(owner, row), "who names it again trades with the market"
    assert (gave - trade.given(owner), trade.got(owner) - got) == (trade.amount, came), "an order is filled once"
    assert OutboundTransaction.objects.count() == sent, "nothing was sent for it"


@each_side
def test_of_one_that_is_filled_in_part_the_whole_stays_reserved_until_it_ends(owner: Maker, trade: Trade) -> None:
    row = trade.sign(owner)
    gave = trade.given(owner)
    assert trade.fill(owner, row, part=trade.amount // 3)
    assert gave - trade.given(owner) == trade.amount // 3
    assert (owner.told(row)["status"], owner.told(row)["filled"]) == ("partly_filled", str(trade.amount // 3))
    row = owner.follow(row)
    assert (row.state, entry_of(row).state) == ("OPEN", "RESERVED")
    owner.cancel(row)
    assert trade.fill(owner, row) and gave - trade.given(owner) == trade.amount // 3
    row = owner.follow(row)
    assert (owner.told(row)["status"], row.state, entry_of(row).state) == ("filled", "FILLED", "SETTLED")


@each_side
def test_one_that_is_taken_back_is_passed_over_and_only_a_bound_keeps_its_taker_from_a_worse_price(
    owner: Maker, trade: Trade
) -> None:
    # A maker who pays more, or asks less, than the market; the agent's own slippage lets it.
    row = trade.sign(owner, implied_apy={"sell_pt": "5.03", "sell_yt": "4.85", "buy_yt": "5.1"}[trade.side])
    owner.cancel(row)
    gave = trade.given(owner)
    order = least_of(row) * 1_000 // trade.amount
    # What the whole trade would bring at the order's price, in thousandths: more than any market gives.
    wanted = {"sell_pt": 1_000 * WAD * 1_010 // order, "sell_yt": 1_000 * WAD * 1_010 // max(1, order)}
    least = wanted.get(trade.side, 1_200 * WAD * 1_010 // order)
    assert not trade.fill(owner, row, least=least)
    assert trade.fill(owner, row), "unbounded it goes through, for what the market gives"
    assert trade.given(owner) == gave
    row = owner.follow(row)
    assert (row.state, entry_of(row).state, owner.told(row)["status"]) == ("CANCELLED", "RELEASED", "cancelled")


@each_side
def test_one_whose_time_is_over_is_expired_and_frees_what_it_held(owner: Maker, trade: Trade) -> None:
    row = trade.sign(owner, lasts_seconds=60)
    wait(owner, 200)
    gave = trade.given(owner)
    assert trade.fill(owner, row) and trade.given(owner) == gave
    assert owner.told(row)["status"] == "expired"
    now = clock.now() + timedelta(minutes=5)
    check_signed_promises(now=now)
    check_signed_promises(now=now + timedelta(minutes=2))
    row.refresh_from_db()
    assert (row.state, entry_of(row).state) == ("EXPIRED", "RELEASED")


def test_a_halt_takes_orders_of_every_side_back_with_what_the_limit_router_may_take(owner: Maker) -> None:
    rows = [trade.sign(owner) for trade in TRADES]
    assert StandingAllowance.objects.filter(spender=owner.place.limit_router).exclude(left="0").count() == 3
    golem = Golem.objects.get(pk=owner.live.golem.pk)
    told = halt_golem(golem=golem, reason="test", actor="system:test", now=clock.now())
    steps = carry_out_halt(golem_id=golem.pk, epoch=told["epoch"], now=clock.now())
    [step] = [step for step in steps if step["step"] == "signed promises cancelled"]
    assert [each["outcome"] for each in step["promises"]] == ["CANCELLED"] * 3, step
    for trade, row in zip(TRADES, rows, strict=True):
        gave = trade.given(owner)
        assert trade.fill(owner, row) and trade.given(owner) == gave
        assert owner.follow(row).state == "CANCELLED"
    rpc = owner.taker.world.rpc
    for token in (owner.place.asset, owner.place.pt, owner.place.yt):
        asked = ("allowance(address,address)", owner.live.golem.address, owner.place.limit_router)
        assert rpc.read(token, *asked, returns="(uint256)")[0] == 0


@pytest.mark.parametrize("trade", TRADES[:2], ids=["sell_pt", "sell_yt"])
def test_shares_that_suddenly_bring_less_keep_one_that_sells_from_being_filled(owner: Maker, trade: Trade) -> None:
    row = trade.sign(owner)
    gave = trade.given(owner)
    deployer = derive_account("pendle deployer")
    owner.taker.world.transact(deployer, owner.place.sy, "setEarnings(uint256,uint256)", 0, 200)
    wait(owner, 1)
    assert not trade.fill(owner, row)
    assert trade.given(owner) == gave


@pytest.mark.parametrize("trade", TRADES[:2], ids=["sell_pt", "sell_yt"])
def test_shares_that_rise_and_fall_again_before_it_is_filled_bring_no_less_than_was_told(
    owner: Maker, trade: Trade
) -> None:
    row = trade.sign(owner)
    world, place, deployer = owner.taker.world, owner.place, derive_account("pendle deployer")
    [first] = world.rpc.read(place.sy, "exchangeRate()", returns="(uint256)")
    # A quarter of a percent in ten minutes, which claims are counted in from then on; then almost all that is let.
    world.transact(deployer, place.sy, "setEarnings(uint256,uint256)", first // 400 // 600, 0)
    wait(owner, 600)
    world.transact(deployer, place.yt, "pyIndexCurrent()")
    [risen] = world.rpc.read(place.yt, "pyIndexStored()", returns="(uint256)")
    assert first * 10_024 < risen * 10_000 < first * 10_027
    world.transact(deployer, place.sy, "setEarnings(uint256,uint256)", 0, 69)
    gave, got = trade.given(owner), trade.got(owner)
    assert trade.fill(owner, row)
    assert gave - trade.given(owner) == trade.amount, "it was filled"
    assert trade.got(owner) - got >= least_of(row)


@pytest.mark.parametrize("trade", TRADES[:2], ids=["sell_pt", "sell_yt"])
def test_shares_that_rise_beyond_doubling_in_a_year_and_fall_again_bring_less_than_was_told_and_what_it_is_worth_then(
    owner: Maker, trade: Trade
) -> None:
    row = trade.sign(owner)
    world, place, deployer = owner.taker.world, owner.place, derive_account("pendle deployer")
    [first] = world.rpc.read(place.sy, "exchangeRate()", returns="(uint256)")
    # A tenth in ten minutes, and then the most that the order lets them fall.
    world.transact(deployer, place.sy, "setEarnings(uint256,uint256)", first // 10 // 600, 0)
    wait(owner, 600)
    world.transact(deployer, place.yt, "pyIndexCurrent()")
    world.transact(deployer, place.sy, "setEarnings(uint256,uint256)", 0, 940)
    asked = ("getPtToAssetRate(address,uint32)", place.market, 900)
    claim = int(world.rpc.read(place.oracle, *asked, returns="(uint256)")[0])
    risen = int(world.rpc.read(place.yt, "pyIndexStored()", returns="(uint256)")[0])
    [rate] = world.rpc.read(place.sy, "exchangeRate()", returns="(uint256)")
    one = claim if trade.gives == "pt" else WAD * int(rate) // risen - claim
    gave, got = trade.given(owner), trade.got(owner)
    assert trade.fill(owner, row)
    assert gave - trade.given(owner) == trade.amount, "it was filled"
    came, least = trade.got(owner) - got, least_of(row)
    assert least * 89 < came * 100 < least * 93, "as much less as the claims themselves are worth less"
    assert came * 1_000 > trade.amount * one // WAD * 995
    assert owner.follow(row).state == "FILLED"


@pytest.mark.parametrize("trade", TRADES[:2], ids=["sell_pt", "sell_yt"])
def test_orders_that_together_sell_more_than_is_held_or_may_be_taken_are_filled_as_far_as_that_goes(
    owner: Maker, trade: Trade
) -> None:
    """Each is signed while what it sells is there; whoever comes second finds it gone, and nothing else is given."""
    first = trade.sign(owner)
    second = trade.sign_more(owner)
    gave = trade.given(owner)
    assert trade.fill(owner, first) and gave - trade.given(owner) == trade.amount
    assert not trade.fill(owner, second) and gave - trade.given(owner) == trade.amount
    assert (owner.follow(first).state, owner.follow(second).state) == ("FILLED", "OPEN")
    assert (entry_of(first).state, entry_of(second).state) == ("SETTLED", "RESERVED"), "until its end it may be filled"
    # What is left after the others is what a further one may sell.
    left = trade.given(owner)
    status, problem = trade.preview(owner, amount=str(left + 1))
    assert (status, problem["code"]) == (422, "PENDLE_TOKENS_MISSING"), problem
    owner.cancel(second)
    assert owner.follow(second).state == "CANCELLED"
    assert entry_of(second).state == "RELEASED"


def test_a_bid_for_yield_tokens_waits_for_its_owner_and_an_order_that_sells_does_not(owner: Maker) -> None:
    waits = {}
    for trade in TRADES:
        owner.do(
            action_type="pendle_approve_limit_orders",
            market=owner.place.market,
            amount=str(trade.amount),
            gives=trade.gives,
        )
        status, told = trade.preview(owner)
        assert status == 200, told
        waits[trade.side] = (told["status"] == "AWAITING_APPROVAL", told["risk_tier"])
    assert waits == {"sell_pt": (False, "STANDARD"), "sell_yt": (False, "STANDARD"), "buy_yt": (True, "HIGH")}


def test_no_order_is_signed_late_in_life_and_claims_are_sold_at_once_then(owner: Maker) -> None:
    Golem.objects.filter(pk=owner.live.golem.pk).update(phase=Phase.DEFENSIVE)
    asked = {"venue": "pendle", "market": owner.place.market, "amount": str(300 * WAD)}
    status, problem = owner.ask("preview_action", action_type="pendle_approve_limit_orders", gives="pt", **asked)
    assert (status, problem["code"]) == (403, "SAFETY_PHASE_BLOCKED")
    status, told = owner.ask("preview_action", action_type="pendle_sell_pt", **asked)
    assert status == 200, told
