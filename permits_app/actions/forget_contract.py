"""forget_contract: an operator looked at a contract whose code changed and removes the mark of its old code.

The next preview that touches it marks the code it finds. Appends KnownContractForgotten for every golem that lists the
address.
"""

from __future__ import annotations

from datetime import datetime

from django.db import transaction

from permits_app.models import AllowlistEntry, KnownContract
from tools_app.core import audit_log
from tools_app.core.transaction_retry import retry_aborted


@retry_aborted
def forget_contract(*, contract: KnownContract, actor: str, now: datetime) -> None:
    """Remove one mark, in one transaction with its audit entries."""
    facts = {"chain_id": contract.chain_id, "address": contract.address, "code_hash": contract.code_hash}
    with transaction.atomic():
        listed = AllowlistEntry.objects.filter(chain_id=contract.chain_id, address=contract.address)
        for golem_id in listed.order_by("golem_id").values_list("golem_id", flat=True).distinct():
            audit_log.append(golem_id=golem_id, event="KnownContractForgotten", actor=actor, data=facts, now=now)
        KnownContract.objects.filter(pk=contract.pk).delete()
