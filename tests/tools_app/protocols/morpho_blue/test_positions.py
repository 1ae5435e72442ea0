"""Positions that no contract lists are found, left step by step, and every byte of a call is accounted for."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.evm.world import World
from tests.tools_app.factories import answer_of, make_context, run_plan
from tests.tools_app.protocols.morpho_blue.golem import ETH, MORPHO, PARAMS, USDC, make_golem, pass_time, usdc_market
from tools_app.chain.abi import encode_call
from tools_app.protocols.morpho_blue.addresses import LOCAL, known_markets
from tools_app.protocols.morpho_blue.market import MarketParams
from tools_app.protocols.morpho_blue.positions import ref_of
from tools_app.protocols.morpho_blue.protocol import PROTOCOL
from tools_app.toolkit.effects import Effects, UnknownCall
from tools_app.toolkit.enums import ActionClass
from tools_app.toolkit.plan import Call
from tools_app.toolkit.positions import Act, NeedsTrade, PositionRef, Wait

pytestmark = pytest.mark.protocols("morpho")


def open_unknown_market(chain: World) -> MarketParams:
    """A market that no list names: USDC against WBTC, by an account of the street."""
    wbtc, usdc = chain.tokens["WBTC"].address, chain.tokens["USDC"].address
    oracle = chain.deploy(chain.actors.makers[0], "SimulatedFeed", "(string,uint8,int256)", "x", 8, 10**8)
    params = MarketParams(usdc, wbtc, oracle, LOCAL["irm"], 86 * 10**16)
    chain.transact(chain.actors.makers[0], MORPHO, f"createMarket({PARAMS})", params.as_tuple)
    return params


def test_an_unknown_market_is_found_by_its_logs_and_then_by_the_hint(chain: World) -> None:
    golem = make_golem(chain, WBTC=10**8, USDC=1_000 * USDC)
    params = open_unknown_market(chain)
    plan = golem.plan("morpho_supply_market", market_id=params.id, amount="5000000", asset="WBTC")
    assert golem.positions() == ()
    outcome = run_plan(chain, golem.account, plan)
    assert golem.positions() == ()
    assert PROTOCOL.positions is not None
    logs = [log for receipt in outcome.receipts for log in receipt.logs]
    refs = PROTOCOL.positions.born(logs, golem.address, 31337)
    assert refs == (ref_of(31337, params.id),)
    assert PROTOCOL.positions.born(logs, chain.actors.makers[0].address, 31337) == ()
    (position,) = golem.positions(hints=refs)
    assert position.raw_of(chain.tokens["WBTC"].address) == 5_000_000
    told = answer_of(make_context(chain, address=golem.address), "morpho_get_user_position")
    assert [row["market_id"] for row in told["markets"]] == [params.id]
    # The measured simulation knows it by the plan's own word.
    golem.act("morpho_withdraw_market", market_id=params.id, amount="max", asset="WBTC")


def test_a_hint_that_names_nothing_is_no_position(chain: World) -> None:
    golem = make_golem(chain)
    strange = [PositionRef("morpho", "market", 31337, each) for each in ("0x12", "0x" + "ab" * 32, "nothing")]
    assert golem.positions(hints=strange) == ()


def test_whoever_has_nothing_is_asked_once(chain: World) -> None:
    golem, asked = make_golem(chain), []
    reader = make_context(chain, address=golem.address).chain()
    assert PROTOCOL.positions is not None
    reads = PROTOCOL.positions.list(31337, golem.address, ())
    wanted = next(reads)
    with pytest.raises(StopIteration) as ended:
        while True:
            asked.append(wanted)
            wanted = reads.send(reader.call_many(wanted))
    assert (len(asked), ended.value.value) == (1, ())


def test_the_way_out_repays_first_and_ends_with_nothing(chain: World) -> None:
    golem, market = make_golem(chain), usdc_market()
    golem.act("morpho_supply_market", market_id=market, amount=str(2_000 * USDC))
    golem.act("morpho_borrow_market", market_id=market, amount=str(10_000 * USDC), collateral_amount=str(10 * ETH))
    tokens = [chain.tokens[symbol].address for symbol in ("USDC", "WETH")]
    assert golem.leave(tokens) == ["morpho_repay_market", "morpho_withdraw_market"]
    assert golem.positions() == ()


def test_a_debt_and_its_collateral_leave_in_one_plan_with_the_interest_since(chain: World) -> None:
    golem, market = make_golem(chain), usdc_market()
    golem.act("morpho_borrow_market", market_id=market, amount=str(10_000 * USDC), collateral_amount=str(10 * ETH))
    (position,) = golem.positions()
    held = {chain.tokens["USDC"].address: 100_000 * USDC}
    step = PROTOCOL.exits.next_step(position, held, chain.timestamp()) if PROTOCOL.exits else None
    assert isinstance(step, Act)
    plan = golem.plan(step.tool, **step.params)
    assert plan.action_class is ActionClass.CLOSE_POSITION
    # Half an hour between the preview and the commit: shares are what is paid back, and not one of them is left.
    pass_time(chain, 1_800)
    golem.check_flows(run_plan(chain, golem.account, plan))
    assert golem.positions() == ()


def test_the_way_out_without_the_borrowed_token_takes_spare_collateral_and_asks_for_a_trade(chain: World) -> None:
    golem, market = make_golem(chain, WETH=10 * ETH), usdc_market()
    golem.act("morpho_borrow_market", market_id=market, amount=str(10_000 * USDC), collateral_amount=str(10 * ETH))
    usdc, weth = (chain.tokens[symbol].address for symbol in ("USDC", "WETH"))
    chain.transact(golem.account, usdc, "transfer(address,uint256)", chain.actors.makers[0].address, 7_000 * USDC)
    assert PROTOCOL.exits is not None
    taken = []
    for _ in range(4):
        (position,) = golem.positions()
        held = {token: chain.rpc.balance_of(token, golem.address) for token in (usdc, weth)}
        step = PROTOCOL.exits.next_step(position, held, chain.timestamp())
        if not isinstance(step, Act):
            break
        golem.act(step.tool, **step.params)
        taken.append((step.tool, step.params.get("asset")))
    # What is held pays back; less debt frees collateral; with it the rest can be bought.
    assert taken == [("morpho_repay_market", None), ("morpho_withdraw_market", weth)]
    assert isinstance(step, NeedsTrade) and step.token == usdc and 7_000 * USDC < step.raw < 7_010 * USDC
    chain.fund(golem.address, 0, {"USDC": step.raw})
    assert golem.leave([usdc, weth]) == ["morpho_repay_market"]


def test_what_others_borrow_is_waited_for(chain: World) -> None:
    golem, market = make_golem(chain), usdc_market()
    golem.act("morpho_supply_market", market_id=market, amount=str(2_000 * USDC))
    (position,) = golem.positions()
    assert PROTOCOL.exits is not None
    dry = replace(position, facts={**position.facts, "available_liquidity": "0"})
    assert isinstance(PROTOCOL.exits.next_step(dry, {}, 0), Wait)
    thin = replace(position, facts={**position.facts, "available_liquidity": "700"})
    step = PROTOCOL.exits.next_step(thin, {}, 0)
    assert isinstance(step, Act) and step.params["amount"] == "700"


def test_foreign_bytes_are_a_veto(chain: World) -> None:
    golem = make_golem(chain)
    reader, params = make_context(chain, address=golem.address).chain(), known_markets(31337)[0].as_tuple
    me, other = golem.address, chain.actors.makers[0].address
    supply = f"function supply({PARAMS},uint256,uint256,address,bytes)"
    borrow = f"function borrow({PARAMS},uint256,uint256,address,address)"
    assert PROTOCOL.effects is not None
    vetoed = [
        encode_call(supply, params, 1, 0, other, b""),
        encode_call(supply, params, 1, 0, me, b"call me"),
        encode_call(supply, params, 0, 1, me, b""),
        encode_call(supply, params, 1, 0, me, b"") + b"\0",
        encode_call(borrow, params, 1, 0, other, me),
        encode_call(borrow, params, 0, 1, me, me),
        encode_call(f"function repay({PARAMS},uint256,uint256,address,bytes)", params, 1, 1, me, b""),
        encode_call("function flashLoan(address,uint256,bytes)", params[0], 1, b"do this"),
        encode_call("function setOwner(address)", me),
        b"",
    ]
    for data in vetoed:
        with pytest.raises(UnknownCall):
            PROTOCOL.effects.read(Call(MORPHO, data, 0, ""), earlier=(), account=me, chain=reader, into=Effects())
    with pytest.raises(UnknownCall):
        PROTOCOL.effects.read(
            Call(MORPHO, encode_call(supply, params, 1, 0, me, b""), 1, ""),
            earlier=(),
            account=me,
            chain=reader,
            into=Effects(),
        )


def test_a_borrow_to_somebody_else_names_who_is_paid_and_an_authorization_is_a_right(chain: World) -> None:
    golem, effects = make_golem(chain), Effects()
    reader, params = make_context(chain, address=golem.address).chain(), known_markets(31337)[0].as_tuple
    other = chain.actors.makers[0].address
    borrow = f"function borrow({PARAMS},uint256,uint256,address,address)"
    authorize = "function setAuthorization(address,bool)"
    assert PROTOCOL.effects is not None
    for data in (
        encode_call(borrow, params, 7, 0, golem.address, other),
        encode_call(authorize, other, True),
        encode_call(authorize, other, False),
    ):
        PROTOCOL.effects.read(Call(MORPHO, data, 0, ""), earlier=(), account=golem.address, chain=reader, into=effects)
    assert effects.recipients == [other]
    assert [(right.taker, right.amount) for right in effects.rights] == [(other, -1), (other, 0)]
    (event,) = PROTOCOL.rights
    signature, arguments = event.revoke(MORPHO, other, None)
    assert encode_call(signature, *arguments) == encode_call(authorize, other, False)


def test_a_tool_without_a_wallet_asks_for_an_account(chain: World) -> None:
    answer = answer_of(make_context(chain), "morpho_get_user_position", account=chain.actors.makers[0].address)
    assert answer["markets"] == []
