"""restore_venue_trust: an owner has looked at a divergence and trusts the venue again, with a reason."""

from __future__ import annotations

from datetime import datetime

from django.db import transaction

from permits_app.errors import NothingToAcknowledge
from permits_app.models import VenueTrust
from permits_app.permits.venue_trust import restore
from tools_app.core import audit_log
from tools_app.core.transaction_retry import retry_aborted


@retry_aborted
def restore_venue_trust(*, trust: VenueTrust, actor: str, reason: str, now: datetime) -> None:
    """Trust `trust`'s venue again. Raises NothingToAcknowledge when trust is not low (any more)."""
    with transaction.atomic():
        # Before the row, as the end of a permit has them.
        audit_log.lock(trust.golem_id)
        if not restore(trust=trust, actor=actor, reason=reason, now=now):
            raise NothingToAcknowledge("the trust in this venue is not low", golem_id=str(trust.golem_id))
