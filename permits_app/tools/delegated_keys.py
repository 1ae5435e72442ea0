"""Session keys by delegation: the golem's key as one that an owner's own wallet lets draw, within signed caveats, and
keys that the golem handed a part of that on to.

Enforcers on the chain hold whoever has the key to the caveats; this server counts beside them. The wallet that gave a
delegation takes it back on the chain, and nobody else can.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from django.db.models import Exists, OuterRef, QuerySet

from permits_app.limits.received_rights import list_standing, view_right
from permits_app.limits.signed_promises import find_since, list_open, read_typed
from permits_app.models import ReceivedRight, RightUse, SignedPromise
from permits_app.models.permit import PermitStatus
from permits_app.permits.plan_store import decode_plan
from permits_app.tools.wallet_delegation import MOST_TOLD, ask_standing
from tools_app.core.errors import GolemError
from tools_app.core.units import format_units
from tools_app.standards.signed_order_tracking import read_fate
from tools_app.toolkit.context import ReadContext
from tools_app.toolkit.others_money import EndsByPrincipal, RightKind
from tools_app.toolkit.positions import PositionsUnreadable
from tools_app.toolkit.promises import Fate
from tools_app.toolkit.protocol import SHELF
from tools_app.toolkit.result import TokenAmount
from tools_app.wording.formats import format_seconds

_MOST_COUNTED: Final = 1_000


@dataclass(frozen=True, slots=True)
class DelegatedKey:
    """One delegation to the golem's key, as its contracts tell it now. `used` is counted up to 1,000."""

    row: ReceivedRight
    permission: str
    left: TokenAmount | None
    used: int
    last_used: datetime | None
    is_active: bool
    reason: str


@dataclass(frozen=True, slots=True)
class HandedOnKey:
    """Somebody's key that the golem let draw on a principal's money by what it signed, as its contract tells it now."""

    row: SignedPromise
    principal: str
    permission: str
    is_active: bool
    reason: str


def list_handed_on(ctx: ReadContext) -> tuple[HandedOnKey, ...]:
    """What the golem signed of rights that it received and somebody may still use; twenty at most."""
    rows = _find_handed_on(ctx).select_related("permit")[:MOST_TOLD]
    return tuple(_describe_handed_on(ctx, row) for row in rows)


def find_handed_on(ctx: ReadContext, reference: str) -> SignedPromise | None:
    """The one of that hash that is open; None where there is none."""
    return _find_handed_on(ctx).filter(reference=reference.lower()).first()


def say_own_step(row: SignedPromise) -> str:
    """How the golem itself takes it back."""
    protocol = SHELF.get(row.protocol)
    if protocol is None or protocol.promises is None:
        return "At the contract where it is redeemed."
    act = protocol.promises.cancel(read_typed(row))
    return f"{act.tool.partition('_')[2]} at {protocol.name} takes it back, with {dict(act.params)}"


def list_delegated(ctx: ReadContext) -> tuple[DelegatedKey, ...]:
    """Those that stand in the golem's book, the one that ends first before the others; twenty at most."""
    return tuple(_describe(ctx, row) for row in _find(ctx)[:MOST_TOLD])


def find_delegated(ctx: ReadContext, reference: str) -> ReceivedRight | None:
    """The one of that hash, None where the book has none that stands."""
    return _find(ctx).filter(reference=reference.lower()).first()


def say_owner_step(row: ReceivedRight) -> str:
    """How its giver takes it back on the chain."""
    protocol = SHELF.get(row.protocol)
    ends = protocol.received if protocol is not None else None
    how = ends.say_end(view_right(row)) if isinstance(ends, EndsByPrincipal) else "At the contract where it was given."
    return f"{row.principal} alone can take it back on the chain. {how}"


def _find(ctx: ReadContext) -> QuerySet[ReceivedRight]:
    return list_standing(ctx.golem.id).filter(kind=RightKind.DELEGATION)


def _find_handed_on(ctx: ReadContext) -> QuerySet[SignedPromise]:
    used = RightUse.objects.filter(permit=OuterRef("permit_id"))
    return list_open(ctx.golem.id).filter(Exists(used))


def _describe_handed_on(ctx: ReadContext, row: SignedPromise) -> HandedOnKey:
    plan = decode_plan(row.permit)
    flow, takers = plan.principals[0], ", ".join(plan.recipients)
    most = format_units(flow.most, flow.token.decimals, flow.token.symbol)
    words = f"{takers} takes at most {most} of {flow.principal} in all"
    protocol, why = SHELF.get(row.protocol), "it may act"
    try:
        reader = ctx.chain(row.chain_id)
        promises = protocol.promises if protocol is not None else None
        fate = read_fate(reader, read_typed(row), promises, since=find_since(row)) if promises is not None else None
        if fate in (Fate.FILLED, Fate.CANCELLED):
            why = "it was used up" if fate is Fate.FILLED else "it was taken back"
        elif reader.block.timestamp >= row.ends_at.timestamp():
            why = "its time is over"
    except (GolemError, PositionsUnreadable) as error:
        why = f"its contracts cannot be asked now: {error}"
    return HandedOnKey(row, flow.principal, words, why == "it may act", why)


def _describe(ctx: ReadContext, row: ReceivedRight) -> DelegatedKey:
    uses = RightUse.objects.filter(right=row, permit__status=PermitStatus.COMMITTED)
    last = uses.order_by("-permit__finished_at").values_list("permit__finished_at", flat=True).first()
    used, every = uses[:_MOST_COUNTED].count(), format_seconds(int(row.period_seconds))
    when = f"in each {every}" if row.period_seconds else "in all"
    try:
        reader = ctx.chain(row.chain_id)
        token, standing = reader.token(row.token), ask_standing(row, reader, ctx.golem.address or "")
    except GolemError as error:
        words = f"at most {int(row.most)} base units of {row.token} of {row.principal} {when}"
        return DelegatedKey(row, words, None, used, last, False, f"its contracts cannot be asked now: {error.code}")
    most = format_units(int(row.most), token.decimals, token.symbol)
    return DelegatedKey(
        row=row,
        permission=f"at most {most} of {row.principal} {when}",
        left=TokenAmount(standing.available, token),
        used=used,
        last_used=last,
        is_active=standing.stands and not standing.reason,
        reason=standing.reason or "it may act",
    )
