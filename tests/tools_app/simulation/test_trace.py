"""The tree of calls: what a real swap does inside, named and in units."""

from __future__ import annotations

from typing import Any

from tests.evm.world import World
from tests.tools_app.chain.conftest import OpenReader
from tests.tools_app.simulation.plans import V3_SWAP, v3_swap
from tools_app.core.clock import Deadline
from tools_app.simulation.engine import SimulationRequest
from tools_app.simulation.trace import trace_calls
from tools_app.toolkit.plan import Call


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
