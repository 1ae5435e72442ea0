"""The sweep ends what lapsed and finds what a dead worker left.

Permits past their time expire, those that outlived a queue end, and outcomes that memory has not seen reach it.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from uuid import UUID

from django.conf import settings
from django.db.models import Exists, OuterRef, Q, QuerySet

from permits_app.actions.commit import commit_permit
from permits_app.actions.expire import expire_lapsed
from permits_app.models import ActionPermit, IdempotencyRecord, OutboundTransaction, OutcomeRecord
from permits_app.models.permit import PermitStatus
from permits_app.models.transaction import UNSETTLED, TransactionState
from permits_app.permits.blocked_commits import list_followed_chains, list_silent_chains
from permits_app.permits.next_action_time import START_GRACE, UNKNOWN_PAUSE
from permits_app.permits.permit_lifetime import born_by
from tools_app.core.fair_batches import in_turns
from tools_app.core.isolated_sweeps import one_by_one

_MEMORY_WINDOW = timedelta(days=1)
_MEMORY_GRACE = timedelta(seconds=20)
_BATCH = 50
_PAYLOADS = OutboundTransaction.objects.filter(permit=OuterRef("pk"))


def sweep_permits(*, now: datetime) -> int:
    """Expire every lapsed permit; returns how many."""
    return expire_lapsed(golem_id=None, now=now)


def forget_answers(*, now: datetime) -> int:
    """Delete kept answers whose day is over; returns how many."""
    return IdempotencyRecord.objects.filter(expires_at__lte=now).delete()[0]


def end_outlived(*, now: datetime) -> int:
    """End permits whose time is over and for which nothing was signed, whatever kept workers from them; how many.

    The agent is told by the permit's event and by the answer it waits for.
    """
    # Also what would outlive its time because a clock was set back since it was made.
    is_over = Q(expires_at__lte=now) | Q(expires_at__gt=born_by(now)["furthest"])
    late = _free(now).filter(is_over, status=PermitStatus.COMMITTING, halt_epoch__isnull=True)
    # That its time is over ends it before any node is asked.
    unsigned = late.filter(~Exists(_PAYLOADS)).order_by("committing_at")
    outlived = list(unsigned.values_list("pk", flat=True)[:_BATCH])
    ended = one_by_one(outlived, lambda pk: commit_permit(permit_id=pk), what="the outlived permit")
    return sum(permit is not None for permit in ended)


def list_unfinished(*, now: datetime, grace: timedelta = START_GRACE) -> list[UUID]:
    """Permits that need a worker: not signed, not wholly sent, or not seen for too long. The longest untouched first of
    each golem, every golem in its turn.

    What was sent just now is the follower's to see, where one looks; on a chain whose node is silent nothing is tried.
    What was started within `grace` is left to the worker that it was handed to.
    """
    is_left = Q(committing_at__lte=now - grace) & (
        ~Exists(_PAYLOADS)
        | Exists(_PAYLOADS.filter(is_live=True, state=TransactionState.SIGNED))
        | ~Exists(_PAYLOADS.filter(state__in=[str(state) for state in UNSETTLED]))
        | ~Q(chain_id__in=list_followed_chains(now=now))
    )
    is_unseen = Q(committing_at__lte=now - timedelta(seconds=settings.GOLEM_RECEIPT_WAIT_SECONDS))
    started = Q(status=PermitStatus.COMMITTING) & (is_left | is_unseen)
    unknown = Q(status=PermitStatus.UNKNOWN, updated_at__lte=now - UNKNOWN_PAUSE)
    is_tried = Q(is_local=True) | ~Q(chain_id__in=list_silent_chains(now=now))
    rows = in_turns(_free(now).filter(is_tried, started | unknown), "status", "updated_at", of="golem_id")
    return list(rows.values_list("pk", flat=True)[:_BATCH])


def _free(now: datetime) -> QuerySet[ActionPermit]:
    """Permits that no worker has."""
    return ActionPermit.objects.filter(Q(lease_expires_at__isnull=True) | Q(lease_expires_at__lte=now))


def list_unremembered(*, now: datetime) -> list[UUID]:
    """Permits of the last day whose outcome has no episode yet although their golem remembers."""
    rows = OutcomeRecord.live.filter(
        episode_id__isnull=True,
        permit__golem__is_memory_enabled=True,
        permit__halt_epoch__isnull=True,
        created_at__range=(now - _MEMORY_WINDOW, now - _MEMORY_GRACE),
    )
    return list(in_turns(rows, "created_at", of="permit__golem_id").values_list("permit_id", flat=True)[:_BATCH])
