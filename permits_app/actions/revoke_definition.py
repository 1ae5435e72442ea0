"""An owner takes a tool back from a golem: the next call does not find it, and its wishes are void.

Locks the golem, then the approval; appends DefinitionRevoked.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.db import transaction

from archetypes_app.models import DefinitionApproval, Golem
from tools_app.core import audit_log
from tools_app.core.transaction_retry import retry_aborted


@retry_aborted
def revoke_definition(
    *,
    approval: DefinitionApproval,
    reason: str,
    owner: Any,  # Any: whoever is signed in, of the project's user model
    now: datetime,
) -> None:
    """End an approval; does nothing where it has ended."""
    with transaction.atomic():
        Golem.objects.select_for_update(no_key=True).get(pk=approval.golem_id)
        living = DefinitionApproval.objects.filter(pk=approval.pk, revoked_at__isnull=True)
        if living.update(revoked_at=now, revoked_reason=reason or "no reason was given"):
            audit_log.append(
                golem_id=approval.golem_id,
                event="DefinitionRevoked",
                actor=f"owner:{owner.pk}",
                data={"tool": approval.tool_name, "definition_hash": approval.definition_hash, "reason": reason},
                now=now,
            )
