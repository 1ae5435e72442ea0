"""Celery entry points of previews, commits, approvals, halts and sweeps.

Each loads, makes one call into the domain and answers as data; every one is safe to run twice.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from uuid import UUID

from celery import current_app, shared_task
from django.db import InterfaceError, OperationalError

from permits_app.actions.announce_warden_actions import execute_announced, list_due_announcements
from permits_app.actions.apply_cage_changes import apply_cage_changes
from permits_app.actions.apply_eip7702_code import apply_eip7702_code
from permits_app.actions.carry_out_deaths import carry_out_deaths
from permits_app.actions.check_pending_requests import check_pending_requests
from permits_app.actions.check_received_rights import check_received_rights
from permits_app.actions.check_signed_promises import check_signed_promises
from permits_app.actions.commit_in_turn import commit_in_turn
from permits_app.actions.enforce_phase_on_cage import enforce_phases_on_cages
from permits_app.actions.execute_change import execute_change
from permits_app.actions.find_delegations import find_delegations
from permits_app.actions.find_exposed_safes import find_exposed_safes
from permits_app.actions.halt import carry_out_halt, list_unfinished_halts
from permits_app.actions.preview import preview_action
from permits_app.actions.reconcile_relays import reconcile_relays
from permits_app.actions.record_denial import record_preview_denial
from permits_app.actions.remember_outcome import remember_outcome
from permits_app.actions.rotate_session import rotate_sessions
from permits_app.actions.sweep_changes import forget_denials, list_due_changes, list_next_in_line, time_out_changes
from permits_app.actions.sweep_permits import (
    end_outlived,
    forget_answers,
    list_unfinished,
    list_unremembered,
    sweep_permits,
)
from permits_app.actions.sync_policy_cage import sync_policy_cages
from permits_app.actions.top_up_gas import top_up_keys
from permits_app.actions.try_policy import run_trial
from permits_app.actions.watch_safes import watch_safes
from permits_app.custody.session_keys import follow_sessions
from permits_app.execution.archive_old_rows import lay_away_what_is_old
from permits_app.execution.commit_lease import free_left
from permits_app.execution.commit_turns import find_for_another
from permits_app.execution.follower_threads import Following
from permits_app.execution.key_warmup import open_recent_keys
from permits_app.execution.reconcile import list_reopened, reconcile_transactions
from permits_app.limits.key_spends import sum_key_spends
from permits_app.models.permit import PermitStatus
from permits_app.permits import memory_requests
from permits_app.permits.lifecycle import FINAL
from tools_app.chain.networks import configured_networks, list_begun_later
from tools_app.core import clock
from tools_app.core.errors import GolemError, InternalError, StorageFull
from tools_app.core.json_types import JsonObject
from tools_app.core.resource_errors import is_full_disk, name_database_failure
from tools_app.core.stored_json import read_stored
from tools_app.core.worker_dispatch import BROKER_FAILURES, enqueue

logger = logging.getLogger(__name__)

# A little more than a permit that met a failing node is put off.
_RETRY_SECONDS = 1.1
# Long enough for another worker to come first, short beside what a commit takes.
_HAND_ON_SECONDS = 0.1
# A wake-up that was not looked at for this long is sent again by then.
_WAKEUP_LIVES_SECONDS = 10
_ALONE = {
    name: threading.Lock()
    for name in ("cage changes", "sessions", "reconciler", "requests", "promises", "rights", "deaths", "openings")
}


@shared_task(acks_late=False)
def preview_action_task(
    *, golem_id: str, api_key_id: str | None, body: JsonObject, actor: str = "system:runtime", **_: object
) -> JsonObject:
    """The whole preview of one action. Not repeated when its worker dies: nobody waits for it any more."""

    def preview() -> JsonObject:
        golem, key_id = UUID(golem_id), UUID(api_key_id) if api_key_id else None
        try:
            return preview_action(golem_id=golem, api_key_id=key_id, body=body, actor=actor, now=clock.now())
        except GolemError as error:
            record_preview_denial(golem_id=golem, actor=actor, body=body, error=error, now=clock.now())
            raise

    return _answer(preview)


@shared_task(ignore_result=True)
def commit_permit_task(*, permit_id: str, **_: object) -> JsonObject:
    """A wake-up to commit: this permit, resumed where an earlier worker left it, or the one whose turn it is.

    Nobody waits for the task: whoever waits is woken by the permit's end.
    """
    answer = _answer(lambda: commit_in_turn(permit_id=UUID(permit_id)))
    for permit in answer.get("ok", ()):
        _answer(partial(_go_on_after, permit))
    if answer.get("ok") == []:
        _answer(partial(_hand_on, UUID(permit_id)))
    return answer


@shared_task(ignore_result=True)
def remember_outcomes_task(*, permit_ids: list[str], **_: object) -> None:
    """Store the episodes of finished permits; a second run finds the first one's. One that fails keeps no other."""
    for permit_id in permit_ids:
        _answer(partial(remember_outcome, permit_id=UUID(permit_id), now=clock.now()))


@shared_task(ignore_result=True)
def sweep_permits_task() -> dict[str, int]:
    """Expire what lapsed, end what waited too long; hand what dead workers left, and untold outcomes, to workers."""
    now = clock.now()
    expired = sweep_permits(now=now)
    outlived = end_outlived(now=now)
    forget_answers(now=now)
    unfinished = list(dict.fromkeys([*free_left(now=now), *list_unfinished(now=now)]))
    for permit_id in unfinished:
        commit_permit_task.apply_async(kwargs={"permit_id": str(permit_id)}, expires=_WAKEUP_LIVES_SECONDS)
    forgotten = list_unremembered(now=now)
    if forgotten:
        remember_outcomes_task.delay(permit_ids=[str(permit_id) for permit_id in forgotten])
    for golem_id, epoch in list_unfinished_halts():
        commit_halt_task.apply_async(kwargs={"golem_id": str(golem_id), "epoch": epoch}, expires=_WAKEUP_LIVES_SECONDS)
    return {"expired": expired, "outlived": outlived, "resumed": len(unfinished), "remembered": len(forgotten)}


@shared_task()
def commit_halt_task(*, golem_id: str, epoch: int, **_: object) -> dict[str, object]:
    """What one halt has to do on the chain; a second run finds it done."""
    return _answer(lambda: carry_out_halt(golem_id=UUID(golem_id), epoch=epoch, now=clock.now()))


@shared_task
def commit_change_task(*, request_id: str, **_: object) -> dict[str, object]:
    """Execute an approved change; a second run finds it done, or another worker at it."""
    answer = _answer(lambda: execute_change(request_id=UUID(request_id), now=clock.now()))
    _answer(lambda: _execute_next_in_line(request_id=UUID(request_id)))
    return answer


@shared_task
def commit_announced_task(*, permit_id: str, **_: object) -> dict[str, object]:
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
        commit_change_task.apply_async(kwargs={"request_id": str(request_id)}, expires=_WAKEUP_LIVES_SECONDS)
    announced = list_due_announcements(now=now)
    for permit_id in announced:
        commit_announced_task.apply_async(kwargs={"permit_id": str(permit_id)}, expires=_WAKEUP_LIVES_SECONDS)
    return {"ended": ended, "changes": len(changes), "announced": len(announced)}


@shared_task(ignore_result=True)
def commit_cage_changes_task() -> dict[str, int]:
    """Apply what owners proposed in a contract and whose delay is over."""
    return _run_alone("cage changes", lambda: {"applied": apply_cage_changes(now=clock.now())})


@shared_task(ignore_result=True)
def sync_policy_cages_task() -> dict[str, int]:
    """Follow the contract of every mirrored cage to its chain's newest block, and the session it names; look at every
    Safe without one.
    """
    now = clock.now()
    synced = sync_policy_cages(now=now)
    return {**synced, "keys": follow_sessions(now=now), "safes": watch_safes(now=now)["seen"]}


@shared_task(ignore_result=True)
def commit_sessions_task() -> dict[str, int]:
    """Tell cages of worse phases, give keys coins for gas; ask owners for the next session key where one is due."""
    now = clock.now()
    return _run_alone(
        "sessions",
        lambda: {
            "phases": enforce_phases_on_cages(now=now),
            "topped_up": top_up_keys(now=now),
            "asked": rotate_sessions(now=now),
        },
    )


@shared_task(ignore_result=True)
def commit_reconciliation_task() -> dict[str, int]:
    """Stored transactions against the chain: final, reorganised, stuck, and gaps in nonces."""
    now = clock.now()
    done = _run_alone("reconciler", lambda: {**reconcile_transactions(now=now), **reconcile_relays(now=now)})
    for permit_id in list_reopened(now=now):
        commit_permit_task.delay(permit_id=str(permit_id))
    return done


@shared_task(ignore_result=True)
def follow_requests_task() -> dict[str, int]:
    """Look at requests that finish later, as far as they are due; a second run finds them looked at."""
    return _run_alone("requests", lambda: check_pending_requests(now=clock.now()))


@shared_task(ignore_result=True)
def follow_promises_task() -> dict[str, int]:
    """Look what became of what golems signed, as far as it is due; a second run finds it looked at."""
    return _run_alone("promises", lambda: check_signed_promises(now=clock.now()))


@shared_task(ignore_result=True)
def follow_rights_task() -> dict[str, int]:
    """Ask whether rights over others' money stand, as far as it is due; a second run finds them looked at."""
    return _run_alone("rights", lambda: check_received_rights(now=clock.now()))


@shared_task(ignore_result=True)
def commit_deaths_task() -> dict[str, int]:
    """Announce the end of golems without life left, and go one step on with those that are due."""
    return _run_alone("deaths", lambda: carry_out_deaths(now=clock.now()))


@shared_task(ignore_result=True)
def commit_openings_task() -> dict[str, int]:
    """Look whether anybody can act for a Safe or a key of a golem, and tell its owners; what they sign to close a Safe
    is prepared, and accounts take up or drop the code that they agreed to.
    """
    sweeps = (find_exposed_safes, apply_eip7702_code, find_delegations)
    return _run_alone("openings", lambda: {name: n for each in sweeps for name, n in each(now=clock.now()).items()})


@shared_task(ignore_result=True)
def try_policy_task(*, trial_id: str, **_: object) -> None:
    """Try a draft of a policy on a golem's past; a second run finds it done."""
    run_trial(trial_id=UUID(trial_id))


def start_followers() -> Following:
    """Follow every chain in this process, one that is begun later from then on, until the answer is stopped."""
    chain_ids = [network.chain_id for network in (*configured_networks(), *list_begun_later())]
    following = Following(chain_ids, hand=_hand_seen, came_back=_reconcile_soon, heard_again=_hand_unheard)
    following.start()
    return following


def resume_left_behind() -> None:
    """Go on, as a worker that just started, with what an ended one of this machine left in the middle."""
    for permit_id in free_left(now=clock.now()):
        _hand_seen(permit_id)


def open_keys_ahead() -> None:
    """Open the keys that signed lately, in a thread that ends with that or with this process."""
    threading.Thread(target=open_recent_keys, args=(clock.now(),), name="opens-keys", daemon=True).start()


def _reconcile_soon() -> None:
    """What a node forgot while it was away is found by the reconciler, whose next round may be seconds away."""
    try:
        enqueue(commit_reconciliation_task)
    except GolemError as error:
        logger.info("the chains are reconciled at the next round: %s", error.code)


def _hand_unheard() -> None:
    """Commits whose wake-ups a broker lost, or never took, are handed on without waiting for the sweep."""
    for permit_id in list_unfinished(now=clock.now(), grace=timedelta(0)):
        _hand_seen(permit_id)


def _hand_seen(permit_id: UUID) -> None:
    try:
        enqueue(commit_permit_task, permit_id=str(permit_id))
    except GolemError as error:
        logger.info("permit %s is handed to a worker later: %s", permit_id, error.code)


@dataclass(frozen=True, slots=True)
class _WorkedOn:
    """What a worker answers of a permit, as far as it is followed."""

    permit_id: str
    status: str
    problem: object


def _go_on_after(answer: JsonObject) -> None:
    """What follows a permit that was worked on: its memory, what waited behind it, or another try."""
    permit = read_stored(_WorkedOn, answer)
    if permit.status in FINAL:
        remember_later(permit.permit_id)
        _execute_next_in_line(request__permit_id=UUID(permit.permit_id))
    elif permit.status == PermitStatus.COMMITTING and permit.problem:
        commit_permit_task.apply_async(kwargs={"permit_id": permit.permit_id}, countdown=_RETRY_SECONDS)


def _hand_on(permit_id: UUID) -> None:
    """A worker that has its key takes what this one cannot sign; the pause leaves it to the others."""
    waiting = find_for_another(permit_id, now=clock.now())
    if waiting is not None:
        time.sleep(_HAND_ON_SECONDS)
        commit_permit_task.apply_async(kwargs={"permit_id": str(waiting)}, expires=_WAKEUP_LIVES_SECONDS)


def remember_later(permit_id: str) -> None:
    """Ask for the episode, with those of others that end in this moment; where no queue lies between, at once."""
    if current_app.conf.task_always_eager:
        _ask_to_remember([permit_id])
    else:
        memory_requests.GATHERER.add(permit_id, send=_ask_to_remember)


def _ask_to_remember(permit_ids: list[str]) -> None:
    """Memory fails open: without a broker the sweep asks again later."""
    try:
        remember_outcomes_task.delay(permit_ids=permit_ids)
    except BROKER_FAILURES:
        logger.warning("the episodes of %d permits are asked for later", len(permit_ids))


def _execute_next_in_line(**of: UUID) -> None:
    """What waited for a nonce of its Safe goes on now that it is free, and not with the next sweep."""
    for request_id in list_next_in_line(now=clock.now(), **of):
        enqueue(commit_change_task, request_id=str(request_id))


def _run_alone(name: str, call: Callable[[], dict[str, int]]) -> dict[str, int]:
    """What the clock asks for again and again, once at a time in a process: a node that hangs holds one thread."""
    lock = _ALONE[name]
    if not lock.acquire(blocking=False):
        return {}
    try:
        return call()
    finally:
        lock.release()


def _answer(call: Callable[[], object]) -> JsonObject:
    try:
        return {"ok": call()}
    except GolemError as error:
        return {"problem": error.as_problem()}
    except (OperationalError, InterfaceError) as error:
        logger.exception("the database failed a task")
        return {"problem": name_database_failure(error).as_problem()}
    except Exception as error:
        if is_full_disk(error):
            logger.warning("no space for a file of a task")
            return {"problem": StorageFull().as_problem()}
        logger.exception("a task failed unexpectedly")
        return {"problem": InternalError().as_problem()}


@shared_task(ignore_result=True)
def lay_away_records_task() -> int:
    """Pack what old permits were judged on, what old ticks saw and the old audit log; returns how many permits."""
    return lay_away_what_is_old(now=clock.now()).records.permits


@shared_task(ignore_result=True)
def sum_key_spends_task() -> int:
    """Add what API keys spent more than a day ago to their sums; returns how many spends."""
    return sum_key_spends(now=clock.now())
