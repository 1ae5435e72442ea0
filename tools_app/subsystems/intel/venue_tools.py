"""`intel_compare_venues`: what every venue of a chain would give for one amount, after its gas."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from tools_app.core.errors import GolemError
from tools_app.core.units import BPS
from tools_app.portfolio.market_prices import TokenPricer
from tools_app.portfolio.markets import markets_on
from tools_app.subsystems.intel.family import intel
from tools_app.subsystems.intel.pool_snapshot import price_gas
from tools_app.toolkit.context import ChainReader, ReadContext
from tools_app.toolkit.markets import PoolNotFound
from tools_app.toolkit.params import ChainId, RawAmount, Token
from tools_app.toolkit.protocol import SHELF
from tools_app.toolkit.result import TokenAmount, UsdAmount
from tools_app.toolkit.venues import VenueQuote
from tools_app.toolkit.views import TokenMeta

_READING: Final = "Asking venues"


@dataclass(frozen=True, slots=True)
class VenueRow:
    """One venue's best way. `net_output_usd` is what arrives less the gas, below zero where the gas is more; null where
    the token or the chain's coin has no price. `tool` trades there, null where no tool does.
    """

    venue: str
    route: str
    output_amount: TokenAmount
    price_impact_bps: int
    gas_estimate: int
    gas_estimate_usd: UsdAmount | None
    net_output_usd: UsdAmount | None
    behind_best_bps: int
    latency_ms: int
    source: str
    tool: str | None
    is_simulated: bool


@dataclass(frozen=True, slots=True)
class SilentVenue:
    """A protocol that gave no quote, and why."""

    protocol: str
    code: str
    reason: str


@dataclass(frozen=True, slots=True)
class VenueComparison:
    """Venues from the best on. `ranked_by` says by what. `recommended` is the best one at which a tool trades;
    `better_without_tool` one above it at which none does. `savings_vs_worst_usd` is the best beside the last.
    """

    chain_id: int
    block_number: int
    token_in: TokenMeta
    token_out: TokenMeta
    amount_in: TokenAmount
    venues: tuple[VenueRow, ...]
    recommended: str | None
    better_without_tool: str | None
    savings_vs_worst_usd: UsdAmount | None
    ranked_by: str
    without_quote: tuple[SilentVenue, ...]


@dataclass(frozen=True, slots=True)
class _VenueQuote:
    """A quote with the protocol it is of and how long that took to answer."""

    protocol: str
    latency_ms: int
    quote: VenueQuote
    output_usd: int | None
    gas_usd: int | None

    @property
    def net_usd(self) -> int | None:
        return None if self.output_usd is None or self.gas_usd is None else self.output_usd - self.gas_usd


@intel.read(
    snippet=(
        "compare_venues: what each venue of a chain, such as V2 pools, V3 pools and stable pools, gives for one exact"
        " amount, with impact, gas and what is left after it."
    ),
    guidelines=("A venue whose tool is null is told for comparison: nothing of this server trades there.",),
)
def intel_compare_venues(
    ctx: ReadContext, token_in: Token, token_out: Token, amount: RawAmount, chain_id: ChainId | None = None
) -> VenueComparison:
    """Compare what the venues of a chain would give for an exact amount, at one block and after gas.

    Use before a larger swap. Each venue is asked for its best way and says where its figure comes from.
    Does not trade, does not split an amount over venues, and does not count the gas of an approval.
    """
    reader = ctx.chain(chain_id)
    sold, bought = reader.token(token_in), reader.token(token_out)
    ctx.step(_READING)
    found, silent = _ask(ctx, reader, sold, bought, amount)
    if not found:
        raise PoolNotFound(
            f"no venue on chain {reader.chain_id} gives {bought.symbol} for this much {sold.symbol}",
            token_in=sold.address,
            token_out=bought.address,
            reasons=[f"{each.protocol}: {each.reason}" for each in silent],
        )
    is_priced = all(each.net_usd is not None for each in found)
    found.sort(key=lambda each: (-(each.net_usd or 0) if is_priced else 0, -each.quote.amount_out, each.quote.venue))
    best, last = found[0], found[-1]
    taken = next((each for each in found if each.quote.tool is not None), None)
    saved = best.net_usd - last.net_usd if best.net_usd is not None and last.net_usd is not None else None
    return VenueComparison(
        chain_id=reader.chain_id,
        block_number=reader.block.number,
        token_in=sold,
        token_out=bought,
        amount_in=TokenAmount(amount, sold),
        venues=tuple(_tell(reader, bought, each, best.quote) for each in found),
        recommended=taken.quote.venue if taken is not None else None,
        better_without_tool=best.quote.venue if best.quote.tool is None else None,
        savings_vs_worst_usd=UsdAmount(saved) if saved is not None else None,
        ranked_by="what is left after gas, in US dollars" if is_priced else "what arrives; gas has no price beside it",
        without_quote=tuple(silent),
    )


def _ask(
    ctx: ReadContext, reader: ChainReader, sold: TokenMeta, bought: TokenMeta, amount: int
) -> tuple[list[_VenueQuote], list[SilentVenue]]:
    """Every protocol with venues, each at the reader's block; one that fails is named and the others stand."""
    markets = markets_on(reader.chain_id)
    price = TokenPricer(reader, markets).price(markets.asset(bought))
    found: list[_VenueQuote] = []
    silent: list[SilentVenue] = []
    for protocol in SHELF.on(reader.chain_id):
        if protocol.venues is None:
            continue
        begun = time.monotonic()
        try:
            quotes: Sequence[VenueQuote] = protocol.venues.quote(
                ctx, reader, token_in=sold, token_out=bought, amount=amount
            )
        except GolemError as error:
            silent.append(SilentVenue(protocol.name, error.code, error.detail))
            continue
        latency = round((time.monotonic() - begun) * 1_000)
        if not quotes:
            silent.append(SilentVenue(protocol.name, "NO_ROUTE", "it does not trade this amount of these tokens"))
        for quote in quotes:
            worth = price.of(quote.amount_out) if price is not None else None
            found.append(_VenueQuote(protocol.name, latency, quote, worth, price_gas(reader, quote.gas)))
    return found, silent


def _tell(reader: ChainReader, bought: TokenMeta, asked: _VenueQuote, best: VenueQuote) -> VenueRow:
    quote, net, gas = asked.quote, asked.net_usd, asked.gas_usd
    return VenueRow(
        venue=quote.venue,
        route=quote.route,
        output_amount=TokenAmount(quote.amount_out, bought),
        price_impact_bps=quote.price_impact_bps,
        gas_estimate=quote.gas,
        gas_estimate_usd=UsdAmount(gas) if gas is not None else None,
        net_output_usd=UsdAmount(net) if net is not None else None,
        behind_best_bps=max(0, (best.amount_out - quote.amount_out) * BPS // best.amount_out),
        latency_ms=asked.latency_ms,
        source=quote.source,
        tool=quote.tool,
        is_simulated=SHELF.is_simulated(asked.protocol, reader.chain_id),
    )
