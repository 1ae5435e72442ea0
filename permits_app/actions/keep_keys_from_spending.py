"""keep_keys_from_spending: agents preview with their API keys and spend nothing, at once and without an approval."""

from __future__ import annotations

from datetime import datetime

from django.db import transaction

from archetypes_app.models import Golem
from permits_app.approvals.operations.keys_spend import set_keys_spend
from permits_app.permits.row_locks import lock_golem
from tools_app.core.transaction_retry import retry_aborted


@retry_aborted
def keep_keys_from_spending(*, golem: Golem, reason: str, actor: str, now: datetime) -> None:
    """From here on no commit of an agent's key starts; what was started goes on. Appends KeysSpendSet."""
    with transaction.atomic():
        # A commit takes this lock before it starts.
        lock_golem(golem.pk)
        set_keys_spend(golem=golem, may_spend=False, actor=actor, reason=reason, now=now)
