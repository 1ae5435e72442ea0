"""A fresh golem's commits while permits of others are stuck, over HTTP with everything running.

Between the product and the chain stands a node that takes the others' transactions, says it has them and keeps them to
itself. Measured is long enough that the stuck permits become UNKNOWN meanwhile; then they are let through.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from typing import Any

from django.conf import settings
from eth_account import Account
from eth_utils.crypto import keccak

from golem_project.demo.seed import CHAIN_ID
from permits_app.models import ActionPermit, OutboundTransaction
from permits_app.models.permit import UNFINISHED
from tests.bench.agents import HttpAgent, make_golems
from tests.bench.everything import Everything, run_everything
from tests.bench.figures import Figure, measure, percentile
from tests.proof.lying_node import Ask, LyingNode, Request, serve_lying_node
from tools_app.core import clock

_STUCK_GOLEMS, _OF_EACH = 10, 2
_STUCK = _STUCK_GOLEMS * _OF_EACH
_STICK_MS, _FREE_MS = 20_000, 25_000
_SECONDS = settings.GOLEM_RECEIPT_WAIT_SECONDS + 4
_PAUSE_SECONDS = 0.5
_LOOK_SECONDS = 0.1


class Keeper:
    """Keeps what some accounts send: answers the transaction's hash and hands nothing on."""

    def __init__(self, senders: set[str]) -> None:
        self._senders = {sender.lower() for sender in senders}
        self._lock = threading.Lock()
        self._kept: dict[str, Request] = {}

    def lie(self, requests: list[Request], ask: Ask) -> Any:
        """As the node's lie."""
        told: dict[int, dict[str, Any]] = {}
        for number, request in enumerate(requests):
            if request["method"] != "eth_sendRawTransaction":
                continue
            raw = request["params"][0]
            if str(Account.recover_transaction(raw)).lower() in self._senders:
                tx_hash = "0x" + keccak(hexstr=raw).hex()
                with self._lock:
                    self._kept[tx_hash] = request
                told[number] = {"jsonrpc": "2.0", "id": request["id"], "result": tx_hash}
        others = [request for number, request in enumerate(requests) if number not in told]
        answers = iter(ask(others) if others else [])
        return [told[number] if number in told else next(answers) for number in range(len(requests))]

    def let_through(self, node: LyingNode) -> None:
        """Hand on all that was kept; what the chain has by now it refuses, which is as good."""
        with self._lock:
            kept, self._kept = list(self._kept.values()), {}
        for request in kept:
            node.ask_real([request])


@measure("stuck")
def measure_stuck() -> Iterator[Figure]:
    """Twenty stuck permits of ten accounts, and one golem that nobody has seen before."""
    others = make_golems(_STUCK_GOLEMS, name="Stuck", now=clock.now())
    ((_, token),) = make_golems(1, name="Fresh", now=clock.now())
    keeper = Keeper({golem.address for golem, _ in others})
    with (
        serve_lying_node(settings.GOLEM_RPC_URLS[CHAIN_ID][0]) as node,
        run_everything(**{f"GOLEM_RPC_URL_{CHAIN_ID}": node.url}) as running,
    ):
        try:
            with node.lying(keeper.lie):
                permits = _stick(running, [token for _, token in others])
                yield from _measure_fresh(running, token, permits)
        finally:
            keeper.let_through(node)
        yield _measure_freed(permits)


def _stick(running: Everything, tokens: list[str]) -> list[str]:
    """The ids of the permits whose bytes the node keeps."""
    permits = []
    for token in tokens:
        agent = HttpAgent(port=running.port, token=token)
        for _ in range(_OF_EACH):
            permit = agent.preview()
            if permit is None or not agent.commit_later(permit):
                raise RuntimeError(f"a permit that was to be stuck was refused: {agent.met.describe()}")
            permits.append(permit["permit_id"])
    deadline = clock.Deadline.after_ms(_STICK_MS)
    sent = OutboundTransaction.objects.filter(permit_id__in=permits, broadcast_count__gt=0)
    while (count := sent.values("permit_id").distinct().count()) < _STUCK:
        if deadline.is_over:
            raise RuntimeError(f"{count} of {_STUCK} permits were sent within {_STICK_MS / 1000:g} s")
        time.sleep(_LOOK_SECONDS)
    return permits


def _measure_fresh(running: Everything, token: str, permits: list[str]) -> Iterator[Figure]:
    agent = HttpAgent(port=running.port, token=token)
    deadline = clock.Deadline.after_ms(_SECONDS * 1000)
    while not deadline.is_over:
        permit = agent.preview()
        if permit is not None:
            started = clock.monotonic_ms()
            if agent.commit(permit) is not None:
                agent.met.times.append(clock.monotonic_ms() - started)
        time.sleep(_PAUSE_SECONDS)
    times = agent.met.times or [1000.0 * _SECONDS]
    yield Figure(
        "stuck.fresh.p95",
        f"a fresh golem's commit until verified while {_STUCK} permits of others are stuck, 95th percentile",
        percentile(times, 95),
        "ms",
        target=1_000,
        reference=f"{len(agent.met.times)} in {_SECONDS} s, the first {times[0]:.0f} ms, median"
        f" {percentile(times, 50):g} ms; {_count_stuck(permits)} of {_STUCK} stuck to the end; {agent.met.describe()}",
    )
    yield Figure(
        "stuck.fresh.refused",
        "previews and commits of the fresh golem refused or not verified meanwhile",
        sum(agent.met.refused.values()),
        "",
        target=0,
    )


def _measure_freed(permits: list[str]) -> Figure:
    started, deadline = clock.monotonic_ms(), clock.Deadline.after_ms(_FREE_MS)
    while _count_stuck(permits) and not deadline.is_over:
        time.sleep(_LOOK_SECONDS)
    return Figure(
        "stuck.freed",
        f"until all {_STUCK} have ended once the node hands their transactions on",
        round((clock.monotonic_ms() - started) / 1000, 1),
        "s",
        target=15,
        reference=f"{_count_stuck(permits)} still under way",
    )


def _count_stuck(permits: list[str]) -> int:
    return ActionPermit.objects.filter(pk__in=permits, status__in=[str(status) for status in UNFINISHED]).count()
