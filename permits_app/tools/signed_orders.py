"""Finds what a golem signed for the tools that tell what became of it."""

from __future__ import annotations

from uuid import UUID

from django.db.models import Q

from permits_app.limits.signed_promises import find_since, read_typed
from permits_app.models import SignedPromise
from tools_app.toolkit.signed_orders import SignedOrder


def find_signed_order(*, golem_id: UUID, chain_id: int, name: str) -> SignedOrder | None:
    """By digest or reference, of this golem alone."""
    named = Q(digest=name.lower()) | Q(reference=name.lower())
    row = SignedPromise.objects.filter(named, golem_id=golem_id, chain_id=chain_id).order_by("-created_at").first()
    if row is None:
        return None
    return SignedOrder(
        typed=read_typed(row),
        state=row.state,
        since_block=find_since(row),
        signed_at=row.created_at,
        handed_in_at=row.handed_in_at,
        hand_in_error=row.hand_in_error,
    )
