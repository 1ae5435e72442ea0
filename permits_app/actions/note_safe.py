"""note_safe: an owner has looked at the Safe that their golem acts through, and its warnings count from there on.

Nothing is sent: the Safe is as it is. Appends SafeNoted.
"""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from django.db import transaction

from archetypes_app.models import Golem
from permits_app.approval_errors import ChangeUnchanged
from permits_app.models import CageMirror, Wallet
from permits_app.models.wallet import WalletKind
from tools_app.core import audit_log
from tools_app.core.transaction_retry import retry_aborted


@retry_aborted
def note_safe(*, golem_id: UUID, actor: str, reason: str, now: datetime) -> None:
    """Take the Safe as it was last seen for what is agreed. Raises ChangeUnchanged when it is."""
    with transaction.atomic():
        Golem.objects.select_for_update(no_key=True, of=("self",)).get(pk=golem_id)
        wallet = Wallet.objects.select_for_update(no_key=True, of=("self",)).filter(golem_id=golem_id).first()
        behind = CageMirror.objects.select_for_update(no_key=True, of=("self",)).filter(cage__golem_id=golem_id)
        mirror = behind.first()
        is_bare = wallet is not None and wallet.kind == WalletKind.GNOSIS_SAFE
        is_alone = wallet is not None and is_bare and (mirror is None or mirror.account != wallet.address)
        kept = wallet if is_alone else mirror
        if kept is None or not kept.safe or kept.safe == kept.safe_noted:
            raise ChangeUnchanged("the Safe is as its owners last saw it")
        kept.safe_noted = kept.safe
        kept.save(update_fields=["safe_noted", "updated_at"])
        contract, account = (kept.contract, kept.account) if isinstance(kept, CageMirror) else ("", kept.address)
        data = {"contract": contract, "account": account, "reason": reason}
        audit_log.append(golem_id=golem_id, event="SafeNoted", actor=actor, data=data, now=now)
