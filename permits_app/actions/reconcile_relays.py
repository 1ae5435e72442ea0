"""reconcile_relays: what the relayer sent and a reorganisation took out of the chain is sent again, the same bytes.

What the owners signed stays signed: where the relayer's nonce went to something else, the same SafeTx is sent under
another one, and where the Safe's own nonce did, it is given up. The mirror follows the chain meanwhile. Appends
OwnerTransactionReorged, and what relay_owner_transaction appends. Seed: decision 0081.
"""

from __future__ import annotations

import logging
from collections import Counter
from datetime import datetime

from django.db import transaction

from permits_app.actions.relay_owner_transaction import relay_owner_transaction
from permits_app.approvals.owner_states import move_owner_transaction
from permits_app.models import OwnerTransaction, RelayedTransaction
from permits_app.models.owner_transaction import OwnerTransactionState, RelayPurpose, RelayState
from permits_app.relayer import find_lost, follow
from tools_app.chain.networks import configured_networks
from tools_app.core.errors import GolemError

logger = logging.getLogger(__name__)

_ACTOR = "system:reconciler"
_LOOK_SECONDS = 1.0


def reconcile_relays(*, now: datetime) -> dict[str, int]:
    """One round over every configured chain; counts of what was done. What cannot be done now is done next time."""
    done: Counter[str] = Counter()
    for network in configured_networks():
        try:
            done["relays_lost"] += _note_lost(network.chain_id, now)
            done["relays_back"] += _follow_applied(network.chain_id)
        except GolemError as error:
            logger.warning("relays on chain %s not looked at now: %s", network.chain_id, error.code)
    for asked in _list_lost_executions():
        try:
            done["relays_back"] += relay_owner_transaction(asked=asked, now=now)
        except GolemError as error:
            logger.warning("what was executed under nonce %s is not back: %s", asked.safe_nonce, error.code)
    return dict(done)


def _note_lost(chain_id: int, now: datetime) -> int:
    lost = len(find_lost(chain_id=chain_id))
    rows = RelayedTransaction.objects.filter(
        chain_id=chain_id, state=RelayState.REORGED, owner_transaction__state=OwnerTransactionState.EXECUTED
    ).select_related("owner_transaction__request")  # fmt: skip
    for row in rows:
        with transaction.atomic():
            move_owner_transaction(
                asked=row.owner_transaction, to=OwnerTransactionState.SENT, actor=_ACTOR, now=now,
                facts={"tx_hash": row.tx_hash},
            )  # fmt: skip
    return lost


def _follow_applied(chain_id: int) -> int:
    rows = RelayedTransaction.objects.filter(
        chain_id=chain_id, state=RelayState.REORGED, purpose=RelayPurpose.APPLY
    ).order_by("nonce")
    return sum(follow(row, seconds=_LOOK_SECONDS) is not None for row in rows)


def _list_lost_executions() -> list[OwnerTransaction]:
    """What was executed once, was sent by the relayer, and is in no block now."""
    rows = OwnerTransaction.objects.filter(
        state=OwnerTransactionState.SENT, executed_at__isnull=False, relays__isnull=False
    )
    return list(rows.distinct().order_by("safe_nonce"))
