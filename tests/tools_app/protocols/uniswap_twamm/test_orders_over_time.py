"""Orders over time: sold part by part at the least price or better, closed whenever, and followed to their end."""

from __future__ import annotations

from typing import Any

import pytest
from eth_account.signers.local import LocalAccount

from tests.evm.world import CHAIN_ID, World
from tests.tools_app.factories import answer_of, make_context
from tests.tools_app.protocols.measured import Golem
from tools_app.apps import load_registry
from tools_app.chain.abi import encode_call
from tools_app.core.errors import GolemError
from tools_app.protocols.uniswap_twamm.positions import ref_of
from tools_app.protocols.uniswap_twamm.protocol import PROTOCOL
from tools_app.toolkit.effects import Effects, UnknownCall
from tools_app.toolkit.orders import OrderEnd, OrderFate
from tools_app.toolkit.plan import Call
from tools_app.toolkit.positions import Act, drive

pytestmark = pytest.mark.protocols("uniswap_twamm")
WAD, HOUR = 10**18, 3_600
ORDERS = str(PROTOCOL.address(CHAIN_ID, "orders"))
ORDER = {"token_in": "DAI", "token_out": "WETH", "amount": str(3_600 * WAD), "duration": "1h"}
SUBMIT = "function submit(address,address,uint256,uint256,uint256)"


@pytest.fixture
def golem(chain: World) -> Golem:
    load_registry()
    return Golem(chain, PROTOCOL, chain.new_account(WAD, {"DAI": 10_000 * WAD}))


@pytest.fixture
def filler(chain: World) -> LocalAccount:
    account = chain.new_account(WAD, {"WETH": 100 * WAD})
    chain.transact(account, chain.tokens["WETH"].address, "approve(address,uint256)", ORDERS, 2**255)
    return account


def submit(golem: Golem) -> str:
    before = {each.ref.id for each in golem.positions()}
    golem.act("uniswap_lp_submit_twamm_order", **ORDER)
    (fresh,) = {each.ref.id for each in golem.positions()} - before
    return fresh


def pass_time(chain: World, seconds: int) -> None:
    chain.rpc.call("evm_increaseTime", seconds)
    chain.rpc.call("evm_mine")


def fill(chain: World, filler: LocalAccount, order: str, part: int, paid: int) -> None:
    chain.transact(filler, ORDERS, "fill(uint256,uint256,uint256)", int(order), part, paid)


def status(golem: Golem, order: str) -> dict[str, Any]:
    found: dict[str, Any] = answer_of(
        make_context(golem.chain, address=golem.address), "uniswap_lp_get_twamm_order_status", order_id=order
    )
    return found


def end_of(golem: Golem, order: str) -> OrderEnd:
    reader = make_context(golem.chain, address=golem.address).chain()
    assert PROTOCOL.orders is not None
    return drive(PROTOCOL.orders.end(ref_of(CHAIN_ID, int(order)), golem.address, ()), reader.call_many)


def came(golem: Golem, order: str) -> dict[str, int]:
    return {leg.token: leg.raw for leg in end_of(golem, order).came}


def test_the_world_and_the_product_agree_on_the_address(chain: World) -> None:
    assert chain.protocols["uniswap_twamm"] == {"orders": ORDERS}
    assert PROTOCOL.is_simulated(CHAIN_ID) and not PROTOCOL.is_on(1)


def test_an_order_is_sold_in_parts_as_they_fall_due_and_never_below_its_least_price(
    chain: World, golem: Golem, filler: LocalAccount
) -> None:
    order = submit(golem)
    pass_time(chain, HOUR // 2)
    part = 1_500 * WAD
    least = WAD // 2 * 99 // 100
    for wrong in ((part, least - 1), (3_000 * WAD, 10 * WAD)):
        with pytest.raises(Exception, match="revert|TooLittle|NotDue|status"):
            fill(chain, filler, order, *wrong)
    fill(chain, filler, order, part, WAD // 2)
    told = status(golem, order)
    assert (told["status"], told["amount_filled"], told["amount_bought"]) == ("open", str(part), str(WAD // 2))
    assert told["remaining_amount"] == str(2_100 * WAD) and told["percent_complete"].startswith("41.66")
    assert told["average_price"].startswith("0.000333")
    (position,) = golem.positions()
    assert {leg.raw for leg in position.legs} == {2_100 * WAD, WAD // 2}
    assert position.standing is not None and position.standing.heir == golem.address


def test_an_order_that_was_filled_in_part_is_cancelled_and_both_tokens_come_back(
    chain: World, golem: Golem, filler: LocalAccount
) -> None:
    order = submit(golem)
    pass_time(chain, HOUR // 2)
    fill(chain, filler, order, 1_500 * WAD, WAD // 2)
    (position,) = golem.positions()
    assert PROTOCOL.exits is not None and PROTOCOL.orders is not None
    step = PROTOCOL.exits.next_step(position, {}, chain.timestamp())
    assert isinstance(step, Act) and step == PROTOCOL.orders.cancel(position, chain.timestamp())
    outcome = golem.act(step.tool, **step.params)
    dai, weth = chain.tokens["DAI"].address, chain.tokens["WETH"].address
    assert (outcome.deltas[dai], outcome.deltas[weth]) == (2_100 * WAD, WAD // 2)
    assert golem.positions() == () and end_of(golem, order).fate is OrderFate.CANCELLED
    assert came(golem, order) == {dai: 2_100 * WAD, weth: WAD // 2}
    with pytest.raises(GolemError) as refused:
        golem.plan("uniswap_lp_cancel_twamm_order", order_id=order)
    assert refused.value.code == "TWAMM_ORDER_UNKNOWN"


def test_a_part_that_is_filled_between_preview_and_commit_stays_within_what_the_plan_promised(
    chain: World, golem: Golem, filler: LocalAccount
) -> None:
    order = submit(golem)
    pass_time(chain, HOUR // 2)
    fill(chain, filler, order, 1_000 * WAD, WAD // 3)
    plan = golem.plan("uniswap_lp_cancel_twamm_order", order_id=order)
    fill(chain, filler, order, 500 * WAD, WAD // 6)
    bounds = {flow.token.symbol: flow.bound for flow in plan.receives}
    (position,) = golem.positions()
    left = {leg.token: leg.raw for leg in position.legs}
    assert left[chain.tokens["DAI"].address] >= bounds["DAI"] > 0
    assert left[chain.tokens["WETH"].address] >= bounds["WETH"]


def test_an_order_that_is_sold_or_over_is_closed_by_anybody_and_pays_its_owner(
    chain: World, golem: Golem, filler: LocalAccount
) -> None:
    sold, over = submit(golem), submit(golem)
    pass_time(chain, HOUR + 1)
    fill(chain, filler, sold, 3_600 * WAD, 2 * WAD)
    before = golem.chain.rpc.balance_of(chain.tokens["WETH"].address, golem.address)
    for order in (sold, over):
        chain.transact(filler, ORDERS, "close(uint256)", int(order))
    assert chain.rpc.balance_of(chain.tokens["WETH"].address, golem.address) == before + 2 * WAD
    assert (end_of(golem, sold).fate, end_of(golem, over).fate) == (OrderFate.EXECUTED, OrderFate.EXPIRED)
    assert status(golem, sold)["status"] == "executed" and golem.positions() == ()


def test_a_stranger_closes_nothing_early_and_learns_nothing_of_it_by_a_tool(
    chain: World, golem: Golem, filler: LocalAccount
) -> None:
    order = submit(golem)
    with pytest.raises(Exception, match="revert|NotYours|status"):
        chain.transact(filler, ORDERS, "close(uint256)", int(order))
    stranger = Golem(chain, PROTOCOL, filler)
    for number in (order, "999999"):
        with pytest.raises(GolemError) as refused:
            stranger.plan("uniswap_lp_cancel_twamm_order", order_id=number)
        assert refused.value.code == "TWAMM_ORDER_UNKNOWN"
    assert end_of(stranger, order).fate is OrderFate.UNKNOWN and end_of(golem, order).fate is OrderFate.OPEN


def test_foreign_bytes_are_a_veto(chain: World, golem: Golem, filler: LocalAccount) -> None:
    order, dai = submit(golem), chain.tokens["DAI"].address
    weth = chain.tokens["WETH"].address
    reader = make_context(chain, address=filler.address).chain()
    assert PROTOCOL.effects is not None
    for data, value in (
        (encode_call("function close(uint256)", int(order)), 0),
        (encode_call(SUBMIT, dai, weth, WAD, 0, HOUR), 0),
        (encode_call(SUBMIT, dai, dai, WAD, WAD, HOUR), 0),
        (encode_call(SUBMIT, dai, weth, WAD, WAD, HOUR), 1),
        (encode_call(SUBMIT, dai, weth, WAD, WAD, HOUR) + b"\0", 0),
        (encode_call("function fill(uint256,uint256,uint256)", 0, 1, 1), 0),
    ):
        with pytest.raises(UnknownCall):
            PROTOCOL.effects.read(
                Call(ORDERS, data, value, ""), earlier=(), account=filler.address, chain=reader, into=Effects()
            )
