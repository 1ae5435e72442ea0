"""Moonwell's markets answer a number where they refuse: what did not happen is never taken for done."""

from __future__ import annotations

from typing import Any

import pytest

from golem_project.embedded.world.accounts import derive_account
from tests.evm.world import CHAIN_ID, World
from tests.tools_app.factories import answer_of, make_context, run_plan
from tests.tools_app.protocols.measured import Golem
from tools_app.apps import load_registry
from tools_app.chain.abi import decode_input, encode_call
from tools_app.core.errors import GolemError
from tools_app.protocols.moonwell import signatures
from tools_app.protocols.moonwell.addresses import deployments
from tools_app.protocols.moonwell.protocol import PROTOCOL
from tools_app.toolkit.effects import Effects, UnknownCall
from tools_app.toolkit.lending import MarketNotFound, Verb
from tools_app.toolkit.plan import Call
from tools_app.toolkit.positions import Act, NeedsTrade, Stuck, Wait, drive

pytestmark = pytest.mark.protocols("moonwell")
WAD, USD, DAY = 10**18, 10**6, 86_400
COVER = {"asset": "WETH", "amount": str(4 * WAD)}


def at(key: str) -> str:
    return str(PROTOCOL.address(CHAIN_ID, key))


@pytest.fixture
def golem(chain: World) -> Golem:
    load_registry()
    return Golem(chain, PROTOCOL, chain.new_account(WAD, {"USDC": 20_000 * USD, "WETH": 10 * WAD, "DAI": 1_000 * WAD}))


@pytest.fixture
def indebted(golem: Golem) -> Golem:
    """Owes 5,000 USDC over four WETH."""
    golem.act("moonwell_supply", **COVER)
    golem.act("moonwell_borrow", asset="USDC", amount=str(5_000 * USD))
    return golem


def refused(golem: Golem, tool: str, **params: Any) -> GolemError:
    with pytest.raises(GolemError) as found:
        golem.plan(tool, **params)
    return found.value


def as_admin(chain: World, key: str, signature: str, *args: Any) -> None:
    chain.transact(derive_account("moonwell deployer"), at(key), signature, *args)


def step(golem: Golem, **held: int) -> Any:
    (position,) = golem.positions()
    assert PROTOCOL.exits is not None
    wallet = {golem.chain.tokens[symbol].address: raw for symbol, raw in held.items()}
    return PROTOCOL.exits.next_step(position, wallet, golem.chain.timestamp())


def set_feed(chain: World, symbol: str, dollars: int) -> None:
    chain.transact(chain.actors.deployer, chain.tokens[symbol].feed, "setAnswer(int256)", dollars * 10**8)


def test_the_world_and_the_product_agree_on_the_addresses(chain: World) -> None:
    assert chain.protocols["moonwell"] == deployments(CHAIN_ID)
    assert PROTOCOL.is_simulated(CHAIN_ID) and not PROTOCOL.is_simulated(8453)


def test_a_refusal_that_a_market_answers_with_a_number_is_not_taken_for_success(chain: World, golem: Golem) -> None:
    golem.act("moonwell_supply", **COVER)
    plan = golem.plan("moonwell_borrow", asset="USDC", amount=str(6_000 * USD))
    set_feed(chain, "WETH", 1_500)
    # The call does not revert, and nothing comes: what is promised is not there.
    assert golem.simulate(plan).succeeded
    outcome = run_plan(chain, golem.account, plan)
    with pytest.raises(AssertionError):
        golem.check_flows(outcome)
    assert [leg.raw > 0 for leg in golem.positions()[0].legs] == [True]


def test_the_most_that_a_refusal_names_passes(golem: Golem) -> None:
    golem.act("moonwell_supply", **COVER)
    error = refused(golem, "moonwell_borrow", asset="USDC", amount=str(8_000 * USD))
    # Four WETH at 3,000 count with 81 percent, and the debt with half more and the interest of a day.
    assert error.code == "HEALTH_TOO_LOW" and int(error.data["most"]) // USD in (6_477, 6_478, 6_479)
    golem.act("moonwell_borrow", asset="USDC", amount=error.data["most"])
    assert refused(golem, "moonwell_withdraw", asset="WETH", amount=str(WAD // 100)).code == "HEALTH_TOO_LOW"


def test_what_is_lent_of_the_wrapped_coin_comes_out_as_coin(chain: World, golem: Golem) -> None:
    golem.act("moonwell_supply", **COVER)
    before = chain.rpc.balance_of(chain.tokens["WETH"].address, golem.address)
    plan = golem.plan("moonwell_withdraw", asset="WETH", amount=str(WAD))
    assert [(each.token.is_native, each.expected) for each in plan.receives] == [(True, WAD)]
    golem.act("moonwell_withdraw", asset="WETH", amount=str(WAD))
    assert chain.rpc.balance_of(chain.tokens["WETH"].address, golem.address) == before


def test_what_was_not_said_to_cover_debts_covers_none(golem: Golem) -> None:
    golem.act("moonwell_supply", **COVER, covers_debts=False)
    (position,) = golem.positions()
    assert [leg.cover_bps for leg in position.legs] == [0]
    error = refused(golem, "moonwell_borrow", asset="USDC", amount=str(USD))
    assert error.code == "HEALTH_TOO_LOW" and error.data["most"] == "0"
    plan = golem.plan("moonwell_supply", asset="WETH", amount=str(WAD))
    # What was there counts with what comes.
    assert plan.details["covers_debts"] is True and len(plan.statements) == 1
    golem.act("moonwell_supply", asset="WETH", amount=str(WAD))
    (position,) = golem.positions()
    assert [leg.cover_bps for leg in position.legs] == [8_100]
    assert golem.plan("moonwell_supply", asset="WETH", amount=str(WAD)).statements == ()


def test_the_way_out_pays_back_then_takes_the_cover(chain: World, indebted: Golem) -> None:
    first = step(indebted, USDC=6_000 * USD)
    assert isinstance(first, Act) and first.tool == "moonwell_repay" and first.or_trade is None
    short = step(indebted)
    assert isinstance(short, Act) and short.tool == "moonwell_withdraw" and short.params["amount"] == "max"
    assert isinstance(short.or_trade, NeedsTrade) and short.or_trade.raw > 5_000 * USD
    indebted.act("moonwell_withdraw", asset="WETH", amount="max")
    nothing_left = step(indebted)
    assert isinstance(nothing_left, NeedsTrade)
    indebted.act("moonwell_repay", asset="USDC", amount="max")
    then = step(indebted)
    assert isinstance(then, Act) and then.params["asset"] == chain.tokens["WETH"].address
    indebted.act(then.tool, **then.params)
    assert indebted.positions() == ()


def test_a_pause_and_a_cap_keep_the_golem_out_and_let_it_leave(chain: World, golem: Golem) -> None:
    golem.act("moonwell_supply", asset="USDC", amount=str(1_000 * USD))
    golem.act("moonwell_supply", **COVER)
    as_admin(chain, "comptroller", "pause(address,bool,bool)", at("market_usdc"), True, True)
    (position,) = golem.positions()
    assert [(each.reason, each.raw) for each in position.locked] == [("frozen", 0)]
    assert refused(golem, "moonwell_supply", asset="USDC", amount=str(USD)).data["reason"] == "paused"
    assert refused(golem, "moonwell_borrow", asset="USDC", amount=str(USD)).data["reason"] == "paused"
    golem.act("moonwell_withdraw", asset="USDC", amount="max")
    as_admin(chain, "comptroller", "pause(address,bool,bool)", at("market_usdc"), False, False)
    listed = "supportMarket(address,uint256,uint256,uint256)"
    # Interest has run since the world was prepared, however long ago that is.
    (market,) = answer_of(make_context(chain, address=golem.address), "moonwell_get_markets", asset="USDC")["markets"]
    caps = (int(market[each]) + 500 * USD for each in ("total_supplied", "total_borrowed"))
    as_admin(chain, "comptroller", listed, at("market_usdc"), 83 * 10**16, *caps)
    into = refused(golem, "moonwell_supply", asset="USDC", amount=str(1_000 * USD))
    out = refused(golem, "moonwell_borrow", asset="USDC", amount=str(1_000 * USD))
    assert (into.data["reason"], out.data["reason"]) == ("supply_cap", "borrow_cap")
    assert int(into.data["room"]) // USD in range(495, 500) and int(out.data["room"]) // USD in range(495, 500)


def test_what_is_lent_out_whole_is_told_and_waited_for(chain: World, golem: Golem) -> None:
    golem.act("moonwell_supply", asset="USDC", amount=str(10_000 * USD))
    whale = chain.new_account(WAD, {"WETH": 2_000 * WAD})
    weth = chain.tokens["WETH"].address
    chain.transact(whale, weth, "approve(address,uint256)", at("market_weth"), 2**255)
    chain.transact(whale, at("market_weth"), "mint(uint256)", 2_000 * WAD)
    chain.transact(whale, at("comptroller"), "enterMarkets(address[])", [at("market_weth")])
    left = chain.rpc.balance_of(chain.tokens["USDC"].address, at("market_usdc"))
    chain.transact(whale, at("market_usdc"), "borrow(uint256)", left)
    (position,) = golem.positions()
    assert [each.reason for each in position.locked] == ["used"]
    assert isinstance(step(golem), Wait)
    assert refused(golem, "moonwell_withdraw", asset="USDC", amount="max").code == "MARKET_CLOSED"
    assert refused(golem, "moonwell_supply", asset="USDC", amount=str(USD)).data["reason"] == "used"


def test_a_gift_to_a_market_changes_no_position_by_more_than_its_share(chain: World, golem: Golem) -> None:
    golem.act("moonwell_supply", asset="USDC", amount=str(1_000 * USD))
    (before,) = golem.positions()
    usdc = chain.tokens["USDC"].address
    giver = chain.new_account(WAD, {"USDC": 500_000 * USD})
    chain.transact(giver, usdc, "transfer(address,uint256)", at("market_usdc"), 500_000 * USD)
    (after,) = golem.positions()
    # Whoever gives, gives to all who lend there by their shares.
    assert 1_000 * USD < after.raw_of(usdc) < 1_251 * USD and before.raw_of(usdc) <= 1_000 * USD


def test_a_stranger_who_claims_first_pays_the_golem_its_rewards(chain: World, golem: Golem) -> None:
    golem.act("moonwell_supply", asset="USDC", amount=str(20_000 * USD))
    chain.rpc.call("evm_increaseTime", DAY)
    chain.rpc.call("evm_mine")
    assert int(golem.positions()[0].facts["claimable"]) > 10_000
    stranger = chain.new_account(WAD, {})
    claim = "claimReward(address,address[])"
    chain.transact(stranger, at("comptroller"), claim, golem.address, [at("market_usdc")])
    assert chain.rpc.balance_of(chain.tokens["WBTC"].address, golem.address) > 10_000
    assert int(golem.positions()[0].facts["claimable"]) < 100


def test_rewards_that_cannot_be_asked_for_count_for_nothing_and_stop_no_exit(chain: World, golem: Golem) -> None:
    golem.act("moonwell_supply", **COVER)
    as_admin(chain, "comptroller", "setRewards(address)", "0x" + "00" * 20)
    chain.rpc.call("anvil_setCode", at("rewards"), "0x5f5ffd")
    (position,) = golem.positions()
    assert position.facts["claimable"] == "0"
    golem.act("moonwell_withdraw", asset="WETH", amount="max")
    assert refused(golem, "moonwell_claim_rewards").code == "MOONWELL_NOTHING_TO_CLAIM"


def test_a_market_that_is_not_known_makes_the_account_not_whole(chain: World, golem: Golem) -> None:
    golem.act("moonwell_supply", **COVER)
    listed = "supportMarket(address,uint256,uint256,uint256)"
    as_admin(chain, "comptroller", listed, at("oracle"), 0, 0, 0)
    chain.transact(golem.account, at("comptroller"), "enterMarkets(address[])", [at("oracle")])
    (position,) = golem.positions()
    assert not position.is_whole and isinstance(step(golem), Stuck)


def test_foreign_bytes_and_others_rewards_are_a_veto(chain: World, golem: Golem) -> None:
    reader = make_context(chain, address=golem.address).chain()
    usdc, other = chain.tokens["USDC"].address, "0x" + "66" * 20
    market, rules = at("market_usdc"), at("comptroller")
    for to, data, value in (
        (market, encode_call("function transfer(address,uint256)", other, 5), 0),
        (market, encode_call("function repayBorrowBehalf(address,uint256)", other, 5), 0),
        (market, encode_call("function liquidateBorrow(address,uint256,address)", other, 5, market), 0),
        (market, encode_call(signatures.MINT, 5) + b"\0", 0),
        (market, encode_call(signatures.MINT, 5), 1),
        (rules, encode_call(signatures.ENTER, [usdc]), 0),
        (rules, encode_call("function exitMarket(address)", market), 0),
        (rules, encode_call(signatures.CLAIM, other, [market]), 0),
        (rules, encode_call(signatures.CLAIM, golem.address, [usdc]), 0),
        (rules, encode_call(signatures.CLAIM, golem.address, [market, market]), 0),
        (rules, encode_call(signatures.CLAIM, golem.address, []), 0),
        (at("oracle"), encode_call(signatures.MINT, 5), 0),
    ):
        with pytest.raises(UnknownCall):
            assert PROTOCOL.effects is not None
            call = Call(to, data, value, "")
            PROTOCOL.effects.read(call, earlier=(), account=golem.address, chain=reader, into=Effects())


def test_what_is_told_is_what_the_markets_say(chain: World, indebted: Golem) -> None:
    told = answer_of(make_context(chain, address=indebted.address), "moonwell_get_position")
    rows = {each["asset"]: each for each in told["positions"]}
    assert told["health_factor"] == "1.94" and int(rows["USDC"]["owed"]) in range(5_000 * USD, 5_000 * USD + 100)
    assert rows["WETH"]["covers_debts"] and int(rows["USDC"]["can_borrow"]) // USD in (1_477, 1_478, 1_479)
    (market,) = answer_of(make_context(chain, address=indebted.address), "moonwell_get_markets", asset="WETH")[
        "markets"
    ]
    assert market["collateral_factor"] == "81.0000" and market["is_paused"] is False


def test_a_pair_and_its_calls_say_everything_where_a_debt_is_cleared(chain: World, indebted: Golem) -> None:
    lender = PROTOCOL.lending
    assert lender is not None
    reader = make_context(chain, address=indebted.address).chain()
    weth, dai, usdc = (chain.tokens[each].address for each in ("WETH", "DAI", "USDC"))
    with pytest.raises(MarketNotFound, match="pays out coin"):
        drive(lender.pair(CHAIN_ID, indebted.address, weth, usdc), reader.call_many)
    indebted.act("moonwell_supply", asset="DAI", amount=str(1_000 * WAD))
    reader = make_context(chain, address=indebted.address).chain()
    pair = drive(lender.pair(CHAIN_ID, indebted.address, dai, usdc), reader.call_many)
    assert (pair.debt_raw // USD, pair.closed, round(pair.other_cover / USD)) == (5_000, "", 9_720)
    (part,) = lender.calls(pair, Verb.REPAY, 1_000 * USD)
    (rest,) = lender.calls(pair, Verb.REPAY, 4_100 * USD, earlier=(1_000 * USD,))
    assert decode_input(signatures.REPAY, part.data) == (1_000 * USD,)
    assert decode_input(signatures.REPAY, rest.data) == (signatures.EVERYTHING,)
    assert part.to == lender.spender(pair, Verb.REPAY) == at("market_usdc")
    assert lender.spender(pair, Verb.SUPPLY) == at("market_dai")
