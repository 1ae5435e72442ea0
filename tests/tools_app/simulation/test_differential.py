"""Two engines against each other: agreement is enriched, any disagreement is refused with both results."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from golem_project.embedded.world import node as node_module
from golem_project.embedded.world.node import run_node
from golem_project.embedded.world.rpc import JsonRpc
from golem_project.embedded.world.saved_world import find_anvil
from tests.evm.world import World
from tests.tools_app.chain.nodes import answering, block_json, serve
from tools_app.chain import chains, networks
from tools_app.chain.blocks import parse_block
from tools_app.core.clock import Deadline
from tools_app.simulation.differential import SimulationDisagrees, find_differences, is_gas_close, run_both
from tools_app.simulation.engine import SimulationRequest, SimulationResult, SimulationUnavailable
from tools_app.simulation.pyevm import rules
from tools_app.simulation.pyevm.base import BASES, NO_ACCOUNT
from tools_app.simulation.select import choose_engines, run_simulation, select_engine
from tools_app.toolkit.enums import EngineSetting, RiskTier
from tools_app.toolkit.plan import Call

FAR = Deadline.after_ms(10**9)


class Bent:
    """A real engine whose result is bent in one place, as a faulty or lying engine would."""

    def __init__(self, bend: Any) -> None:
        self._bend = bend

    def run(self, request: SimulationRequest, *, deadline: Deadline) -> SimulationResult:
        bent: SimulationResult = self._bend(select_engine(31337, "pyevm").run(request, deadline=deadline))
        return bent


def _bend_call(**changes: Any) -> Any:
    return lambda result: replace(result, calls=(*result.calls[:-1], replace(result.calls[-1], **changes)))


def _bend_gas(factor_bps: int) -> Any:
    return lambda result: _bend_call(gas_used=result.calls[-1].gas_used * factor_bps // 10_000)(result)


def _bend_balance(result: SimulationResult) -> SimulationResult:
    key = next(iter(result.balances_after))
    return replace(result, balances_after={**result.balances_after, key: result.balances_after[key] + 1})


def test_engines_that_agree_give_one_result_that_says_so(swap: SimulationRequest) -> None:
    result = run_simulation(swap, deadline=FAR, risk_tier=RiskTier.ELEVATED)

    assert result.engine == "rpc+pyevm"
    assert "two engines agree" in result.fidelity
    assert result.state_diff is not None
    assert all(
        call.gas_before_refunds is not None and call.gas_before_refunds >= call.gas_used for call in result.calls
    )


@pytest.mark.parametrize(
    ("bend", "what"),
    [
        (_bend_call(succeeded=False), "call 2 succeeded"),
        (_bend_call(output=b"\x01"), "call 2 output"),
        (_bend_call(logs=()), "call 2 logs"),
        (_bend_gas(10_300), "call 2 gas"),
        (_bend_balance, "balances after"),
        (lambda result: replace(result, calls=result.calls[:1]), "number of calls"),
    ],
)
def test_a_disagreement_blocks_and_carries_both_results(swap: SimulationRequest, bend: Any, what: str) -> None:
    with pytest.raises(SimulationDisagrees) as refused:
        run_both(swap, first=select_engine(31337), second=Bent(bend), deadline=FAR)

    error = refused.value
    assert error.code == "SIMULATION_DISAGREES"
    assert any(difference["what"].startswith(what) for difference in error.data["differences"])
    assert [result["engine"] for result in error.as_event()["results"]] == ["rpc", "pyevm"]


def test_a_node_that_once_answered_from_the_next_block_is_asked_again_on_the_same_block(
    swap: SimulationRequest,
) -> None:
    asked: list[SimulationRequest] = []

    class Hurried(Bent):
        def run(self, request: SimulationRequest, *, deadline: Deadline) -> SimulationResult:
            asked.append(request)
            return super().run(request, deadline=deadline)

    hurried = Hurried(lambda result: _bend_balance(result) if len(asked) == 1 else result)
    result = run_both(replace(swap, block=None), first=hurried, second=select_engine(31337), deadline=FAR)
    assert result.succeeded and [each.block for each in asked] == [None, result.block]


def test_what_was_once_told_wrong_of_a_blocks_state_is_let_go_before_both_run_once_more(
    swap: SimulationRequest,
) -> None:
    """A balance of the next block, once held, would be this block's for as long as its state is kept."""
    block = run_simulation(swap, deadline=FAR, risk_tier=RiskTier.ELEVATED).block
    sender = bytes.fromhex(swap.sender.removeprefix("0x"))
    for is_second in (False, True):
        base = BASES.get(31337, block.hash, is_second=is_second)
        held = base.accounts.get(sender, NO_ACCOUNT)
        base.put_account(sender, held._replace(balance=held.balance + 10**18))
    result = run_simulation(replace(swap, block=block), deadline=FAR, risk_tier=RiskTier.ELEVATED)
    assert result.succeeded and result.engine == "rpc+pyevm"


def test_what_is_held_is_compared_only_where_the_calls_succeed(swap: SimulationRequest) -> None:
    result = run_both(swap, first=select_engine(31337), second=Bent(lambda same: same), deadline=FAR)
    silent: dict[str, Any] = {"positions_before": None, "positions_after": None}
    told: dict[str, Any] = {"positions_before": (), "positions_after": ()}
    failed = _bend_call(succeeded=False)(result)
    assert find_differences(replace(failed, **silent), replace(failed, **told)) == ()
    assert len(find_differences(replace(result, **silent), replace(result, **told))) == 2


def test_gas_within_the_tolerance_is_no_disagreement(swap: SimulationRequest) -> None:
    result = run_both(swap, first=select_engine(31337), second=Bent(_bend_gas(10_150)), deadline=FAR)

    assert result.succeeded
    assert find_differences(result, result) == ()


def test_the_tolerance_is_two_percent_of_the_larger() -> None:
    assert is_gas_close(100_000, 98_000)
    assert not is_gas_close(100_000, 97_999)
    assert is_gas_close(0, 0)


def test_from_elevated_on_two_engines_run_whatever_was_set() -> None:
    for tier in (RiskTier.ELEVATED, RiskTier.HIGH, RiskTier.CRITICAL):
        for setting in EngineSetting:
            assert sorted(choose_engines(risk_tier=tier, setting=setting)) == ["pyevm", "rpc"]
    for calm in (None, RiskTier.ROUTINE, RiskTier.STANDARD):
        assert choose_engines(risk_tier=calm) == ("rpc",)
        assert choose_engines(risk_tier=calm, setting=EngineSetting.PYEVM) == ("pyevm",)
        assert choose_engines(risk_tier=calm, setting=EngineSetting.BOTH) == ("rpc", "pyevm")


MISSING = {"code": -32601, "message": "Method not found"}
ACCOUNT = "0x" + "11" * 20


def _plain_node(answers: dict[str, Any]) -> Any:
    return answering(_answers(answers))


def _answers(answers: dict[str, Any]) -> dict[str, Any]:
    block = block_json(5)
    return {
        "eth_getBlockByNumber": block,
        "eth_getBlockByHash": {**block, "gasLimit": "0x1c9c380", "miner": "0x" + "00" * 20},
        "eth_simulateV1": MISSING,
        "debug_traceCall": MISSING,
        "eth_createAccessList": MISSING,
        "eth_getBalance": hex(10**18),
        "eth_getTransactionCount": "0x0",
        "eth_getCode": "0x",
        "eth_getStorageAt": "0x0",
        **answers,
    }


def _coin_request() -> SimulationRequest:
    return SimulationRequest(31337, ACCOUNT, (Call("0x" + "22" * 20, b"", 5, "send"),))


def test_a_node_without_the_method_is_replaced_by_the_engine_in_process(chain_table: None) -> None:
    with serve(_plain_node({})) as node:
        chains.configure_chains([networks.with_rpc_urls(networks.KNOWN_NETWORKS[31337], [node.url])])
        result = run_simulation(_coin_request(), deadline=Deadline.after_ms(5_000))

    assert result.engine == "pyevm"
    assert "pyevm" in result.fidelity
    assert result.succeeded
    assert result.gas_used == 21_000


def test_where_two_engines_are_needed_one_is_not_enough(chain_table: None) -> None:
    with serve(_plain_node({})) as node:
        chains.configure_chains([networks.with_rpc_urls(networks.KNOWN_NETWORKS[31337], [node.url])])
        with pytest.raises(SimulationUnavailable):
            run_simulation(_coin_request(), deadline=Deadline.after_ms(5_000), risk_tier=RiskTier.ELEVATED)


@pytest.mark.parametrize("setting", [EngineSetting.AUTO, EngineSetting.PYEVM])
def test_a_node_without_the_method_on_a_chain_with_newer_rules_is_replaced_by_nothing(
    chain_table: None, setting: EngineSetting
) -> None:
    with serve(answering({**_answers({}), "eth_chainId": "0x1"})) as node:
        chains.configure_chains([networks.with_rpc_urls(networks.KNOWN_NETWORKS[1], [node.url])])
        request = replace(_coin_request(), chain_id=1)
        second = select_engine(1, "pyevm").run(request, deadline=Deadline.after_ms(5_000))
        with pytest.raises(SimulationUnavailable, match="eth_simulateV1"):
            run_simulation(request, deadline=Deadline.after_ms(5_000), setting=setting)

    assert "Prague rules while the chain may run Osaka or newer" in second.fidelity


def test_on_a_chain_with_newer_rules_the_engine_in_process_is_only_the_second() -> None:
    for tier in (None, *RiskTier):
        for setting in EngineSetting:
            names = choose_engines(risk_tier=tier, setting=setting, is_pyevm_enough=False)
            assert names[0] == "rpc"
            if setting is EngineSetting.PYEVM:
                assert names == ("rpc", "pyevm")


def test_an_opcode_newer_than_our_rules_is_a_disagreement_on_a_real_node(
    tmp_path: Path, chain_table: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A node under Osaka counts leading zeros; the engine here calls the opcode invalid, and nothing is permitted."""
    monkeypatch.setitem(rules._CHAIN_FORKS, 31337, "osaka")
    counts_zeros = "0x60011e5f5260205ff3"
    monkeypatch.setattr(node_module, "HARDFORK", "osaka")
    with run_node(find_anvil(), tmp_path) as url:
        JsonRpc(url).call("anvil_setCode", "0x" + "22" * 20, counts_zeros)
        chains.configure_chains([networks.with_rpc_urls(networks.KNOWN_NETWORKS[31337], [url])])
        request = SimulationRequest(31337, ACCOUNT, (Call("0x" + "22" * 20, b"", 0, "count"),))
        alone = run_simulation(request, deadline=FAR)
        with pytest.raises(SimulationDisagrees) as refused:
            run_simulation(request, deadline=FAR, setting=EngineSetting.PYEVM)

    assert alone.engine == "rpc"
    assert int.from_bytes(alone.calls[0].output, "big") == 255
    assert "call 1 succeeded" in {difference["what"] for difference in refused.value.data["differences"]}
    assert "may run Osaka" in refused.value.second.fidelity


@pytest.mark.parametrize(
    ("opcode", "name"), [("3a", "gas price"), ("41", "miner"), ("44", "randomness"), ("48", "base fee")]
)
def test_a_contract_that_asks_for_what_only_mining_decides_is_told_in_the_label(
    chain: World, swap: SimulationRequest, opcode: str, name: str
) -> None:
    """Both engines answer it alike, and what is mined afterwards is another word."""
    asking = "0x" + "77" * 20
    chain.rpc.call("anvil_setCode", asking, f"0x{opcode}5f5260205ff3")
    block = parse_block(chain.rpc.call("eth_getBlockByNumber", "latest", False))
    request = replace(swap, block=block, calls=(*swap.calls, Call(asking, b"", 0, "ask")))
    result = run_simulation(request, deadline=FAR, setting=EngineSetting.BOTH)
    silent = run_simulation(replace(request, calls=swap.calls), deadline=FAR, setting=EngineSetting.BOTH)

    assert f"a contract asks for {name}, which only mining decides" in result.fidelity
    assert "only mining decides" not in silent.fidelity
    if name in ("gas price", "base fee"):
        receipt = chain.send(chain.actors.deployer, asking)
        tracer = {"tracer": "callTracer"}
        mined = chain.rpc.call("debug_traceTransaction", receipt["transactionHash"], tracer)["output"]
        assert int.from_bytes(result.calls[-1].output, "big") == 0 < int(mined, 16)


def test_a_chain_of_another_machine_is_never_run_in_this_process(chain_table: None) -> None:
    with serve(_plain_node({"eth_chainId": hex(324)})) as node:
        chains.configure_chains([networks.with_rpc_urls(networks.KNOWN_NETWORKS[324], [node.url])])
        request = replace(_coin_request(), chain_id=324)
        with pytest.raises(SimulationUnavailable, match="not the EVM"):
            select_engine(324, "pyevm").run(request, deadline=Deadline.after_ms(5_000))
        with pytest.raises(SimulationUnavailable, match="eth_simulateV1"):
            run_simulation(request, deadline=Deadline.after_ms(5_000))


@pytest.mark.parametrize("setting", [EngineSetting.AUTO, EngineSetting.PYEVM])
def test_a_read_leaves_no_mark_for_the_calls_to_find(
    chain: World, swap: SimulationRequest, setting: EngineSetting
) -> None:
    """A token whose balanceOf counts; any other call answers the count."""
    token = "0x" + "78" * 20
    counts, answers = "5f546001018" + "05f555f5260205ff3", "5b5f545f5260205ff3"
    chain.rpc.call("anvil_setCode", token, "0x3615601357" + counts + answers)
    block = parse_block(chain.rpc.call("eth_getBlockByNumber", "latest", False))
    request = replace(swap, block=block, calls=(Call(token, b"", 0, "ask"),), watch=(*swap.watch, (swap.sender, token)))
    result = run_simulation(request, deadline=FAR, setting=setting)

    assert int.from_bytes(result.calls[0].output, "big") == 0
