"""Lets tools find what a golem signed for others; none of them sees a signature."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Protocol
from uuid import UUID

from tools_app.toolkit.typed_data import TypedData


@dataclass(frozen=True, slots=True)
class SignedOrder:
    """One signed promise: what was signed, its state as it was followed, the block its end is looked for from on.

    `handed_in_at` is when its desk took it, and `hand_in_error` what that said where it did not.
    """

    typed: TypedData
    state: str
    since_block: int | None
    signed_at: datetime
    handed_in_at: datetime | None
    hand_in_error: str


class SignedOrders(Protocol):
    """Finds what a golem signed."""

    def __call__(self, *, golem_id: UUID, chain_id: int, name: str) -> SignedOrder | None:
        """By its EIP-712 digest or the hash its protocol knows it by; of this golem alone."""
