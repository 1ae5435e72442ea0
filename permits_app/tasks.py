"""Celery entry points: load, one call into the domain, answer as data. Every one is safe to run twice."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any
from uuid import UUID

from celery import shared_task
from django.db import OperationalError

from permits_app.actions.announce import execute_announced, list_due_announcements
from permits_app.actions.apply_cage_changes import apply_cage_changes
from permits_app.actions.commit import commit_permit
from permits_app.actions.execute_change import execute_change
from permits_app.actions.follow_phase import follow_phases
from permits_app.actions.follow_session import follow_sessions
from permits_app.actions.halt import carry_out_halt, list_unfinished_halts
from permits_app.actions.preview import preview_action
from permits_app.actions.reconcile_relays import reconcile_relays
from permits_app.actions.record_denial import record_preview_denial
from permits_app.actions.remember import remember_outcome
from permits_app.actions.rotate_session import rotate_sessions
from permits_app.actions.sweep import forget_answers, list_unfinished, list_unremembered, sweep_permits
from permits_app.actions.sweep_changes import forget_denials, list_due_changes, list_next_in_line, time_out_changes
from permits_app.actions.sync_policy_cage import sync_policy_cages
from permits_app.actions.try_policy import run_trial
from permits_app.execution.reconcile import reconcile_transactions
from tools_app.core import clock
from tools_app.core.dispatch import enqueue
from tools_app.core.errors import DatabaseUnavailable, GolemError, InternalError

logger = logging.getLogger(__name__)


@shared_task(acks_late=False)
def preview_action_task(
    *, golem_id: str, api_key_id: str | None, body: dict[str, Any], actor: str = "system:runtime", **_: Any
) -> dict[str, Any]:
    """The whole preview of one action. Not repeated when its worker dies: nobody waits for it any more."""

    def preview() -> dict[str, Any]:
        key_id = UUID(api_key_id) if api_key_id else None
        try:
            return preview_action(golem_id=UUID(golem_id), api_key_id=key_id, body=body, actor=actor, now=clock.now())
        except GolemError as error:
            record_preview_denial(golem_id=UUID(golem_id), actor=actor, body=body, error=error, now=clock.now())
            raise

    return _answer(preview)


@shared_task
def commit_permit_task(*, permit_id: str, **_: Any) -> dict[str, Any]:
    """The whole commit of one permit, resumed where an earlier worker left it."""
    answer = _answer(lambda: commit_permit(permit_id=UUID(permit_id)))
    remember_later(permit_id)
    return answer


@shared_task
def remember_outcome_task(*, permit_id: str, **_: Any) -> str | None:
    """Store the episode of a finished permit; a second run finds the first one's."""
    episode = remember_outcome(permit_id=UUID(permit_id), now=clock.now())
    return str(episode) if episode else None


@shared_task(ignore_result=True)
def sweep_permits_task() -> dict[str, int]:
    """Expire what lapsed; hand permits of dead workers, and outcomes without an episode, to workers again."""
    now = clock.now()
    expired = sweep_permits(now=now)
    forget_answers(now=now)
    unfinished = list_unfinished(now=now)
    for permit_id in unfinished:
        commit_permit_task.delay(permit_id=str(permit_id))
    forgotten = list_unremembered(now=now)
    for permit_id in forgotten:
        remember_outcome_task.delay(permit_id=str(permit_id))
    for golem_id, epoch in list_unfinished_halts():
        commit_halt_task.delay(golem_id=str(golem_id), epoch=epoch)
    return {"expired": expired, "resumed": len(unfinished), "remembered": len(forgotten)}


@shared_task()
def commit_halt_task(*, golem_id: str, epoch: int, **_: Any) -> dict[str, Any]:
    """What one halt has to do on the chain; a second run finds it done."""
    return _answer(lambda: carry_out_halt(golem_id=UUID(golem_id), epoch=epoch, now=clock.now()))


@shared_task
def commit_change_task(*, request_id: str, **_: Any) -> dict[str, Any]:
    """Execute an approved change; a second run finds it done, or another worker at it."""
    answer = _answer(lambda: execute_change(request_id=UUID(request_id), now=clock.now()))
    _answer(lambda: _execute_next_in_line(request_id=UUID(request_id)))
    return answer


@shared_task
def commit_announced_task(*, permit_id: str, **_: Any) -> dict[str, Any]:
    """Commit an announced permit whose delay is over; a second run finds it done."""
    answer = _answer(lambda: execute_announced(permit_id=UUID(permit_id), now=clock.now()))
    _answer(lambda: _execute_next_in_line(request__permit_id=UUID(permit_id)))
    return answer


@shared_task(ignore_result=True)
def sweep_changes_task() -> dict[str, int]:
    """Time out what nobody decided; hand what is approved or announced, and due, to workers."""
    now = clock.now()
    ended = time_out_changes(now=now)
    forget_denials(now=now)
    changes = list_due_changes(now=now)
    for request_id in changes:
        commit_change_task.delay(request_id=str(request_id))
    announced = list_due_announcements(now=now)
    for permit_id in announced:
        commit_announced_task.delay(permit_id=str(permit_id))
    return {"ended": ended, "changes": len(changes), "announced": len(announced)}


@shared_task(ignore_result=True)
def commit_cage_changes_task() -> dict[str, int]:
    """Apply what owners proposed in a contract and whose delay is over."""
    return {"applied": apply_cage_changes(now=clock.now())}


@shared_task(ignore_result=True)
def sync_policy_cages_task() -> dict[str, int]:
    """Follow the contract of every mirrored cage to its chain's newest block, and the session it names."""
    now = clock.now()
    synced = sync_policy_cages(now=now)
    return {**synced, "keys": follow_sessions(now=now)}


@shared_task(ignore_result=True)
def commit_sessions_task() -> dict[str, int]:
    """Tell cages of worse phases; ask owners for the next session key where one is due."""
    now = clock.now()
    return {"phases": follow_phases(now=now), "asked": rotate_sessions(now=now)}


@shared_task(ignore_result=True)
def commit_reconciliation_task() -> dict[str, int]:
    """Stored transactions against the chain: final, reorganised, stuck, and gaps in nonces."""
    now = clock.now()
    return {**reconcile_transactions(now=now), **reconcile_relays(now=now)}


@shared_task(ignore_result=True)
def try_policy_task(*, trial_id: str, **_: Any) -> None:
    """Try a draft of a policy on a golem's past; a second run finds it done."""
    run_trial(trial_id=UUID(trial_id))


def remember_later(permit_id: str) -> None:
    """Ask for the episode. Memory fails open: without a broker the sweep asks again later."""
    try:
        remember_outcome_task.delay(permit_id=permit_id)
    except (ConnectionError, OSError):
        logger.warning("the episode of permit %s is asked for later", permit_id)


def _execute_next_in_line(**of: UUID) -> None:
    """What waited for a nonce of its Safe goes on now that it is free, and not with the next sweep."""
    for request_id in list_next_in_line(now=clock.now(), **of):
        enqueue(commit_change_task, request_id=str(request_id))


def _answer(call: Callable[[], Any]) -> dict[str, Any]:
    try:
        return {"ok": call()}
    except GolemError as error:
        return {"problem": error.as_problem()}
    except OperationalError:
        logger.exception("the database failed a task")
        return {"problem": DatabaseUnavailable().as_problem()}
    except Exception:
        logger.exception("a task failed unexpectedly")
        return {"problem": InternalError().as_problem()}
