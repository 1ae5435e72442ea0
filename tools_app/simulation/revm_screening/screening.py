"""Screens many candidates on one fork in revm, to find those worth a real simulation.

With the optional extra (`requirements-turbo.txt`) revm does it in a worker process, otherwise the engine in process:
slower, the same answers. There is no gas in a `Screened`, so none can enter a permit; the candidate that wins is
simulated again by the engines its tier asks for.
"""

from __future__ import annotations

import os
import select
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

from pydantic_core import from_json, to_json

from tools_app.chain.chains import get_pool
from tools_app.chain.networks import get_network
from tools_app.core.clock import Deadline
from tools_app.core.json_types import JsonObject
from tools_app.simulation.engine import SimulationRequest, SimulationTimeout, SimulationUnavailable
from tools_app.simulation.measured_changes import Read, list_reads, normalise, value_of
from tools_app.simulation.revm_screening.state_server import serve_state
from tools_app.toolkit.plan import Call

_CANDIDATES_PER_ORDER: Final = 64
_PIECE: Final = 1 << 16
_WORKER: Final = Path(__file__).with_name("worker.py")


@dataclass(frozen=True, slots=True)
class Screened:
    """What a candidate would do: success of all its calls, their outputs, and the watched balances' differences."""

    succeeded: bool
    outputs: tuple[bytes, ...]
    deltas: Mapping[tuple[str, str], int]


def is_turbo_installed() -> bool:
    """Whether revm is there."""
    return find_spec("pyrevm") is not None


def screen_candidates(
    request: SimulationRequest,
    candidates: Sequence[tuple[Call, ...]],
    *,
    deadline: Deadline,
    turbo: bool | None = None,
) -> tuple[Screened, ...]:
    """Run every candidate from the sender of `request`, each on the untouched block; answers in their order.

    `request.calls` is not run. The block must be pinned. `turbo` None takes revm where it is installed.
    Raises SimulationUnavailable, SimulationTimeout, ContractOutputUnexpected, and what the node raises.
    """
    # py-evm takes most of a second to import; only screening and exact simulation pay for it.
    from tools_app.simulation.pyevm.engine import PyEvmSimulationEngine

    block = request.block
    if block is None:
        raise SimulationUnavailable("screening needs a pinned block", chain_id=request.chain_id)
    request = replace(request, calls=tuple(call for calls in candidates for call in calls))
    request = normalise(request, block)
    engine = PyEvmSimulationEngine(network=get_network(request.chain_id), pool=get_pool(request.chain_id))
    fork = engine.open_fork(request, block, deadline=deadline)
    reads = [read for read in list_reads(request, ()) if len(read.key) == 2]
    if is_turbo_installed() if turbo is None else turbo:
        return _screen_in_worker(fork, request, reads, candidates, deadline)
    return tuple(_screen_here(fork, request, reads, calls) for calls in candidates)


def _screen_here(
    fork: Any,  # Any: JSON between two processes
    request: SimulationRequest,
    reads: Sequence[Read],
    calls: Sequence[Call],
) -> Screened:
    before = fork.measure(reads)
    done = [fork.send(request.sender, call) for call in calls]
    after = fork.measure(reads)
    fork.state.revert(0)
    return Screened(
        succeeded=bool(done) and all(one.succeeded for one in done),
        outputs=tuple(one.output for one in done),
        deltas=_deltas(reads, before, after),
    )


def _screen_in_worker(
    fork: object,
    request: SimulationRequest,
    reads: Sequence[Read],
    candidates: Sequence[tuple[Call, ...]],
    deadline: Deadline,
) -> tuple[Screened, ...]:
    asked = [[read.to, read.data.hex()] for read in reads]
    found = []
    with serve_state(fork) as state, run_worker(deadline) as worker:
        worker.order({"load": {**describe_fork(fork), "url": state.url}})
        worker.answer()
        for start in range(0, len(candidates), _CANDIDATES_PER_ORDER):
            some = candidates[start : start + _CANDIDATES_PER_ORDER]
            told = [[[call.to, call.data.hex(), call.value] for call in calls] for calls in some]
            worker.order({"screen": {"sender": request.sender, "candidates": told, "reads": asked}})
            texts = worker.answer()
            state.check()
            before = [_parse(read, text) for read, text in zip(reads, texts, strict=True)]
            for calls in some:
                outcomes, texts = worker.answer()
                state.check()
                after = [_parse(read, text) for read, text in zip(reads, texts, strict=True)]
                found.append(
                    Screened(
                        succeeded=bool(calls) and all(ok for ok, _ in outcomes),
                        outputs=tuple(bytes.fromhex(output) for _, output in outcomes),
                        deltas=_deltas(reads, before, after),
                    )
                )
    return tuple(found)


class Worker:
    """A running worker: an order goes out, its answers come in one by one, all within the deadline."""

    def __init__(self, process: subprocess.Popen[bytes], deadline: Deadline) -> None:
        if process.stdin is None or process.stdout is None:
            raise AssertionError("opened with pipes")
        self._orders, self._answers = process.stdin, process.stdout.fileno()
        self._deadline = deadline
        self._read = bytearray()

    def order(self, order: JsonObject) -> None:
        """Send an order once the one before is answered. Raises SimulationUnavailable when the worker ended."""
        try:
            self._orders.write(to_json(order) + b"\n")
            self._orders.flush()
        except BrokenPipeError:
            raise SimulationUnavailable("the screening worker ended") from None

    def answer(self) -> Any:  # Any: JSON between two processes
        """The next answer. Raises SimulationTimeout, SimulationUnavailable when the worker ended."""
        while (end := self._read.find(b"\n")) < 0:
            ready, _, _ = select.select([self._answers], [], [], max(0.0, self._deadline.remaining_ms() / 1000))
            if not ready:
                raise SimulationTimeout("the screening did not finish in time")
            piece = os.read(self._answers, _PIECE)
            if not piece:
                raise SimulationUnavailable("the screening worker ended")
            self._read += piece
        line = bytes(self._read[:end])
        del self._read[: end + 1]
        return from_json(line)


@contextmanager
def run_worker(deadline: Deadline) -> Iterator[Worker]:
    """A worker for the length of a block. It sees none of this process's environment. Raises SimulationUnavailable."""
    spec = find_spec("pyrevm")
    if spec is None or spec.origin is None:
        raise SimulationUnavailable("pyrevm is not installed; see requirements-turbo.txt")
    process = subprocess.Popen(  # noqa: S603 (our own script under our own Python)
        [sys.executable, str(_WORKER)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={"PYTHONPATH": str(Path(spec.origin).parents[1])},
    )
    try:
        yield Worker(process, deadline)
    finally:
        process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                pipe.close()


def describe_fork(fork: Any) -> dict[str, object]:  # Any: JSON between two processes
    """A fork as the worker is told it: its block, and all accounts and slots its base holds."""
    env, base = fork.state.env, fork.state.base
    return {
        "env": {
            "chain_id": env.chain_id,
            "number": env.number,
            "timestamp": env.timestamp,
            "coinbase": "0x" + env.coinbase.hex(),
            "prevrandao": env.prevrandao.hex(),
            "gas_limit": env.gas_limit,
        },
        "accounts": [
            ["0x" + address.hex(), account.nonce, account.balance, account.code.hex()]
            for address, account in list(base.accounts.items())
        ],
        "slots": [["0x" + address.hex(), slot, value] for (address, slot), value in list(base.slots.items())],
    }


def _parse(read: Read, text: str | None) -> int | None:
    return value_of(read, succeeded=text is not None, output=bytes.fromhex(text or ""))


def _deltas(
    reads: Sequence[Read], before: Sequence[int | None], after: Sequence[int | None]
) -> dict[tuple[str, str], int]:
    return {
        (read.key[0], read.key[1]): new - old
        for read, old, new in zip(reads, before, after, strict=True)
        if old is not None and new is not None
    }
