"""What runs code of others, in a sandbox and in an EVM, takes and refuses by a number, at the number and beside it."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

import pytest
from eth_account import Account
from eth_utils.crypto import keccak

from tools_app.core.clock import Deadline
from tools_app.core.errors import InvalidParams
from tools_app.sandbox.compiling import _read_answer
from tools_app.sandbox.definition import DefinitionRefused, read_definition
from tools_app.sandbox.errors import ModuleRefused
from tools_app.sandbox.host_functions import _fit, _read_chain, _recall
from tools_app.sandbox.module_size import check_size, most_module_bytes
from tools_app.sandbox.owner_toml_definition import check_written, read_written
from tools_app.simulation.engine import SimulationTimeout, SimulationUnavailable
from tools_app.simulation.pyevm.budget import Budget
from tools_app.simulation.pyevm.engine import Fork
from tools_app.simulation.pyevm.local_chain import GasLimitRefused, LocalChain, TransactionMalformed
from tools_app.simulation.rights import read_words
from tools_app.toolkit.plan import Call
from tools_app.toolkit.views import LogEntry

OWNER = Account.from_key(keccak(b"owner of a chain at its edges"))
ME = "0x" + "1" * 40


# ---- definitions and modules -----------------------------------------------------------------------------------------

TEXT = """
name = "moon_phase"
summary = "The phase of the moon."
description = "The phase of the moon on a day. Does not tell tides."
category = "data"
"""


@pytest.mark.parametrize(("size", "is_taken"), [(16_384, True), (16_385, False)])
def test_a_definition_has_sixteen_kilobytes(size: int, is_taken: bool) -> None:
    written = TEXT + 'http = { url = "https://example.org/moon" }\n'
    for text, read in (
        (TEXT, lambda told: read_definition(told, module_sha256="ab" * 32)),
        (written, read_written),
    ):
        filled = text + "#" * (size - len(text))
        if is_taken:
            assert read(filled).name == "moon_phase"
            continue
        with pytest.raises(DefinitionRefused, match="cannot be read"):
            read(filled)


def written(**way: Any) -> dict[str, Any]:
    told = {"format": 2, "name": "moon_phase", "summary": "The phase of the moon.", "category": "data"}
    return {**told, "description": "The phase of the moon.", "budget": "fast", "steps": [], "parameters": {}, **way}


@pytest.mark.parametrize(("count", "is_taken"), [(10, True), (11, False)])
def test_a_page_is_asked_with_ten_words(count: int, is_taken: bool) -> None:
    body = written(http={"url": "https://example.org/moon", "query": {f"q{n}": "v" for n in range(count)}})
    if is_taken:
        assert check_written(body).name == "moon_phase"
        return
    with pytest.raises(DefinitionRefused, match="query"):
        check_written(body)


@pytest.mark.parametrize(("count", "is_taken"), [(5, True), (6, False)])
def test_a_composition_has_five_reads(count: int, is_taken: bool) -> None:
    read = {"query": "token_price", "params": {}}
    body = written(compose=[{"id": f"r{n}", **read} for n in range(count)])
    if is_taken:
        assert check_written(body).name == "moon_phase"
        return
    with pytest.raises(DefinitionRefused, match="^compose: "):
        check_written(body)


@pytest.mark.parametrize(("operators", "mebibytes"), [(31, 31), (32, 32), (33, 32)])
def test_a_module_has_thirty_two_mebibytes_whatever_the_operator_says(
    operators: int, mebibytes: int, settings: Any
) -> None:
    settings.GOLEM_MODULE_MEBIBYTES = operators
    assert most_module_bytes() == mebibytes * 1024 * 1024
    check_size(mebibytes * 1024 * 1024)
    with pytest.raises(ModuleRefused):
        check_size(mebibytes * 1024 * 1024 + 1)


@pytest.mark.parametrize(("size", "is_read"), [(65_536, True), (65_537, False)])
def test_a_compiler_says_sixty_four_kilobytes_before_its_code(size: int, is_read: bool) -> None:
    words = {"ok": True, "a": ""}
    line = json.dumps({**words, "a": "x" * (size - len(json.dumps(words)))}).encode()
    assert len(line) == size
    if is_read:
        assert _read_answer(line + b"\ncode") == b"code"
        return
    with pytest.raises(ModuleRefused, match="did not answer"):
        _read_answer(line + b"\ncode")


# ---- what a module asks of its host ----------------------------------------------------------------------------------


@pytest.mark.parametrize(("limit", "is_taken"), [(0, False), (1, True), (10, True), (11, False)])
def test_a_module_recalls_one_to_ten_memories(limit: int, is_taken: bool) -> None:
    ctx: Any = SimpleNamespace(
        service=lambda _: lambda **asked: asked["limit"],
        golem=SimpleNamespace(id=1),
        now=None,
        deadline=Deadline.after_ms(1_000),
    )
    if is_taken:
        assert _recall(ctx, {"query": "moon", "limit": limit}) == {"memories": limit}
        return
    with pytest.raises(InvalidParams, match="from 1 to 10"):
        _recall(ctx, {"query": "moon", "limit": limit})


@pytest.mark.parametrize(("count", "is_taken"), [(16, True), (17, False)])
def test_a_module_reads_with_sixteen_values_and_lists_of_sixteen(count: int, is_taken: bool) -> None:
    reader = SimpleNamespace(chain_id=1, block=SimpleNamespace(number=5), call=lambda _to, _signature, *values: values)
    ctx: Any = SimpleNamespace(chain=lambda _: reader)
    kinds = ",".join(["uint256"] * count)
    values = [str(number) for number in range(count)]
    asked = {"to": ME, "signature": f"function f({kinds}) view returns (uint256)", "args": values}
    if is_taken:
        assert len(_read_chain(ctx, asked)["values"]) == count
        assert _fit("uint256[]", values) == list(range(count))
        return
    with pytest.raises(InvalidParams, match="at most 16"):
        _read_chain(ctx, asked)
    with pytest.raises(ValueError, match="at most 16"):
        _fit("uint256[]", values)


# ---- the EVM in process ----------------------------------------------------------------------------------------------


class Over:
    """A deadline that has passed."""

    is_over = True


def test_fifty_thousand_calls_run_in_process_and_no_more() -> None:
    budget = Budget(Deadline.after_ms(60_000))
    for _ in range(50_000):
        budget.spend_frame()
    with pytest.raises(SimulationUnavailable, match="more than 50000"):
        budget.spend_frame()


@pytest.mark.parametrize(("ms", "is_looked_at"), [(0.99, False), (1, True)])
def test_the_clock_is_looked_at_after_what_takes_a_millisecond(ms: float, is_looked_at: bool) -> None:
    deadline: Any = Over()
    budget = Budget(deadline)
    if not is_looked_at:
        budget.check_slow(ms)
        return
    with pytest.raises(SimulationTimeout):
        budget.check_slow(ms)


@pytest.mark.parametrize(("gas", "runs"), [(30_000_000, True), (30_000_001, False)])
def test_a_transaction_has_thirty_million_gas_in_process(gas: int, runs: bool) -> None:
    chain = LocalChain(balances={bytes.fromhex(OWNER.address[2:]): 10**18})
    fork: Any = SimpleNamespace(state=chain.state, rules=SimpleNamespace(has_floor=True))
    terms: Any = SimpleNamespace(
        gas_limits=[gas], gas_price=10**9, base_fee=10**9, pays=True, max_fee_per_gas=2 * 10**9
    )
    call = Call(ME, b"", 0, "call")
    if runs:
        assert Fork.send(fork, OWNER.address, call, terms).gas_used == 21_000
        unbounded: Any = SimpleNamespace(state=chain.state, rules=fork.rules)
        assert Fork.send(unbounded, OWNER.address, call).succeeded
        return
    with pytest.raises(GasLimitRefused, match="at most 30000000"):
        Fork.send(fork, OWNER.address, call, terms)


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({}, None),
        ({"gas": 30_000_001}, GasLimitRefused),
        ({"maxFeePerGas": 10**9 - 1, "maxPriorityFeePerGas": 0}, TransactionMalformed),
    ],
)
def test_a_block_of_the_chain_in_memory_has_thirty_million_gas_for_a_gwei(
    change: dict[str, int], error: type[Exception] | None
) -> None:
    chain = LocalChain(balances={bytes.fromhex(OWNER.address[2:]): 10**18})
    plain = {"chainId": 31337, "nonce": 0, "to": ME, "value": 0, "gas": 30_000_000}
    fees = {"maxFeePerGas": 10**9, "maxPriorityFeePerGas": 0}
    raw = OWNER.sign_transaction({**plain, **fees, **change}).raw_transaction
    if error is None:
        chain.send_raw(raw)
        assert chain.state.get_balance(bytes.fromhex(OWNER.address[2:])) == 10**18 - 21_000 * 10**9
        return
    with pytest.raises(error):
        chain.send_raw(raw)


@pytest.mark.parametrize(("size", "choices"), [(8, 1), (9, 0)])
def test_eight_words_of_an_event_are_read(size: int, choices: int) -> None:
    log = LogEntry(ME, ("0x" + "2" * 64,), "0x" + "".join(f"{number:064x}" for number in range(10)), 1, "0x1", 0)
    assert len(list(read_words(log, size))) == choices
