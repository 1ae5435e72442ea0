"""Dream: NREM replays the largest prediction errors, REM imagines them otherwise, Integration draws conclusions.

Each phase has a journal row that is saved after every episode, so a dream that is interrupted (by its owner, a halt,
its time, a stopped worker) leaves what it had. No transaction stays open while the engine runs.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from types import TracebackType
from uuid import UUID

from celery.exceptions import SoftTimeLimitExceeded
from django.conf import settings
from django.db import transaction
from django.db.models import Q, QuerySet

from archetypes_app.models import Golem
from archetypes_app.toolset import view_golem
from memory_app.actions.query_grimoire import reinforce_episodes
from memory_app.dreams.counterfactuals import Imagined, can_imagine, imagine
from memory_app.dreams.integration import Dreamt, form_hypotheses, integrate
from memory_app.dreams.tagged_episodes import list_tagged
from memory_app.errors import MemoryOwnerUnknown
from memory_app.models import DreamJournal, Episode
from memory_app.models.dream import DreamPhase, DreamState
from memory_app.models.provenance import Trust
from memory_app.reflection import reflect
from tools_app.core import audit_log, event_bus
from tools_app.core.clock import AHEAD, Deadline
from tools_app.core.errors import GolemError
from tools_app.core.events import Event, EventType
from tools_app.core.json_types import JsonObject
from tools_app.core.transaction_retry import retry_aborted

STALE_AFTER = timedelta(minutes=5)
AGAIN_AFTER = timedelta(days=7)
_LOOK_BACK = timedelta(days=30)
Now = Callable[[], datetime]


@dataclass
class Dream:
    """A finished or interrupted dream."""

    dream_id: UUID
    golem_id: UUID
    replayed: int = 0
    imagined: int = 0
    hypotheses: int = 0
    heuristics_moved: int = 0
    interrupted_by: str = ""
    _deadline: Deadline | None = field(default=None, repr=False)


def list_golems_to_dream(*, now: datetime) -> list[UUID]:
    """Golems with memory switched on that were surprised by something they have not dreamt of lately."""
    rows = _surprises(now).filter(golem__is_memory_enabled=True, golem__halted_at__isnull=True)
    return list(rows.order_by().values_list("golem_id", flat=True).distinct())


def dream(*, golem_id: UUID, clock_now: Now, trigger: str = "schedule", seconds: float | None = None) -> Dream | None:
    """One dream; None when another one of this golem runs or nothing surprised it. Raises MemoryOwnerUnknown.

    Ends by itself after `seconds` (GOLEM_MEMORY_DREAM_SECONDS). Emits dream:* events.
    """
    now = clock_now()
    golem, surprises = _begin(golem_id, now)
    if not surprises:
        return None
    budget = settings.GOLEM_MEMORY_DREAM_SECONDS if seconds is None else seconds
    found = Dream(uuid.uuid4(), golem_id, _deadline=Deadline.after_ms(int(budget * 1_000)))
    _emit(found, EventType.DREAM_START, {"trigger": trigger, "episode_count": len(surprises)}, now)
    dreamt: list[Dreamt] = []
    try:
        _replay(found, surprises, trigger, clock_now)
        dreamt = _imagine(found, golem, surprises, trigger, clock_now)
        _integrate(found, dreamt, trigger, clock_now)
    finally:
        _finish(found, clock_now())
    return found


@retry_aborted
def request_stop(*, journal: DreamJournal, actor: str, reason: str, now: datetime) -> bool:
    """Ask a running dream to end after the episode it is at; False when it has ended. Writes the audit log."""
    with transaction.atomic():
        asked = DreamJournal.objects.filter(
            dream_id=journal.dream_id, state=DreamState.RUNNING, wants_stop=False
        ).update(wants_stop=True)
        if asked:
            audit_log.append(
                golem_id=journal.golem_id,
                event="DreamStopRequested",
                actor=actor,
                now=now,
                data={"dream_id": str(journal.dream_id), "reason": reason[:500]},
            )
    return bool(asked)


@retry_aborted
def _begin(golem_id: UUID, now: datetime) -> tuple[Golem, list[Episode]]:
    with transaction.atomic():
        golem = Golem.objects.select_for_update(no_key=True).filter(pk=golem_id).first()
        if golem is None:
            raise MemoryOwnerUnknown(f"there is no golem {golem_id}")
        running = DreamJournal.objects.filter(golem_id=golem_id, state=DreamState.RUNNING)
        running.filter(started_at__lt=now - STALE_AFTER).update(
            state=DreamState.FAILED, finished_at=now, note="its worker stopped"
        )
        if running.filter(started_at__gte=now - STALE_AFTER, started_at__lte=now + AHEAD).exists() or golem.is_halted:
            return golem, []
        rows = _surprises(now).filter(golem_id=golem_id).order_by("-prediction_error_bps", "-occurred_at", "pk")
        surprises = list(rows.defer("search", "search_text")[: settings.GOLEM_MEMORY_DREAM_EPISODES])
        Episode.objects.filter(pk__in=[episode.pk for episode in surprises]).update(dreamt_at=now)
    return golem, surprises


def _surprises(now: datetime) -> QuerySet[Episode]:
    return Episode.objects.filter(
        Q(dreamt_at__isnull=True) | Q(dreamt_at__lt=now - AGAIN_AFTER),
        archived_at__isnull=True,
        is_quarantined=False,
        trust=Trust.VERIFIED,
        permit_id__isnull=False,
        prediction_error_bps__gt=0,
        occurred_at__gt=now - _LOOK_BACK,
    )


def _replay(found: Dream, surprises: list[Episode], trigger: str, clock_now: Now) -> None:
    with _Journal(found, DreamPhase.NREM, trigger, clock_now) as journal:
        for episode in surprises:
            if journal.must_stop():
                return
            lesson = reflect(prediction=episode.prediction, outcome=episode.outcome)
            worst = max(
                (each for each in lesson.comparisons if not each.is_cost),
                key=lambda each: each.difference_bps,
                default=None,
            )
            reinforce_episodes(golem_id=found.golem_id, episode_ids=[episode.pk], now=clock_now())
            found.replayed += 1
            journal.add(
                {
                    "episode_id": str(episode.pk),
                    "prediction_error_bps": episode.prediction_error_bps,
                    "verdict": lesson.verdict,
                    "why": list(lesson.why),
                    "next_time": list(lesson.next_time),
                    "worst": None
                    if worst is None
                    else {
                        "what": worst.what,
                        "expected": worst.expected,
                        "actual": worst.actual,
                    },
                }
            )
        tagged = list_tagged(golem_id=found.golem_id, now=clock_now(), look_back=_LOOK_BACK, again_after=AGAIN_AFTER)
        for tag, episode_ids in tagged:
            if journal.must_stop():
                return
            now = clock_now()
            Episode.objects.filter(pk__in=episode_ids).update(dreamt_at=now)
            reinforce_episodes(golem_id=found.golem_id, episode_ids=episode_ids, now=now)
            found.replayed += len(episode_ids)
            journal.add({"dream_tag": tag, "episode_ids": [str(pk) for pk in episode_ids]})


def _imagine(found: Dream, golem: Golem, surprises: list[Episode], trigger: str, clock_now: Now) -> list[Dreamt]:
    dreamt: list[Dreamt] = []
    with _Journal(found, DreamPhase.REM, trigger, clock_now) as journal:
        view = view_golem(golem)
        for episode in surprises:
            if journal.must_stop():
                return dreamt
            if not can_imagine(episode):
                journal.add({"episode_id": str(episode.pk), "skipped": "it keeps no parameters to change"})
                continue
            runs: list[Imagined] = []
            try:
                for imagined in imagine(episode=episode, golem=view, now=clock_now()):
                    runs.append(imagined)
                    found.imagined += 1
                    if imagined.changed:
                        _emit_counterfactual(found, episode, runs[0], imagined, clock_now())
            except GolemError as error:
                journal.add({"episode_id": str(episode.pk), "skipped": f"{error.code}: {error.detail}"[:300]})
                continue
            dreamt.append(Dreamt(episode, tuple(runs)))
            journal.add({"episode_id": str(episode.pk), "runs": [run.as_json() for run in runs]})
    return dreamt


def _integrate(found: Dream, dreamt: list[Dreamt], trigger: str, clock_now: Now) -> None:
    with _Journal(found, DreamPhase.INTEGRATION, trigger, clock_now) as journal:
        if journal.must_stop():
            return
        hypotheses = form_hypotheses(dreamt)
        found.hypotheses = len(hypotheses)
        for entry in integrate(golem_id=found.golem_id, hypotheses=hypotheses, now=clock_now()):
            found.heuristics_moved += entry["heuristic"] is not None
            journal.add(entry)
            payload = {name: entry[name] for name in ("hypothesis", "insight_id", "episode_ids")}
            _emit(found, EventType.DREAM_HYPOTHESIS, payload, clock_now())


class _Journal:
    """The row of one phase: saved after each entry, closed whatever happens."""

    def __init__(self, found: Dream, phase: DreamPhase, trigger: str, clock_now: Now) -> None:
        self._dream, self._clock_now = found, clock_now
        self._row = DreamJournal.objects.create(
            golem_id=found.golem_id,
            dream_id=found.dream_id,
            phase=phase,
            trigger=trigger[:64],
            started_at=clock_now(),
        )
        _emit(found, EventType.DREAM_PHASE, {"phase": phase.value}, self._row.started_at)

    def add(self, entry: JsonObject) -> None:
        self._row.entries.append(entry)
        DreamJournal.objects.filter(pk=self._row.pk).update(entries=self._row.entries)

    def must_stop(self) -> bool:
        """Whether the dream has to end now; remembers why."""
        if self._dream.interrupted_by:
            return True
        deadline = self._dream._deadline
        if deadline is not None and deadline.remaining_ms() <= 0:
            self._dream.interrupted_by = "its time was up"
        elif DreamJournal.objects.filter(dream_id=self._dream.dream_id, wants_stop=True).exists():
            self._dream.interrupted_by = "its owner stopped it"
        else:
            golem = Golem.objects.filter(pk=self._dream.golem_id).values_list("halted_at", "is_memory_enabled").first()
            if golem is None or golem[0] is not None or not golem[1]:
                self._dream.interrupted_by = "the golem was halted or its memory switched off"
        return bool(self._dream.interrupted_by)

    def __enter__(self) -> _Journal:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        _: TracebackType | None,
    ) -> None:
        if isinstance(error, SoftTimeLimitExceeded):
            self._dream.interrupted_by = "its worker's time was up"
        elif error is not None:
            self._dream.interrupted_by = "it failed"
        state = DreamState.DONE
        if self._dream.interrupted_by:
            state = DreamState.FAILED if self._dream.interrupted_by == "it failed" else DreamState.INTERRUPTED
        DreamJournal.objects.filter(pk=self._row.pk).update(
            state=state, finished_at=self._clock_now(), note=self._dream.interrupted_by
        )


def _emit_counterfactual(found: Dream, episode: Episode, was: Imagined, imagined: Imagined, now: datetime) -> None:
    payload = {
        "episode_id": str(episode.pk),
        "changed": dict(imagined.changed),
        "actual": {"succeeded": was.succeeded, "deltas": dict(was.deltas)},
        "simulated": {"succeeded": imagined.succeeded, "deltas": dict(imagined.deltas), "reason": imagined.reason},
        "fidelity": imagined.fidelity,
    }
    _emit(found, EventType.DREAM_COUNTERFACTUAL, payload, now)


@retry_aborted
def _finish(found: Dream, now: datetime) -> None:
    counts = {
        "replayed": found.replayed,
        "imagined": found.imagined,
        "hypotheses": found.hypotheses,
        "heuristics_moved": found.heuristics_moved,
    }
    with transaction.atomic():
        audit_log.append(
            golem_id=found.golem_id,
            event="DreamEnded",
            actor="system:dream",
            now=now,
            data={
                "dream_id": str(found.dream_id),
                "interrupted_by": found.interrupted_by,
                **{name: str(count) for name, count in counts.items()},
            },
        )
        payload = {"counts": counts, "interrupted": bool(found.interrupted_by), "reason": found.interrupted_by}
        _emit(found, EventType.DREAM_COMPLETE, payload, now)


def _emit(found: Dream, kind: EventType, payload: JsonObject, now: datetime) -> None:
    event_bus.emit(golem_id=found.golem_id, event=Event(kind, {"dream_id": str(found.dream_id), **payload}), now=now)
