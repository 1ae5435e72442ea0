"""Decides which contracts a golem may call, by its owner's list and by what a cage can read."""

from __future__ import annotations

from uuid import UUID

from permits_app.models import AllowlistEntry, CageMirror, SpendingLimits
from permits_app.models.allowlist import AllowlistKind
from permits_app.models.spending import AllowlistMode
from tools_app.toolkit.protocol import SHELF


def may_be_called(*, golem_id: UUID, chain_id: int, contract: str) -> bool:
    """Whether nothing refuses a call of the golem to `contract` for being that contract."""
    caged = CageMirror.objects.filter(cage__golem_id=golem_id, chain_id=chain_id)
    if contract in SHELF.uncaged_on(chain_id) and caged.exists():
        return False
    if SpendingLimits.objects.filter(golem_id=golem_id).exclude(allowlist_mode=AllowlistMode.STRICT).exists():
        return True
    listed = AllowlistEntry.objects.filter(golem_id=golem_id, chain_id=chain_id, address=contract)
    return listed.filter(kind=AllowlistKind.CONTRACT).exists()
