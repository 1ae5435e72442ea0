"""The V3 swap preview, in process, beside the bare simulation it cannot be faster than; and how many a second."""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import connections

from archetypes_app.models import Golem
from golem_project.demo.seed import CHAIN_ID, seed_demo
from permits_app.actions.cancel import cancel_permit
from permits_app.actions.preview import preview_action
from permits_app.models import ActionPermit, SpendingLimits
from permits_app.permits.plan_store import decode_plan
from tests.bench.figures import Figure, measure, percentile, time_calls
from tests.bench.processor_time import ProcessorTime
from tools_app import runner
from tools_app.core import clock
from tools_app.core.clock import Deadline
from tools_app.simulation.engine import SimulationRequest
from tools_app.simulation.select import run_simulation
from tools_app.toolkit.enums import EngineSetting

_SWAP = {"action_type": "swap", "token_in": "USDC", "token_out": "WETH", "amount": "500000000"}
_RATES = ((EngineSetting.RPC, 80.0), (EngineSetting.PYEVM, 25.0))
_THREADS = 3
_ROUNDS = 6
_PREVIEWS_PER_ROUND = 12
_PREVIEWS_ALONE = 30


class _Agent:
    """One golem that previews swaps and cancels each again, so that no limit fills up."""

    def __init__(self, golem: Golem) -> None:
        self.golem = golem
        self.last: dict[str, Any] = {}

    def preview(self, amount: int = 500_000_000) -> None:
        body = {**_SWAP, "amount": str(amount)}
        self.last = preview_action(golem_id=self.golem.pk, api_key_id=None, body=body, now=clock.now())

    def cancel(self) -> None:
        cancel_permit(
            golem=self.golem,
            permit_id=UUID(self.last["permit_id"]),
            reason="measured only",
            actor="system:bench",
            now=clock.now(),
        )


@measure("preview")
def measure_preview() -> Iterator[Figure]:
    """p50 and p95 of the whole preview in process, the ratio to one bare simulation, and previews a second."""
    golem = seed_demo(now=clock.now(), with_token=False).golem
    SpendingLimits.objects.filter(golem=golem).update(writes_per_hour=10_000)
    agent = _Agent(golem)
    times = []
    for _ in range(24):
        times += time_calls(agent.preview, count=1, warm_up=0)
        agent.cancel()
    times = times[4:]
    permit = ActionPermit.objects.get(pk=agent.last["permit_id"])
    plan = decode_plan(permit)
    chain = runner.open_reader(CHAIN_ID, now=clock.now(), deadline=Deadline.after_ms(60_000))
    request = SimulationRequest(chain_id=CHAIN_ID, sender=permit.signer, calls=plan.calls, block=chain.block)
    bare = time_calls(lambda: run_simulation(request, deadline=Deadline.after_ms(10_000)), count=20)
    floor = percentile(bare, 50)
    p50 = percentile(times, 50)
    yield Figure(
        "preview.p50",
        "whole V3 swap preview in process, median of 20",
        p50,
        "ms",
        target=50,
        reference=f"bare simulation of the same calls {floor:g} ms, {p50 / floor:.1f} times",
    )
    yield Figure("preview.p95", "the same, 95th percentile", percentile(times, 95), "ms", target=100)
    for setting, target in _RATES:
        Golem.objects.filter(pk=golem.pk).update(simulation_engine=setting.value)
        yield _measure_rate(agent, setting, target)
    Golem.objects.filter(pk=golem.pk).update(simulation_engine=EngineSetting.AUTO.value)


def _measure_rate(agent: _Agent, setting: EngineSetting, target: float) -> Figure:
    """Previews of one process in a few threads, each of another amount, with permit, ledger, audit and event rows.

    What is counted is previews alone; the permits are cancelled between the rounds, so that no limit fills up.
    """
    agents = [_Agent(agent.golem) for _ in range(_PREVIEWS_PER_ROUND)]
    # The demo was seeded in this process, which no worker does: what that left is looked through now, not meanwhile.
    gc.collect()
    spent_ms, used = 0.0, ProcessorTime(settings.GOLEM_RPC_URLS[CHAIN_ID][0])
    with ThreadPoolExecutor(_THREADS) as pool:
        for number in range(_ROUNDS + 1):
            amounts = range(5_000_000 + number * 1_000, 5_000_000 + number * 1_000 + _PREVIEWS_PER_ROUND)
            with used.measured() if number > 0 else nullcontext():
                started = clock.monotonic_ms()
                list(pool.map(lambda each, amount: each.preview(amount), agents, amounts))
                took_ms = clock.monotonic_ms() - started
            spent_ms += took_ms if number > 0 else 0
            for each in agents:
                each.cancel()
        list(pool.map(lambda _: connections.close_all(), range(_THREADS)))
    count = _ROUNDS * _PREVIEWS_PER_ROUND
    alone = _measure_alone(agent)
    laps = ", ".join(f"{name} {ms:g} ms" for name, ms in agent.last["timings_ms"].items())
    return Figure(
        f"preview.rate.{setting.value}",
        f"previews with all their rows on {setting.value}, one process, {_THREADS} threads",
        round(count * 1000 / spent_ms, 1),
        "/s",
        target=target,
        at_least=True,
        reference=f"processor time of each: {used.spent.describe(count)}; {alone:.1f}/s one after another; load of the"
        f" machine {os.getloadavg()[0]:.1f}; the last one: {laps}",
    )


def _measure_alone(agent: _Agent) -> float:
    """Previews a second when each waits for the one before."""
    spent_ms = 0.0
    for number in range(_PREVIEWS_ALONE):
        started = clock.monotonic_ms()
        agent.preview(4_000_000 + number)
        spent_ms += clock.monotonic_ms() - started
        agent.cancel()
    return _PREVIEWS_ALONE * 1000 / spent_ms
