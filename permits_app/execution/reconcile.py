"""Compares stored payloads with the chain and finds gaps in nonces. Nothing here signs a new action.

What is deep enough becomes FINAL; what a reorganisation took back, final or not, is recorded and its permit goes back
to UNKNOWN, to be sent again with the same bytes; nonces nobody will use or ever had are filled; what blocks its account
for long is replaced. A chain whose node cannot be read, or serves another chain, is left alone and told.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Iterable
from datetime import datetime, timedelta
from functools import partial
from typing import TypeVar
from uuid import UUID

from django.conf import settings
from django.db.models import Exists, OuterRef, Q, QuerySet

from permits_app.execution import (
    call_sequences,
    calls_with_lost_nonce,
    chain_health_check,
    chain_rollback,
    nonce_readings,
    payload_delivery,
    replacement,
)
from permits_app.execution.nonce_readings import Counts
from permits_app.execution.nonces import abandon_left, list_holes, note_gap
from permits_app.execution.payload_states import advance, list_siblings, record_receipt
from permits_app.execution.payloads import is_refused_for_good, send_payload
from permits_app.models import ActionPermit, NonceReservation, OutboundTransaction
from permits_app.models.nonce import NonceState
from permits_app.models.permit import UNFINISHED, PermitStatus
from permits_app.models.transaction import IN_A_BLOCK, UNSETTLED, PayloadPurpose, TransactionState
from permits_app.permits.blocked_commits import list_silent_chains
from tools_app.chain.networks import Network, configured_networks
from tools_app.chain.node_errors import NODE_AWAY, FeeTooLow
from tools_app.core.clock import Deadline
from tools_app.core.errors import GolemError
from tools_app.core.fair_batches import in_turns
from tools_app.core.isolated_sweeps import one_by_one
from tools_app.core.required_value import require
from tools_app.toolkit.views import FeeQuote

logger = logging.getLogger(__name__)

_NODE_BUDGET_MS = 5_000
_BATCH = 200
S = TransactionState
T = TypeVar("T")
_UNFINISHED = [str(state) for state in UNFINISHED]
_UNSETTLED = [str(state) for state in UNSETTLED]


def reconcile_transactions(*, now: datetime) -> dict[str, int]:
    """One round over every configured chain; counts of what was done. A node that is away is asked again next time."""
    silent = list_silent_chains(now=now)
    # Each of a silent chain's questions would hold the thread for as long as it may take.
    heard = [network for network in configured_networks() if network.chain_id not in silent]
    done: Counter[str] = Counter()
    for counts in one_by_one(heard, partial(_reconcile_chain, now=now), what="the round over"):
        done += counts
    return {name: count for name, count in done.items() if count}


def _reconcile_chain(network: Network, now: datetime) -> Counter[str]:
    done = Counter(rolled_back=chain_health_check.look(network, now=now))
    steps: dict[str, Callable[[], Counter[str]]] = {
        "give back": lambda: Counter(given_back=abandon_left(chain_id=network.chain_id)),
        "confirm mined": partial(chain_rollback.confirm_mined, network.chain_id, now),
        "find given up": partial(chain_rollback.find_given_up, network.chain_id, now),
        "reopen": partial(chain_rollback.reopen, network.chain_id, now),
        "send again": partial(chain_rollback.send_again, network.chain_id),
        "follow fills": partial(_follow_fills, network.chain_id),
        "tend accounts": partial(_tend_accounts, network.chain_id, now),
        "end sequences": partial(_end_sequences, network.chain_id, now),
        "fill unsent": partial(_fill_unsent, network.chain_id, now),
        "replace stuck": partial(_replace_stuck, network.chain_id, now),
    }
    for counts in one_by_one(steps, lambda name: steps[name](), what=f"on chain {network.chain_id}"):
        done += counts
    return done


def list_reopened(*, now: datetime) -> list[UUID]:
    """The permits that the round of `now` took up again, of whose calls it saw one mined, lost or replaced, or whose
    nonces it saw come to their turn; a worker goes on with them at once.
    """
    unfinished = ActionPermit.objects.filter(status__in=_UNFINISHED)
    reopened = Q(
        status=PermitStatus.UNKNOWN, updated_at=now, status_reason__in=[chain_rollback.REOPENED, chain_rollback.LATE]
    )
    is_changed = Q(state__in=[*map(str, IN_A_BLOCK), str(S.DROPPED)]) | Q(replaces__isnull=False)
    changed = OutboundTransaction.objects.filter(is_changed, permit=OuterRef("pk"), updated_at__gte=now)
    # A node may have forgotten what waited behind a gap: the worker sends it again.
    filled = OutboundTransaction.objects.filter(
        purpose=PayloadPurpose.FILL,
        updated_at__gte=now,
        state__in=[*map(str, IN_A_BLOCK), str(S.DROPPED)],
        chain_id=OuterRef("chain_id"),
        sender=OuterRef("sender"),
        nonce__lt=OuterRef("nonce"),
    )
    waiting = OutboundTransaction.objects.filter(
        Exists(filled), permit=OuterRef("pk"), is_live=True, state__in=_UNSETTLED
    )
    left = Q(status=PermitStatus.UNKNOWN) & Exists(waiting)
    return list(unfinished.filter(reopened | left | Exists(changed)).values_list("pk", flat=True)[:_BATCH])


def _follow_fills(chain_id: int) -> Counter[str]:
    """Send fills again until the nonce is used, by them or by what they replaced."""
    rows = _rows(chain_id).filter(purpose=PayloadPurpose.FILL, is_live=True, state__in=_UNSETTLED)[:_BATCH]
    return _each(rows, _follow_fill)


def _follow_fill(row: OutboundTransaction) -> Counter[str]:
    found = payload_delivery.find_any_receipt([row, *list_siblings(row)], deadline=_deadline())
    if found is None:
        is_over = not send_payload(row) and _is_used_elsewhere(row)
        return Counter(fills_not_needed=int(is_over and advance(row, S.DROPPED)))
    mined, receipt = found
    record_receipt(mined, receipt)
    return Counter(fills_mined=int(mined.pk == row.pk))


def _each(items: Iterable[T], act: Callable[[T], Counter[str]]) -> Counter[str]:
    """What came of all of them. One that fails, as where its key is away, holds up no other account of the chain."""
    done: Counter[str] = Counter()
    for counts in one_by_one(items, act, what="reconciling", raises=NODE_AWAY):
        done += counts
    return done


def _is_used_elsewhere(row: OutboundTransaction) -> bool:
    """Whether another transaction of the account has used the nonce up that `row` was to fill."""
    used = payload_delivery.read_used_nonce(
        chain_id=row.chain_id, address=row.sender, is_of_operations=bool(row.entry_point), deadline=_deadline()
    )
    return payload_delivery.is_lost(row, used_nonce=used, deadline=_deadline())


def _fill_unsent(chain_id: int, now: datetime) -> Counter[str]:
    """Bytes that will never be sent, because their permit ended first: their nonce is filled."""
    rows = (
        _rows(chain_id)
        .filter(purpose=PayloadPurpose.CALL, is_live=True, state=S.SIGNED, broadcast_count=0)
        .exclude(permit__status__in=_UNFINISHED)
    )
    return _each(in_turns(rows.select_related("permit"), "nonce", of="sender")[:_BATCH], partial(_fill, now=now))


def _fill(row: OutboundTransaction, now: datetime) -> Counter[str]:
    market = replacement.read_fees(chain_id=row.chain_id, now=now)
    filled = replacement.fill_instead(row=row, market=market, actor="system:reconciler", now=now)
    return Counter(filled=int(filled is not None))


def _end_sequences(chain_id: int, now: datetime) -> Counter[str]:
    """A plan whose earlier call was lost or cancelled does not go on: the nonces of its later calls are used up."""
    return Counter(cancelled=call_sequences.use_up_rest(_rows(chain_id), actor="system:reconciler", now=now))


def _tend_accounts(chain_id: int, now: datetime) -> Counter[str]:
    """What an account's counts say of its payloads: passed over, or under a nonce that nobody uses."""
    return _each(_read_accounts(chain_id).items(), lambda account: _tend(chain_id, *account, now))


def _tend(chain_id: int, address: str, counts: Counts, now: datetime) -> Counter[str]:
    return (
        _find_passed(chain_id, address, counts)
        + _fill_freed(chain_id, address, counts, now)
        + _fill_holes_of(chain_id, address, counts, now)
    )


def _find_passed(chain_id: int, address: str, counts: Counts) -> Counter[str]:
    """Payloads whose nonce the chain counts as used: by them, which their receipts show, or by another transaction."""
    rows = _rows(chain_id).filter(sender=address, state__in=_UNSETTLED)
    rows.filter(nonce__gte=counts.mined, passed_at__isnull=False).update(passed_at=None)
    passed = rows.filter(nonce__lt=counts.mined).select_related("permit").order_by("nonce", "-is_live")[:_BATCH]
    groups: dict[int, list[OutboundTransaction]] = {}
    for row in passed:
        groups.setdefault(row.nonce, []).append(row)
    if not groups:
        return Counter()
    mined = payload_delivery.look(list(groups.values()), deadline=_deadline())
    for found in mined:
        if found is not None:
            record_receipt(*found)
    lost = [row for rows, found in zip(groups.values(), mined, strict=True) if found is None for row in rows]
    return Counter(lost=calls_with_lost_nonce.drop_lost([row for row in lost if row.purpose == PayloadPurpose.CALL]))


def _fill_freed(chain_id: int, address: str, counts: Counts, now: datetime) -> Counter[str]:
    """Nonces that another transaction had used until a reorganisation took it out: nothing of ours waits for them."""
    rows = _rows(chain_id).filter(sender=address, state=S.DROPPED, is_live=True, nonce__gte=counts.mined)
    freed = [
        row
        for row in rows.select_related("permit").order_by("nonce")[:_BATCH]
        if not any(each.state in IN_A_BLOCK for each in list_siblings(row))
    ]
    return sum((_fill(row, now) for row in freed), Counter())


def _fill_holes_of(chain_id: int, address: str, counts: Counts, now: datetime) -> Counter[str]:
    """Nonces below one in use that nobody holds, given back or never reserved: they would hold the account up."""
    gaps = note_gap(chain_id=chain_id, address=address, mined_nonce=counts.mined, pending_nonce=counts.pending)
    done = Counter(gaps_found=gaps)
    for nonce in list_holes(chain_id=chain_id, address=address, mined_nonce=counts.mined):
        market = replacement.read_fees(chain_id=chain_id, now=now)
        filled = replacement.fill_unused(chain_id=chain_id, address=address, nonce=nonce, market=market, now=now)
        done["filled"] += filled is not None
    return done


def _read_accounts(chain_id: int) -> dict[str, Counts]:
    """The agreed counts of every account with something under way, or with a nonce given back; others are left out."""
    given_back = NonceReservation.objects.filter(chain_id=chain_id, state=NonceState.ABANDONED)
    under_way = _rows(chain_id).filter(is_live=True, state__in=_UNSETTLED)
    addresses = sorted({*given_back.values_list("address", flat=True), *under_way.values_list("sender", flat=True)})
    smart = {address for address in addresses if payload_delivery.sends_operations(address)}
    plain = [address for address in addresses if address not in smart]
    told = nonce_readings.read_many(chain_id=chain_id, addresses=plain, deadline=_deadline()) if plain else []
    found = {address: counts for address, counts in zip(plain, told, strict=True) if counts is not None}
    found.update(one_by_one(sorted(smart), partial(_read_operations, chain_id), what="the account", raises=NODE_AWAY))
    return found


def _read_operations(chain_id: int, address: str) -> tuple[str, Counts]:
    return address, nonce_readings.read_counts(
        chain_id=chain_id, address=address, is_of_operations=True, deadline=_deadline()
    )


def _replace_stuck(chain_id: int, now: datetime) -> Counter[str]:
    """What was sent long ago and is the next nonce of its account is sped up; past its gas budget it is cancelled.

    So is what no node ever took and none will, and at once what was refused for its fee: under its nonce nothing else
    could be sent. A fill that its own fee holds up is filled again.
    """
    since = now - timedelta(seconds=settings.GOLEM_STUCK_AFTER_SECONDS)
    is_out = Q(state__in=[str(S.BROADCAST), str(S.UNKNOWN)], broadcast_at__lte=since)
    # A bundler that refuses an operation keeps nothing of it: the same bytes will not get in later either.
    is_refused = ~Q(entry_point="") & Q(state__in=_UNSETTLED, broadcast_count__gt=0, created_at__lte=since)
    never_taken = Q(
        entry_point="",
        broadcast_at__isnull=True,
        state__in=[str(S.SIGNED), str(S.UNKNOWN)],
        broadcast_count__gt=0,
        created_at__lte=since,
    )
    is_too_cheap = Q(
        entry_point="", broadcast_at__isnull=True, state__in=[str(S.SIGNED), str(S.UNKNOWN)], refusal=FeeTooLow.code
    )
    rows = _rows(chain_id).filter(is_out | is_refused | never_taken | is_too_cheap, is_live=True)
    # Of an account only the next nonce can be replaced: every account's lowest comes before any account's second.
    stuck = in_turns(rows.select_related("permit__golem"), "nonce", of="sender")[:_BATCH]
    return _each(stuck, partial(_replace, now=now))


def _replace(row: OutboundTransaction, now: datetime) -> Counter[str]:
    used = payload_delivery.read_used_nonce(
        chain_id=row.chain_id, address=row.sender, is_of_operations=bool(row.entry_point), deadline=_deadline()
    )
    if used != row.nonce:
        return Counter()
    market = replacement.read_fees(chain_id=row.chain_id, now=now)
    is_too_cheap = market.base_fee > int(row.max_fee_per_gas)
    if row.purpose == PayloadPurpose.FILL:
        return _fill(row, now) if is_too_cheap else Counter()
    is_new_to_nodes = not row.entry_point and row.broadcast_at is None
    if is_new_to_nodes and not is_too_cheap and not is_refused_for_good(row):
        return Counter()
    if not (is_new_to_nodes and not is_too_cheap) and _speed_up(row, market, now):
        return Counter(sped_up=1)
    if replacement.fill_instead(row=row, market=market, actor="system:reconciler", now=now) is None:
        return Counter()
    rest = OutboundTransaction.objects.filter(permit_id=row.permit_id)
    return Counter(cancelled=1 + call_sequences.use_up_rest(rest, actor="system:reconciler", now=now))


def _speed_up(row: OutboundTransaction, market: FeeQuote, now: datetime) -> bool:
    if require(row.permit).cancel_asked_at is not None:
        return False
    try:
        return replacement.speed_up(row=row, market=market, now=now) is not None
    except GolemError as error:
        if not row.entry_point:
            raise
        # What the EntryPoint or the bundler would not take at any fee is not waited for; its nonce is used up instead.
        logger.warning("operation %s is not signed again: %s", row.tx_hash, error.code)
        return False


def _rows(chain_id: int) -> QuerySet[OutboundTransaction]:
    return OutboundTransaction.objects.filter(chain_id=chain_id)


def _deadline() -> Deadline:
    return Deadline.after_ms(_NODE_BUDGET_MS)
