"""reconcile_relays: what the relayer sent and a reorganisation took out of the chain is sent again, the same bytes.

What the owners signed stays signed: where the relayer's nonce went to something else, the same SafeTx is sent under
another one, and where the Safe's own nonce did, it is given up. The mirror follows the chain meanwhile. What failed is
followed as well: mined again, or sent again by whoever saw it, it may succeed. Appends OwnerTransactionReorged, what
relay_owner_transaction appends, and ChangeExecuted where a chain executed what was closed.

See docs/decisions/0081-safe-owners-sign-a-golems-plans-in-the-order.md.
"""

from __future__ import annotations

from collections import Counter
from datetime import datetime

from django.db.models import Q

from permits_app.actions.execute_change import record_late_execution
from permits_app.actions.relay_owner_transaction import relay_owner_transaction, settle_failed
from permits_app.approvals.owner_states import move_alone
from permits_app.custody.safe_view import open_chain, read_safe
from permits_app.gas_relayer import IN_FLIGHT, find_lost, follow
from permits_app.models import OwnerTransaction, RelayedTransaction
from permits_app.models.owner_transaction import OwnerTransactionState, RelayPurpose, RelayState
from tools_app.chain.networks import configured_networks
from tools_app.core.isolated_sweeps import one_by_one
from tools_app.core.required_value import require

S = OwnerTransactionState
_ACTOR = "system:reconciler"
_LOOK_SECONDS = 1.0
_CLOSED = [str(S.FAILED), str(S.DEAD)]


def reconcile_relays(*, now: datetime) -> dict[str, int]:
    """One round over every configured chain; counts of what was done. What cannot be done now is done next time."""
    done: Counter[str] = Counter()
    chains = [network.chain_id for network in configured_networks()]
    for counts in one_by_one(chains, lambda chain_id: _look(chain_id, now), what="relays on chain"):
        done.update(counts)
    done["relays_back"] += sum(one_by_one(_list_lost(), lambda asked: _send_back(asked, now), what="the lost relay of"))
    failed = _group_failed()
    settled = one_by_one(failed, lambda safe: _settle_failed(*safe, failed[safe], now), what="what failed in the Safe")
    done["late_executions"] += sum(settled)
    return dict(done)


def _look(chain_id: int, now: datetime) -> Counter[str]:
    lost = _note_lost(chain_id, now)
    return Counter(relays_lost=lost, relays_back=_follow_applied(chain_id))


def _send_back(asked: OwnerTransaction, now: datetime) -> bool:
    if not relay_owner_transaction(asked=asked, now=now):
        return False
    record_late_execution(asked=asked, now=now)
    return True


def _note_lost(chain_id: int, now: datetime) -> int:
    lost = len(find_lost(chain_id=chain_id))
    rows = RelayedTransaction.objects.filter(
        chain_id=chain_id, state=RelayState.REORGED, owner_transaction__state=S.EXECUTED
    ).select_related("owner_transaction__request")
    for row in rows:
        move_alone(
            asked=require(row.owner_transaction), to=S.SENT, actor=_ACTOR, now=now, facts={"tx_hash": row.tx_hash}
        )
    return lost


def _follow_applied(chain_id: int) -> int:
    rows = RelayedTransaction.objects.filter(
        chain_id=chain_id, state=RelayState.REORGED, purpose=RelayPurpose.APPLY
    ).order_by("nonce")
    return sum(follow(row, seconds=_LOOK_SECONDS) is not None for row in rows)


def _list_lost() -> list[OwnerTransaction]:
    """What was executed once, or was closed without, was sent by the relayer, and is in no block now."""
    executed = Q(state=S.SENT, executed_at__isnull=False, relays__isnull=False)
    closed = Q(state__in=_CLOSED, relays__state__in=[str(state) for state in IN_FLIGHT])
    rows = OwnerTransaction.objects.filter(executed | closed).select_related("request__golem")
    return list(rows.distinct().order_by("safe_nonce"))


def _group_failed() -> dict[tuple[int, str], list[OwnerTransaction]]:
    """What failed and may be executed still, by chain and Safe."""
    found: dict[tuple[int, str], list[OwnerTransaction]] = {}
    for asked in OwnerTransaction.objects.filter(state=S.FAILED).select_related("request__golem").order_by("pk"):
        found.setdefault((asked.chain_id, asked.safe), []).append(asked)
    return found


def _settle_failed(chain_id: int, address: str, failed: list[OwnerTransaction], now: datetime) -> int:
    chain = open_chain(chain_id, now=now)
    safe = read_safe(chain, address)
    done = 0
    for asked in failed:
        if settle_failed(asked=asked, safe=safe, chain=chain):
            record_late_execution(asked=asked, now=now)
            done += 1
    return done
