"""The lease on a commit: which worker works on a permit now. A dead worker's lease is freed, or runs out, and another
resumes. A worker that lost its database in the middle frees its own once there is one again.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from django.conf import settings
from django.db import InterfaceError, OperationalError

from permits_app.errors import LeaseLost
from permits_app.models import ActionPermit
from permits_app.models.permit import UNFINISHED, list_states
from tools_app.core import clock
from tools_app.core.lease_holders import is_gone, name_holder
from tools_app.core.prepared_statements import Filled, Prepared
from tools_app.core.single_row_sql import change_rows, fill_change

_BATCH = 200
_LOST: dict[str, UUID] = {}
"""Leases by owner that this process may hold in the database and nobody works under any more."""
_LEFT: dict[UUID, None] = {}
"""Permits that this process was asked to work on, or did, when its database failed: their wake-ups are spent."""


@dataclass(slots=True)
class Lease:
    """Proof that this worker holds `permit_id` until it expires or is released."""

    permit_id: UUID
    owner: str
    ends: datetime

    def renew(self) -> None:
        """Hold it longer, once half of it is used up. Raises LeaseLost when another worker has it.

        Until then nobody else can have it, and whatever is signed or sent asks for the lease in its own transaction.
        """
        now = clock.now()
        if self.ends - now > _length() / 2:
            return
        where = {"pk": self.permit_id, "lease_owner": self.owner, "lease_expires_at__gt": now}
        if not change_rows(ActionPermit, where=where, lease_expires_at=now + _length()):
            raise LeaseLost("another worker took over this commit", permit_id=str(self.permit_id))
        self.ends = now + _length()

    def hold(self, *, seconds: float) -> None:
        """Hold it through one step that takes so long and cannot renew it meanwhile. Raises LeaseLost."""
        now = clock.now()
        ends = now + timedelta(seconds=seconds) + _length()
        where = {"pk": self.permit_id, "lease_owner": self.owner, "lease_expires_at__gt": now}
        if not change_rows(ActionPermit, where=where, lease_expires_at=ends):
            raise LeaseLost("another worker took over this commit", permit_id=str(self.permit_id))
        self.ends = ends

    def put_off(self, *, until: datetime) -> None:
        """Let another worker take the permit up from `until` on."""
        ActionPermit.objects.filter(pk=self.permit_id, lease_owner=self.owner).update(
            lease_owner="", lease_expires_at=until
        )

    def release(self) -> None:
        """Let another worker take the permit up at once."""
        self.fill_release().fetch()

    def fill_release(self) -> Filled:
        """The statement of `release`, for whoever sends it along with others."""
        where = {"pk": self.permit_id, "lease_owner": self.owner}
        return fill_change(ActionPermit, where=where, lease_owner="", lease_expires_at=None)


@contextmanager
def giving_back(lease: Lease) -> Iterator[None]:
    """Releases it when the block fails; where no database takes that, `free_lost` does it once there is one."""
    try:
        with handed_on(lease.permit_id):
            yield
    except BaseException:
        try:
            lease.release()
        except (OperationalError, InterfaceError):
            _LOST[lease.owner] = lease.permit_id
        raise


@contextmanager
def handed_on(permit_id: UUID) -> Iterator[None]:
    """Where the database fails the block, the permit is handed to a worker again once there is one (`free_lost`)."""
    try:
        yield
    except (OperationalError, InterfaceError):
        _LEFT[permit_id] = None
        raise


_TAKE = Prepared(
    "take_lease",
    f"""
UPDATE {ActionPermit._meta.db_table} SET lease_owner = %(owner)s, lease_expires_at = %(ends)s
 WHERE id = %(permit)s AND status IN ({list_states(UNFINISHED)})
   AND (lease_expires_at IS NULL OR lease_expires_at <= %(now)s)
RETURNING 1""",  # noqa: S608  (our own constants)
)


def take_lease(*, permit_id: UUID, now: datetime) -> Lease | None:
    """The lease of an unfinished permit, or None when another worker holds it or it is finished."""
    lease, asked = ask_for_lease(permit_id=permit_id, now=now)
    with giving_back(lease):
        return lease if asked.fetch() else None


def ask_for_lease(*, permit_id: UUID, now: datetime) -> tuple[Lease, Filled]:
    """The same for whoever sends the statement along with others: the lease is held where that gives a row."""
    lease = Lease(permit_id=permit_id, owner=name_holder(), ends=now + _length())
    return lease, _TAKE.fill(permit=permit_id, owner=lease.owner, now=now, ends=lease.ends)


def free_lost() -> list[UUID]:
    """Free what this process lost with its database; the permits that another worker may take up at once.

    Raises OperationalError and InterfaceError while there is none.
    """
    for owner, permit_id in list(_LOST.items()):
        where = {"pk": permit_id, "lease_owner": owner}
        change_rows(ActionPermit, where=where, lease_owner="", lease_expires_at=None)
        _LOST.pop(owner, None)
    left = list(_LEFT)
    if not left:
        return []
    for permit_id in left:
        # Before it is looked at: one that is left again meanwhile is looked at again.
        _LEFT.pop(permit_id, None)
    try:
        unfinished = ActionPermit.objects.filter(pk__in=left, status__in=[str(state) for state in UNFINISHED])
        return list(unfinished.values_list("pk", flat=True))
    except (OperationalError, InterfaceError):
        _LEFT.update(dict.fromkeys(left))
        raise


def free_left(*, now: datetime) -> list[UUID]:
    """Free the leases of workers that are gone; their permits, which another worker may take up at once."""
    held = ActionPermit.objects.filter(
        status__in=[str(state) for state in UNFINISHED], lease_expires_at__gt=now
    ).exclude(lease_owner="")
    left = [(permit_id, owner) for permit_id, owner in held.values_list("pk", "lease_owner")[:_BATCH] if is_gone(owner)]
    return [
        permit_id
        for permit_id, owner in left
        if ActionPermit.objects.filter(pk=permit_id, lease_owner=owner).update(lease_owner="", lease_expires_at=None)
    ]


def _length() -> timedelta:
    return timedelta(seconds=settings.GOLEM_COMMIT_LEASE_SECONDS)
