"""`intel_compare_yields`: where a token would earn most over some days, net of gas, with lock-up and class of risk."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from tools_app.core.errors import GolemError
from tools_app.portfolio.holdings import PriceBook
from tools_app.subsystems.intel.family import intel
from tools_app.subsystems.intel.gas_advice import TYPICAL_GAS
from tools_app.toolkit.context import ChainReader, ReadContext
from tools_app.toolkit.enums import TickBudget
from tools_app.toolkit.lending import LEAST_FREE_BPS, PPM, LendingMarket
from tools_app.toolkit.params import ChainId, Days, RawAmount, Token
from tools_app.toolkit.positions import drive
from tools_app.toolkit.protocol import SHELF, ProtocolDef
from tools_app.toolkit.result import TokenAmount, UsdAmount
from tools_app.toolkit.views import NATIVE
from tools_app.toolkit.yields import YieldKind, YieldOffer

YEAR_DAYS: Final = 365
_AT_ONCE, _WAITS, _STUCK = 1, 2, 3
RISK_CLASSES: Final = (
    "1 can be left at once and whole; 2 leaving waits, or nobody tells how much can leave; 3 less than this amount can"
    " leave now. Who fails, is hacked or loses its peg is in no class"
)
FORMULA: Final = (
    "rate of a year times days over 365, less what going in costs once and typical gas of going in and out; rates are"
    " told as basis says, and change"
)


@dataclass(frozen=True, slots=True)
class YieldRow:
    """One place. Rates are percent a year, `net_apy` that of this amount over these days; null where nobody knows."""

    protocol: str
    place: str
    label: str
    kind: str
    apy: str | None
    net_apy: str | None
    net_gain: TokenAmount | None
    gas_usd: UsdAmount | None
    wait_seconds: int | None
    free_now: TokenAmount | None
    risk_class: int
    basis: str
    is_simulated: bool


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A place that takes nothing in now, or that nobody could read, and why."""

    protocol: str
    label: str
    why: str


@dataclass(frozen=True, slots=True)
class YieldTable:
    """Places by what they bring net, best first; those of unknown rate last."""

    asset: str
    symbol: str
    amount: TokenAmount
    days: int
    places: tuple[YieldRow, ...]
    left_out: tuple[LeftOut, ...]
    not_known: tuple[str, ...]
    risk_classes: str
    formula: str


@intel.read(
    budget=TickBudget.SLOW,
    aliases=("compare_yields",),
    snippet=(
        "compare_yields: where a token earns most over some days at lenders, vaults, savings, fixed terms, staking and"
        " pools, net of gas, with lock-up and class of risk."
    ),
    guidelines=(
        "A rate nobody knows is null and stands last: read the place's own tool before you count on it.",
        "Take a lock-up and free_now as seriously as the rate: what cannot leave is not liquid.",
    ),
)
def intel_compare_yields(
    ctx: ReadContext, asset: Token, amount: RawAmount, days: Days = 30, chain_id: ChainId | None = None
) -> YieldTable:
    """Rank where an amount of a token would earn over some days on a chain, best first, net of gas.

    Use before lending, staking or buying a fixed term. What takes nothing in now is left out with the reason.
    Does not count rewards in other tokens that basis does not name, and does not judge who fails.
    """
    reader = ctx.chain(chain_id)
    token = reader.token(asset)
    ctx.step("Reading places")
    offers, left_out = _gather(reader, token.address)
    ctx.step("Weighing gas")
    prices = PriceBook(reader)
    fees = reader.fees()
    unit = prices.weigh(token.address, amount).micro_usd

    def describe(offer: YieldOffer) -> tuple[int | None, YieldRow]:
        gas = TYPICAL_GAS["APPROVE"] + TYPICAL_GAS["SUPPLY"] * (offer.steps_in + offer.steps_out)
        cost = prices.weigh(NATIVE, gas * (fees.base_fee + fees.priority_fee)).micro_usd
        net = _net(offer, amount, days, cost, unit)
        return net, YieldRow(
            protocol=offer.protocol,
            place=offer.place,
            label=offer.label,
            kind=offer.kind.value,
            apy=None if offer.yearly_ppm is None else say_percent(offer.yearly_ppm),
            net_apy=None if net is None else say_percent(net * PPM * YEAR_DAYS // (amount * days)),
            net_gain=None if net is None else TokenAmount(net, token),
            gas_usd=None if cost is None else UsdAmount(cost),
            wait_seconds=offer.waits_seconds,
            free_now=None if offer.free is None else TokenAmount(offer.free, token),
            risk_class=class_of(offer, amount),
            basis=offer.basis,
            is_simulated=SHELF.is_simulated(offer.protocol, reader.chain_id),
        )

    rows = [describe(each) for each in offers]
    rows.sort(key=lambda row: (row[0] is None, -(row[0] or 0), row[1].protocol, row[1].place))
    return YieldTable(
        asset=token.address,
        symbol=token.symbol,
        amount=TokenAmount(amount, token),
        days=days,
        places=tuple(row for _, row in rows),
        left_out=left_out,
        not_known=(
            "rewards in other tokens that basis does not name",
            "what a place earns next",
            *(() if unit is not None else ("the token's price, so that gas is not taken off",)),
        ),
        risk_classes=RISK_CLASSES,
        formula=FORMULA,
    )


def class_of(offer: YieldOffer, amount: int) -> int:
    """1, 2 or 3, as RISK_CLASSES says."""
    if offer.free is not None and offer.free < amount:
        return _STUCK
    is_told = offer.free is not None or offer.kind is YieldKind.FIXED
    return _AT_ONCE if offer.waits_seconds == 0 and is_told else _WAITS


def _net(offer: YieldOffer, amount: int, days: int, cost: int | None, worth: int | None) -> int | None:
    """Base units that are left of what is earned, without what going in costs; gas is taken off at the token's price,
    where both have one.
    """
    if offer.yearly_ppm is None or cost is None or not worth:
        return None
    entry = -(-amount * offer.entry_ppm // PPM)
    return (amount - entry) * offer.yearly_ppm * days // (PPM * YEAR_DAYS) - entry - -(-cost * amount // worth)


def _gather(reader: ChainReader, token: str) -> tuple[list[YieldOffer], tuple[LeftOut, ...]]:
    """What every protocol of the chain offers; one that does not answer is left out by name."""
    offers: list[YieldOffer] = []
    left_out: list[LeftOut] = []
    for protocol in _there(reader):
        try:
            found = list_offers(reader, protocol, token)
        except GolemError as error:
            left_out.append(LeftOut(protocol.name, protocol.label, f"it could not be read: {error.detail}"))
            continue
        offers += [each for each in found if not each.closed]
        left_out += [LeftOut(each.protocol, each.label, each.closed) for each in found if each.closed]
    return offers, tuple(left_out)


def _there(reader: ChainReader) -> Sequence[ProtocolDef]:
    found = [each for each in SHELF.on(reader.chain_id) if each.yields is not None or each.lending is not None]
    entries = [each.address(reader.chain_id, each.entry) or "" for each in found]
    reader.preload(contracts=entries)
    return [each for each, entry in zip(found, entries, strict=True) if entry and reader.code(entry)]


def list_offers(reader: ChainReader, protocol: ProtocolDef, token: str) -> list[YieldOffer]:
    """Where a token earns at one protocol, places that are closed now among them. Raises what reading it raises."""
    return [*_lent(reader, protocol, token), *(protocol.yields(reader, token) if protocol.yields else ())]


def _lent(reader: ChainReader, protocol: ProtocolDef, token: str) -> list[YieldOffer]:
    if protocol.lending is None:
        return []
    markets = drive(protocol.lending.markets(reader.chain_id, token), reader.call_many)
    return [_offer_of(each) for each in markets]


def _offer_of(market: LendingMarket) -> YieldOffer:
    closed = "it takes nothing in now: closed, or its supply cap is full" if market.supply_room == 0 else ""
    if market.liquidity * 10_000 < market.supplied * LEAST_FREE_BPS:
        closed = "it is lent out whole: what goes in may not come out"
    return YieldOffer(
        protocol=market.protocol,
        place=market.market,
        label=market.label,
        kind=YieldKind.LENDING,
        yearly_ppm=market.supply_ppm,
        basis="the market's rate now, which moves with what is borrowed"
        if market.borrowed
        else "nobody borrows now, so that it earns nothing",
        free=market.liquidity,
        closed=closed,
        way_in=market.way_in,
        way_out=market.way_out,
    )


def say_percent(ppm: int) -> str:
    """Millionths as percent, with four digits behind the point."""
    sign, size = ("-", -ppm) if ppm < 0 else ("", ppm)
    return f"{sign}{size // 10_000}.{size % 10_000:04d}"
