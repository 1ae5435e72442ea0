"""Fill a golem's allowlist: what this server knows on a chain, and the act of allowing some of it."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from django.db import transaction

from archetypes_app.models import Golem
from permits_app.limits.suggested_allowlist import AllowlistChoice
from permits_app.models import AllowlistEntry
from tools_app.core import audit_log
from tools_app.core.transaction_retry import retry_aborted


@retry_aborted
def allow_addresses(*, golem: Golem, choices: Iterable[AllowlistChoice], actor: str, now: datetime) -> int:
    """Allow addresses; those allowed already stay as they are. Writes the audit log. Returns by how many it grew."""
    rows = [
        AllowlistEntry(
            golem=golem, chain_id=choice.chain_id, kind=choice.kind, address=choice.address, label=choice.label
        )
        for choice in choices
    ]
    allowed = AllowlistEntry.objects.filter(golem=golem)
    with transaction.atomic():
        before = allowed.count()
        # The constraint of the table says what is allowed already, also to who allows the same at this moment.
        AllowlistEntry.objects.bulk_create(rows, ignore_conflicts=True)
        added = allowed.count() - before
        if added:
            audit_log.append(
                golem_id=golem.pk, event="AllowlistExtended", actor=actor, data={"added": str(added)}, now=now
            )
    return added
