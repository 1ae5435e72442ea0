"""Compound V3's calls mean two things each: what leaves never borrows, what repays never lends, whoever acts first."""

from __future__ import annotations

from typing import Any

import pytest

from golem_project.embedded.world.accounts import derive_account
from tests.evm.world import CHAIN_ID, World
from tests.tools_app.factories import answer_of, make_context
from tests.tools_app.protocols.measured import Golem
from tools_app.apps import load_registry
from tools_app.chain.abi import decode_input, encode_call
from tools_app.core.errors import GolemError
from tools_app.protocols.compound_v3 import signatures
from tools_app.protocols.compound_v3.protocol import PROTOCOL
from tools_app.toolkit.effects import Effects, UnknownCall
from tools_app.toolkit.exit_conditions import There
from tools_app.toolkit.lending import Verb
from tools_app.toolkit.plan import Call
from tools_app.toolkit.positions import Act, NeedsTrade, Wait, drive

pytestmark = pytest.mark.protocols("compound_v3")
WAD, USD, DAY = 10**18, 10**6, 86_400
COMET = str(PROTOCOL.address(CHAIN_ID, "comet_usdc"))
REWARDS = str(PROTOCOL.address(CHAIN_ID, "rewards"))
MARKET = {"market": "USDC"}
COVER = {**MARKET, "asset": "WETH", "amount": str(4 * WAD)}


@pytest.fixture
def golem(chain: World) -> Golem:
    load_registry()
    return Golem(chain, PROTOCOL, chain.new_account(WAD, {"USDC": 20_000 * USD, "WETH": 10 * WAD}))


@pytest.fixture
def indebted(golem: Golem) -> Golem:
    """Owes 5,000 USDC over four WETH."""
    golem.act("compound_v3_supply", **COVER)
    golem.act("compound_v3_borrow", **MARKET, amount=str(5_000 * USD))
    return golem


def refused(golem: Golem, tool: str, **params: Any) -> GolemError:
    with pytest.raises(GolemError) as found:
        golem.plan(tool, **params)
    return found.value


def pause(chain: World, *, goes_in: bool = False, goes_out: bool = False) -> None:
    admin = derive_account("compound_v3 deployer")
    chain.transact(admin, COMET, "pause(bool,bool,bool,bool,bool)", goes_in, False, goes_out, False, False)


def step(golem: Golem, **held: int) -> Any:
    (position,) = golem.positions()
    assert PROTOCOL.exits is not None
    wallet = {golem.chain.tokens[symbol].address: raw for symbol, raw in held.items()}
    return PROTOCOL.exits.next_step(position, wallet, golem.chain.timestamp())


def set_feed(chain: World, symbol: str, dollars: int) -> None:
    chain.transact(chain.actors.deployer, chain.tokens[symbol].feed, "setAnswer(int256)", dollars * 10**8)


def test_withdrawing_never_borrows_and_repaying_never_lends(chain: World, indebted: Golem) -> None:
    assert chain.protocols["compound_v3"] == {"comet_usdc": COMET, "rewards": REWARDS}
    assert refused(indebted, "compound_v3_withdraw", **MARKET, amount="1").code == "LENDING_NOTHING_THERE"
    lending = refused(indebted, "compound_v3_supply", **MARKET, amount=str(USD))
    assert (lending.code, lending.cleared_by) == ("COMPOUND_REPAY_FIRST", "compound_v3_repay with max")
    plan = indebted.plan("compound_v3_repay", **MARKET, amount=str(9_000 * USD))
    asset, said = decode_input(signatures.SUPPLY, plan.calls[1].data)
    assert asset == chain.tokens["USDC"].address and said == signatures.EVERYTHING
    done = indebted.act("compound_v3_repay", **MARKET, amount=str(9_000 * USD))
    paid = -done.deltas[chain.tokens["USDC"].address]
    assert paid in range(5_000 * USD, 5_000 * USD + 1_000)
    (position,) = indebted.positions()
    assert (position.facts["owed"], position.facts["supplied"]) == ("0", "0")


def test_borrowing_while_something_is_lent_there_is_refused_because_it_would_be_taken_out(golem: Golem) -> None:
    golem.act("compound_v3_supply", **MARKET, amount=str(1_000 * USD))
    golem.act("compound_v3_supply", **COVER)
    error = refused(golem, "compound_v3_borrow", **MARKET, amount=str(500 * USD))
    assert (error.code, error.cleared_by) == ("COMPOUND_WITHDRAW_FIRST", "compound_v3_withdraw with max")
    golem.act("compound_v3_withdraw", **MARKET, amount="max")
    golem.act("compound_v3_borrow", **MARKET, amount=str(500 * USD))


def test_the_most_that_a_refusal_names_passes(golem: Golem) -> None:
    golem.act("compound_v3_supply", **COVER)
    error = refused(golem, "compound_v3_borrow", **MARKET, amount=str(8_000 * USD))
    # Four WETH at 3,000 count with 89.5 percent, and the debt with half more and the interest of a day.
    assert error.code == "HEALTH_TOO_LOW" and int(error.data["most"]) // USD == 7_158
    golem.act("compound_v3_borrow", **MARKET, amount=error.data["most"])
    error = refused(golem, "compound_v3_withdraw", **{**COVER, "amount": str(WAD // 100)})
    assert error.code == "HEALTH_TOO_LOW"


def test_a_halted_golem_takes_out_what_is_lent_and_signs_no_debt(indebted: Golem) -> None:
    usdc, weth = (indebted.chain.tokens[each].address for each in ("USDC", "WETH"))

    def may_leave(signature: str, *args: Any, held: dict[str, int], owed: dict[str, int]) -> bool:
        for each in PROTOCOL.leaving:
            if each.signature.partition("(")[0] == signature.partition("(")[0] and each.key == "comet_usdc":
                there = There(indebted.address, lambda key: PROTOCOL.address(CHAIN_ID, key), dict(held), dict(owed))
                if all(condition.holds(args, there) for condition in each.conditions):
                    return True
        return False

    owes = {"held": {weth: 4 * WAD}, "owed": {usdc: 5_000 * USD}}
    assert may_leave(signatures.WITHDRAW, weth, 4 * WAD, **owes)
    assert not may_leave(signatures.WITHDRAW, weth, 4 * WAD + 1, **owes)
    assert not may_leave(signatures.WITHDRAW, usdc, 1, **owes)
    assert may_leave(signatures.SUPPLY, usdc, signatures.EVERYTHING, **owes)
    assert not may_leave(signatures.SUPPLY, usdc, 5_001 * USD, **owes)
    assert not may_leave(signatures.SUPPLY, usdc, signatures.EVERYTHING, held={}, owed={})
    assert not may_leave(signatures.SUPPLY, weth, WAD, **owes)


def test_the_way_out_pays_back_then_takes_the_cover(chain: World, indebted: Golem) -> None:
    first = step(indebted, USDC=6_000 * USD)
    assert isinstance(first, Act) and first.tool == "compound_v3_repay" and first.or_trade is None
    short = step(indebted)
    assert isinstance(short, Act) and short.tool == "compound_v3_withdraw" and short.params["amount"] == "max"
    assert isinstance(short.or_trade, NeedsTrade) and short.or_trade.raw > 5_000 * USD
    indebted.act("compound_v3_repay", **MARKET, amount="max")
    then = step(indebted)
    assert isinstance(then, Act) and then.params["asset"] == chain.tokens["WETH"].address


def test_a_paused_market_is_said_entered_no_more_and_waited_for(chain: World, golem: Golem) -> None:
    golem.act("compound_v3_supply", **MARKET, amount=str(1_000 * USD))
    pause(chain, goes_in=True)
    (position,) = golem.positions()
    assert [(each.reason, each.raw) for each in position.locked] == [("frozen", 0)]
    assert refused(golem, "compound_v3_supply", **MARKET, amount=str(USD)).data["reason"] == "paused"
    pause(chain, goes_in=True, goes_out=True)
    (position,) = golem.positions()
    assert [each.reason for each in position.locked] == ["paused"]
    assert isinstance(step(golem), Wait)
    assert refused(golem, "compound_v3_withdraw", **MARKET, amount="max").code == "MARKET_CLOSED"
    pause(chain)
    golem.act("compound_v3_withdraw", **MARKET, amount="max")
    assert golem.positions() == () or golem.positions()[0].facts["supplied"] == "0"


def test_a_price_that_falls_between_plan_and_call_refuses_a_debt(chain: World, golem: Golem) -> None:
    golem.act("compound_v3_supply", **COVER)
    plan = golem.plan("compound_v3_borrow", **MARKET, amount=str(7_000 * USD))
    set_feed(chain, "WETH", 2_700)
    with pytest.raises(AssertionError):
        golem.check_measured(plan)


def test_a_gift_of_the_asset_changes_no_position(chain: World, golem: Golem) -> None:
    golem.act("compound_v3_supply", **MARKET, amount=str(1_000 * USD))
    (before,) = golem.positions()
    giver = chain.new_account(WAD, {"USDC": 500_000 * USD})
    chain.transact(giver, chain.tokens["USDC"].address, "transfer(address,uint256)", COMET, 500_000 * USD)
    (after,) = golem.positions()
    assert after.raw_of(chain.tokens["USDC"].address) - before.raw_of(chain.tokens["USDC"].address) in range(10)


def test_a_stranger_who_claims_first_pays_the_golem_its_rewards(chain: World, golem: Golem) -> None:
    golem.act("compound_v3_supply", **MARKET, amount=str(20_000 * USD))
    chain.rpc.call("evm_increaseTime", 30 * DAY)
    chain.rpc.call("evm_mine")
    assert int(golem.positions()[0].facts["claimable"]) > 10_000
    stranger = chain.new_account(WAD, {})
    chain.transact(stranger, REWARDS, "claim(address,address,bool)", COMET, golem.address, True)
    held = chain.rpc.read(chain.tokens["WBTC"].address, "balanceOf(address)", golem.address, returns="(uint256)")[0]
    assert held > 10_000
    assert int(golem.positions()[0].facts["claimable"]) < 100


def test_rewards_that_cannot_be_asked_for_count_for_nothing_and_stop_no_exit(chain: World, golem: Golem) -> None:
    golem.act("compound_v3_supply", **MARKET, amount=str(1_000 * USD))
    chain.rpc.call("anvil_setCode", REWARDS, "0xfe")
    (position,) = golem.positions()
    assert position.facts["claimable"] == "0"
    golem.act("compound_v3_withdraw", **MARKET, amount="max")
    assert refused(golem, "compound_v3_claim_rewards", **MARKET).code == "COMPOUND_NOTHING_TO_CLAIM"


def test_foreign_bytes_and_others_rewards_are_a_veto(chain: World, golem: Golem) -> None:
    reader = make_context(chain, address=golem.address).chain()
    usdc, weth, wbtc = (chain.tokens[each].address for each in ("USDC", "WETH", "WBTC"))
    other = "0x" + "66" * 20
    for to, data, value in (
        (COMET, encode_call("function supplyTo(address,address,uint256)", other, usdc, 5), 0),
        (COMET, encode_call("function withdrawTo(address,address,uint256)", other, usdc, 5), 0),
        (COMET, encode_call("function transfer(address,uint256)", other, 5), 0),
        (COMET, encode_call(signatures.SUPPLY, usdc, 5) + b"\0", 0),
        (COMET, encode_call(signatures.SUPPLY, usdc, 5), 1),
        (COMET, encode_call(signatures.SUPPLY, weth, signatures.EVERYTHING), 0),
        (COMET, encode_call(signatures.WITHDRAW, weth, signatures.EVERYTHING), 0),
        (REWARDS, encode_call(signatures.CLAIM, COMET, other, True), 0),
        (REWARDS, encode_call(signatures.CLAIM, COMET, golem.address, False), 0),
        (REWARDS, encode_call(signatures.CLAIM, wbtc, golem.address, True), 0),
    ):
        with pytest.raises(UnknownCall):
            assert PROTOCOL.effects is not None
            call = Call(to, data, value, "")
            PROTOCOL.effects.read(call, earlier=(), account=golem.address, chain=reader, into=Effects())


def test_what_is_told_is_what_the_market_says(chain: World, indebted: Golem) -> None:
    (row,) = answer_of(make_context(chain, address=indebted.address), "compound_v3_get_position")["positions"]
    assert row["supplied"] == "0" and int(row["owed"]) in range(5_000 * USD, 5_000 * USD + 100)
    assert row["health_factor"] == "2.14" and int(row["can_borrow"]) // USD in (2_157, 2_158)
    (market,) = answer_of(make_context(chain, address=indebted.address), "compound_v3_get_markets")["markets"]
    assert market["least_debt"] == str(100 * USD) and market["pays_rewards"] is True


def test_a_pair_and_its_calls_say_everything_where_a_debt_is_cleared(chain: World, indebted: Golem) -> None:
    lender = PROTOCOL.lending
    assert lender is not None
    reader = make_context(chain, address=indebted.address).chain()
    weth, usdc = (chain.tokens[each].address for each in ("WETH", "USDC"))
    pair = drive(lender.pair(CHAIN_ID, indebted.address, weth, usdc), reader.call_many)
    assert (pair.collateral_raw, pair.debt_raw // USD) == (4 * WAD, 5_000)
    assert pair.health_bps(collateral=pair.collateral_raw, debt=pair.debt_raw) in (21_479, 21_480)
    (part,) = lender.calls(pair, Verb.REPAY, 1_000 * USD)
    (rest,) = lender.calls(pair, Verb.REPAY, 4_100 * USD, earlier=(1_000 * USD,))
    assert decode_input(signatures.SUPPLY, part.data) == (usdc, 1_000 * USD)
    assert decode_input(signatures.SUPPLY, rest.data) == (usdc, signatures.EVERYTHING)


def test_a_debt_that_is_cleared_is_approved_with_the_interest_of_a_day(chain: World, indebted: Golem) -> None:
    used = chain.rpc.read(COMET, "getUtilization()", returns="(uint256)")[0]
    rate = chain.rpc.read(COMET, "getBorrowRate(uint256)", used, returns="(uint64)")[0]
    plan = indebted.plan("compound_v3_repay", **MARKET, amount="max")
    (left,) = plan.allowances
    owed = plan.spends[0].expected
    assert left.granted == owed - (-owed * rate * DAY // WAD) + 2
    assert left.left == 0
