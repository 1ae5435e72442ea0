"""PyEvmSimulationEngine: the calls run in this process, on the state of the pinned block.

It answers what the node's own simulation answers, and more: gas before refunds, the whole state difference, the
contracts created. A revert of one call leaves the others to run, as they would on the chain.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, Final

from tools_app.chain.abi import checksum, encode_call
from tools_app.chain.node_errors import GasLimitRefused, build_revert
from tools_app.core.clock import Deadline
from tools_app.simulation.before_after_reads import Told, begin, read_outcome, with_told
from tools_app.simulation.engine import CallOutcome, SigningTerms, SimulationRequest, SimulationResult
from tools_app.simulation.measured_changes import (
    ASK_GAS,
    READ_FROM,
    READ_GAS,
    Read,
    build_result,
    find_unmeasured,
    list_reads,
    value_of,
)
from tools_app.simulation.node_engine import NodeEngine, describe_terms
from tools_app.simulation.pyevm.base import BASES, Base, Header
from tools_app.simulation.pyevm.budget import MOST_GAS, Budget
from tools_app.simulation.pyevm.differences import list_differences
from tools_app.simulation.pyevm.loader import CallToTouch, NodeSource
from tools_app.simulation.pyevm.rules import Rules, rules_of
from tools_app.simulation.pyevm.state import STATES, BlockEnv
from tools_app.simulation.pyevm.transaction import Executed, Transaction, describe_error, execute, read
from tools_app.toolkit.context import ReadCall, ReadOutcome
from tools_app.toolkit.plan import Call
from tools_app.toolkit.views import BlockRef, LogEntry

ENGINE_NAME: Final = "pyevm"
_READ_FROM: Final = bytes.fromhex(READ_FROM[2:])
_MOST_UNDECIDED: Final = 64
_FEES: Final = frozenset({"gas price", "base fee"})


class PyEvmSimulationEngine(NodeEngine):
    """Simulates in process, reading what it lacks from the nodes of one chain. Its bases are shared by the process."""

    lacks = "the state"

    def _simulate(self, request: SimulationRequest, block: BlockRef, deadline: Deadline) -> SimulationResult:
        return self._run(request, block, self.open_fork(request, block, deadline=deadline))

    def open_fork(self, request: SimulationRequest, block: BlockRef, *, deadline: Deadline) -> Fork:
        """A throw-away fork at `block` with what the request will touch.

        Raises SimulationUnavailable for a chain of another machine, and what a node raises.
        """
        rules = rules_of(request.chain_id)
        source = NodeSource(pool=self._pool, block_hash=block.hash, number=block.number, deadline=deadline)
        base = BASES.get(request.chain_id, block.hash, is_second=self._pool.is_second)
        reads = [CallToTouch(READ_FROM, r.to, r.data) for r in list_reads(request, ()) if r.signature is not None]
        calls = [CallToTouch(request.sender, call.to, call.data, call.value) for call in request.calls]
        asked = [_touch(each) for each in begin(request).wanted]
        source.prefetch(base, [*reads, *asked, *calls])
        timestamp = request.timestamp
        if timestamp is None:
            timestamp = block.timestamp + self._network.block_seconds
        header = base.header
        if header is None:
            raise AssertionError("a prefetch always leaves the header")
        return Fork(
            base=base,
            source=source,
            header=header,
            rules=rules,
            chain_id=request.chain_id,
            timestamp=timestamp,
            budget=Budget(deadline),
            terms=request.terms,
        )

    def _run(self, request: SimulationRequest, block: BlockRef, fork: Fork) -> SimulationResult:
        reads, terms = list_reads(request, ()), request.terms
        before = fork.measure(reads)
        told_before = fork.ask(request)
        fork.state.guessed.clear()
        fork.state.ran.clear()
        calls, executed = [], []
        for index, call in enumerate(request.calls):
            done = fork.send(request.sender, call, terms, index)
            executed.append(done)
            calls.append(to_outcome(done, block.number + 1))
        outcomes = tuple(calls)
        undecided, ran = _list_undecided(fork.state.guessed, terms), _list_ran(fork.state.ran)
        after = fork.measure(reads)
        # Where a call reverted, nobody asks what it would have left.
        told_after = fork.ask(request) if all(call.succeeded for call in outcomes) else told_before
        mark = fork.state.snapshot()
        fork.refund_fees(request.sender, terms, executed)
        state_diff = list_differences(fork.state, created=[a for done in executed for a in done.contracts_created])
        fork.state.revert(mark)
        label = f"{ENGINE_NAME}: py-evm in this process, {fork.rules.label}, block {block.number}"
        label += describe_terms(terms)
        if undecided:
            asked = ", ".join(sorted({what for what, _ in undecided}))
            label += f"; a contract asks for {asked}, which only mining decides"
        unmeasured = find_unmeasured(request, outcomes)
        if unmeasured and all(call.succeeded for call in outcomes):
            extra = list_reads(request, unmeasured)[len(reads) :]
            after += fork.measure(extra)
            fork.state.revert(0)
            before += fork.measure(extra)
            reads = [*reads, *extra]
        result = build_result(
            engine=ENGINE_NAME,
            fidelity=label,
            request=request,
            block=block,
            calls=outcomes,
            reads=reads,
            before=before,
            after=after,
            state_diff=state_diff,
            undecided=undecided,
            ran=ran,
        )
        return with_told(result, request, told_before, told_after)


def _touch(asked: ReadCall) -> CallToTouch:
    return CallToTouch(READ_FROM, asked.to, encode_call(asked.signature, *asked.args))


def _list_undecided(guessed: set[tuple[str, bytes]], terms: SigningTerms | None) -> tuple[tuple[str, str], ...]:
    """What only mining decides, but for the fees where they are those that are signed."""
    told = _FEES if terms is not None and terms.pays else frozenset()
    found = ((what, checksum("0x" + address.hex())) for what, address in guessed if what not in told)
    return tuple(sorted(found))[:_MOST_UNDECIDED]


def _list_ran(ran: set[tuple[bytes, bytes]]) -> tuple[tuple[str, str], ...]:
    return tuple(sorted((checksum("0x" + account.hex()), checksum("0x" + code.hex())) for account, code in ran))


class Fork:
    """The state after one block, for one run. Not for several threads."""

    def __init__(
        self,
        *,
        base: Base,
        source: Any,  # Any: py-evm leaves it untyped
        header: Header,
        rules: Rules,
        chain_id: int,
        timestamp: int,
        budget: Budget,
        terms: SigningTerms | None = None,
    ) -> None:
        self.rules = rules
        self._base, self._source = base, source
        # What the node's own simulation shows contracts: the parent's miner and limit; with the terms of a signature
        # also the base fee and a randomness nobody knows, else fees of zero and the parent's randomness.
        env = BlockEnv(
            chain_id=chain_id,
            number=header.number + 1,
            timestamp=timestamp,
            coinbase=header.coinbase,
            prevrandao=terms.randomness if terms is not None and terms.randomness else header.prevrandao,
            gas_limit=header.gas_limit,
            base_fee=terms.base_fee if terms is not None and terms.pays else 0,
            excess_blob_gas=header.excess_blob_gas,
            parent_hash=bytes.fromhex(header.hash[2:]),
        )
        self.state = STATES[rules.fork](base=base, source=source, env=env, budget=budget)

    def send(self, sender: str, call: Call, terms: SigningTerms | None = None, index: int = 0) -> Executed:
        """Run one call, number `index` of those that were signed for, as a transaction of its own; a creation has an
        empty `to`. Without terms it has a block's gas, as far as that is sane, for nothing.
        """
        transaction = Transaction(
            sender=bytes.fromhex(sender[2:]),
            to=bytes.fromhex(call.to[2:]),
            value=call.value,
            data=call.data,
            gas=min(self.state.env.gas_limit, MOST_GAS) if terms is None else terms.gas_limits[index],
            gas_price=0 if terms is None else terms.gas_price,
            tip=0 if terms is None else terms.gas_price - terms.base_fee if terms.pays else 0,
            fee_cap=0 if terms is None else terms.max_fee_per_gas,
        )
        if transaction.gas > MOST_GAS:
            raise GasLimitRefused(f"{transaction.gas} gas for one transaction; at most {MOST_GAS}")
        return execute(self.state, transaction, has_floor=self.rules.has_floor)

    def refund_fees(self, sender: str, terms: SigningTerms | None, executed: Iterable[Executed]) -> None:
        """Put back what the transactions paid for gas, so that a difference counts no fees."""
        if terms is None or not terms.pays:
            return
        gas = sum(done.gas_used for done in executed)
        self.state.delta_balance(bytes.fromhex(sender[2:]), gas * terms.gas_price)
        self.state.delta_balance(self.state.env.coinbase, -gas * (terms.gas_price - terms.base_fee))

    def ask(self, request: SimulationRequest) -> Told:
        """What the request wants to know of this moment. Raises PositionsUnreadable, ContractOutputUnexpected."""
        conversation = begin(request)
        while conversation.told is None:
            if conversation.steps > 1:
                self._source.prefetch(self._base, [_touch(each) for each in conversation.wanted])
            conversation.go_on([self._answer(each) for each in conversation.wanted])
        return conversation.told

    def _answer(self, asked: ReadCall) -> ReadOutcome:
        succeeded, output = read(
            self.state,
            sender=_READ_FROM,
            to=bytes.fromhex(asked.to[2:]),
            data=encode_call(asked.signature, *asked.args),
            gas=ASK_GAS,
        )
        return read_outcome(asked, succeeded=succeeded, output=output)

    def measure(self, reads: Iterable[Read]) -> list[int | None]:
        """The values of `reads` as they are now. Raises ContractOutputUnexpected."""
        values: list[int | None] = []
        for one in reads:
            to = bytes.fromhex(one.to[2:])
            if one.signature is None:
                values.append(self.state.get_balance(to))
                continue
            succeeded, output = read(self.state, sender=_READ_FROM, to=to, data=one.data, gas=READ_GAS)
            values.append(value_of(one, succeeded=succeeded, output=output))
        return values


def to_outcome(done: Executed, block_number: int) -> CallOutcome:
    """What a transaction did, in the words of every engine."""
    if done.error is None:
        outcome = CallOutcome(True, done.output, done.gas_used, to_logs(done.logs, block_number))
    else:
        reverted = build_revert(done.output, message="" if done.output else describe_error(done.error))
        outcome = CallOutcome(False, done.output, done.gas_used, (), reverted.detail, reverted.data["error_name"])
    return replace(outcome, gas_before_refunds=done.gas_before_refunds)


def to_logs(logs: Sequence[tuple[bytes, tuple[int, ...], bytes]], block_number: int) -> tuple[LogEntry, ...]:
    """Logs as nodes give them."""
    return tuple(
        LogEntry(
            checksum("0x" + address.hex()),
            tuple(f"0x{topic:064x}" for topic in topics),
            "0x" + data.hex(),
            block_number,
            "",
            index,
        )
        for index, (address, topics, data) in enumerate(logs)
    )
