"""Each round's look at a chain: does its node answer, for the right chain, and does it still hold what was final.

What keeps a chain from being read is told when it begins and when it is over. While its node serves another chain,
every read and every sending is refused where it is made (`tools_app/chain/rpc.py`); here that is told.
"""

from __future__ import annotations

import logging
from datetime import datetime
from typing import Final
from uuid import UUID

from django.db import transaction
from django.db.models import Q

from archetypes_app.models import Golem
from permits_app.execution import confirm_transaction
from permits_app.models import ChainMark
from tools_app.chain.networks import Network
from tools_app.chain.node_errors import RpcWrongChain
from tools_app.core import audit_log, event_bus
from tools_app.core.clock import Deadline
from tools_app.core.errors import GolemError
from tools_app.core.events import Event, EventType
from tools_app.core.transaction_retry import retry_aborted

logger = logging.getLogger(__name__)

_BUDGET_MS: Final = 5_000
_ACTOR: Final = "system:reconciler"
CLEARS: Final = "a node that serves the chain it is configured for; it is asked again every second"


def look(network: Network, *, now: datetime) -> bool:
    """Read one chain's head and the block that was marked; whether a final block is gone. Raises the node errors."""
    watch, _ = ChainMark.objects.get_or_create(chain_id=network.chain_id)
    try:
        has_lost = _read(network, watch, now)
    except GolemError as error:
        if watch.trouble != error.code:
            _note_trouble(network, watch, error, now)
        raise
    if watch.trouble:
        _note_trouble(network, watch, None, now)
    return has_lost


def _read(network: Network, watch: ChainMark, now: datetime) -> bool:
    deadline = Deadline.after_ms(_BUDGET_MS)
    marked = {watch.mark_number} if watch.mark_hash else set()
    hashes, head = confirm_transaction.find_block_hashes(network.chain_id, marked, deadline=deadline)
    next_mark = max(0, head - network.confirmations + 1)
    has_lost = bool(marked) and hashes.get(watch.mark_number, watch.mark_hash) != watch.mark_hash
    changes: dict[str, object] = {"head_number": head, "looked_at": now}
    if has_lost:
        logger.error(
            "chain %s rolled back past what was final: block %s is another one or gone, the head is %s",
            network.chain_id,
            watch.mark_number,
            head,
        )
        changes |= {"rolled_back_at": now, "mark_number": 0, "mark_hash": ""}
    elif next_mark != watch.mark_number or not marked:
        found, _ = confirm_transaction.find_block_hashes(network.chain_id, {next_mark}, deadline=deadline)
        if found.get(next_mark):
            changes |= {"mark_number": next_mark, "mark_hash": found[next_mark]}
    ChainMark.objects.filter(pk=watch.pk).update(updated_at=now, **changes)
    return has_lost


def _note_trouble(network: Network, watch: ChainMark, error: GolemError | None, now: datetime) -> None:
    """Write down what stops the chain, or that nothing does any more; a node of another chain is told to its golems."""
    code = error.code if error is not None else ""
    told = {watch.trouble, code} & {RpcWrongChain.code}
    ChainMark.objects.filter(pk=watch.pk).update(trouble=code, trouble_since=now if code else None, updated_at=now)
    watch.trouble = code
    if not told:
        return
    kind, event = (
        (EventType.CHAIN_STOPPED, "ChainStopped") if error is not None else (EventType.CHAIN_RESUMED, "ChainResumed")
    )
    facts = {"chain_id": network.chain_id, "name": network.name}
    if error is not None:
        logger.error("chain %s is stopped: %s", network.chain_id, error.detail)
        facts |= {"code": code, "reason": error.detail, "clears": CLEARS}
    has_it = Q(home_chain_id=network.chain_id) | Q(other_chain_ids__contains=[network.chain_id])
    for golem_id in Golem.objects.filter(has_it).values_list("pk", flat=True):
        tell(golem_id, kind, event, facts, now)


@retry_aborted
def tell(golem_id: UUID, kind: EventType, event: str, facts: dict[str, object], now: datetime) -> None:
    """One event and one audit entry of one golem, together."""
    with transaction.atomic():
        audit_log.append(
            golem_id=golem_id,
            event=event,
            actor=_ACTOR,
            data=facts,
            now=now,
            along=[event_bus.fill_events(golem_id=golem_id, events=[Event(kind, facts)], now=now)],
        )
