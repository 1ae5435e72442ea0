"""A fleet of agents over HTTP with everything running: one client alone, eight that preview, eight that trade."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from datetime import timedelta

from archetypes_app.models import Golem, Heartbeat, HeartbeatTick
from tests.bench.agents import HttpAgent, Met, act_together, make_golems, open_agents
from tests.bench.everything import Everything, count_deadlocks, run_everything
from tests.bench.figures import Figure, measure, percentile
from tools_app.core import clock

CLIENTS = 8
_ALONE = 60
_SECONDS = 20.0
_WARM_SECONDS = 3.0


@measure("fleet")
def measure_fleet() -> Iterator[Figure]:
    """On web server, workers and beat of its own, with the servers of this run."""
    golems = make_golems(CLIENTS, name="Fleet", now=clock.now())
    with run_everything() as running:
        tokens = [token for _, token in golems]
        _warm(running, tokens)
        yield from _measure_alone(running, tokens[0])
        yield from _measure_previews(running, tokens)
        yield from _measure_commits(running, tokens)
        yield from _measure_beside(running, golems)
        yield _measure_memory(running)


def _warm(running: Everything, tokens: list[str]) -> None:
    agents = open_agents(running.port, tokens, first_amount=1_000_000)
    act_together(agents, HttpAgent.swap_and_time, seconds=_WARM_SECONDS)


def _measure_alone(running: Everything, token: str) -> Iterator[Figure]:
    (agent,) = open_agents(running.port, [token], first_amount=2_000_000)
    for name, what, act, target in (
        ("preview", "preview over HTTP", HttpAgent.preview_and_time, 22),
        ("swap", "preview, commit, verified", HttpAgent.swap_and_time, 90),
    ):
        agent.met = Met()
        before = running.processor_ms()
        for _ in range(_ALONE):
            act(agent)
        spent = _each(before, running.processor_ms(), _ALONE)
        told = f"95th percentile {percentile(agent.met.times, 95):g} ms; {agent.met.describe()}; {spent}"
        yield Figure(
            f"fleet.alone.{name}.p50",
            f"one client, {what}, median of {_ALONE}",
            percentile(agent.met.times, 50),
            "ms",
            target=target,
            reference=told,
        )


def _measure_previews(running: Everything, tokens: list[str]) -> Iterator[Figure]:
    agents = open_agents(running.port, tokens, first_amount=3_000_000)
    met, seconds, spent = _act(running, agents, HttpAgent.preview_and_time)
    yield Figure(
        "fleet.previews.rate",
        f"{CLIENTS} clients on {CLIENTS} golems preview for {_SECONDS:g} s",
        round(len(met.times) / seconds, 1),
        "/s",
        target=60,
        at_least=True,
        reference=spent,
    )
    yield Figure("fleet.previews.p95", "the same, 95th percentile", percentile(met.times, 95), "ms", target=250)


def _measure_commits(running: Everything, tokens: list[str]) -> Iterator[Figure]:
    agents = open_agents(running.port, tokens, first_amount=4_000_000)
    deadlocks = count_deadlocks()
    before = running.processor_ms()
    met, seconds, spent = _act(running, agents, HttpAgent.swap_and_time)
    used = sum(running.processor_ms().values()) - sum(before.values())
    deadlocks = count_deadlocks() - deadlocks
    yield Figure(
        "fleet.commits.rate",
        f"{CLIENTS} clients on {CLIENTS} golems preview, commit and see it verified, in a loop",
        round(len(met.times) / seconds, 1),
        "/s",
        target=15,
        at_least=True,
        reference=spent,
    )
    yield Figure(
        "fleet.commits.p95",
        "the same, preview to verified, 95th percentile",
        percentile(met.times, 95),
        "ms",
        target=1_000,
    )
    each = round(used / max(len(met.times), 1), 1)
    yield Figure("fleet.commits.processor", "processor time of such a trade, all processes", each, "ms", target=50)
    yield Figure("fleet.deadlocks", "deadlocks in the database meanwhile", deadlocks, "", target=0)
    yield Figure("fleet.server_errors", "answers of 5xx meanwhile", met.server_errors, "", target=0)


def _measure_beside(running: Everything, golems: list[tuple[Golem, str]]) -> Iterator[Figure]:
    """Half of the clients preview, half trade, and every golem ticks: each kind gets on."""
    agents = open_agents(running.port, [token for _, token in golems], first_amount=6_000_000)
    previewing, trading = agents[::2], agents[1::2]
    ids = [golem.pk for golem, _ in golems]
    begun = clock.now()
    for number, golem_id in enumerate(ids):
        due_at = begun + timedelta(seconds=_SECONDS / 2 * number / len(ids))
        Heartbeat.objects.update_or_create(golem_id=golem_id, defaults={"is_on": True, "next_tick_at": due_at})

    def act(agent: HttpAgent) -> None:
        agent.preview_and_time() if agent in previewing else agent.swap_and_time()

    act_together(agents, act, seconds=_SECONDS)
    Heartbeat.objects.filter(golem_id__in=ids).update(is_on=False)
    lateness = list(HeartbeatTick.objects.filter(golem_id__in=ids).values_list("lateness_ms", flat=True))
    for name, some in (("preview", previewing), ("trade", trading)):
        met = Met()
        for agent in some:
            met.add(agent.met)
        yield Figure(
            f"fleet.beside.{name}.p95",
            f"{len(some)} clients {name} beside the others and the ticks, 95th percentile",
            percentile(met.times, 95) if met.times else 1000 * _SECONDS,
            "ms",
            target=1_000,
            reference=f"{len(met.times)} in {_SECONDS:g} s; {met.describe()}",
        )
    yield Figure(
        "fleet.beside.ticks",
        f"how late the latest tick of {len(ids)} golems began meanwhile",
        max(lateness, default=round(1000 * _SECONDS)),
        "ms",
        target=3_000,
        reference=f"{len(lateness)} ticks",
    )


def _measure_memory(running: Everything) -> Figure:
    found = running.memory_mib()
    told = ", ".join(f"{name} {mib:.0f}" for name, mib in found.items())
    what = "memory of web server, workers and beat after all that (PSS), without servers"
    return Figure("fleet.memory", what, round(sum(found.values()) / 1024, 2), "GiB", target=1.2, reference=told)


def _act(running: Everything, agents: Sequence[HttpAgent], act: Callable[[HttpAgent], None]) -> tuple[Met, float, str]:
    """All agents at once for a while: what they met, the seconds it took, and what it cost, in words."""
    before = running.processor_ms()
    met, seconds = act_together(agents, act, seconds=_SECONDS)
    spent = _each(before, running.processor_ms(), len(met.times))
    return met, seconds, f"{met.describe()}; {spent}; load of the machine {os.getloadavg()[0]:.1f}"


def _each(before: dict[str, float], after: dict[str, float], count: int) -> str:
    shares = {name: (after[name] - before[name]) / max(count, 1) for name in after}
    told = ", ".join(f"{name} {share:.1f}" for name, share in shares.items() if share >= 0.1)
    return f"processor ms of each: {sum(shares.values()):.1f} ({told})"
