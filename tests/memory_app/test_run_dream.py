"""Dreams: what surprised is replayed, imagined otherwise on the local engine, and moves heuristics only with five."""

from __future__ import annotations

import sys
import uuid
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from celery.exceptions import SoftTimeLimitExceeded

from archetypes_app.models import Golem
from archetypes_app.toolset import view_golem
from memory_app.dreams.counterfactuals import Imagined, can_imagine, imagine, list_variations, other_routes_of
from memory_app.dreams.integration import Dreamt, form_hypotheses, integrate
from memory_app.dreams.run_dream import dream, list_golems_to_dream, request_stop
from memory_app.models import Directive, DreamJournal, Episode, Insight
from memory_app.models.insight import Kind
from memory_app.tasks import dream_golems_task, dream_task
from permits_app.actions.remember_outcome import remember_outcome
from tests.live_golem import LiveGolem
from tests.memory_app.factories import NOW, make_golem, remember
from tools_app.core import clock
from tools_app.core.errors import GolemError
from tools_app.core.models import AuditEntry, OutboxEvent

PARAMS = {"token_in": "USDC", "token_out": "WETH", "amount": "500000000", "slippage_bps": 50, "deadline": 300}


def surprise(golem: Golem, error: int = 50, **given: Any) -> Episode:
    """A verified outcome that missed its prediction by `error` bps."""
    return remember(
        golem,
        f"swap {uuid.uuid4()}",
        permit_id=uuid.uuid4(),
        params=PARAMS,
        prediction={"amount_out": "10000"},
        outcome={"amount_out": str(10_000 - error), "succeeded": True},
        **given,
    )


def run(changed: dict[str, Any] | None = None, *, ok: bool = True) -> Imagined:
    return Imagined(changed or {}, ok, "" if ok else "reverted", 100_000, {"0xA": "-1"}, "embedded", 7)


def fake_imagine(monkeypatch: pytest.MonkeyPatch, outcomes: Any) -> None:
    monkeypatch.setattr(sys.modules["memory_app.dreams.run_dream"], "imagine", outcomes)


def four_runs(**_: Any) -> Iterator[Imagined]:
    yield run()
    yield run({"slippage_bps": 25})


def go(golem: Golem, **given: Any) -> Any:
    return dream(golem_id=golem.pk, clock_now=lambda: NOW, **given)


def test_variations_change_one_parameter_each_inside_fixed_bounds() -> None:
    assert list_variations(PARAMS) == [
        {"slippage_bps": 25},
        {"slippage_bps": 100},
        {"deadline": 600},
        {"amount": "250000000"},
    ]
    assert list_variations({"slippage_bps": 80, "deadline": 1_000}) == [{"slippage_bps": 40}]
    assert list_variations({"slippage_bps": True, "amount": "all"}) == []
    assert list_variations({"route": None}, ["v3:3000", "v2"]) == [{"route": "v3:3000"}]
    assert list_variations({"token_in": "USDC"}, ["v3:3000"]) == list_variations({"route": None}) == []


@pytest.mark.django_db
def test_a_dream_replays_the_largest_errors_first_and_keeps_a_journal_a_phase(monkeypatch: pytest.MonkeyPatch) -> None:
    golem = make_golem()
    small, large = surprise(golem, 20), surprise(golem, 400)
    remember(golem, "as predicted", permit_id=uuid.uuid4())
    fake_imagine(monkeypatch, four_runs)
    done = go(golem)
    assert (done.replayed, done.imagined, done.interrupted_by) == (2, 4, "")
    nrem, rem, integration = DreamJournal.objects.filter(dream_id=done.dream_id).order_by("started_at", "pk")[:3]
    by_phase = {row.phase: row for row in (nrem, rem, integration)}
    assert {row.state for row in by_phase.values()} == {"DONE"}
    assert [entry["episode_id"] for entry in by_phase["NREM"].entries] == [str(large.pk), str(small.pk)]
    assert by_phase["NREM"].entries[0]["worst"] == {"what": "amount_out", "expected": "10000", "actual": "9600"}
    assert by_phase["REM"].entries[0]["runs"][1]["changed"] == {"slippage_bps": 25}
    large.refresh_from_db()
    assert (large.access_count, large.dreamt_at) == (1, NOW)
    kinds = list(
        OutboxEvent.objects.filter(golem_id=golem.pk, type__startswith="dream:").values_list("type", flat=True)
    )
    assert kinds.count("dream:phase") == 3
    assert {"dream:start", "dream:counterfactual", "dream:hypothesis", "dream:complete"} < set(kinds)
    assert AuditEntry.objects.filter(golem_id=golem.pk, event="DreamEnded").count() == 1
    assert go(golem) is None


@pytest.mark.django_db
def test_five_that_agree_write_a_heuristic_and_four_only_a_hypothesis(monkeypatch: pytest.MonkeyPatch) -> None:
    fake_imagine(monkeypatch, four_runs)
    four, five = make_golem(), make_golem()
    for golem, count in ((four, 4), (five, 5)):
        for _ in range(count):
            surprise(golem)
        go(golem)
    assert not Insight.objects.filter(golem=four, kind=Kind.HEURISTIC).exists()
    assert Insight.objects.get(golem=four, kind=Kind.INSIGHT).text.endswith("gone through all the same")
    heuristic = Insight.objects.get(golem=five, kind=Kind.HEURISTIC)
    assert (heuristic.parameter, heuristic.factor_bps, heuristic.recorded_by) == (
        "slippage_bps",
        9_000,
        "system:dream",
    )
    link = Insight.objects.get(golem=five, kind=Kind.CAUSAL_LINK)
    assert link.effect_id == Insight.objects.get(golem=five, kind=Kind.INSIGHT).pk
    assert Directive.objects.get(golem=five, document="HEURISTICS").version == 1


def runs_through(other_lost: int) -> Any:
    """The swap as it was, 40 bps short of its plan, and through another pool, `other_lost` bps short of its own."""

    def imagined(**_: Any) -> Iterator[Imagined]:
        for changed, lost in (({}, 40), ({"route": "v3:3000"}, other_lost)):
            received = str(10_000 - lost)
            yield Imagined(changed, True, "", 1, {"0xA": "-1", "0xB": received}, "embedded", 7, {"0xB": "10000"})

    return imagined


@pytest.mark.django_db
@pytest.mark.parametrize(("other_lost", "count", "route"), [(5, 5, "v3:3000@35"), (5, 4, None), (35, 5, None)])
def test_five_replays_in_which_another_route_kept_its_promise_better_prefer_it(
    monkeypatch: pytest.MonkeyPatch, other_lost: int, count: int, route: str | None
) -> None:
    golem = make_golem()
    fake_imagine(monkeypatch, runs_through(other_lost))
    for _ in range(count):
        surprise(golem)
    go(golem)
    assert Insight.objects.filter(golem=golem, kind=Kind.INSIGHT, category="route_selection").count() == 1
    found = Insight.objects.filter(golem=golem, kind=Kind.HEURISTIC).values_list("route", "route_from").first()
    assert found == (None if route is None else (route, "usdc"))


@pytest.mark.django_db
def test_counterfactuals_that_speak_against_it_revise_a_heuristic(monkeypatch: pytest.MonkeyPatch) -> None:
    golem = make_golem()
    fake_imagine(monkeypatch, four_runs)
    for _ in range(5):
        surprise(golem)
    go(golem)
    fake_imagine(monkeypatch, lambda **_: iter([run(), run({"slippage_bps": 25}, ok=False)]))
    later = NOW + timedelta(hours=5)
    for _ in range(5):
        surprise(golem, now=later)
    dream(golem_id=golem.pk, clock_now=lambda: later)
    heuristic = Insight.objects.get(golem=golem, kind=Kind.HEURISTIC)
    assert (heuristic.factor_bps, heuristic.confidence_percent) == (9_900, 16)


def test_more_counts_only_where_it_rescues_what_failed() -> None:
    def like(ok: bool) -> Dreamt:
        episode = Episode(id=uuid.uuid4(), tool_name="t", chain_id=1, token_keys=["a"], params=dict(PARAMS))
        return Dreamt(episode, (run(ok=ok), run({"deadline": 600}, ok=True)))

    [found] = form_hypotheses([like(True), like(False), like(False)])
    assert (found.parameter, found.direction, len(found.agreeing), found.is_supported) == ("deadline", "more", 2, False)
    assert form_hypotheses([like(False)]) == []


@pytest.mark.django_db
@pytest.mark.parametrize("cause", ["owner", "halt", "memory off", "time", "worker", "failure"])
def test_an_interrupted_dream_ends_after_its_episode_and_keeps_what_it_had(
    monkeypatch: pytest.MonkeyPatch, cause: str
) -> None:
    golem = make_golem()
    for error in (10, 20, 30):
        surprise(golem, error)

    def interrupt(**_: Any) -> Iterator[Imagined]:
        journal = DreamJournal.objects.filter(golem=golem, state="RUNNING").get()
        if cause == "owner":
            assert request_stop(journal=journal, actor="owner:1", reason="enough", now=NOW)
        elif cause == "halt":
            Golem.objects.filter(pk=golem.pk).update(halted_at=NOW)
        elif cause == "memory off":
            Golem.objects.filter(pk=golem.pk).update(is_memory_enabled=False)
        elif cause == "worker":
            raise SoftTimeLimitExceeded
        elif cause == "failure":
            raise RuntimeError("the engine broke")
        yield run()

    fake_imagine(monkeypatch, interrupt)
    if cause == "worker":
        with pytest.raises(SoftTimeLimitExceeded):
            go(golem)
    elif cause == "failure":
        with pytest.raises(RuntimeError):
            go(golem)
    else:
        done = go(golem, seconds=0.0 if cause == "time" else 30)
        assert done.interrupted_by
    states = dict(DreamJournal.objects.filter(golem=golem).values_list("phase", "state"))
    assert set(states.values()) <= {"DONE", "INTERRUPTED", "FAILED"}
    assert states["NREM"] == ("INTERRUPTED" if cause == "time" else "DONE")
    if cause not in ("time",):
        assert states["REM"] == ("FAILED" if cause == "failure" else "INTERRUPTED")
    assert OutboxEvent.objects.filter(golem_id=golem.pk, type="dream:complete", payload__interrupted=True).count() == 1
    assert not Insight.objects.filter(golem=golem).exists()


@pytest.mark.django_db
def test_a_dream_whose_worker_died_is_closed_and_two_do_not_run_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    golem = make_golem()
    surprise(golem)
    dead = DreamJournal.objects.create(
        golem=golem, dream_id=uuid.uuid4(), phase="REM", trigger="schedule", started_at=NOW - timedelta(minutes=2)
    )
    fake_imagine(monkeypatch, four_runs)
    assert go(golem) is None
    DreamJournal.objects.filter(pk=dead.pk).update(started_at=NOW - timedelta(minutes=6))
    assert go(golem) is not None
    dead.refresh_from_db()
    assert (dead.state, dead.note) == ("FAILED", "its worker stopped")


@pytest.mark.django_db
def test_the_tasks_let_every_surprised_golem_dream(monkeypatch: pytest.MonkeyPatch) -> None:
    surprised, calm = make_golem(), make_golem()
    surprise(surprised, now=clock.now())
    remember(calm, "as predicted")
    assert list_golems_to_dream(now=clock.now()) == [surprised.pk]
    asked: list[str] = []
    monkeypatch.setattr(dream_task, "delay", lambda *, golem_id: asked.append(golem_id))
    assert dream_golems_task() == 1
    assert asked == [str(surprised.pk)]
    fake_imagine(monkeypatch, four_runs)
    assert dream_task(golem_id=asked[0])
    assert dream_task(golem_id=asked[0]) is None


@pytest.mark.django_db
def test_an_episode_that_cannot_run_again_is_skipped_and_said_so(monkeypatch: pytest.MonkeyPatch) -> None:
    golem = make_golem()
    blank = surprise(golem, 30)
    Episode.objects.filter(pk=blank.pk).update(params={})
    surprise(golem, 20)

    def refuse(**_: Any) -> Iterator[Imagined]:
        raise GolemError("the node is away")
        yield run()

    fake_imagine(monkeypatch, refuse)
    done = go(golem)
    assert (done.interrupted_by, done.imagined) == ("", 0)
    entries = DreamJournal.objects.get(dream_id=done.dream_id, phase="REM").entries
    assert [("parameters" in e["skipped"], "node" in e["skipped"]) for e in entries] == [(True, False), (False, True)]


def test_the_action_imagined_as_it_was_does_what_it_did(live_golem: LiveGolem) -> None:
    permit_id = live_golem.preview()["permit_id"]
    committed = live_golem.commit(permit_id)
    assert committed["status"] == "COMMITTED", committed
    episode_id = remember_outcome(permit_id=uuid.UUID(permit_id), now=clock.now())
    assert episode_id is not None
    episode = Episode.objects.get(pk=episode_id)
    assert can_imagine(episode)
    assert episode.calls[0]["sender"] == live_golem.golem.address
    runs = list(imagine(episode=episode, golem=view_golem(live_golem.golem), now=clock.now()))
    was = runs[0]
    assert (was.changed, was.succeeded) == ({}, True)
    seen = {delta["token"]: delta["raw"] for delta in episode.outcome["balance_deltas"]}
    tokens = [token for token in seen if token in was.deltas]
    assert tokens and {token: was.deltas[token] for token in tokens} == {token: seen[token] for token in tokens}
    half = next(each for each in runs if "amount" in each.changed)
    usdc = live_golem.world.tokens["USDC"].address
    assert int(half.deltas[usdc]) * 2 == int(was.deltas[usdc])
    other = next(each for each in runs if "route" in each.changed)
    assert [dict(each.changed) for each in runs[1:]] == list_variations(episode.params, [str(other.changed["route"])])
    weth = live_golem.world.tokens["WETH"].address
    assert other.succeeded and other.deltas[weth] == other.promised[weth] != was.promised[weth] == was.deltas[weth]
    assert integrate(golem_id=live_golem.golem.pk, hypotheses=[], now=clock.now()) == []
    # Told in the wrong order, the best of them is found all the same.
    routes = other_routes_of(episode.prediction)
    assert len(routes) > 1
    episode.prediction["details"]["other_routes"] = [*reversed(routes), "v3:123", "by air"]
    again = list(imagine(episode=episode, golem=view_golem(live_golem.golem), now=clock.now()))
    assert next(each for each in again if "route" in each.changed) == other


@pytest.mark.django_db
def test_what_was_tagged_is_replayed_together_and_lasts_longer(monkeypatch: pytest.MonkeyPatch) -> None:
    golem = make_golem()
    surprise(golem)
    first, second = (remember(golem, f"order {n} of a stranger", dream_tag="orders", importance="base") for n in "ab")
    other = remember(golem, "A quiet night", dream_tag="nights")
    plain = remember(golem, "Nobody tagged this")
    strangers = remember(make_golem(), "Tagged elsewhere", dream_tag="orders")
    fake_imagine(monkeypatch, four_runs)
    found = go(golem)
    entries = DreamJournal.objects.get(dream_id=found.dream_id, phase="NREM").entries
    groups = {each["dream_tag"]: set(each["episode_ids"]) for each in entries if "dream_tag" in each}
    assert groups == {"orders": {str(first.pk), str(second.pk)}, "nights": {str(other.pk)}}
    for episode, days in ((first, 10.5), (second, 10.5), (plain, 7.0), (strangers, 7.0)):
        episode.refresh_from_db()
        assert episode.stability_days == days
    surprise(golem)
    again = DreamJournal.objects.get(dream_id=go(golem).dream_id, phase="NREM").entries
    assert not any("dream_tag" in each for each in again)
