"""try_policy: a draft on a golem's past decisions, at once for few and by a worker for many; emits policy:trial.

A trial reads and computes; the only rows it writes are its own. Of each golem the last twenty are kept.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from archetypes_app.models import Golem
from permits_app.approvals.policy_state import PolicyState, apply_differences, read_policy_state
from permits_app.backtest.least_policy import suggest_least_policy
from permits_app.backtest.past_decisions import MOST_DECISIONS, count_decisions
from permits_app.backtest.policy_replay import PolicyReplay, ReplayLine, replay_permits, sum_worth
from permits_app.models import PolicyTrial
from permits_app.models.policy_trial import TrialState
from tools_app.core import clock, event_bus
from tools_app.core.errors import GolemError, InternalError
from tools_app.core.events import Event, EventType
from tools_app.core.json_types import JsonObject
from tools_app.core.required_value import require

AT_ONCE: Final = 200
"""So many decisions are tried while the owner waits for the page; more are a worker's."""
KEPT_TRIALS: Final = 20
MOST_LINES: Final = 300
STUCK_AFTER: Final = timedelta(minutes=5)
_REPORT_MS: Final = 500


def open_trial(
    *,
    golem: Golem,
    asked_by: str,
    now: datetime,
    policy: PolicyState | None = None,
    last: int = MOST_DECISIONS,
    days: int | None = None,
    with_refused: bool = False,
) -> PolicyTrial:
    """A trial of `policy`, or of the least policy of the last `days`; not run yet."""
    old = PolicyTrial.objects.filter(golem=golem).order_by("-created_at").values_list("pk", flat=True)
    PolicyTrial.objects.filter(pk__in=list(old[KEPT_TRIALS - 1 :])).delete()
    return PolicyTrial.objects.create(
        golem=golem,
        asked_by=asked_by,
        policy=policy,
        last=min(last, MOST_DECISIONS),
        days=days,
        with_refused=with_refused,
        created_at=now,
        moved_at=now,
    )


def is_long(trial: PolicyTrial) -> bool:
    """Whether a worker should run it."""
    return min(trial.last, count_decisions(trial.golem)) > AT_ONCE


def is_stuck(trial: PolicyTrial, *, now: datetime) -> bool:
    """Whether it stopped moving: its worker died, or no worker took it."""
    return trial.state == TrialState.RUNNING and now - trial.moved_at > STUCK_AFTER


def run_trial(*, trial_id: UUID) -> None:
    """Run one to its end; one that has ended stays as it is. What goes wrong is in its row."""
    trial = PolicyTrial.objects.select_related("golem").filter(pk=trial_id, state=TrialState.RUNNING).first()
    if trial is None:
        return
    report = _Reporter(trial)
    try:
        if trial.policy is None:
            _find_policy(trial, report)
        replay = replay_permits(golem=trial.golem, policy=require(trial.policy), last=trial.last, on_progress=report)
    except GolemError as error:
        _end(trial, TrialState.FAILED, problem=error.as_problem())
    except Exception:
        _end(trial, TrialState.FAILED, problem=InternalError().as_problem())
        raise
    else:
        trial.result = {**trial.result, **describe_replay(replay)}
        _end(trial, TrialState.DONE)


def describe_replay(replay: PolicyReplay) -> JsonObject:
    """A replay as JSON: sums, flips by rule, and the newest flips and unjudged decisions one by one."""
    unknown: dict[str, int] = {}
    for line in replay.unknown:
        unknown[line.unknown] = unknown.get(line.unknown, 0) + 1
    return {
        "decisions": len(replay.lines),
        "first_at": replay.lines[0].at.isoformat() if replay.lines else None,
        "last_at": replay.lines[-1].at.isoformat() if replay.lines else None,
        "newly_refused": {"count": len(replay.newly_refused), "worth": sum_worth(replay.newly_refused)},
        "newly_allowed": {"count": len(replay.newly_allowed), "worth": sum_worth(replay.newly_allowed)},
        "rules": [asdict(each) for each in replay.rules],
        "days": [asdict(each) for each in replay.days],
        "flipped": [_describe_line(line) for line in replay.flipped[::-1][:MOST_LINES]],
        "unknown": [{"why": why, "count": count} for why, count in unknown.items()],
    }


def _find_policy(trial: PolicyTrial, report: Callable[[int, int], None]) -> None:
    found = suggest_least_policy(
        golem=trial.golem,
        now=trial.created_at,
        days=trial.days or 1,
        with_refused=trial.with_refused,
        on_progress=report,
    )
    trial.policy = apply_differences(read_policy_state(trial.golem), found.as_changes())
    trial.result = {"covered": found.covered, "not_covered": found.unknown, "hopeless": found.hopeless}


def _describe_line(line: ReplayLine) -> dict[str, object]:
    at = f"{line.at:%Y-%m-%d %H:%M:%S}"
    return {"at": at, "what": line.what, "worth": line.worth, "was": line.was, "becomes": line.becomes}


class _Reporter:
    """Writes progress down, and tells of it, twice a second at most."""

    def __init__(self, trial: PolicyTrial) -> None:
        self._trial = trial
        self._told_ms = clock.monotonic_ms()

    def __call__(self, done: int, total: int) -> None:
        if clock.monotonic_ms() - self._told_ms < _REPORT_MS:
            return
        self._told_ms = clock.monotonic_ms()
        trial = self._trial
        trial.done, trial.total, trial.moved_at = done, total, clock.now()
        PolicyTrial.objects.filter(pk=trial.pk).update(done=done, total=total, moved_at=trial.moved_at)
        _tell(trial)


def _end(trial: PolicyTrial, state: TrialState, *, problem: dict[str, object] | None = None) -> None:
    trial.state, trial.problem, trial.moved_at = state, problem or {}, clock.now()
    trial.done = trial.total = max(trial.total, 1)
    ended = PolicyTrial.objects.filter(pk=trial.pk, state=TrialState.RUNNING).update(
        state=trial.state,
        problem=trial.problem,
        moved_at=trial.moved_at,
        done=trial.done,
        total=trial.total,
        policy=trial.policy,
        result=trial.result,
    )
    if ended:
        _tell(trial)


def _tell(trial: PolicyTrial) -> None:
    payload = {"trial_id": str(trial.pk), "status": str(trial.state), "done": trial.done, "total": trial.total}
    event_bus.emit(golem_id=trial.golem_id, event=Event(EventType.POLICY_TRIAL, payload), now=trial.moved_at)
