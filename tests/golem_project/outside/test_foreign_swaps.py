"""Swaps with calldata of the Trading API: what does what our own plan does is taken, and nothing else."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from django.test import Client
from eth_abi.abi import encode

from tests.evm.world import CHAIN_ID
from tests.golem_project.outside.test_trading_api import STRANGER, carry_out, change, preview
from tests.golem_project.outside.test_trading_api import agent as agent
from tests.golem_project.outside.test_trading_api import api as api
from tests.golem_project.outside.trading_api import TradingApi, trading_for
from tests.golem_project.pi.conftest import Agent
from tests.golem_project.pi.conftest import tasks_here as tasks_here
from tests.live_golem import LiveGolem
from tests.tools_app.factories import call_tool, make_context
from tools_app import runner
from tools_app.chain.abi import encode_call
from tools_app.core.errors import GolemError
from tools_app.protocols.uniswap.addresses import deployment_on
from tools_app.protocols.uniswap.v3 import plans as v3
from tools_app.protocols.uniswap.v4.addresses import v4_on
from tools_app.protocols.uniswap.v4.plans import EXECUTE
from tools_app.standards.calldata import read_exactly
from tools_app.standards.erc20 import APPROVE
from tools_app.toolkit.registry import REGISTRY

SWAP = {"tool": "uniswap_api_create_swap_calldata", "token_in": "USDC", "token_out": "WETH", "amount": "300000000"}


def test_a_swap_is_carried_out_with_calldata_of_the_service_and_an_exact_approval_of_ours(
    agent: Agent, api: TradingApi
) -> None:
    told = carry_out(agent, **SWAP)
    assert told["amount_in"] == "300000000" and int(told["amount_out"]) > 0
    assert [path for path, _, _ in api.got] == ["/quote", "/swap"]
    assert api.got[1][1]["quote"]["quoteId"] == "q-1", "the quote goes back as it came"
    router = deployment_on(CHAIN_ID).v3_router
    usdc = api.world.tokens["USDC"].address
    assert api.world.rpc.read(usdc, "allowance(address,address)", agent.golem.address, router, returns="(uint256)") == (
        0,
    )


def twist_swap(change_step: Callable[[list[Any]], None], *, until: Any = None) -> Callable[[dict[str, Any]], Any]:
    """One swap of the router's bundle in the answer's calldata, or the bundle's end."""

    def twist(made: dict[str, Any]) -> dict[str, Any]:
        end, (step,) = read_exactly(bytes.fromhex(made["swap"]["data"][2:]), v3.MULTICALL_UNTIL)
        ((*arguments,),) = read_exactly(step, v3.EXACT_IN_SINGLE)
        change_step(arguments)
        steps = [encode_call(v3.EXACT_IN_SINGLE, tuple(arguments))]
        data = encode_call(v3.MULTICALL_UNTIL, end if until is None else until(end), steps)
        return {**made, "swap": {**made["swap"], "data": "0x" + data.hex()}}

    return twist


def put(place: int, value: Any) -> Callable[[list[Any]], None]:
    def change_step(arguments: list[Any]) -> None:
        arguments[place] = value(arguments[place]) if callable(value) else value

    return change_step


def leave(arguments: list[Any]) -> None:
    """Changes nothing."""


@pytest.mark.parametrize(
    ("twist", "field"),
    [
        (change(("swap", "to"), STRANGER), "contract"),
        (change(("swap", "from"), STRANGER), "account"),
        (change(("swap", "chainId"), 1), "chain"),
        (change(("swap", "value"), "0x1"), "calldata"),
        (change(("swap", "data"), "0xdeadbeef"), "calldata"),
        (twist_swap(put(0, STRANGER)), "spends"),
        (twist_swap(put(1, STRANGER)), "receives"),
        (twist_swap(put(3, STRANGER)), "recipient"),
        (twist_swap(put(4, lambda amount: amount + 1)), "spends"),
        (twist_swap(put(5, 0)), "receives"),
        (twist_swap(put(5, lambda least: least * 99 // 100)), "receives"),
        (twist_swap(put(6, 5)), "calldata"),
        (twist_swap(leave, until=lambda end: end + 1), "deadline"),
        (twist_swap(leave, until=lambda end: 1), "deadline"),
    ],
)
def test_a_swap_that_does_anything_else_is_refused_by_what_it_does(
    agent: Agent, api: TradingApi, twist: Any, field: str
) -> None:
    api.twists["/swap"] = twist
    problem = preview(agent, **SWAP)
    assert (problem.get("code"), problem.get("field")) == ("FOREIGN_CALL_REFUSED", field), problem


def test_a_route_that_needs_somebody_else_or_has_no_end_is_no_swap(agent: Agent, api: TradingApi) -> None:
    api.twists["/quote"] = change(("routing",), "DUTCH_V2")
    assert preview(agent, **SWAP)["field"] == "routing"
    api.twists["/quote"] = change(("quote", "output", "recipient"), STRANGER)
    assert preview(agent, **SWAP)["code"] == "FOREIGN_ANSWER_UNFIT"
    api.twists.pop("/quote")

    def without_end(made: dict[str, Any]) -> dict[str, Any]:
        _, (step,) = read_exactly(bytes.fromhex(made["swap"]["data"][2:]), v3.MULTICALL_UNTIL)
        return {**made, "swap": {**made["swap"], "data": "0x" + step.hex()}}

    api.twists["/swap"] = without_end
    assert preview(agent, **SWAP)["field"] == "deadline"


def plan_of(agent: Agent, api: TradingApi, tool: str, **params: Any) -> Any:
    """The plan itself, for accounts of a kind that the shared golem is not of."""
    context = make_context(api.world, address=agent.golem.address, golem_id=agent.golem.pk)
    return call_tool(replace(context, services=runner.list_services()), tool, **params)


@pytest.mark.protocols("uniswap_v4")
def test_calldata_of_the_universal_router_is_read_and_paid_by_way_of_permit2(live_golem: LiveGolem) -> None:
    with trading_for(live_golem.golem, live_golem.world) as api:
        agent = Agent(golem=live_golem.golem, key=live_golem.key, client=Client())
        asked = {"token_in": "USDC", "token_out": "DAI", "amount": "300000000"}
        own = plan_of(agent, api, "uniswap_execute_swap", **asked, route="v4:100")
        call = own.calls[-1]
        api.twists["/swap"] = lambda made: {
            **made,
            "swap": {**made["swap"], "to": call.to, "data": "0x" + call.data.hex()},
        }
        plan = plan_of(agent, api, "uniswap_api_create_swap_calldata", **asked, slippage_bps=200)
        assert plan.calls[-1].data == call.data and plan.details["router"] == call.to
        assert [(each.spender, each.through is not None) for each in plan.allowances][-1] == (call.to, True)
        assert plan.receives[0].bound == own.receives[0].bound


ME, THE_ROUTER = "0x0000000000000000000000000000000000000001", "0x0000000000000000000000000000000000000002"
V3_INPUT = ("address", "uint256", "uint256", "bytes", "bool")
V2_INPUT = ("address", "uint256", "uint256", "address[]", "bool")
ALL_OF_PERMIT2 = ("((address,uint160,uint48,uint48),address,uint256)", "bytes")


def through_router(
    api: TradingApi, commands: str, *inputs: tuple[tuple[str, ...], tuple[Any, ...]], value: int = 0
) -> None:
    """Let the service answer with these commands of the Universal Router, until our own plan's deadline."""
    found = v4_on(CHAIN_ID)
    assert found is not None

    def twist(made: dict[str, Any]) -> dict[str, Any]:
        end, _ = read_exactly(bytes.fromhex(made["swap"]["data"][2:]), v3.MULTICALL_UNTIL)
        packed = [encode(list(types), values) for types, values in inputs]
        data = encode_call(EXECUTE, bytes.fromhex(commands), packed, end)
        return {**made, "swap": {**made["swap"], "to": found.router, "data": "0x" + data.hex(), "value": hex(value)}}

    api.twists["/swap"] = twist


def pack(*steps: str | int) -> bytes:
    """A path of V3."""
    return b"".join(each.to_bytes(3, "big") if isinstance(each, int) else bytes.fromhex(each[2:]) for each in steps)


@pytest.mark.protocols("uniswap_v4")
def test_swaps_of_the_universal_router_in_older_pools_are_carried_out_and_every_change_is_refused(
    shared_golem: LiveGolem, tasks_here: None
) -> None:
    with trading_for(shared_golem.golem, shared_golem.world) as api:
        agent = Agent(golem=shared_golem.golem, key=shared_golem.key, client=Client())
        usdc, weth = (api.world.tokens[each].address for each in ("USDC", "WETH"))
        asked = {key: value for key, value in SWAP.items() if key != "tool"}
        own = plan_of(agent, api, "uniswap_execute_swap", **asked)
        amount, least = own.spends[0].bound, own.receives[0].bound
        path, tokens = pack(usdc, 500, weth), [usdc, weth]
        straight = (V3_INPUT, (ME, amount, least, path, True))
        for commands, input_of in (
            ("00", straight),
            ("00", ((*V3_INPUT, "uint256[]"), (ME, amount, least, path, True, []))),
            ("01", (V3_INPUT, (ME, least, amount, pack(weth, 500, usdc), True))),
            ("08", (V2_INPUT, (ME, amount, least, tokens, True))),
            ("09", (V2_INPUT, (ME, least, amount, tokens, True))),
        ):
            through_router(api, commands, input_of)
            plan = plan_of(agent, api, SWAP["tool"], **asked)
            assert (plan.spends[0].bound, plan.receives[0].bound) == (amount, least)
            assert plan.allowances[-1].through is not None, "it is paid by way of Permit2"

        kept = (V3_INPUT, (THE_ROUTER, amount, least, path, True))
        permit = (ALL_OF_PERMIT2, (((usdc, amount, 1, 0), STRANGER, 1), b""))
        for field, commands, inputs in (
            ("recipient", "00", [(V3_INPUT, (STRANGER, amount, least, path, True))]),
            ("calldata", "00", [kept]),
            ("receives", "000c", [kept, (("address", "uint256"), (STRANGER, least))]),
            ("receives", "000c", [kept, (("address", "uint256"), (ME, least))]),
            ("spends", "00", [(V3_INPUT, (ME, amount + 1, least, path, True))]),
            ("receives", "00", [(V3_INPUT, (ME, amount, least - 1, path, True))]),
            ("spends", "00", [(V3_INPUT, (ME, amount, least, pack(weth, 500, usdc), True))]),
            ("calldata", "00", [(V3_INPUT, (ME, amount, least, path, False))]),
            ("calldata", "00", [(V3_INPUT, (ME, 0, least, path, True))]),
            ("calldata", "00", [((*V3_INPUT, "uint256[]"), (ME, amount, least, path, True, [1]))]),
            ("calldata", "00", [(V3_INPUT, (ME, amount, least, path[:-1], True))]),
            ("calldata", "08", [(V2_INPUT, (ME, amount, least, [usdc], True))]),
            ("calldata", "08", [(V2_INPUT, (ME, amount, least, [usdc, weth, usdc], True))]),
            ("calldata", "0000", [straight, straight]),
            ("calldata", "80", [straight]),
            ("calldata", "0a00", [permit, straight]),
            ("calldata", "00", [straight, straight]),
        ):
            through_router(api, commands, *inputs)
            with pytest.raises(GolemError) as refusal:
                plan_of(agent, api, SWAP["tool"], **asked)
            found = (refusal.value.code, refusal.value.data["field"])
            assert found == ("FOREIGN_CALL_REFUSED", field), (commands, inputs, refusal.value)

        through_router(api, "00", straight)
        told = carry_out(agent, **SWAP)
        assert told["amount_in"] == str(amount) and int(told["amount_out"]) >= least


@pytest.mark.protocols("uniswap_v4")
def test_coin_that_is_sent_to_the_universal_router_is_wrapped_and_swapped_whole_or_refused(
    shared_golem: LiveGolem, tasks_here: None
) -> None:
    with trading_for(shared_golem.golem, shared_golem.world) as api:
        agent = Agent(golem=shared_golem.golem, key=shared_golem.key, client=Client())
        usdc, weth = (api.world.tokens[each].address for each in ("USDC", "WETH"))
        coin = {**SWAP, "token_in": "ETH", "token_out": "USDC", "amount": str(10**17)}
        asked = {key: value for key, value in coin.items() if key != "tool"}
        own = plan_of(agent, api, "uniswap_execute_swap", **asked)
        amount, least = own.spends[0].bound, own.receives[0].bound
        wrap = (("address", "uint256"), (THE_ROUTER, amount))
        swap = (V3_INPUT, (ME, amount, least, pack(weth, 500, usdc), False))
        for field, commands, inputs, value in (
            ("calldata", "0b00", [wrap, swap], amount + 1),
            ("calldata", "0b00", [(wrap[0], (THE_ROUTER, amount - 1)), swap], amount),
            ("calldata", "0b00", [wrap, (V3_INPUT, (ME, amount - 1, least, pack(weth, 500, usdc), False))], amount),
            ("calldata", "0b00", [wrap, (V3_INPUT, (ME, amount, least, pack(weth, 500, usdc), True))], amount),
            ("recipient", "0b00", [wrap, (V3_INPUT, (STRANGER, amount, least, pack(weth, 500, usdc), False))], amount),
        ):
            through_router(api, commands, *inputs, value=value)
            with pytest.raises(GolemError) as refusal:
                plan_of(agent, api, coin["tool"], **asked)
            found = (refusal.value.code, refusal.value.data["field"])
            assert found == ("FOREIGN_CALL_REFUSED", field), (inputs, value, refusal.value)
        through_router(api, "0b00", wrap, swap, value=amount)
        told = carry_out(agent, **coin)
        assert told["amount_in"] == str(amount) and int(told["amount_out"]) >= least


def add_call(more: dict[str, str]) -> Callable[[dict[str, Any]], dict[str, Any]]:
    """A bundle with one call more."""
    return lambda made: {**made, "calls": [*made["calls"], more]}


def test_a_bundle_gives_its_one_swap_and_none_of_its_approvals(agent: Agent, api: TradingApi) -> None:
    asked = {key: value for key, value in SWAP.items() if key != "tool"}
    problem = preview(agent, **{**SWAP, "tool": "uniswap_api_batch_swap"})
    assert problem["code"] == "SMART_WALLET_NOT_CONFIGURED", problem
    plan = plan_of(agent, api, "uniswap_api_batch_swap", **asked)
    router = deployment_on(CHAIN_ID).v3_router
    approval, swap = plan.calls
    assert swap.to == router
    assert read_exactly(approval.data, APPROVE) == (router, 300_000_000), "the service asked for everything"
    stranger = {"to": api.world.tokens["USDC"].address, "value": "0x0"}
    stolen = encode_call("function transfer(address,uint256)", STRANGER, 5)
    for more, field in (
        ({**stranger, "data": "0x" + stolen.hex()}, "steps"),
        ({**stranger, "to": STRANGER, "data": "0x" + encode_call(APPROVE, STRANGER, 5).hex()}, "approval"),
        ({**stranger, "data": "0x" + encode_call(APPROVE, STRANGER, 5).hex() + "00"}, "approval"),
    ):
        api.twists["/swap_5792"] = add_call(more)
        with pytest.raises(GolemError) as refusal:
            plan_of(agent, api, "uniswap_api_batch_swap", **asked)
        assert (refusal.value.code, refusal.value.data["field"]) == ("FOREIGN_CALL_REFUSED", field)


def test_a_delegated_account_sends_the_calls_of_its_bundle_itself(agent: Agent, api: TradingApi) -> None:
    asked = {key: value for key, value in SWAP.items() if key != "tool"}
    to = api.world.contracts["permit2"]
    with pytest.raises(GolemError) as refusal:
        plan_of(agent, api, "uniswap_api_create_delegated_swap", **asked, delegation_address=to)
    assert refusal.value.code == "ACCOUNT_NOT_DELEGATED" and api.got == []
    api.world.rpc.call("anvil_setCode", agent.golem.address, "0xef0100" + to[2:].lower())
    api.world.rpc.call("evm_mine")
    try:
        plan = plan_of(agent, api, "uniswap_api_create_delegated_swap", **asked, delegation_address=to)
        assert [call.to for call in plan.calls][-1] == deployment_on(CHAIN_ID).v3_router
        api.twists["/swap_7702"] = change(("swap", "to"), STRANGER)
        with pytest.raises(GolemError) as refusal:
            plan_of(agent, api, "uniswap_api_create_delegated_swap", **asked, delegation_address=to)
        assert refusal.value.data["field"] == "contract"
    finally:
        api.world.rpc.call("anvil_setCode", agent.golem.address, "0x")


def test_an_order_is_signed_with_terms_of_this_server_under_the_services_name(agent: Agent, api: TradingApi) -> None:
    assert REGISTRY.get("uniswap_api_submit_order") is REGISTRY.get("uniswap_submit_uniswapx_order")
