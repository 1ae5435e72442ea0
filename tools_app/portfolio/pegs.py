"""Finds tokens that left their peg to the dollar or ether, by feeds, else by the deepest pool.

A token that left its peg is told and not entered; nobody is kept from leaving it. What has no price is in no answer.

See docs/decisions/0512-pegs-a-token-off-its-peg-is-told.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from tools_app.chain.deployments import load_deployment
from tools_app.chain.networks import KNOWN_NETWORKS
from tools_app.chain.public_pegs import PUBLIC_PEGS, PegUnit
from tools_app.core.errors import GolemError
from tools_app.core.ratio import Ratio
from tools_app.core.units import BPS, MICRO_USD_PER_USD
from tools_app.portfolio.holdings import Worth
from tools_app.portfolio.market_prices import TokenPricer
from tools_app.portfolio.markets import list_markets, markets_on
from tools_app.toolkit.context import ChainReader
from tools_app.toolkit.views import NATIVE, FeedPrice

MOST_DECLARED: Final = 16
"""So many tokens an owner may declare for a golem: each may cost a look at pools in every tick."""
_ETHER: Final = "ETH"
_IN_WORDS: Final = {PegUnit.DOLLAR: "dollar", PegUnit.ETHER: "ether"}


@dataclass(frozen=True, slots=True)
class Peg:
    """One token that is said to stand for one of something, by whom, and how far from it it may be."""

    chain_id: int
    token: str
    symbol: str
    stands_for: PegUnit
    most_apart_bps: int
    source: str

    @property
    def name(self) -> str:
        """For people."""
        return self.symbol or self.token


@dataclass(frozen=True, slots=True)
class OffPeg:
    """A token that left its peg: what one is worth in ten-thousandths of what it stands for, rounded down."""

    peg: Peg
    stands_at_bps: int

    @property
    def words(self) -> str:
        """The figures in one sentence."""
        unit, away = _IN_WORDS[self.peg.stands_for], self.stands_at_bps - BPS
        side = "above" if away > 0 else "below"
        return (
            f"{self.peg.name} is worth {_show(self.stands_at_bps, 10_000)} of the {unit} it stands for,"
            f" {_show(abs(away), 100)}% {side} it; {_show(self.peg.most_apart_bps, 100)}% is allowed"
        )


PriceOf = Callable[[str], Ratio | None]
"""Dollars per whole token of an address; None where nothing tells."""
ReadDeclared = Callable[[UUID], Iterable[Peg]]
"""What the owners of a golem declare."""


@dataclass(slots=True)
class _Declared:
    read: ReadDeclared = lambda golem_id: ()


_declared = _Declared()


def configure(read: ReadDeclared) -> None:
    """Who knows what owners declare; handed down when the process starts."""
    _declared.read = read


def list_pegs(chain_id: int, golem_id: UUID | None = None) -> Mapping[str, Peg]:
    """By token address: those that everybody knows, and those that the golem's owners declare."""
    return join_pegs(chain_id, _declared.read(golem_id) if golem_id is not None else ())


def join_pegs(chain_id: int, declared: Iterable[Peg]) -> Mapping[str, Peg]:
    """Those that everybody knows on a chain with what is declared. Of two, what may be less far apart: an owner's word
    takes no care away.
    """
    found = _list_public(chain_id)
    for peg in declared:
        known = found.get(peg.token)
        if peg.chain_id == chain_id and (known is None or peg.most_apart_bps < known.most_apart_bps):
            found[peg.token] = peg
    return found


def _list_public(chain_id: int) -> dict[str, Peg]:
    network = KNOWN_NETWORKS.get(chain_id)
    tokens = load_deployment(network).tokens if network is not None else ()
    return {
        token.address: Peg(chain_id, token.address, token.symbol, known.stands_for, known.most_apart_bps, known.source)
        for token in tokens
        if (known := PUBLIC_PEGS.get(token.symbol)) is not None
    }


def find_off_peg(pegs: Iterable[Peg], price_of: PriceOf) -> tuple[OffPeg, ...]:
    """Those of one chain that left their peg, in the order of their names. Raises what `price_of` raises."""
    found = (off for peg in pegs if (off := _measure(peg, price_of)) is not None)
    return tuple(sorted(found, key=lambda off: (off.peg.name, off.peg.token)))


def _measure(peg: Peg, price_of: PriceOf) -> OffPeg | None:
    price = price_of(peg.token)
    unit = Ratio(1, 1) if peg.stands_for is PegUnit.DOLLAR else price_of(NATIVE)
    if price is None or unit is None or not unit.numerator:
        return None
    have, want = price.numerator * unit.denominator, unit.numerator * price.denominator
    if abs(have - want) * BPS <= peg.most_apart_bps * want:
        return None
    return OffPeg(peg, have * BPS // want)


def by_reader(reader: ChainReader, *, with_pools: Iterable[str] = ()) -> PriceOf:
    """Prices of the feeds at a reader's block; those of the deepest pool for addresses in `with_pools` without a feed.
    An ether has a price where it is the chain's coin. Never raises GolemError.
    """
    pools = frozenset(with_pools)

    def price_of(address: str) -> Ratio | None:
        if address == NATIVE and reader.native().symbol != _ETHER:
            return None
        try:
            token = reader.native() if address == NATIVE else reader.token(address)
            try:
                return of_feed(reader.price(token))
            except GolemError:
                if address not in pools or not list_markets(reader.chain_id):
                    return None
            found = TokenPricer(reader, markets_on(reader.chain_id)).price(address)
        except GolemError:
            return None
        if found is None:
            return None
        return Ratio(found.numerator * 10**token.decimals, found.denominator * MICRO_USD_PER_USD)

    return price_of


def by_parts(parts: Iterable[Worth], chain_id: int) -> PriceOf:
    """Prices at which holdings of one chain were weighed; nothing else is asked."""
    known = {part.token.address: part for part in parts if part.token.chain_id == chain_id and part.price is not None}

    def price_of(address: str) -> Ratio | None:
        part = known.get(address)
        if part is None or part.price is None or (address == NATIVE and part.token.symbol != _ETHER):
            return None
        return of_feed(part.price)

    return price_of


def of_feed(price: FeedPrice) -> Ratio:
    """Dollars per whole token."""
    return Ratio(price.answer, 10**price.decimals)


def _show(value: int, unit: int) -> str:
    whole, rest = divmod(value, unit)
    return f"{whole}.{rest:0{len(str(unit)) - 1}d}"
