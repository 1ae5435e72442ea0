"""What one golem sends another of the same owners: under a permit of its own, by its own limits and its own key."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Protocol
from uuid import UUID


@dataclass(frozen=True, slots=True)
class Handover:
    """So much of a token, base units, from the account of one golem to the account of another on one chain."""

    giver: UUID
    asker: UUID
    chain_id: int
    token: str
    amount: int
    recipient: str


@dataclass(frozen=True, slots=True)
class HandedOver:
    """The giver's permit and how far it is. `tx_hash` is empty while nothing of it was sent."""

    permit_id: str
    status: str
    tx_hash: str


class GolemTransfers(Protocol):
    """The service by which a golem sends to another one what both their owners agreed to."""

    def send(self, handover: Handover, *, why: str, now: datetime) -> HandedOver:
        """Have the giver send it. Raises whatever refuses a transfer of the giver's own."""
