"""Names where signed orders are handed in, for those who fill and co-sign them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class OrderDesk:
    """A door that takes signed orders of one protocol on one chain: its URL, and the address that co-signs there.

    `cosigner` is empty where nobody co-signs. A desk can improve what an order brings and nothing else: the worst of it
    is signed.
    """

    url: str
    cosigner: str = ""


@dataclass(frozen=True, slots=True)
class OrderDesks:
    """The desks that the operator set, by protocol and chain."""

    by_place: Mapping[tuple[str, int], OrderDesk]
    allows_private: bool = False

    def find(self, protocol: str, chain_id: int) -> OrderDesk | None:
        """The desk of a protocol on a chain, or None: then whoever asked for the signature hands it in."""
        return self.by_place.get((protocol, chain_id))


@dataclass(frozen=True, slots=True)
class HandIn:
    """What is posted to a desk, JSON-ready."""

    body: Mapping[str, Any]  # Any: JSON, of the protocol's own shape
