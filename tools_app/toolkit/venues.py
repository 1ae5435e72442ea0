"""Venues: where a protocol exchanges one token for another, and what each would give at one block."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from tools_app.toolkit.context import ChainReader, ReadContext
from tools_app.toolkit.views import TokenMeta


@dataclass(frozen=True, slots=True)
class VenueQuote:
    """What one venue gives for an amount. `price_impact_bps` is how much worse that is than a small trade there, fee
    apart; `gas` an estimate of the one transaction, without approvals; `tool` trades there, None where no tool does.
    """

    venue: str
    route: str
    amount_out: int
    price_impact_bps: int
    gas: int
    source: str
    tool: str | None


class Venues(Protocol):
    """The venues of one protocol. The reader's chain is asked, on which the protocol must be."""

    def quote(
        self, ctx: ReadContext, reader: ChainReader, *, token_in: TokenMeta, token_out: TokenMeta, amount: int
    ) -> Sequence[VenueQuote]:
        """The best way of each venue that the golem may use, for an exact amount; empty where none trades these tokens.

        Raises GolemError.
        """
