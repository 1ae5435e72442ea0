"""Session keys by delegation: the golem's key as one that an owner's own wallet lets draw, within signed caveats.

Enforcers on the chain hold whoever has the key to the caveats; this server counts beside them. The wallet that gave a
delegation takes it back on the chain, and nobody else can.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from django.db.models import QuerySet

from permits_app.limits.received_rights import list_standing, view_right
from permits_app.models import ReceivedRight, RightUse
from permits_app.models.permit import PermitStatus
from permits_app.tools.wallet_delegation import MOST_TOLD, ask_standing
from tools_app.core.errors import GolemError
from tools_app.core.units import format_units
from tools_app.toolkit.context import ReadContext
from tools_app.toolkit.principals import EndsByPrincipal, RightKind
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
        is_active=standing.stands,
        reason="it may act" if standing.stands else standing.reason,
    )
