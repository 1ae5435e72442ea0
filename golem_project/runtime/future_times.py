"""Brings stored times back to now that a clock wrote before it was set back.

A process notices that its own clock was set back (`tools_app/core/clock.py`), and a worker that starts may follow one
that was. Rows of the future would hold things up until it comes: leases nobody has, tries that are not due, locks of
wrong codes. What bounds money is left as it is: a spend of the future counts until it is past. A process whose clock is
not the database's mends nothing, for it would be the one that is wrong.

Whoever notices it while it runs ends what lives for seconds or minutes as well, open permits, challenges and visits:
how much of their time is over nobody can tell now.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final
from uuid import UUID

from django.apps import apps
from django.db import DatabaseError, connection
from django.db.models import Q
from django_otp.plugins.otp_totp.models import TOTPDevice

from golem_project.runtime.start_conditions import MOST_CLOCK_DIFFERENCE
from permits_app.actions.expire import expire_open

logger = logging.getLogger(__name__)

_LEAST: Final = timedelta(seconds=2)
_STEP_SECONDS: Final = 30
_LATELY: Final = timedelta(days=7)
_NEVER: Final = datetime(9999, 1, 1, tzinfo=UTC)
_ALL: Final = Q()
_UNFINISHED: Final = Q(status__in=["COMMITTING", "UNKNOWN"])
_UNSETTLED: Final = Q(state__in=["SIGNED", "BROADCAST", "UNKNOWN", "MINED", "REVERTED", "REORGED"])
_REQUEST_OPEN: Final = Q(state__in=["REQUESTED", "READY", "CLAIMING", "STUCK"])
_TASK_OPEN: Final = Q(state__in=["SUBMITTED", "WORKING", "INPUT_REQUIRED"])


@dataclass(frozen=True, slots=True)
class TimeColumn:
    """A column that is no further ahead of now than `longest`; what is gets now."""

    model: str
    name: str
    longest: timedelta = _LEAST
    of: Q = _ALL
    """The rows that something waits for yet, which an index finds: nobody waits for a row that has ended."""
    is_by_golem: bool = False
    """Whether an index finds the newest rows of each golem."""
    is_of_late: bool = False
    """Whether an index finds the rows of the last days, ended or not."""


def _columns(
    model: str,
    *names: str,
    longest: timedelta = _LEAST,
    of: Q = _ALL,
    is_by_golem: bool = False,
    is_of_late: bool = False,
) -> tuple[TimeColumn, ...]:
    return tuple(TimeColumn(model, name, longest, of, is_by_golem, is_of_late) for name in names)


HAPPENED: Final = (
    *_columns("permits_app.ActionPermit", "updated_at", "committing_at", "doubted_at", of=_UNFINISHED),
    *_columns("permits_app.ActionPermit", "updated_at", "committing_at", "doubted_at", is_of_late=True),
    *_columns("permits_app.OutboundTransaction", "created_at", "broadcast_at", "passed_at", of=_UNSETTLED),
    *_columns("permits_app.RelayedTransaction", "sent_at"),
    *_columns("permits_app.NavSnapshot", "at", is_by_golem=True),
    *_columns("permits_app.HealthAlert", "last_triggered_at"),
    *_columns("permits_app.PolicyTrial", "moved_at"),
    *_columns("permits_app.ChainWatch", "looked_at", "failing_since"),
    *_columns("permits_app.ChainMark", "looked_at", "trouble_since"),
    *_columns("permits_app.PendingRequest", "checked_at", "updated_at", "missed_at", of=_REQUEST_OPEN),
    *_columns("permits_app.SignedPromise", "checked_at", "seen_at", of=Q(state="OPEN")),
    *_columns("permits_app.ReceivedRight", "state_at", "looked_at", of=Q(next_look_at__isnull=False)),
    *_columns("permits_app.ChangeRequest", "claimed_at", of=Q(state="APPROVED")),
    *_columns("permits_app.SigningKey", "asked_at"),
    *_columns("permits_app.Passkey", "throttling_failure_timestamp"),
    *_columns("otp_totp.TOTPDevice", "throttling_failure_timestamp"),
    *_columns("archetypes_app.ApiKey", "last_used_at"),
    *_columns("archetypes_app.ChatTurn", "asked_at", is_by_golem=True),
    *_columns("archetypes_app.Heartbeat", "monitored_at", "observed_at"),
    *_columns("memory_app.Episode", "last_accessed_at", "consolidated_at", "scanned_at", "dreamt_at"),
    *_columns("memory_app.Insight", "last_accessed_at", "scanned_at", "tuned_at"),
    *_columns("stream.WebhookEndpoint", "failing_since"),
    *_columns("stream.WebhookDelivery", "first_tried_at", of=Q(state="WAITING")),
    *_columns("alerts.AlertChannel", "last_sent_at"),
    *_columns("alerts.Alert", "happened_at", of=Q(sent_at__isnull=True)),
    *_columns("a2a.Task", "updated_at", of=_TASK_OPEN),
    *_columns("django_celery_beat.PeriodicTask", "last_run_at"),
)
"""When something was: never later than now."""

NEXT: Final = (
    *_columns("permits_app.PendingRequest", "next_check_at", of=_REQUEST_OPEN),
    *_columns("permits_app.SignedPromise", "next_check_at", of=Q(state="OPEN")),
    *_columns("permits_app.ReceivedRight", "next_look_at", of=Q(next_look_at__isnull=False)),
    *_columns("stream.WebhookDelivery", "next_attempt_at", of=Q(state="WAITING")),
    *_columns("a2a.PushNotification", "next_attempt_at", of=Q(state="WAITING")),
    *_columns("alerts.AlertChannel", "next_try_at"),
    *_columns("tools_app.PositionSearch", "next_look_at"),
    *_columns("tools_app.StreamSubscription", "next_poll_at", of=Q(ended_at__isnull=True)),
)
"""When something is tried again: once too early does no harm, hours too late does."""

LEASES: Final = (
    *_columns("permits_app.ActionPermit", "lease_expires_at", longest=timedelta(minutes=10), is_of_late=True),
    *_columns("permits_app.ActionPermit", "lease_expires_at", longest=timedelta(minutes=10), of=_UNFINISHED),
    *_columns("permits_app.ChainWatch", "lease_expires_at", longest=timedelta(minutes=2)),
    *_columns("permits_app.IdempotencyRecord", "locked_until", longest=timedelta(minutes=10)),
    *_columns("permits_app.SoldAnswer", "lease_until", longest=timedelta(minutes=10), of=Q(state="TAKEN")),
    *_columns("a2a.Task", "lease_until", longest=timedelta(minutes=10), of=_TASK_OPEN),
    *_columns("permits_app.HighWaterMark", "paused_until", longest=timedelta(days=7)),
)
"""Until when somebody has something: nobody takes it for longer than that."""


ENDS: Final = (
    *_columns("archetypes_app.Invitation", "expires_at", longest=timedelta(days=7)),
    *_columns("alerts.AlertChannel", "code_ends_at", longest=timedelta(hours=1)),
    *_columns("stream.OldSecret", "until", longest=timedelta(hours=24)),
)
"""When something is over, and how long it lives: what ends later than that was made in a future that did not come."""


def mend_after_set_back(*, now: datetime) -> int:
    """The same for a process that noticed it; what lives shortly ends too. How many rows ended or columns changed."""
    if not _is_right(now):
        logger.error("the clock of this process was set back and is not the database's; nothing is mended")
        return 0
    return mend_future_rows(now=now) + _end_what_lives_shortly(now)


def _end_what_lives_shortly(now: datetime) -> int:
    """Whoever asked for one asks again."""
    ended = expire_open(now=now)
    ended += apps.get_model("permits_app.PasskeyChallenge")._base_manager.all().delete()[0]
    ended += apps.get_model("a2a.Challenge")._base_manager.filter(used_at__isnull=True).update(used_at=now)
    ended += apps.get_model("a2a.Visit")._base_manager.filter(expires_at__gt=now).update(expires_at=now)
    return int(ended)


def mend_future_rows(*, now: datetime) -> int:
    """Bring back every row of the future; how many columns of rows. Nothing where the clock is not the database's."""
    try:
        if not _is_right(now):
            logger.error("the clock of this process is not the database's; rows of the future are left as they are")
            return 0
        mended, golems = 0, list(apps.get_model("archetypes_app.Golem")._base_manager.values_list("pk", flat=True))
        for column in (*HAPPENED, *NEXT, *LEASES, *ENDS):
            mended += _mend(column, golems, now)
        mended += _free_codes(now)
    except DatabaseError as error:
        logger.warning("rows of the future could not be looked for: %s", type(error).__name__)
        return 0
    if mended:
        logger.warning("a clock was set back: %s times of the future were brought back to now", mended)
    return mended


def _mend(column: TimeColumn, golems: Sequence[UUID], now: datetime) -> int:
    # Behind an open span PostgreSQL expects a third of the table and reads all of it.
    future = Q(**{f"{column.name}__gt": now + column.longest, f"{column.name}__lt": _NEVER})
    rows = apps.get_model(column.model)._base_manager.filter(column.of, future)
    if column.is_of_late:
        rows = rows.filter(created_at__gt=now - _LATELY, created_at__lt=_NEVER)
    if not column.is_by_golem:
        return int(rows.update(**{column.name: now}))
    return int(rows.filter(golem_id__in=golems).update(**{column.name: now}))


def _free_codes(now: datetime) -> int:
    """Codes count again that a device would not look at, because one of a time to come was used."""
    step = int(now.timestamp()) // _STEP_SECONDS
    ahead = TOTPDevice.objects.filter(step=_STEP_SECONDS, t0=0, last_t__gt=step + 1)
    return int(ahead.update(last_t=step))


def _is_right(now: datetime) -> bool:
    with connection.cursor() as cursor:
        cursor.execute("SELECT clock_timestamp()")
        (shared,) = cursor.fetchone()
    return bool(abs(now - shared) <= MOST_CLOCK_DIFFERENCE)
