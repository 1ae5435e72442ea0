"""A fleet of agents over HTTP with everything running: one client alone, eight that preview, eight that trade."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import timedelta
from functools import cache
from uuid import UUID

from archetypes_app.models import Golem, Heartbeat, HeartbeatTick
from permits_app.actions.commit import commit_permit
from permits_app.actions.preview import preview_action
from permits_app.actions.start_commit import start_commit
from tests.bench.agents import HttpAgent, Met, act_together, make_golems, open_agents
from tests.bench.bare_transfer import measure_transfers
from tests.bench.everything import Everything, count_deadlocks, run_everything
from tests.bench.figures import Figure, measure, percentile
from tests.bench.floors import measure_floors
from tests.bench.profiles import profile_calls
from tools_app.core import clock

CLIENTS = 8
_ALONE = 60
_SECONDS = 20.0
_WARM_SECONDS = 3.0
_PROFILED = 20
MOST_GB = 1.2


@measure("fleet")
def measure_fleet() -> Iterator[Figure]:
    """On web server, workers and beat of its own, with the servers of this run."""
    golems = make_golems(CLIENTS, name="Fleet", now=clock.now())
    with run_everything() as running:
        tokens = [token for _, token in golems]
        _warm(running, tokens)
        first = golems[0][0]
        yield from measure_floors(running.port, _previews_of(first))
        yield from _measure_alone(running, first, tokens[0])
        yield from (_with_profile(each, first, with_commit=False) for each in _measure_previews(running, tokens))
        yield from (_with_profile(each, first, with_commit=True) for each in _measure_commits(running, tokens))
        yield from _measure_beside(running, golems)
        yield _measure_memory(running)


def _warm(running: Everything, tokens: list[str]) -> None:
    agents = open_agents(running.port, tokens, first_amount=1_000_000)
    act_together(agents, HttpAgent.swap_and_time, seconds=_WARM_SECONDS)


def _measure_alone(running: Everything, golem: Golem, token: str) -> Iterator[Figure]:
    (agent,) = open_agents(running.port, [token], first_amount=2_000_000)
    bare = measure_transfers()
    found: list[Figure] = []
    for name, what, act, most_p50, most_p95 in (
        ("preview", "preview over HTTP", HttpAgent.preview_and_time, 9, 15),
        ("swap", "preview, commit, verified", HttpAgent.swap_and_time, 40, None),
    ):
        agent.met = Met()
        before = running.processor_ms()
        for _ in range(_ALONE):
            act(agent)
        spent = _each(before, running.processor_ms(), _ALONE)
        told = f"{bare.describe()}; {agent.met.describe()}; {spent}"
        for percent, most in ((50, most_p50), (95, most_p95)):
            found.append(
                Figure(
                    f"fleet.alone.{name}.p{percent}",
                    f"one client, {what}, {'median' if percent == 50 else '95th percentile'} of {_ALONE}",
                    percentile(agent.met.times, percent),
                    "ms",
                    target=most,
                    reference=told,
                )
            )
    yield from (_with_profile(each, golem, with_commit=".swap." in each.id) for each in found)


def _with_profile(figure: Figure, golem: Golem, *, with_commit: bool) -> Figure:
    """A missed figure tells where the time of a preview, or of a trade, goes."""
    return figure if figure.ok else replace(figure, profile=_profile(golem, with_commit))


@cache
def _profile(golem: Golem, with_commit: bool) -> tuple[str, ...]:
    preview = _previews_of(golem)

    def act() -> None:
        permit_id = preview()
        if with_commit:
            start_commit(golem=golem, permit_id=permit_id, actor="system:bench", now=clock.now())
            commit_permit(permit_id=permit_id)

    return profile_calls(act, count=_PROFILED)


def _previews_of(golem: Golem) -> Callable[[], UUID]:
    """Previews in this process, each of another amount."""
    amounts = iter(range(8_000_000, 9_000_000))

    def preview() -> UUID:
        body = {"action_type": "swap", "token_in": "USDC", "token_out": "WETH", "amount": str(next(amounts))}
        return UUID(preview_action(golem_id=golem.pk, api_key_id=None, body=body, now=clock.now())["permit_id"])

    return preview


def _measure_previews(running: Everything, tokens: list[str]) -> Iterator[Figure]:
    agents = open_agents(running.port, tokens, first_amount=3_000_000)
    met, seconds, spent = _act(running, agents, HttpAgent.preview_and_time)
    yield Figure(
        "fleet.previews.rate",
        f"{CLIENTS} clients on {CLIENTS} golems preview for {_SECONDS:g} s",
        round(len(met.times) / seconds, 1),
        "/s",
        target=140,
        at_least=True,
        reference=spent,
    )
    yield Figure("fleet.previews.p95", "the same, 95th percentile", percentile(met.times, 95), "ms", target=90)


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
        target=40,
        at_least=True,
        reference=spent,
    )
    yield Figure(
        "fleet.commits.p95",
        "the same, preview to verified, 95th percentile",
        percentile(met.times, 95),
        "ms",
        target=300,
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
    whole = round(sum(found.values()) * 1024**2 / 10**9, 2)
    profile = running.list_mapped() if whole > MOST_GB else ()
    return Figure("fleet.memory", what, whole, "GB", target=MOST_GB, reference=told, profile=profile)


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
