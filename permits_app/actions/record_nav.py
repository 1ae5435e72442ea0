"""Keep what a golem is worth now, and what made the difference since it was kept last."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.db.models import Q

from archetypes_app.models import Golem
from permits_app.models import ActionPermit, NavSnapshot, OutboundTransaction, OutcomeRecord, PendingRequest
from permits_app.models.pending_request import RequestState
from permits_app.models.permit import UNFINISHED
from permits_app.models.transaction import IN_A_BLOCK, PayloadPurpose
from permits_app.models.withdrawal import WITHDRAW
from permits_app.performance.nav_parts import NavState, OwnMoves, Parts, split_change
from permits_app.performance.slash_text import tell_slashes
from permits_app.permits.balance_deltas import ToldDelta, read_deltas
from permits_app.permits.holdings_json import tell_holdings
from permits_app.permits.plan_store import decode_principal
from permits_app.permits.read_record_archives import read_chosen_days
from tools_app.chain.chains import get_deployment
from tools_app.core.stored_json import read_stored
from tools_app.portfolio.holdings import Holdings
from tools_app.portfolio.slash_losses import list_slashes
from tools_app.toolkit.views import NATIVE, BlockRef

NAV_EVERY: Final = timedelta(minutes=10)
# Two months and a margin: the statement of the month before is whole until the next one is.
LEAST_KEPT: Final = timedelta(days=70)
_COMPARED_BEFORE: Final = 8
"""So many of the newest are looked through for what was only needed to compare with."""
_MOST_MICRO_USD: Final = 2**63 - 1
_FEES_AT_ONCE: Final = 50


def record_nav(
    *, golem: Golem, chain_id: int, block: BlockRef, holdings: Holdings, now: datetime
) -> NavSnapshot | None:
    """None where nothing is kept: ten minutes are not over, nothing came of an action since and nothing was slashed, an
    outcome is not seen yet, or what is held cannot be valued so that it may be held against an earlier value. Of two at
    once one is held against the other, so that no part counts twice.

    Soon after each outcome one is kept, so that what was bought counts at about the price it was bought at; and at once
    where something was slashed. Whoever keeps one tells of its slashes. Locks the golem's row.
    """
    value, debt = holdings.nav_micro_usd, holdings.debt_micro_usd
    if not holdings.is_steady or abs(value) > _MOST_MICRO_USD or debt > _MOST_MICRO_USD:
        return None
    last, state = _find_last(golem, chain_id), NavState.of(holdings)
    if last is not None and block.number <= last.block_number:
        return None
    if last is not None and now - last.at < NAV_EVERY and not _has_news(golem, last, state):
        return None
    if ActionPermit.objects.filter(golem=golem, status__in=[str(each) for each in UNFINISHED]).exists():
        return None
    with transaction.atomic():
        Golem.objects.select_for_update(no_key=True).filter(pk=golem.pk).values_list("pk", flat=True).first()
        newest = _find_last(golem, chain_id)
        if (newest.pk if newest is not None else None) != (last.pk if last is not None else None):
            # Somebody kept one meanwhile: what it counted is not counted again.
            return None
        return _keep(golem=golem, chain_id=chain_id, block=block, holdings=holdings, state=state, last=last, now=now)


def _keep(
    *,
    golem: Golem,
    chain_id: int,
    block: BlockRef,
    holdings: Holdings,
    state: NavState,
    last: NavSnapshot | None,
    now: datetime,
) -> NavSnapshot:
    value, debt = holdings.nav_micro_usd, holdings.debt_micro_usd
    parts, slashes = Parts(), []
    if last is not None:
        before = NavState.from_json(last.state)
        own = read_own_moves(
            golem_id=golem.pk, chain_id=chain_id, after=last.block_number, until=block.number, ended=(last.at, now)
        )
        parts = split_change(
            before=before,
            after=state,
            change=value - last.value_micro_usd,
            own=own,
            coin=NATIVE,
        )
        if before.slashable:
            tokens = {token.address: token for token in get_deployment(chain_id).tokens}
            slashes = [each.as_json() for each in tell_slashes(before, state, tokens=tokens)]
        # The newest are compared with; who tells of older ones needs no more than their values.
        earlier = NavSnapshot.objects.filter(golem=golem, chain_id=chain_id, block_number__lt=last.block_number)
        older = list(earlier.order_by("-block_number").values_list("pk", flat=True)[:_COMPARED_BEFORE])
        NavSnapshot.objects.filter(pk__in=older).exclude(state={}).update(state={}, holdings={})
    kept = values_kept(read_chosen_days(golem.owner_id))
    NavSnapshot.objects.filter(golem=golem, at__lt=now - kept).delete()
    row = NavSnapshot(
        golem=golem,
        at=now,
        chain_id=chain_id,
        block_number=block.number,
        value_micro_usd=value,
        debt_micro_usd=debt,
        parts=parts.as_json() if last is not None else {},
        state=state.as_json(),
        holdings=tell_holdings(holdings, now=now),
        slashes=slashes,
    )
    row.save(force_insert=True)
    return row


def values_kept(chosen: int | None) -> timedelta:
    """How long values of an owner's golems are kept: as many days as they chose for their records, else as the operator
    says; never shorter than a month's statement needs.
    """
    return max(LEAST_KEPT, timedelta(days=settings.GOLEM_VALUES_KEPT_DAYS if chosen is None else chosen))


def _find_last(golem: Golem, chain_id: int) -> NavSnapshot | None:
    # By block: times of a clock that was ahead and set back do not tell the order.
    return NavSnapshot.objects.filter(golem=golem, chain_id=chain_id).order_by("-block_number").first()


def _has_news(golem: Golem, last: NavSnapshot, state: NavState) -> bool:
    """Whether something came of an action since, or was slashed: what is kept then does not wait for its time."""
    if _acted_since(golem, last.chain_id, last.at):
        return True
    return bool(last.state.get("slashable")) and bool(
        list_slashes(NavState.from_json(last.state).slashable, state.slashable)
    )


def _acted_since(golem: Golem, chain_id: int, at: datetime) -> bool:
    return OutcomeRecord.live.filter(permit__golem=golem, permit__chain_id=chain_id, created_at__gt=at).exists()


def read_own_moves(
    *, golem_id: UUID, chain_id: int, after: int, until: int, ended: tuple[datetime, datetime] | None = None
) -> OwnMoves:
    """What the golem's own actions in the blocks beyond `after` up to `until` did to its wallet, as judged; with what
    it sent itself from another chain and was seen to be done within `ended`.
    """
    mined = Q(
        permit__transactions__purpose=PayloadPurpose.CALL,
        permit__transactions__block_number__gt=after,
        permit__transactions__block_number__lte=until,
    )
    rows = OutcomeRecord.live.filter(mined, permit__golem=golem_id, permit__chain_id=chain_id).select_related("permit")
    deltas: dict[str, int] = {}
    slippage = 0
    # What its owners took out is no act of the golem: it is told as moved, like what they pay in.
    for outcome in {row.pk: row for row in rows.exclude(permit__tool_name=WITHDRAW)}.values():
        # What a principal gave by the golem's own action was paid in all the same.
        given = {decode_principal(flow).token.address for flow in outcome.permit.bounds.get("principals", ())}
        for each in read_deltas(outcome.actual):
            if each.token in given and each.raw > 0:
                continue
            deltas[each.token] = deltas.get(each.token, 0) + each.raw
        slippage += int(outcome.pnl_parts.get("slippage", 0))
    if ended is not None:
        done = PendingRequest.objects.filter(golem=golem_id, expects_chain_id=chain_id, state=RequestState.DONE)
        over = done.exclude(chain_id=chain_id).filter(checked_at__gt=ended[0], checked_at__lte=ended[1])
        for amounts in over.values_list("amounts", flat=True):
            for arrived in (read_stored(ToldDelta, each) for each in amounts):
                deltas[arrived.token] = deltas.get(arrived.token, 0) + arrived.raw
    fee_wei = _read_fees(golem_id=golem_id, chain_id=chain_id, after=after, until=until)
    return OwnMoves(deltas, fee_wei, slippage)


def _read_fees(*, golem_id: UUID, chain_id: int, after: int, until: int) -> int:
    """Wei that the golem's account paid for its own transactions, those that only used a nonce up among them.

    What acts for an account pays by itself, with somebody else's coin.
    """
    mined = OutboundTransaction.objects.filter(chain_id=chain_id, state__in=IN_A_BLOCK)
    own = mined.filter(sender=Golem.objects.filter(pk=golem_id).values("address")[:1]).order_by("-nonce")
    paid, start, is_more = 0, 0, True
    # From the newest backwards, and no further: an account's nonces and blocks rise together.
    while is_more:
        rows = list(own.values_list("block_number", "fee_wei")[start : start + _FEES_AT_ONCE])
        paid += sum(int(fee or 0) for number, fee in rows if after < (number or 0) <= until)
        is_more = len(rows) == _FEES_AT_ONCE and (rows[-1][0] or 0) > after
        start += _FEES_AT_ONCE
    return paid
