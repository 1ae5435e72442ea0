"""The tree of calls: what a real swap does inside, named and in units."""

from __future__ import annotations

from typing import Any

from tests.evm.world import World
from tests.tools_app.chain.conftest import OpenReader
from tests.tools_app.simulation.plans import AGGREGATE, V3_SWAP, v3_swap
from tools_app.chain.abi import encode_call
from tools_app.chain.networks import MULTICALL3
from tools_app.core.clock import Deadline
from tools_app.simulation.engine import SimulationRequest
from tools_app.simulation.trace import trace_calls
from tools_app.standards import weth
from tools_app.toolkit.plan import Call

MULTICALL = "function multicall(bytes[] calls) payable"


def _flatten(tree: dict[str, Any]) -> list[dict[str, Any]]:
    return [tree, *(frame for child in tree["calls"] for frame in _flatten(child))]


def test_a_swap_shows_every_call_with_names_and_units(open_reader: OpenReader, chain: World) -> None:
    account = chain.new_account(eth_wei=10**19, tokens={"USDC": 10_000 * 10**6})
    reader = open_reader()
    calls = v3_swap(reader, chain, account.address)
    request = SimulationRequest(31337, account.address, calls, block=reader.block)

    approve, swap = trace_calls(request, deadline=Deadline.after_ms(10_000), signatures=[V3_SWAP])

    assert (approve["function"], approve["name"]) == ("approve", "USDC")
    assert approve["arguments"][1]["value"] == "1000 USDC"
    assert approve["events"][0]["event"] == "Approval"
    assert (swap["function"], swap["succeeded"]) == ("exactInputSingle", True)
    frames = _flatten(swap)
    moved = [frame for frame in frames if frame["function"] in ("transfer", "transferFrom") and frame["name"]]
    assert {frame["name"] for frame in moved} == {"USDC", "WETH"}
    assert any(argument["value"] == "1000 USDC" for frame in moved for argument in frame["arguments"])
    assert all(frame["succeeded"] for frame in frames)
    receipts = [chain.send(account, call.to, "0x" + call.data.hex(), value=call.value) for call in calls]
    assert [tree["gas_used"] for tree in (approve, swap)] == [str(int(r["gasUsed"], 16)) for r in receipts]
    assert receipts[1]["status"] == "0x1"


def test_a_contract_that_runs_its_own_code_for_itself_is_told_so(open_reader: OpenReader, chain: World) -> None:
    account = chain.new_account(eth_wei=10**19)
    reader = open_reader()
    refund = encode_call("function refundETH() payable")
    batch = Call(chain.contracts["uniswap_v3_swap_router_02"], encode_call(MULTICALL, [refund]), 7, "batch")
    request = SimulationRequest(31337, account.address, (batch,), block=reader.block)

    (tree,) = trace_calls(request, deadline=Deadline.after_ms(10_000), signatures=[MULTICALL])

    (inner,) = tree["calls"]
    assert (tree["kind"], tree["function"]) == ("CALL", "multicall")
    assert (inner["kind"], inner["to"], inner["sender"]) == ("DELEGATECALL", tree["to"], account.address)
    assert [(frame["kind"], frame["to"], frame["value_wei"]) for frame in inner["calls"]] == [
        ("CALL", account.address, "7")
    ]


def test_a_failed_call_says_why_where_it_failed(open_reader: OpenReader, chain: World) -> None:
    account = chain.new_account(eth_wei=10**19)
    reader = open_reader()
    swap: Call = v3_swap(reader, chain, account.address)[1]
    request = SimulationRequest(31337, account.address, (swap,), block=reader.block)

    (tree,) = trace_calls(request, deadline=Deadline.after_ms(10_000))

    assert tree["succeeded"] is False
    assert tree["error"]
    assert tree["function"].startswith("0x")
    assert any(frame["error"] for frame in _flatten(tree)[1:])


def test_what_a_revert_undid_is_no_event(open_reader: OpenReader, chain: World) -> None:
    """A payment goes through and its bill does not: the batch undoes both, and the tree shows no transfer."""
    account = chain.new_account(eth_wei=10**19)
    reader = open_reader()
    wrapped = reader.wrapped_native().address
    inner = [
        (wrapped, False, 10**15, encode_call("function deposit() payable")),
        (wrapped, False, 0, encode_call("function transfer(address to, uint256 value)", account.address, 2**200)),
    ]
    batch = Call(MULTICALL3, encode_call(AGGREGATE, inner), 10**15, "batch")
    request = SimulationRequest(31337, account.address, (batch,), block=reader.block)

    (tree,) = trace_calls(request, deadline=Deadline.after_ms(10_000))

    assert tree["succeeded"] is False
    assert _flatten(tree)[1]["succeeded"] is True
    assert [frame["events"] for frame in _flatten(tree)] == [[]] * len(_flatten(tree))


def test_an_event_is_named_with_its_values_and_one_nobody_knows_is_not(open_reader: OpenReader, chain: World) -> None:
    account = chain.new_account(eth_wei=10**19)
    reader = open_reader()
    noisy = "0x" + "77" * 20
    chain.rpc.call("anvil_setCode", noisy, "0x602a5fa05f5fa000")
    calls = (weth.wrap(wrapped=reader.wrapped_native(), amount=3 * 10**17), Call(noisy, b"", 0, "noise"))
    request = SimulationRequest(31337, account.address, calls, block=reader.block)

    wrap, noise = trace_calls(request, deadline=Deadline.after_ms(10_000))

    assert [(event["name"], event["event"]) for event in wrap["events"]] == [("WETH", "Deposit")]
    assert wrap["events"][0]["values"] == {"account": account.address, "amount": "0.3 WETH"}
    assert [(event["event"], event["values"]) for event in noise["events"]] == [("", {})] * 2
