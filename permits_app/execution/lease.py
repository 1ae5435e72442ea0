"""The lease on a commit: which worker works on a permit now. A dead worker's lease runs out and another resumes."""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from django.conf import settings
from django.db.models import Q

from permits_app.errors import LeaseLost
from permits_app.models import ActionPermit
from permits_app.models.permit import UNFINISHED
from tools_app.core import clock


@dataclass(frozen=True, slots=True)
class Lease:
    """Proof that this worker holds `permit_id` until it expires or is released."""

    permit_id: UUID
    owner: str

    def renew(self) -> None:
        """Hold it longer. Raises LeaseLost when another worker has it."""
        now = clock.now()
        kept = ActionPermit.objects.filter(pk=self.permit_id, lease_owner=self.owner, lease_expires_at__gt=now).update(
            lease_expires_at=now + _length()
        )
        if not kept:
            raise LeaseLost("another worker took over this commit", permit_id=str(self.permit_id))

    def release(self) -> None:
        """Let another worker take the permit up at once."""
        ActionPermit.objects.filter(pk=self.permit_id, lease_owner=self.owner).update(
            lease_owner="", lease_expires_at=None
        )


def take_lease(*, permit_id: UUID, now: datetime) -> Lease | None:
    """The lease of an unfinished permit, or None when another worker holds it or it is finished."""
    lease = Lease(permit_id=permit_id, owner=uuid.uuid4().hex)
    taken = (
        ActionPermit.objects.filter(pk=permit_id, status__in=[str(state) for state in UNFINISHED])
        .filter(Q(lease_expires_at__isnull=True) | Q(lease_expires_at__lte=now))
        .update(lease_owner=lease.owner, lease_expires_at=now + _length())
    )
    return lease if taken else None


def _length() -> timedelta:
    return timedelta(seconds=settings.GOLEM_COMMIT_LEASE_SECONDS)
