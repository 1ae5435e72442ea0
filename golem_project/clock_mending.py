"""After a clock was set back: what it wrote in a future that did not come is brought back to now.

A process notices that its own clock was set back (`tools_app/core/clock.py`), and a worker that starts may follow one
that was. Rows of the future would hold things up until it comes: leases nobody has, tries that are not due, locks of
wrong codes. What bounds money is left as it is: a spend of the future counts until it is past. A process whose clock is
not the database's mends nothing, for it would be the one that is wrong.

Whoever notices it while it runs ends what lives for seconds or minutes as well, open permits, challenges and visits:
how much of their time is over nobody can tell now.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from django.apps import apps
from django.db import DatabaseError, connection
from django_otp.plugins.otp_totp.models import TOTPDevice

from golem_project.boot import MOST_CLOCK_DIFFERENCE
from permits_app.actions.expire import expire_open

logger = logging.getLogger(__name__)

_LEAST: Final = timedelta(seconds=2)
_STEP_SECONDS: Final = 30


@dataclass(frozen=True, slots=True)
class TimeColumn:
    """A column that is no further ahead of now than `longest`; what is gets now."""

    model: str
    name: str
    longest: timedelta = _LEAST


def _columns(model: str, *names: str, longest: timedelta = _LEAST) -> tuple[TimeColumn, ...]:
    return tuple(TimeColumn(model, name, longest) for name in names)


HAPPENED: Final = (
    *_columns("permits_app.ActionPermit", "updated_at", "committing_at", "doubted_at"),
    *_columns("permits_app.OutboundTransaction", "created_at", "broadcast_at", "passed_at"),
    *_columns("permits_app.RelayedTransaction", "sent_at"),
    *_columns("permits_app.NavSnapshot", "at"),
    *_columns("permits_app.HealthAlert", "last_triggered_at"),
    *_columns("permits_app.PolicyTrial", "moved_at"),
    *_columns("permits_app.ChainWatch", "looked_at", "failing_since"),
    *_columns("permits_app.ChainMark", "looked_at", "trouble_since"),
    *_columns("permits_app.PendingRequest", "checked_at", "updated_at", "missed_at"),
    *_columns("permits_app.SignedPromise", "checked_at", "seen_at"),
    *_columns("permits_app.ReceivedRight", "state_at", "looked_at"),
    *_columns("permits_app.ChangeRequest", "claimed_at"),
    *_columns("permits_app.SigningKey", "asked_at"),
    *_columns("permits_app.Passkey", "throttling_failure_timestamp"),
    *_columns("otp_totp.TOTPDevice", "throttling_failure_timestamp"),
    *_columns("archetypes_app.ApiKey", "last_used_at"),
    *_columns("archetypes_app.ChatTurn", "asked_at"),
    *_columns("archetypes_app.Heartbeat", "monitored_at", "observed_at"),
    *_columns("memory_app.Episode", "last_accessed_at", "consolidated_at", "scanned_at", "dreamt_at"),
    *_columns("memory_app.Insight", "last_accessed_at", "scanned_at", "tuned_at"),
    *_columns("stream.WebhookEndpoint", "failing_since"),
    *_columns("stream.WebhookDelivery", "first_tried_at"),
    *_columns("alerts.AlertChannel", "last_sent_at"),
    *_columns("alerts.Alert", "happened_at"),
    *_columns("a2a.Task", "updated_at"),
    *_columns("django_celery_beat.PeriodicTask", "last_run_at"),
)
"""When something was: never later than now."""

NEXT: Final = (
    *_columns("permits_app.PendingRequest", "next_check_at"),
    *_columns("permits_app.SignedPromise", "next_check_at"),
    *_columns("permits_app.ReceivedRight", "next_look_at"),
    *_columns("stream.WebhookDelivery", "next_attempt_at"),
    *_columns("a2a.PushNotification", "next_attempt_at"),
    *_columns("alerts.AlertChannel", "next_try_at"),
    *_columns("tools_app.PositionSearch", "next_look_at"),
    *_columns("tools_app.StreamSubscription", "next_poll_at"),
)
"""When something is tried again: once too early does no harm, hours too late does."""

LEASES: Final = (
    *_columns("permits_app.ActionPermit", "lease_expires_at", longest=timedelta(minutes=10)),
    *_columns("permits_app.ChainWatch", "lease_expires_at", longest=timedelta(minutes=2)),
    *_columns("permits_app.IdempotencyRecord", "locked_until", longest=timedelta(minutes=10)),
    *_columns("a2a.Task", "lease_until", longest=timedelta(minutes=10)),
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
        mended = 0
        for column in (*HAPPENED, *NEXT, *LEASES, *ENDS):
            mended += _mend(column, now)
        mended += _free_codes(now)
    except DatabaseError as error:
        logger.warning("rows of the future could not be looked for: %s", type(error).__name__)
        return 0
    if mended:
        logger.warning("a clock was set back: %s times of the future were brought back to now", mended)
    return mended


def _mend(column: TimeColumn, now: datetime) -> int:
    rows = apps.get_model(column.model)._base_manager.filter(**{f"{column.name}__gt": now + column.longest})
    return int(rows.update(**{column.name: now}))


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
