"""What the writes of liquid restaking begin with: one issuer as it stands, what the account has there, and what amounts
keep to.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from tools_app.core.clock import tell_unix_time
from tools_app.core.units import format_units
from tools_app.protocols.liquid_restaking.addresses import (
    KELP,
    LABELS,
    NAME,
    SYMBOLS,
    RestakingContracts,
    deployment_on,
)
from tools_app.protocols.liquid_restaking.errors import (
    NothingPaidAtOnce,
    RestakingAmountRefused,
    RestakingRequestUnknown,
    RestakingRequestWaits,
)
from tools_app.protocols.liquid_restaking.issuer_reads import ask_holdings, ask_standings, holding_of
from tools_app.protocols.liquid_restaking.issuers import Holding, Request, Standing
from tools_app.protocols.liquid_restaking.reports import rate_text
from tools_app.standards.market_orders import quote_swap
from tools_app.toolkit.context import ChainReader, WriteContext
from tools_app.toolkit.lending import MarketClosed
from tools_app.toolkit.positions import WHEN_REPAID, drive

SMALL_FEE_BPS: Final = 50
"""A redemption at once for so much is taken where nobody says which way out; a dearer one waits in the queue."""


@dataclass(frozen=True, slots=True)
class Desk:
    """One issuer, and what the golem has there. `at` are the contracts of the chain."""

    ctx: WriteContext
    reader: ChainReader
    at: RestakingContracts
    issuer: str
    holding: Holding

    @property
    def standing(self) -> Standing:
        """How the issuer stands."""
        return self.holding.standing

    @property
    def token(self) -> str:
        """The address of its token."""
        return self.at.tokens[self.issuer]

    def check_deposit(self, amount: int) -> None:
        """Raises RestakingAmountRefused for wei that it does not take."""
        standing, label = self.standing, LABELS[self.issuer]
        if amount < standing.least_in or not standing.tokens_for(amount):
            least = max(standing.least_in, 1)
            raise RestakingAmountRefused(
                f"{label} takes {format_units(least, 18, 'ETH')} at the least",
                least=str(least),
                fill={"amount": {"least": str(least), "unit": "wei"}},
            )
        if standing.room is not None and amount > standing.room:
            raise RestakingAmountRefused(
                f"{label} takes {format_units(standing.room, 18, 'ETH')} more under its limit", most=str(standing.room)
            )

    def check_leaving(self, tokens: int) -> None:
        """Raises MarketClosed while withdrawals are paused, RestakingAmountRefused for fewer tokens than it takes."""
        least, label = self.standing.least_in_tokens, LABELS[self.issuer]
        if self.standing.is_out_paused:
            raise MarketClosed(
                f"{label} has paused withdrawals: ask again once they go on, or sell on a market", reason="paused"
            )
        if tokens < least:
            raise RestakingAmountRefused(
                f"{label} takes {format_units(least, 18, SYMBOLS[self.issuer])} back at the least",
                least=str(least),
                fill={"amount": {"least": str(least), "unit": f"base units of {SYMBOLS[self.issuer]}"}},
            )

    def pays_at_once(self, tokens: int, mode: str) -> bool:
        """Whether it redeems them now. Raises NothingPaidAtOnce where that was asked for and is not so."""
        standing = self.standing
        # ether.fi redeems weETH: what lies loose as eETH is asked back.
        can = standing.worth(tokens) <= standing.at_once and tokens <= self.holding.tokens - self.holding.loose
        if mode == "instant" and not can:
            raise self._refuse_at_once(tokens)
        return mode == "instant" or (mode == "auto" and can and standing.fee_bps <= SMALL_FEE_BPS)

    def _refuse_at_once(self, tokens: int) -> NothingPaidAtOnce:
        """With what a market would pay in its place."""
        wrapped, at_once = self.reader.native(), self.standing.at_once
        sold = quote_swap(
            self.ctx, chain_id=self.reader.chain_id, sold=self.token, bought=wrapped.address, amount=tokens
        )
        says = "no market here trades it" if sold is None else f"a market would pay {format_units(sold, 18, 'ETH')} now"
        return NothingPaidAtOnce(
            f"{LABELS[self.issuer]} pays {format_units(at_once, 18, 'ETH')} at once; {says}: swap sells it, and"
            " mode queue waits for all of it",
            at_once=str(at_once),
            market_eth=None if sold is None else str(sold),
            fill={"mode": {"one_of": ["queue"]}},
        )


def open_desk(ctx: WriteContext, issuer: str) -> Desk:
    """The issuer on the call's chain. Raises ChainNotSupported, PositionsUnreadable."""
    reader = ctx.begin("Reading the issuer")
    at = deployment_on(reader)
    standing = drive(ask_standings(at, (issuer,)), reader.call_many)[issuer]
    held = holding_of(drive(ask_holdings(at, ctx.account, ()), reader.call_many), issuer, standing)
    return Desk(ctx, reader, at, issuer, held)


def describe(issuer: str, at: RestakingContracts, standing: Standing, amount: int) -> dict[str, object]:
    """What every plan tells: the issuer, its token and rate, and wei of ether that are about."""
    return {
        "venue": NAME,
        "protocol": issuer,
        "token": at.tokens[issuer],
        "symbol": SYMBOLS[issuer],
        "exchange_rate": rate_text(standing.rate),
        "amount": str(amount),
        "amount_units": format_units(amount, 18, "ETH"),
    }


def check_claimable(request: Request, standing: Standing, holdings: Sequence[Holding]) -> None:
    """Raises MarketClosed, RestakingRequestWaits or RestakingRequestUnknown for one that nobody can claim now."""
    label = LABELS[request.issuer]
    if standing.is_claim_paused:
        raise MarketClosed(f"{label} has paused claims: ask again once they go on", reason="paused")
    if not request.is_valid:
        raise RestakingRequestWaits(
            f"{label} has struck request {request.number}; only its admins can let it out", resets_at=None
        )
    if request.free_at is not None:
        raise RestakingRequestWaits(
            f"request {request.id} is not paid yet", request_id=request.id, resets_at=tell_claimable(request)
        )
    if request.issuer == KELP and request.place:
        oldest = next(one for each in holdings for one in each.requests if one.issuer == KELP and not one.place)
        raise RestakingRequestUnknown(f"Kelp pays the oldest request first: claim {oldest.id}", request_ids=[oldest.id])


def tell_claimable(request: Request) -> str | None:
    """From when it can be claimed; None where it can be now, or nobody knows."""
    return None if request.free_at in (None, WHEN_REPAID) else tell_unix_time(int(request.free_at or 0))
