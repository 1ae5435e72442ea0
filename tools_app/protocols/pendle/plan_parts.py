"""Builds the parts of Pendle plans: the market looked at, its price checked, changes and payments."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Final, TypeVar

from tools_app.core.units import BPS, apply_bps_down, format_units
from tools_app.protocols.pendle.addresses import NAME, Place, find_place, places_on
from tools_app.protocols.pendle.errors import (
    ClaimsAreDue,
    MarketRefuses,
    OracleNotReady,
    PendleMarketNotFound,
    TooFewHeld,
    WorseThanAverage,
    YieldPaused,
)
from tools_app.protocols.pendle.market_maths import (
    WAD,
    NoTrade,
    price_of_claim,
    to_shares,
    yearly_rate,
)
from tools_app.protocols.pendle.market_state import Standing, ask_standings
from tools_app.protocols.pendle.naming import describe_unnamed
from tools_app.protocols.pendle.positions import KIND, ref_of
from tools_app.standards import erc20
from tools_app.standards.dated_claim_values import AVERAGE_SECONDS
from tools_app.standards.plan_draft import PlanDraft
from tools_app.toolkit.context import ChainReader, WriteContext
from tools_app.toolkit.enums import ActionClass
from tools_app.toolkit.params import (
    EVERYTHING,
)
from tools_app.toolkit.plan import Statement
from tools_app.toolkit.positions import PositionChange, drive

T = TypeVar("T")

DRIFT_BPS: Final = 100
"""How far what a claim or a part of the market counts as may move until the transaction, in basis points."""
LEAVING_BPS: Final = 100
"""What may be missing of a given-back part of the market: no price decides it, others' trades shift its parts."""
DAY_SECONDS: Final = 86_400
_MOST_QUARTERINGS: Final = 10
_HALVINGS: Final = 8


def look_at(ctx: WriteContext, reader: ChainReader, address: str) -> tuple[Place, Standing]:
    """The market of an address and how it stands. Raises MarketNotFound, and YieldPaused where nothing moves."""
    ctx.step("Reading the market")
    known = places_on(reader.chain_id)
    place = find_place(reader.chain_id, address)
    if place is None:
        told = describe_unnamed(reader, address)
        raise PendleMarketNotFound(
            f"{address} is no known market of Pendle: {told}", markets=[each.market for each in known]
        )
    (standing,) = drive(ask_standings(reader.chain_id, (place,), ctx.account), reader.call_many)
    if standing.is_paused:
        raise YieldPaused(
            f"the yield behind {place.symbols.pt} is paused: nothing goes in or comes out until it goes on",
            market=place.market,
        )
    return place, standing


def open_market(ctx: WriteContext, reader: ChainReader, address: str) -> tuple[Place, Standing]:
    """The same for a market in which somebody may trade and whose average is known."""
    place, standing = look_at(ctx, reader, address)
    if standing.market.is_over:
        raise ClaimsAreDue(
            f"{place.symbols.pt} are due since {standing.market.expiry}: redeem them, nothing is traded any more",
            expiry=standing.market.expiry,
        )
    if standing.pt_rate is None or standing.lp_rate is None:
        raise OracleNotReady(
            f"the market has no average price of {AVERAGE_SECONDS} seconds yet",
            market=place.market,
            seconds=AVERAGE_SECONDS,
        )
    return place, standing


def solve(work: Callable[[], T]) -> T:
    try:
        return work()
    except NoTrade as error:
        raise MarketRefuses(str(error)) from error


def within(place: Place, quote: Callable[[int], T], amount: int, what: str) -> T:
    """What the market gives for an amount of `what`.

    Raises MarketRefuses and WorseThanAverage, naming the most that passes now; where none does, the least slippage.
    """
    try:
        return quote(amount)
    except (MarketRefuses, WorseThanAverage) as error:
        most = _most_that_passes(quote, amount)
        if most:
            fill = {"amount": {"most": str(most), "unit": f"base units of {what}"}}
            says = f"{error.detail}; at most {in_units(place, most)} {what} passes now"
            raise type(error)(says, **error.data, most=str(most), fill=fill) from error
        if isinstance(error, WorseThanAverage):
            error.data["fill"] = {"slippage_bps": {"least": error.data["off_bps"], "unit": "basis points"}}
        raise


def _most_that_passes(quote: Callable[[int], object], amount: int) -> int:
    """An amount that passes, at most two percent under the largest; 0 where not even a small part does."""
    low = amount
    for _ in range(_MOST_QUARTERINGS):
        low //= 4
        if low and _passes(quote, low):
            break
    else:
        return 0
    high = 4 * low
    for _ in range(_HALVINGS):
        middle = (low + high) // 2
        low, high = (middle, high) if _passes(quote, middle) else (low, middle)
    return low


def _passes(quote: Callable[[int], object], amount: int) -> bool:
    try:
        quote(amount)
    except (MarketRefuses, WorseThanAverage):
        return False
    return True


def shares_of(standing: Standing, amount: int) -> int:
    return to_shares(amount, standing.share_rate)


def check_price(place: Place, *, paid: int, worth: int, most_bps: int) -> None:
    """Raises WorseThanAverage where more than `most_bps` of what is given is lost, measured at the average."""
    off = (paid - worth) * BPS // paid if paid else 0
    if off > most_bps:
        raise WorseThanAverage(
            f"the market would keep {off} basis points against its average of fifteen minutes; accepted are {most_bps}:"
            " less at once, or later",
            off_bps=off,
            most_bps=most_bps,
            market=place.market,
        )


def of_yields(standing: Standing, slippage_bps: int) -> int:
    """What of a yield token's price may be lost: it is the small rest of a claim's, which moves as much by itself.

    A fee and a push of the claim's price weigh on the rest as many times as it is smaller.
    """
    rest = max(1, standing.market_of_yields(WAD))
    return min(BPS // 10, slippage_bps * max(1, (WAD - rest) // rest))


def check_held(place: Place, there: int, amount: int, what: str) -> int:
    """How many are meant. Raises TooFewHeld."""
    asked = there if amount == EVERYTHING else amount
    if not asked or asked > there:
        raise TooFewHeld(f"the account has {in_units(place, there)} {what}", held=str(there), asked=str(asked or there))
    return asked


def pay(reader: ChainReader, account: str, place: Place, amount: int) -> PlanDraft:
    draft = PlanDraft(reader.chain_id, account)
    draft.pay(reader, reader.token(place.asset), amount, to=place.router)
    return draft


def give(reader: ChainReader, account: str, place: Place, token: str, amount: int) -> PlanDraft:
    draft = PlanDraft(reader.chain_id, account)
    allow(reader, draft, place, token, amount)
    return draft


def allow(reader: ChainReader, draft: PlanDraft, place: Place, token: str, amount: int) -> None:
    meta = reader.token(token)
    allowed = erc20.allowance(reader, meta, draft.account, place.router)
    draft.approve(meta, spender=place.router, amount=amount, allowance=allowed)


def claims_change(
    reader: ChainReader, place: Place, standing: Standing, amount: int, least: int | None = None
) -> PositionChange:
    """So many claims come, at least `least`, or go where negative; at what they count as."""
    counted = standing.worth_of_claims(place, abs(amount))
    return _counted(reader, place, amount, counted, standing.worth_of_claims(place, least or 0))


def lp_change(
    reader: ChainReader, place: Place, standing: Standing, amount: int, least: int | None = None
) -> PositionChange:
    """The same for a part of the market."""
    counted = standing.worth_of_lp(place, abs(amount))
    return _counted(reader, place, amount, counted, standing.worth_of_lp(place, least or 0))


def _counted(reader: ChainReader, place: Place, amount: int, counted: int, least: int) -> PositionChange:
    ref = ref_of(reader.chain_id, place)
    if amount > 0:
        bound = max(0, apply_bps_down(least, DRIFT_BPS) - 2)
        return PositionChange(NAME, KIND, place.asset, counted, bound, ref)
    return PositionChange(NAME, KIND, place.asset, -counted, -counted - counted * DRIFT_BPS // BPS - 2, ref)


def yields_change(reader: ChainReader, place: Place, expected: int, bound: int) -> PositionChange:
    """Yield tokens, which never count."""
    ref = ref_of(reader.chain_id, place)
    return PositionChange(NAME, KIND, place.yt, expected, bound, ref, counts=False)


def entering(standing: Standing) -> ActionClass:
    return ActionClass.NEW_POSITION if standing.held.is_nothing else ActionClass.INCREASE_POSITION


def leaving(standing: Standing, *, pt: int = 0, yt: int = 0) -> ActionClass:
    held = standing.held
    left = replace(held, pt=held.pt - pt, yt=held.yt - yt)
    return ActionClass.CLOSE_POSITION if left.is_nothing else ActionClass.DECREASE_POSITION


def say(place: Place, token: str, key: str, amount: int) -> Statement:
    return Statement(place.router, token, key, str(amount))


def describe(reader: ChainReader, place: Place, standing: Standing) -> dict[str, object]:
    market = standing.market
    return {
        "venue": NAME,
        "market": place.market,
        "pt": place.pt,
        "yt": place.yt,
        "asset": reader.token(place.asset).symbol,
        "maturity": market.expiry,
        "days_to_maturity": market.seconds_left // DAY_SECONDS,
        "implied_apy": percent(yearly_rate(market.ln_rate), WAD),
        "spot_price": format_units(price_of_claim(market.ln_rate, market.seconds_left), 18),
    }


def in_units(place: Place, amount: int) -> str:
    return format_units(amount, place.decimals)


def percent(part: int, whole: int) -> str:
    """With four decimals, rounded towards zero."""
    if not whole:
        return "0"
    scaled = abs(part) * 10**6 // whole
    return format_units(-scaled if part < 0 else scaled, 4)
