"""The machine at its edges, each beside the node's engine: proxies, creations, recursion, bombs, gas."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import pytest
from eth_keys import keys
from eth_utils.crypto import keccak

from golem_project.embedded.world.rpc import RpcError
from tests.evm.world import World
from tests.proof.evm.authorizations import authority_address, sign_authorization
from tests.proof.evm.here import open_case, run_case
from tests.proof.evm.inputs import make_input
from tests.tools_app.chain.conftest import OpenReader
from tests.tools_app.simulation.machines import SENDER, A, B, C, make_case, run_on_both
from tests.tools_app.simulation.plans import v3_swap
from tools_app.chain import chains, networks
from tools_app.chain.node_errors import GasLimitRefused
from tools_app.core.clock import Deadline
from tools_app.simulation.engine import SimulationRequest, SimulationTimeout
from tools_app.simulation.pyevm.budget import Budget
from tools_app.simulation.pyevm.engine import PyEvmSimulationEngine
from tools_app.simulation.pyevm.transaction import Transaction, execute
from tools_app.toolkit.plan import Call

RETURN_WORD = "5f5260205ff3"
"""Returns the word on top of the stack."""


def call_to(address: str, *, op: str = "f1", gas: str = "5a", value: str = "5f") -> str:
    """Code that calls without data and leaves success on the stack."""
    middle = value if op in ("f1", "f2") else ""
    return f"5f5f5f5f{middle}73{address}{gas}{op}"


def word(result: dict[str, Any]) -> int:
    return int(result["output"], 16)


def test_a_proxy_writes_its_own_storage(world: World) -> None:
    result = run_on_both(make_case(call_to(B, op="f4") + RETURN_WORD, others={B: "602a600755"}), world)

    assert word(result) == 1
    assert result["state"][A]["storage"] == {"7": 42}
    assert result["state"][B]["storage"] == {}


def test_create2_gives_the_address_of_the_formula_and_refuses_it_twice(world: World) -> None:
    init = bytes.fromhex("60015ff3")
    once = "60056004601c5ff5"
    result = run_on_both(make_case(f"63{init.hex()}5f52{once}{once}6020525f5260405ff3"), world)
    expected = keccak(b"\xff" + bytes.fromhex(A) + (5).to_bytes(32, "big") + keccak(init))[12:]

    assert result["output"][24:64] == expected.hex()
    assert int(result["output"][64:], 16) == 0
    assert result["state"][expected.hex()]["code"] == "00"


def test_selfdestruct_since_cancun_moves_the_coins_and_keeps_the_code(world: World) -> None:
    result = run_on_both(make_case(call_to(B) + RETURN_WORD, others={B: f"73{C}ff"}), world)

    assert result["state"][B]["code"] == f"73{C}ff"
    assert result["state"][B]["balance"] == 0
    assert result["state"][C]["balance"] == 10**18


def test_a_contract_that_is_made_and_destroys_itself_in_one_transaction_is_gone(world: World) -> None:
    init = bytes.fromhex(f"73{C}ff")
    code = f"75{init.hex()}5f526016600a6007f0" + RETURN_WORD
    result = run_on_both(make_case(code), world)
    made = result["output"][-40:]

    assert int(made, 16) != 0
    assert made not in result["state"] or result["state"][made]["code"] == ""
    assert result["state"][C]["balance"] == 7


def test_a_static_call_changes_nothing_and_fails_whoever_tries(world: World) -> None:
    for change in ("600160015500", "5f5fa000", "60015f5d00", f"73{C}ff", "5f5f5ff000", f"5f5f5f5f600173{C}5af100"):
        result = run_on_both(make_case(call_to(B, op="fa") + RETURN_WORD, others={B: change}), world)
        assert word(result) == 0, change
    reading = run_on_both(make_case(call_to(B, op="fa") + RETURN_WORD, others={B: "60015400"}), world)
    assert word(reading) == 1


def test_transient_storage_lives_for_the_transaction_and_goes_back_with_a_revert(world: World) -> None:
    writer = "6001355c" + RETURN_WORD
    set_then_revert = "602a60015d5f5ffd"
    code = "600760015d" + call_to(B, op="f4") + "50" + "60015c" + RETURN_WORD
    result = run_on_both(make_case(code, others={B: set_then_revert, C: writer}), world)

    assert word(result) == 7


def test_ecrecover_answers_the_signer(world: World) -> None:
    digest = keccak(b"golem")
    key = keys.PrivateKey(keccak(b"a key of this test"))
    signature = key.sign_msg_hash(digest)
    data = (
        digest
        + (signature.v + 27).to_bytes(32, "big")
        + signature.r.to_bytes(32, "big")
        + signature.s.to_bytes(32, "big")
    )
    code = "365f5f3760205f60805f60015afa5060205ff3"
    result = run_on_both(make_case(code, data=data.hex()), world)

    assert result["output"][-40:] == key.public_key.to_canonical_address().hex()


@pytest.mark.parametrize("address", range(1, 18))
def test_precompiles_charge_and_answer_like_the_nodes(world: World, address: int) -> None:
    """Whether it worked, and its answer: for bytes that mean nothing, none, and inputs made for it."""
    code = f"365f5f376101206020365f60{address:02x}620f4240fa5f526101405ff3"
    rng = random.Random(f"inputs {address}")
    meant = [make_input(rng, address) for _ in range(3 if address in (8, 10, 15) else 8)]
    worked = 0
    for data in (bytes(range(1, 214)), b"", *meant):
        worked += int(run_on_both(make_case(code, data=data.hex(), gas=5_000_000), world)["output"][:64], 16)
    assert worked > 0


def test_code_of_an_account_that_names_another_runs_there(world: World) -> None:
    delegated = "ef0100" + B
    code = "30" + RETURN_WORD
    direct = run_on_both(make_case(delegated, others={B: code}), world)
    through = run_on_both(make_case(f"60205f5f5f5f73{C}5af15060205ff3", others={B: code, C: delegated}), world)

    assert direct["output"][-40:] == A
    assert through["output"][-40:] == C


def test_a_signed_authorization_sets_the_code_and_a_stale_or_foreign_one_does_not(world: World) -> None:
    authority = authority_address(0)
    for chain_id, nonce, applies in ((31337, 0, True), (0, 0, True), (31337, 1, False), (1, 0, False)):
        case = make_case(f"60205f5f5f5f73{authority}5af15060205ff3", others={B: "602a" + RETURN_WORD})
        case["accounts"][authority] = {"nonce": 0, "balance": 1, "code": "", "storage": {}}
        signed = sign_authorization(0, chain_id=chain_id, address=B, nonce=nonce)
        case["transaction"]["authorizations"] = [signed]
        result = run_on_both(case, world)

        assert word(result) == (42 if applies else 0)
        assert result["state"][authority]["code"] == ("ef0100" + B if applies else "")
        assert result["state"][authority]["nonce"] == (1 if applies else 0)


# Jumps would run for ever from a stack of zeros, SSTORE asks for more than it takes, and the last three end in failure.
_OPCODES = [
    op
    for first, last in (
        (0x00, 0x0B),
        (0x10, 0x1D),
        (0x20, 0x20),
        (0x30, 0x4A),
        (0x50, 0xA4),
        (0xF0, 0xF5),
        (0xFA, 0xFA),
    )
    for op in range(first, last + 1)
    if op not in (0x55, 0x56)
]


@pytest.mark.parametrize("op", _OPCODES, ids=hex)
def test_exactly_enough_gas_is_enough_and_one_less_is_not_whichever_the_last_step(world: World, op: int) -> None:
    code = "5f" * 17 + f"{op:02x}"
    need = run_case(make_case(code))["gas_used"]
    assert run_on_both(make_case(code, gas=need), world)["succeeded"]
    assert not run_on_both(make_case(code, gas=need - 1), world)["succeeded"]


def test_what_carries_authorizations_is_a_transaction_of_type_4_and_everything_else_of_type_2() -> None:
    plain = Transaction(sender=bytes(20), to=bytes(20), value=0, data=b"", gas=21_000)
    assert (plain.type_id, replace(plain, authorization_list=["signed"]).type_id) == (2, 4)


def test_an_authorization_costs_25000_gas_for_an_account_that_is_new() -> None:
    case = make_case("00")
    case["transaction"]["authorizations"] = [sign_authorization(0, chain_id=31337, address=B, nonce=0)]
    state, transaction = open_case(case)
    done = execute(state, transaction, has_floor=True)

    assert done.gas_used == 21_000 + 25_000
    assert state.get_code(bytes.fromhex(authority_address(0))) == bytes.fromhex("ef0100" + B)


def test_a_custom_error_comes_back_whole(world: World) -> None:
    error = keccak(b"TooLittle(uint256)")[:4] + (7).to_bytes(32, "big")
    code = f"63{error[:4].hex()}60e01b5f52600760045260245ffd"
    result = run_on_both(make_case(code), world)

    assert not result["succeeded"]
    assert result["output"] == error.hex()


def test_recursion_goes_as_deep_as_the_gas_and_no_deeper_than_1024(world: World) -> None:
    """Each level adds one to slot 0 and calls itself with all the gas there is."""
    code = "60015f54015f55" + call_to(A) + "00"
    result = run_on_both(make_case(code, gas=30_000_000), world)
    cheap = "60015f5c015f5d" + call_to(A, op="f4", gas="5a") + "5f5c" + RETURN_WORD
    transient = run_on_both(make_case(cheap, gas=30_000_000), world)

    assert result["state"][A]["storage"]["0"] > 300
    assert transient["succeeded"]


def test_a_contract_calling_itself_stops_at_depth_1024(world: World) -> None:
    case = make_case("60015f54015f55" + call_to(A) + "00", gas=10**12)
    case["env"]["gas_limit"] = 10**12
    result = run_on_both(case, world)

    assert result["state"][A]["storage"]["0"] == 1025


def test_a_return_bomb_costs_the_one_who_copies_it(world: World) -> None:
    bomb = "620100005ff3"
    ignoring = run_on_both(make_case(call_to(B) + RETURN_WORD, others={B: bomb}), world)
    copying = run_on_both(make_case(call_to(B) + "503d5f5f3e" + "3d" + RETURN_WORD, others={B: bomb}), world)
    huge = run_on_both(make_case(call_to(B) + RETURN_WORD, others={B: "637fffffff5ff3"}), world)

    assert word(ignoring) == 1
    assert copying["gas_used"] > ignoring["gas_used"]
    assert word(huge) == 0


def test_block_opcodes_tell_the_simulated_block(world: World) -> None:
    for op, expected in (
        ("41", int("c0" * 20, 16)),
        ("42", 1_700_000_000),
        ("43", 1_000),
        ("44", int("7d" * 32, 16)),
        ("45", 30_000_000),
        ("46", 31337),
        ("47", 10**18),
        ("48", 0),
        ("5f49", 0),
        ("4a", 1),
        ("3a", 0),
        ("32", int(SENDER, 16)),
    ):
        assert word(run_on_both(make_case(op + RETURN_WORD), world)) == expected, op


def test_block_hashes_reach_back_256_blocks() -> None:
    for asked, expected in ((999, 999), (744, 744), (743, 0), (1_000, 0), (2_000, 0)):
        assert word(run_case(make_case(f"61{asked:04x}40" + RETURN_WORD))) == expected


def test_an_endless_loop_is_stopped_by_the_clock_and_never_called_a_success(
    open_reader: OpenReader, chain: World
) -> None:
    reader = open_reader()
    account = chain.new_account()
    loop = bytes.fromhex("63ffffffff5b60019003806005575b00")
    request = SimulationRequest(31337, account.address, (Call("0x", loop, 0, "spin"),), block=reader.block)
    engine = PyEvmSimulationEngine(network=networks.get_network(31337), pool=chains.get_pool(31337))
    with pytest.raises(SimulationTimeout):
        engine.run(request, deadline=Deadline.after_ms(300))


@pytest.mark.parametrize(
    "code",
    [
        # Gas for a hundred pairings is there; in Python they would take half a minute.
        "5f5f6196005f600f5afa00",
        # Two million rounds of BLAKE2F: one gas each, and ten seconds together.
        "621e848060e01b5f52600160d4535f5f60d55f60095afa00",
    ],
)
def test_a_precompile_that_would_outlast_the_deadline_is_not_begun(
    open_reader: OpenReader, chain: World, code: str
) -> None:
    """Nothing could stop it once it runs."""
    reader = open_reader()
    account = chain.new_account()
    request = SimulationRequest(31337, account.address, (Call("0x", bytes.fromhex(code), 0, "x"),), block=reader.block)
    engine = PyEvmSimulationEngine(network=networks.get_network(31337), pool=chains.get_pool(31337))
    with pytest.raises(SimulationTimeout, match="precompile"):
        engine.run(request, deadline=Deadline.after_ms(5_000))


def test_a_precompile_that_cannot_be_paid_fails_at_once_however_long_it_would_take(world: World) -> None:
    """All the rounds four bytes can ask for, with gas for a fraction: out of gas, and no question of time."""
    case = make_case("63ffffffff60e01b5f52600160d4535f5f60d55f60095afa" + RETURN_WORD)
    result = run_on_both(case, world)

    assert word(result) == 0
    state, transaction = open_case(case)
    state.budget = Budget(Deadline.after_ms(1_000))
    assert execute(state, transaction, has_floor=True).succeeded


def test_out_of_gas_at_every_twentieth_of_the_need_is_equal_to_the_node(open_reader: OpenReader, chain: World) -> None:
    account = chain.new_account(eth_wei=10**19, tokens={"USDC": 10_000 * 10**6})
    reader = open_reader()
    calls = v3_swap(reader, chain, account.address)
    request = SimulationRequest(31337, account.address, calls, block=reader.block)
    engine = PyEvmSimulationEngine(network=networks.get_network(31337), pool=chains.get_pool(31337))
    result = engine.run(request, deadline=Deadline.after_ms(10_000))
    need = result.calls[1].gas_before_refunds
    assert need is not None
    refused = []
    for part in range(1, 22):
        gas = need * part // 20
        fork = engine.open_fork(request, reader.block, deadline=Deadline.after_ms(10_000))
        fork.send(request.sender, calls[0])
        swap = Transaction(
            sender=bytes.fromhex(account.address[2:]),
            to=bytes.fromhex(calls[1].to[2:]),
            value=0,
            data=calls[1].data,
            gas=gas,
        )
        rows = [{"from": account.address, "to": call.to, "input": "0x" + call.data.hex()} for call in calls]
        rows[1]["gas"] = hex(gas)
        block = {"number": hex(reader.block.number + 1), "time": hex(reader.block.timestamp + 1)}
        payload = {"blockStateCalls": [{"blockOverrides": block, "calls": rows}], "validation": False}
        try:
            here = execute(fork.state, swap, has_floor=True)
        except GasLimitRefused:
            # Less than the transaction itself takes: no block may hold it, and the node says so too.
            refused.append(part)
            with pytest.raises(RpcError, match="(?i)gas"):
                chain.rpc.call("eth_simulateV1", payload, {"blockHash": reader.block.hash})
            continue
        there = chain.rpc.call("eth_simulateV1", payload, {"blockHash": reader.block.hash})[0]["calls"][1]
        assert (here.succeeded, here.gas_used) == (there["status"] == "0x1", int(there["gasUsed"], 16)), part
        assert here.succeeded == (part >= 20) or part == 20, part
    assert refused == list(range(1, len(refused) + 1))
    assert len(refused) < 5
