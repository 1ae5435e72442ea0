"""Finds what holds commits up: a payload of the account that is not mined, or a chain that does not answer.

Read from rows alone: the payloads that were sent, and what the follower of each chain saw last.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from django.conf import settings
from django.db.models import Min, Q
from django.db.models.functions import Coalesce

from permits_app.errors import AccountBlocked, ChainStuck
from permits_app.models import ActionPermit, ChainWatch, OutboundTransaction
from permits_app.models.permit import PermitStatus
from permits_app.models.transaction import UNSETTLED, TransactionState
from permits_app.permits.next_action_time import PAYLOAD_COLUMNS, Out, foresee_chain, foresee_payload, or_before
from tools_app.chain.networks import configured_networks
from tools_app.core.prepared_statements import Prepared

_MOST_SHOWN: Final = 50
UNSIGNED_AFTER: Final = timedelta(seconds=5)
"""A commit that no worker took up by then, although nothing of it was signed, waits for a key or for a worker."""
# A watch that is older than so many leases says nothing of its chain any more, only of its follower.
_FRESH_LEASES: Final = 2
IS_SILENT: Final = (
    f"EXISTS (SELECT 1 FROM {ChainWatch._meta.db_table} AS watch WHERE watch.chain_id = {{chain}}"  # noqa: S608
    " AND watch.failing_since <= %(down)s::timestamptz AND watch.looked_at > %(fresh)s::timestamptz)"
)
"""SQL: whether the node of `chain` answers nothing, as its follower saw it just now; its places are `silence_at`."""
_OUTBOUND: Final = OutboundTransaction._meta.db_table
# What became of the nonce meanwhile: the payload that replaced the one that waits.
_LIVE: Final = ", ".join(f"live.{column}" for column in PAYLOAD_COLUMNS)
_UNSETTLED_LIST = ", ".join(f"'{state}'" for state in UNSETTLED)
_FIND_HOLD = Prepared(
    "find_hold",
    f"""
(SELECT 'account', coalesce(old.broadcast_at, old.created_at), old.nonce, old.tx_hash, {_LIVE}
   FROM {_OUTBOUND} AS old
   JOIN {_OUTBOUND} AS live ON live.chain_id = old.chain_id AND live.sender = old.sender AND live.nonce = old.nonce
    AND (live.is_live OR live.id = old.id)
  WHERE old.chain_id = %(chain)s AND old.sender = %(address)s AND old.broadcast_count > 0
    AND old.state IN ({_UNSETTLED_LIST}) AND old.passed_at IS NULL AND old.created_at <= %(blocked)s::timestamptz
    AND (old.state <> 'REORGED' OR old.updated_at <= %(blocked)s::timestamptz)
  ORDER BY old.nonce, old.created_at, live.is_live DESC LIMIT 1)
UNION ALL
(SELECT 'chain', failing_since, 0, error_code, {", ".join(["NULL"] * len(PAYLOAD_COLUMNS))}
   FROM {ChainWatch._meta.db_table}
  WHERE chain_id = %(chain)s AND failing_since <= %(down)s::timestamptz AND looked_at > %(fresh)s::timestamptz)
""",  # noqa: S608  (the tables' own names and constants)
)


@dataclass(frozen=True, slots=True)
class BlockedAccount:
    """An account whose oldest sent payload is not mined since `since`. `golem_id` is None where no permit sent it."""

    chain_id: int
    address: str
    nonce: int
    tx_hash: str
    since: datetime
    golem_id: UUID | None


@dataclass(frozen=True, slots=True)
class StuckChain:
    """A chain that does not go on for us: its node is silent, or nobody here follows it. `since` None means never."""

    chain_id: int
    reason: str
    since: datetime | None
    is_node: bool


def check_clear(permit: ActionPermit, *, now: datetime) -> None:
    """That what `permit` sends could be mined. One query. Raises AccountBlocked, ChainStuck."""
    if permit.is_local or not permit.signer:
        return
    found = _FIND_HOLD.fetch(
        chain=permit.chain_id, address=permit.signer, blocked=now - _blocked_after(), **silence_at(now)
    )
    for kind, since, nonce, word, *payload in found:
        facts = {"permit_id": str(permit.pk), "chain_id": permit.chain_id, "since": since.isoformat()}
        if kind == "chain":
            raise ChainStuck(
                f"the node of chain {permit.chain_id} answers nothing since {since.isoformat()}",
                cause=word,
                **or_before(foresee_chain(permit.chain_id, now=now), ends=permit.expires_at, now=now).tell(now),
                **facts,
            )
        raise AccountBlocked(
            f"nonce {nonce} of {permit.signer} was sent at {since.isoformat()} and is not mined",
            address=permit.signer,
            nonce=nonce,
            tx_hash=word,
            **or_before(
                foresee_payload(Out(*payload), chain_id=permit.chain_id, now=now), ends=permit.expires_at, now=now
            ).tell(now),
            **facts,
        )


def list_blocked_accounts(*, now: datetime, of: Collection[UUID] | None = None) -> list[BlockedAccount]:
    """The first unmined payload of each account that waits for too long, the longest waiting first; of these golems
    alone where they are named.
    """
    border = now - _blocked_after()
    is_old = Q(created_at__lte=border) & (~Q(state=TransactionState.REORGED) | Q(updated_at__lte=border))
    rows = (
        OutboundTransaction.objects.filter(
            is_old, broadcast_count__gt=0, passed_at__isnull=True, state__in=[str(state) for state in UNSETTLED]
        )
        .order_by("chain_id", "sender", "nonce", "created_at")
        .distinct("chain_id", "sender")
        .values_list(
            "chain_id", "sender", "nonce", "tx_hash", Coalesce("broadcast_at", "created_at"), "permit__golem_id"
        )
    )
    if of is not None:
        rows = rows.filter(permit__golem_id__in=of)
    return sorted((BlockedAccount(*row) for row in rows), key=lambda each: each.since)[:_MOST_SHOWN]


def list_unsigned_accounts(*, now: datetime) -> list[tuple[str, datetime]]:
    """Accounts whose commits nobody signs although workers look at them, and since when: none has the key."""
    rows = (
        ActionPermit.objects.filter(
            Q(lease_expires_at__isnull=True) | Q(lease_expires_at__lte=now),
            status=PermitStatus.COMMITTING,
            is_local=False,
            halt_epoch__isnull=True,
            committing_at__lte=now - UNSIGNED_AFTER,
            transactions__isnull=True,
        )
        .exclude(signer="")
        .exclude(chain_id__in=list_silent_chains(now=now))
        .values("signer")
        .annotate(since=Min("committing_at"))
        .order_by("since")
    )
    return [(row["signer"], row["since"]) for row in rows[:_MOST_SHOWN]]


def list_stuck_chains(*, now: datetime) -> list[StuckChain]:
    """Configured chains whose node is silent, and those that no follower has looked at lately."""
    watches = {watch.chain_id: watch for watch in ChainWatch.objects.all()}
    found = []
    for network in configured_networks():
        watch = watches.get(network.chain_id)
        looked_at = watch.looked_at if watch is not None else None
        if watch is None or looked_at is None or looked_at <= now - _fresh_for():
            found.append(StuckChain(network.chain_id, "no follower looks at it", looked_at, is_node=False))
        elif watch.failing_since is not None and watch.failing_since <= now - _down_after():
            found.append(StuckChain(network.chain_id, watch.error_code, watch.failing_since, is_node=True))
    return found


def silence_at(now: datetime) -> dict[str, datetime]:
    """The values of the places of IS_SILENT."""
    return {"down": now - _down_after(), "fresh": now - _fresh_for()}


def list_silent_chains(*, now: datetime) -> list[int]:
    """Chains whose node answers nothing, as their follower saw it just now: nothing is tried there meanwhile."""
    rows = ChainWatch.objects.filter(failing_since__lte=now - _down_after(), looked_at__gt=now - _fresh_for())
    return list(rows.values_list("chain_id", flat=True))


def list_followed_chains(*, now: datetime) -> list[int]:
    """Chains that a follower has looked at just now."""
    return list(ChainWatch.objects.filter(looked_at__gt=now - _fresh_for()).values_list("chain_id", flat=True))


def _blocked_after() -> timedelta:
    return timedelta(seconds=settings.GOLEM_BLOCKED_AFTER_SECONDS)


def _down_after() -> timedelta:
    return timedelta(seconds=settings.GOLEM_CHAIN_DOWN_AFTER_SECONDS)


def _fresh_for() -> timedelta:
    return timedelta(seconds=settings.GOLEM_FOLLOWER_LEASE_SECONDS * _FRESH_LEASES)
