"""The node's own engine: its label, and nodes that are broken in one particular way."""

from __future__ import annotations

from typing import Any

import pytest

from tests.tools_app.chain.nodes import answering, block_json, closed_port_url, serve, serve_silence
from tools_app.chain import chains, networks
from tools_app.chain.abi import event_topic
from tools_app.core.clock import Deadline
from tools_app.core.errors import Recovery
from tools_app.simulation.engine import (
    SimulationRequest,
    SimulationResult,
    SimulationTimeout,
    SimulationUnavailable,
)
from tools_app.simulation.select import select_engine
from tools_app.standards import erc20
from tools_app.toolkit.plan import Call
from tools_app.toolkit.views import NATIVE

TRANSFER = event_topic(erc20.TRANSFER_EVENT)
REQUEST = SimulationRequest(
    31337, "0x" + "11" * 20, (Call("0x" + "22" * 20, b"", 0, "call"),), watch=(("0x" + "11" * 20, NATIVE),)
)


def _run(request: SimulationRequest) -> SimulationResult:
    return select_engine(31337).run(request, deadline=Deadline.after_ms(10_000))


def _configure(url: str) -> None:
    chains.configure_chains([networks.with_rpc_urls(networks.KNOWN_NETWORKS[31337], [url])])


def test_a_node_without_the_method_makes_the_simulation_unavailable(chain_table: None) -> None:
    missing = {"code": -32601, "message": "Method not found"}
    with serve(answering({"eth_getBlockByNumber": block_json(5), "eth_simulateV1": missing})) as node:
        _configure(node.url)
        with pytest.raises(SimulationUnavailable) as unavailable:
            _run(REQUEST)

    assert unavailable.value.code == "REVM_FORK_FAILED"
    assert unavailable.value.data["cause"] == "RPC_METHOD_MISSING"
    assert unavailable.value.next_step is Recovery.ASK_OWNER


def test_a_node_that_is_down_makes_the_simulation_unavailable(chain_table: None) -> None:
    _configure(closed_port_url())
    with pytest.raises(SimulationUnavailable):
        _run(REQUEST)


def test_a_node_that_is_silent_makes_the_simulation_time_out(chain_table: None) -> None:
    with serve_silence() as url:
        _configure(url)
        with pytest.raises(SimulationTimeout):
            select_engine(31337).run(REQUEST, deadline=Deadline.after_ms(100))


ZERO_ROW: dict[str, Any] = {"status": "0x1", "returnData": "0x" + "00" * 32, "gasUsed": "0x5208", "logs": []}


@pytest.mark.parametrize(
    "answer",
    [
        None,
        [],
        {},
        [{"number": "0x6", "calls": [ZERO_ROW]}],
        [{"number": "0x5", "calls": [ZERO_ROW] * 3}],
        [{"number": "0x6", "calls": [{}] * 3}],
        [{"number": "0x6", "calls": [ZERO_ROW, {**ZERO_ROW, "logs": [{"address": "0x"}]}, ZERO_ROW]}],
        [{"number": "0x6", "calls": [ZERO_ROW, {**ZERO_ROW, "gasUsed": None}, ZERO_ROW]}],
    ],
)
def test_an_answer_of_another_shape_is_never_a_success(chain_table: None, answer: object) -> None:
    with serve(answering({"eth_getBlockByNumber": block_json(5), "eth_simulateV1": answer})) as node:
        _configure(node.url)
        with pytest.raises(SimulationUnavailable):
            _run(REQUEST)


def test_a_flood_of_made_up_transfers_is_kept_to_what_is_needed_to_refuse(chain_table: None) -> None:
    sender = REQUEST.sender

    def topic(address: str) -> str:
        return "0x" + address[2:].rjust(64, "0")

    def flood(payload: Any, _: Any) -> Any:
        calls = len(payload["blockStateCalls"][0]["calls"])
        logs = [
            {"address": f"0x{n:040x}", "topics": [TRANSFER, topic(sender), topic(sender)], "data": "0x" + "00" * 32}
            for n in range(1, 2_000)
        ]
        reverted = {**ZERO_ROW, "status": "0x0", "returnData": f"0x{1:064x}{0:064x}"}
        rows = [reverted if len(one["input"]) > 66 else ZERO_ROW for one in payload["blockStateCalls"][0]["calls"]]
        rows[(calls - 1) // 2] = {**ZERO_ROW, "logs": logs}
        return [{"number": "0x6", "calls": rows}]

    with serve(answering({"eth_getBlockByNumber": block_json(5), "eth_simulateV1": flood})) as node:
        _configure(node.url)
        result = _run(REQUEST)

    assert len(result.unexpected_transfers) == 256
    assert len(result.balances_before) == 1 + 32
    assert node.asked.count("eth_simulateV1") == 2


def test_a_well_formed_answer_of_the_tests_own_node_is_read(chain_table: None) -> None:
    answer = [{"number": "0x6", "calls": [ZERO_ROW] * 3}]
    with serve(answering({"eth_getBlockByNumber": block_json(5), "eth_simulateV1": answer})) as node:
        _configure(node.url)
        result = _run(REQUEST)

    assert result.succeeded
    assert result.gas_used == 21_000


def test_what_reads_coins_lies_where_no_contract_can_look_for_it(chain_table: None) -> None:
    """A contract that found it would know that it is simulated, and could behave."""
    found: list[str] = []

    def answer(payload: Any, _: Any) -> Any:
        found.extend(payload["blockStateCalls"][0]["stateOverrides"])
        return [{"number": "0x6", "calls": [ZERO_ROW] * 3}]

    with serve(answering({"eth_getBlockByNumber": block_json(5), "eth_simulateV1": answer})) as node:
        _configure(node.url)
        results = [_run(REQUEST) for _ in range(3)]

    assert len(set(found)) == 3
    assert results[0] == results[1] == results[2]
