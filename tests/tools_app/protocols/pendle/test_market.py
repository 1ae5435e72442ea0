"""Pendle's market: what claims and yield count as, who can move that, and the ways out, also when it is over."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from golem_project.embedded.world.accounts import derive_account
from tests.evm.world import CHAIN_ID, World
from tests.tools_app.factories import answer_of, make_context, run_plan
from tests.tools_app.protocols.measured import Golem
from tests.tools_app.protocols.pendle.paused_yield import go_on, pause_yield
from tools_app.apps import load_registry
from tools_app.chain.abi import encode_call
from tools_app.core.errors import GolemError
from tools_app.protocols.pendle.addresses import find_places
from tools_app.protocols.pendle.market_maths import price_of_claim, trade
from tools_app.protocols.pendle.market_state import ask_standings
from tools_app.protocols.pendle.protocol import PROTOCOL
from tools_app.protocols.pendle.signatures import (
    ANY_GUESS,
    BUY_PT,
    CLAIM,
    NO_LIMIT,
    REDEEM_SHARES,
    SELL_PT,
    paying,
    taking,
)
from tools_app.standards.receipts import events_of
from tools_app.toolkit.effects import Effects, UnknownCall
from tools_app.toolkit.plan import Call, PlanOutcome
from tools_app.toolkit.positions import Wait, drive

pytestmark = pytest.mark.protocols("pendle")
WAD, DAY = 10**18, 86_400
SWAP_EVENT = PROTOCOL.events[0]
ROUTER, MARKET, SY, PT, YT = (
    str(PROTOCOL.address(CHAIN_ID, key)) for key in ("router", "market_dai", "sy_dai", "pt_dai", "yt_dai")
)


class Trader(Golem):
    """What its plans' bytes say of a purchase is the least that it brings, and no more; so that alone is compared."""

    def act(self, tool: str, **params: Any) -> PlanOutcome:
        plan = self.plan(tool, **params)
        self.check_measured(plan)
        read = self.read_effects(plan)
        assert dict(read.spends) == {flow.token.address: flow.bound for flow in plan.spends}
        assert sorted(read.statements, key=repr) == sorted(plan.statements, key=repr)
        assert {(each.ref, each.token) for each in read.changes} == {(each.ref, each.token) for each in plan.changes}
        outcome = run_plan(self.chain, self.account, plan)
        self.check_flows(outcome)
        return outcome


@pytest.fixture
def golem(chain: World) -> Golem:
    load_registry()
    return Trader(chain, PROTOCOL, chain.new_account(WAD, {"DAI": 50_000 * WAD}))


def pass_time(chain: World, seconds: int) -> None:
    chain.rpc.call("evm_increaseTime", seconds)
    chain.rpc.call("evm_mine")


def refused(golem: Golem, tool: str, **params: Any) -> GolemError:
    with pytest.raises(GolemError) as found:
        golem.plan(tool, **params)
    return found.value


def push(chain: World, tool: str, amount: int) -> None:
    """A stranger's trade of so much DAI, at any price."""
    stranger = Golem(chain, PROTOCOL, chain.new_account(WAD, {"DAI": amount}))
    for call in stranger.plan(tool, market=MARKET, amount=str(amount), slippage_bps=5_000).calls:
        assert chain.send(stranger.account, call.to, "0x" + call.data.hex())["status"] == "0x1"


def counted(golem: Golem) -> int:
    dai = golem.chain.tokens["DAI"].address
    return sum(position.raw_of(dai) for position in golem.positions())


def test_trades_are_computed_to_the_base_unit_as_the_market_carries_them_out(chain: World, golem: Golem) -> None:
    (place,) = find_places(CHAIN_ID)
    for tool, amount in (
        ("pendle_buy_pt", 7_000),
        ("pendle_sell_pt", 3_000),
        ("pendle_buy_yt", 900),
        ("pendle_sell_yt", 1_500),
        ("pendle_buy_pt", 20_000),
    ):
        reader = make_context(chain, address=golem.address).chain()
        before = drive(ask_standings(CHAIN_ID, (place,), golem.address), reader.call_many)[0].market
        outcome = golem.act(tool, market=MARKET, amount=str(amount * WAD), slippage_bps=500)
        (swap,) = events_of(outcome, SWAP_EVENT, contract=MARKET)
        reader = make_context(chain, address=golem.address).chain()
        after = drive(ask_standings(CHAIN_ID, (place,), golem.address), reader.call_many)[0].market
        (index,) = chain.rpc.read(YT, "pyIndexStored()", returns="(uint256)")
        at = replace(before, now=reader.block.timestamp, index=index)
        done = trade(at, int(swap["netPtOut"]))
        assert (done.shares, done.fee) == (int(swap["netSyOut"]), int(swap["netSyFee"])), tool
        assert (done.after.claims, done.after.shares, done.after.ln_rate) == (after.claims, after.shares, after.ln_rate)


def test_what_a_trade_gives_is_what_was_told_to_two_basis_points(chain: World, golem: Golem) -> None:
    for tool, key in (("pendle_buy_pt", PT), ("pendle_buy_yt", YT), ("pendle_add_lp", MARKET)):
        plan = golem.plan(tool, market=MARKET, amount=str(2_000 * WAD))
        told = int(next(each.text for each in plan.statements if each.key.startswith("least")))
        golem.act(tool, market=MARKET, amount=str(2_000 * WAD))
        got = chain.rpc.balance_of(key, golem.address)
        slippage = plan.slippage_bps or 0
        expected = told * 10_000 // (10_000 - slippage)
        assert abs(got - expected) <= expected // 5_000, tool


def test_a_claim_counts_as_the_oracle_s_average_and_never_as_more_than_what_it_is_due(
    chain: World, golem: Golem
) -> None:
    golem.act("pendle_buy_pt", market=MARKET, amount=str(10_000 * WAD))
    (position,) = golem.positions()
    (leg,) = position.legs
    rate = chain.rpc.read(
        str(PROTOCOL.address(CHAIN_ID, "oracle")),
        "getPtToAssetRate(address,uint32)",
        MARKET,
        900,
        returns="(uint256)",
    )[0]
    assert leg.due is not None and leg.raw == leg.due.claim * rate // WAD < leg.due.face


def test_no_push_of_one_block_moves_what_claims_count_as(chain: World, golem: Golem) -> None:
    golem.act("pendle_buy_pt", market=MARKET, amount=str(10_000 * WAD))
    before = counted(golem)
    push(chain, "pendle_buy_pt", 100_000 * WAD)
    assert abs(counted(golem) - before) * 10_000 <= before
    assert refused(golem, "pendle_buy_pt", market=MARKET, amount=str(WAD)).code == "PENDLE_SLIPPAGE_TOO_HIGH"


@pytest.mark.parametrize(
    ("tool", "dollars"), [("pendle_buy_pt", 400_000), ("pendle_buy_yt", 20_000), ("pendle_add_lp", 500_000)]
)
def test_a_price_that_stands_for_a_block_moves_what_claims_count_as_by_its_share_of_fifteen_minutes(
    chain: World, golem: Golem, tool: str, dollars: int
) -> None:
    golem.act("pendle_buy_pt", market=MARKET, amount=str(10_000 * WAD))
    (position,) = golem.positions()
    claims, before, spot, began = int(position.facts["pt"]), counted(golem), spot_price(golem), chain.timestamp()
    push(chain, tool, dollars * WAD)
    pass_time(chain, 12)
    moved = abs(spot_price(golem) - spot) * claims // WAD
    seconds = chain.timestamp() - began
    # Beside its share stands what the time itself brings, a tenth of a basis point at most in so few seconds.
    assert abs(counted(golem) - before) <= moved * seconds // 900 * 11 // 10 + before // 100_000


def spot_price(golem: Golem) -> int:
    """What a claim costs in the market now, with 18 decimals."""
    (place,) = find_places(CHAIN_ID)
    reader = make_context(golem.chain, address=golem.address).chain()
    market = drive(ask_standings(CHAIN_ID, (place,), golem.address), reader.call_many)[0].market
    return price_of_claim(market.ln_rate, market.seconds_left)


def test_a_market_whose_oracle_was_not_prepared_is_refused_until_somebody_prepared_it(
    chain: World, golem: Golem
) -> None:
    forget_past(chain)
    for tool in ("pendle_buy_pt", "pendle_buy_yt", "pendle_add_lp"):
        assert refused(golem, tool, market=MARKET, amount=str(WAD)).code == "PENDLE_ORACLE_NOT_READY"
    (row,) = answer_of(make_context(chain, address=golem.address), "pendle_get_markets")["markets"]
    assert row["is_active"] and not row["is_oracle_ready"]
    # Who prepares it enlarges what it remembers; a trade and a quarter of an hour later it has an average.
    somebody = chain.new_account(WAD, {"DAI": 10 * WAD})
    chain.transact(somebody, MARKET, "increaseObservationsCardinalityNext(uint16)", 10)
    chain.transact(somebody, chain.tokens["DAI"].address, "approve(address,uint256)", ROUTER, 10 * WAD)
    dai = chain.tokens["DAI"].address
    data = encode_call(BUY_PT, somebody.address, MARKET, 1, ANY_GUESS, paying(dai, WAD), NO_LIMIT)
    pass_time(chain, 60)
    assert chain.send(somebody, ROUTER, "0x" + data.hex())["status"] == "0x1"
    pass_time(chain, 901)
    golem.act("pendle_buy_pt", market=MARKET, amount=str(1_000 * WAD))


def test_while_the_yield_behind_a_market_is_paused_nothing_goes_in_or_out_and_what_is_held_is_told_as_locked(
    chain: World, golem: Golem
) -> None:
    (place,) = find_places(CHAIN_ID)
    golem.act("pendle_buy_pt", market=MARKET, amount=str(1_000 * WAD))
    golem.act("pendle_add_lp", market=MARKET, amount=str(1_000 * WAD))
    (before,) = golem.positions()
    pause_yield(chain, place.sy)
    (position,) = golem.positions()
    assert position.legs[0].raw >= before.legs[0].raw
    assert [(each.reason, each.raw) for each in position.locked] == [("paused", sum(e.raw for e in position.legs))]
    assert PROTOCOL.exits is not None
    waits = PROTOCOL.exits.next_step(position, {}, chain.timestamp())
    assert isinstance(waits, Wait) and waits.until is None
    for tool, params in (
        ("pendle_buy_pt", {"market": MARKET, "amount": str(WAD)}),
        ("pendle_sell_pt", {"market": MARKET, "amount": "max"}),
        ("pendle_remove_lp", {"market": MARKET, "lp_amount": "max"}),
        ("pendle_redeem", {"pt": place.pt, "amount": "max"}),
    ):
        assert refused(golem, tool, **params).code == "PENDLE_YIELD_PAUSED"
    go_on(chain, place.sy)
    (position,) = golem.positions()
    assert position.locked == ()
    golem.act("pendle_sell_pt", market=MARKET, amount="max")


def forget_past(chain: World) -> None:
    """The market remembers its present rate alone, as one that was just made."""
    types = "(int128,int128,uint96,uint16,uint16,uint16)"
    _, _, rate, index, kept, wanted = chain.rpc.read(MARKET, "_storage()", returns=types)
    word = rate | index << 96 | kept << 112 | wanted << 128
    slot = next(
        each for each in range(64) if int(chain.rpc.call("eth_getStorageAt", MARKET, hex(each), "latest"), 16) == word
    )
    words = {slot: rate | 1 << 112 | 1 << 128, slot + 1: chain.timestamp() | 1 << 248}
    for each, value in words.items():
        chain.rpc.call("anvil_setStorageAt", MARKET, hex(each), f"0x{value:064x}")


def test_no_order_of_others_is_filled_and_a_market_that_was_pushed_meanwhile_gives_no_worse_fill(
    chain: World, golem: Golem
) -> None:
    plan = golem.plan("pendle_buy_pt", market=MARKET, amount=str(10_000 * WAD))
    dai, bought = chain.tokens["DAI"].address, chain.rpc.balance_of(PT, golem.address)
    order = (1, 2**32, 0, 0, dai, YT, "0x" + "66" * 20, "0x" + "66" * 20, WAD, WAD, WAD, b"")
    filled = ("0x" + "66" * 20, 0, ((order, b"", WAD),), (), b"")
    data = encode_call(BUY_PT, golem.address, MARKET, 1, ANY_GUESS, paying(dai, WAD), filled)
    reader = make_context(chain, address=golem.address).chain()
    assert PROTOCOL.effects is not None
    with pytest.raises(UnknownCall):
        PROTOCOL.effects.read(
            Call(ROUTER, data, 0, ""), earlier=(), account=golem.address, chain=reader, into=Effects()
        )
    push(chain, "pendle_buy_pt", 100_000 * WAD)
    done = [chain.send(golem.account, call.to, "0x" + call.data.hex())["status"] for call in plan.calls]
    assert done[-1] == "0x0" and chain.rpc.balance_of(PT, golem.address) == bought


def test_yield_tokens_count_as_nothing_and_are_shown_at_the_average(golem: Golem) -> None:
    golem.act("pendle_buy_yt", market=MARKET, amount=str(1_000 * WAD))
    (position,) = golem.positions()
    (token,) = position.uncounted
    assert sum(leg.raw for leg in position.legs) < WAD
    assert token.market is not None and 900 * WAD < token.market.raw < 1_000 * WAD


def test_a_gift_to_the_market_moves_nothing(chain: World, golem: Golem) -> None:
    golem.act("pendle_add_lp", market=MARKET, amount=str(10_000 * WAD))
    before = counted(golem)
    giver = chain.new_account(WAD, {"DAI": 500_000 * WAD})
    dai = chain.tokens["DAI"].address
    chain.transact(giver, dai, "approve(address,uint256)", SY, 500_000 * WAD)
    signature = "deposit(address,address,uint256,uint256)"
    chain.transact(giver, SY, signature, MARKET, dai, 400_000 * WAD, 0)
    assert abs(counted(golem) - before) * 10_000 <= before


def test_before_maturity_a_halt_sells_everything(chain: World, golem: Golem) -> None:
    golem.act("pendle_buy_pt", market=MARKET, amount=str(5_000 * WAD))
    golem.act("pendle_add_lp", market=MARKET, amount=str(5_000 * WAD))
    golem.act("pendle_buy_yt", market=MARKET, amount=str(500 * WAD))
    used = golem.leave([chain.tokens["DAI"].address])
    assert set(used) <= {"pendle_remove_lp", "pendle_sell_pt", "pendle_sell_yt", "pendle_redeem"}
    assert counted(golem) < WAD // 10


def test_from_maturity_on_nothing_is_traded_and_everything_is_due(chain: World, golem: Golem) -> None:
    golem.act("pendle_buy_pt", market=MARKET, amount=str(5_000 * WAD))
    golem.act("pendle_add_lp", market=MARKET, amount=str(5_000 * WAD))
    pass_time(chain, 1_600 * DAY)
    for tool in ("pendle_buy_pt", "pendle_buy_yt", "pendle_add_lp", "pendle_sell_pt", "pendle_sell_yt"):
        assert refused(golem, tool, market=MARKET, amount=str(WAD)).code == "PENDLE_MARKET_EXPIRED"
    before = chain.rpc.balance_of(chain.tokens["DAI"].address, golem.address)
    worth = counted(golem)
    used = golem.leave([chain.tokens["DAI"].address])
    assert used == ["pendle_remove_lp", "pendle_redeem"]
    came = chain.rpc.balance_of(chain.tokens["DAI"].address, golem.address) - before
    assert abs(came - worth) * 10_000 <= worth


def test_without_an_average_nothing_is_bought_and_nothing_held_is_left_out(chain: World, golem: Golem) -> None:
    golem.act("pendle_buy_pt", market=MARKET, amount=str(1_000 * WAD))
    chain.rpc.call("anvil_setCode", str(PROTOCOL.address(CHAIN_ID, "oracle")), "0x60006000fd")
    assert refused(golem, "pendle_buy_pt", market=MARKET, amount=str(WAD)).code == "PENDLE_ORACLE_NOT_READY"
    with pytest.raises(GolemError) as found:
        golem.positions()
    assert found.value.code == "POSITIONS_UNREADABLE"


def test_claims_on_shares_that_lost_count_as_what_is_left(chain: World, golem: Golem) -> None:
    golem.act("pendle_buy_pt", market=MARKET, amount=str(10_000 * WAD))
    before = counted(golem)
    chain.transact(derive_account("pendle deployer"), SY, "setEarnings(uint256,uint256)", 0, 3_000)
    assert abs(counted(golem) - before * 7 // 10) * 1_000 <= before


def test_what_yield_tokens_earned_is_claimed_and_was_counted(chain: World, golem: Golem) -> None:
    golem.act("pendle_buy_yt", market=MARKET, amount=str(1_000 * WAD))
    assert refused(golem, "pendle_redeem", pt=PT, amount="max", claim=True).code == "PENDLE_NOTHING_TO_CLAIM"
    pass_time(chain, 30 * DAY)
    worth = counted(golem)
    outcome = golem.act("pendle_redeem", pt=PT, amount="max", claim=True)
    came = outcome.deltas[chain.tokens["DAI"].address]
    assert worth > 10 * WAD and abs(came - worth) * 1_000 <= worth


def test_a_reward_that_nobody_prices_adds_nothing_and_is_claimed_by_itself(chain: World, golem: Golem) -> None:
    golem.act("pendle_add_lp", market=MARKET, amount=str(5_000 * WAD))
    before = counted(golem)
    pass_time(chain, DAY)
    (position,) = golem.positions()
    (reward,) = position.uncounted
    assert reward.raw > WAD // 100 and abs(counted(golem) - before) * 1_000 <= before
    outcome = golem.act("pendle_redeem", pt=PT, amount="max", claim=True)
    assert outcome.deltas[reward.token] >= reward.raw


def test_what_leaves_and_what_counts_may_move_by_one_percent_and_no_more(chain: World, golem: Golem) -> None:
    golem.act("pendle_add_lp", market=MARKET, amount=str(5_000 * WAD))
    plan = golem.plan("pendle_remove_lp", market=MARKET, lp_amount="max")
    (flow,) = plan.receives
    assert flow.bound == flow.expected * 99 // 100
    golem.act("pendle_remove_lp", market=MARKET, lp_amount="max")
    (change,) = golem.plan("pendle_sell_pt", market=MARKET, amount="max").changes
    assert change.bound == change.expected - -change.expected * 100 // 10_000 - 2


def test_figures_of_a_market_are_told(chain: World, golem: Golem) -> None:
    (row,) = answer_of(make_context(chain, address=golem.address), "pendle_get_markets", min_tvl="1000")["markets"]
    assert row["is_active"] and row["is_oracle_ready"] and row["underlying"] == "DAI"
    golem.act("pendle_buy_pt", market=MARKET, amount=str(1_000 * WAD))
    held = answer_of(make_context(chain, address=golem.address), "pendle_get_position", account=golem.address)
    assert held["pt_positions"][0]["balance"] == str(chain.rpc.balance_of(PT, golem.address))


def test_foreign_bytes_are_a_veto(chain: World, golem: Golem) -> None:
    reader = make_context(chain, address=golem.address).chain()
    dai, me, stranger = chain.tokens["DAI"].address, golem.address, "0x" + "66" * 20
    through = (dai, WAD, dai, stranger, (1, stranger, b"\x01", False))
    assert PROTOCOL.effects is not None
    for to, data in (
        (ROUTER, encode_call(BUY_PT, stranger, MARKET, 1, ANY_GUESS, paying(dai, WAD), NO_LIMIT)),
        (ROUTER, encode_call(BUY_PT, me, stranger, 1, ANY_GUESS, paying(dai, WAD), NO_LIMIT)),
        (ROUTER, encode_call(BUY_PT, me, MARKET, 0, ANY_GUESS, paying(dai, WAD), NO_LIMIT)),
        (ROUTER, encode_call(BUY_PT, me, MARKET, 1, (0, 1, 1, 1, 1), paying(dai, WAD), NO_LIMIT)),
        (ROUTER, encode_call(BUY_PT, me, MARKET, 1, ANY_GUESS, through, NO_LIMIT)),
        (ROUTER, encode_call(BUY_PT, me, MARKET, 1, ANY_GUESS, paying(dai, WAD), (stranger, 1, (), (), b""))),
        (ROUTER, encode_call(SELL_PT, me, MARKET, WAD, taking(dai, 0), NO_LIMIT)),
        (ROUTER, encode_call(CLAIM, stranger, (), (YT,), ())),
        (ROUTER, encode_call(CLAIM, me, (SY,), (YT,), ())),
        (SY, encode_call(REDEEM_SHARES, me, WAD, dai, 1, True)),
        (ROUTER, encode_call("function multicall((bool,bytes)[])", ())),
    ):
        with pytest.raises(UnknownCall):
            PROTOCOL.effects.read(Call(to, data, 0, ""), earlier=(), account=me, chain=reader, into=Effects())
