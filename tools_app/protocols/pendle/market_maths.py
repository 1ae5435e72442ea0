"""Computes what a trade does in a market of claims and shares, exactly as the market itself computes it. Pure.

The market's curve is a logit in the share of claims, flat where the implied rate of interest barely moves and steeper
the nearer claims are due. Integers, series and roundings are those of the contracts, so that a trade of the same block
gives the same base units. PT are claims, SY the shares of a yield, both in base units; rates have 18 decimals.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

WAD: Final = 10**18
YEAR_SECONDS: Final = 365 * 86_400
_E20: Final = 10**20
_E36: Final = 10**36
_MOST_CLAIMS: Final = 96 * WAD // 100
_MOST_STEPS: Final = 256
_MOST_EXPONENT: Final = 130 * WAD
# (x, e^x) of the series: the first two without decimals in the second, the others with twenty in both.
_LARGE: Final = (
    (128 * WAD, 38_877_084_059_945_950_922_200_000_000_000_000_000_000_000_000_000_000_000),
    (64 * WAD, 6_235_149_080_811_616_882_910_000_000),
)
_SMALL: Final = (
    (32 * _E20, 7_896_296_018_268_069_516_100_000_000_000_000),
    (16 * _E20, 888_611_052_050_787_263_676_000_000),
    (8 * _E20, 298_095_798_704_172_827_474_000),
    (4 * _E20, 5_459_815_003_314_423_907_810),
    (2 * _E20, 738_905_609_893_065_022_723),
    (_E20, 271_828_182_845_904_523_536),
    (_E20 // 2, 164_872_127_070_012_814_685),
    (_E20 // 4, 128_402_541_668_774_148_407),
    (_E20 // 8, 113_314_845_306_682_631_683),
    (_E20 // 16, 106_449_445_891_785_942_956),
)
_EXP_TERMS: Final = 12
_LN_TERMS: Final = 11
_LN_NEAR_ONE_TERMS: Final = 15


class NoTrade(ValueError):
    """The market carries out no such trade: it is over, empty, or would leave its bounds."""


@dataclass(frozen=True, slots=True)
class Market:
    """A market at one moment. `index` is what a share stands for, `ln_rate` the implied yearly rate's logarithm,
    `fee_root` that of the fee, of which `reserve_percent` leaves the market; `expiry` and `now` are unix seconds.
    """

    claims: int
    shares: int
    supply: int
    scalar_root: int
    expiry: int
    fee_root: int
    reserve_percent: int
    ln_rate: int
    index: int
    now: int

    @property
    def is_over(self) -> bool:
        """Whether claims are due."""
        return self.now >= self.expiry

    @property
    def seconds_left(self) -> int:
        """Until claims are due."""
        return max(0, self.expiry - self.now)


@dataclass(frozen=True, slots=True)
class Traded:
    """Shares that come to the trader, or go where negative; the fee among them; and the market after it."""

    shares: int
    fee: int
    after: Market


def exp_wad(x: int) -> int:
    """e^x. Raises NoTrade beyond the series."""
    if x < 0:
        return _E36 // exp_wad(-x)
    if x > _MOST_EXPONENT:
        raise NoTrade("a rate is beyond what the market computes")
    first = 1
    for bound, power in _LARGE:
        if x >= bound:
            x, first = x - bound, power
            break
    x *= 100
    product = _E20
    for bound, power in _SMALL[:8]:
        if x >= bound:
            x, product = x - bound, product * power // _E20
    total, term = _E20, _E20
    for place in range(1, _EXP_TERMS + 1):
        term = term * x // _E20 // place
        total += term
    return product * total // _E20 * first // 100


def ln_wad(a: int) -> int:
    """The natural logarithm. Raises NoTrade for nothing."""
    if a <= 0:
        raise NoTrade("a share of the market is nothing")
    if 9 * WAD // 10 < a < 11 * WAD // 10:
        return _toward_zero(_ln_near_one(a), WAD)
    return _ln(a)


def _ln_near_one(a: int) -> int:
    scaled = a * WAD
    z = _toward_zero((scaled - _E36) * _E36, scaled + _E36)
    square = _toward_zero(z * z, _E36)
    total = term = z
    for place in range(3, _LN_NEAR_ONE_TERMS + 1, 2):
        term = _toward_zero(term * square, _E36)
        total += _toward_zero(term, place)
    return 2 * total


def _ln(a: int) -> int:
    if a < WAD:
        return -_ln(_E36 // a)
    total = 0
    for bound, power in _LARGE:
        if a >= power * WAD:
            a, total = a // power, total + bound
    total, a = total * 100, a * 100
    for bound, power in _SMALL:
        if a >= power:
            a, total = a * _E20 // power, total + bound
    z = _toward_zero((a - _E20) * _E20, a + _E20)
    square = _toward_zero(z * z, _E20)
    series = term = z
    for place in range(3, _LN_TERMS + 1, 2):
        term = _toward_zero(term * square, _E20)
        series += _toward_zero(term, place)
    return (total + 2 * series) // 100


def price_of_claim(ln_rate: int, seconds_left: int) -> int:
    """What a claim costs in its asset at an implied rate; WAD once it is due."""
    if seconds_left <= 0:
        return WAD
    return WAD * WAD // exp_wad(ln_rate * seconds_left // YEAR_SECONDS)


def yearly_rate(ln_rate: int) -> int:
    """The implied rate of a year, as a WAD: e^ln_rate - 1."""
    return exp_wad(ln_rate) - WAD


def to_assets(shares: int, index: int) -> int:
    """What shares stand for."""
    return shares * index // WAD


def to_shares(assets: int, index: int) -> int:
    """How many shares that is, rounded down."""
    return assets * WAD // index


def trade(market: Market, claims_out: int) -> Traded:
    """So many claims are bought of the market, or sold to it where negative. Raises NoTrade."""
    left = market.seconds_left
    if not left:
        raise NoTrade("claims are due: nobody trades in the market any more")
    if market.claims <= claims_out:
        raise NoTrade("the market has not so many claims")
    assets = to_assets(market.shares, market.index)
    if not market.claims or not assets:
        raise NoTrade("the market is empty")
    scalar = market.scalar_root * YEAR_SECONDS // left
    if scalar <= 0:
        raise NoTrade("the market's curve has no slope")
    anchor = _anchor(market, assets, scalar, left)
    before_fee = _rate(market.claims, assets, scalar, anchor, claims_out)
    fee_rate = exp_wad(market.fee_root * left // YEAR_SECONDS)
    to_account = -_toward_zero(claims_out * WAD, before_fee)
    if claims_out > 0:
        if before_fee * WAD // fee_rate < WAD:
            raise NoTrade("a claim would cost more than what it is due")
        fee = _toward_zero(to_account * (WAD - fee_rate), WAD)
    else:
        fee = -_toward_zero(to_account * (WAD - fee_rate), fee_rate)
    to_reserve = fee * market.reserve_percent // 100
    net = to_account - fee
    shares = to_shares(net, market.index) if net >= 0 else -((-net * WAD + market.index - 1) // market.index)
    fee_shares, reserve_shares = to_shares(fee, market.index), to_shares(to_reserve, market.index)
    claims_after, shares_after = market.claims - claims_out, market.shares - shares - reserve_shares
    if shares_after < 0 or claims_after < 0:
        raise NoTrade("the market has not so many shares")
    rate_after = _rate(claims_after, to_assets(shares_after, market.index), scalar, anchor, 0)
    ln_rate = ln_wad(rate_after) * YEAR_SECONDS // left
    if not ln_rate:
        raise NoTrade("the market's rate would be nothing")
    return Traded(shares, fee_shares, replace(market, claims=claims_after, shares=shares_after, ln_rate=ln_rate))


def claims_for(market: Market, shares: int) -> tuple[int, Traded]:
    """The most claims that so many shares buy. Raises NoTrade."""
    most = market.claims - 1
    found = _largest(most, lambda out: -trade(market, out).shares <= shares)
    done = trade(market, found)
    _check_used(shares, -done.shares)
    return found, done


def yields_for(market: Market, shares: int) -> tuple[int, Traded]:
    """The most yield tokens that so many shares buy: as many claims are made with them and sold. Raises NoTrade."""
    most = max(1, to_assets(market.shares, market.index)) * 64

    def can_pay(out: int) -> bool:
        return -(-out * WAD // market.index) <= shares + trade(market, -out).shares

    found = _largest(most, can_pay)
    done = trade(market, -found)
    _check_used(shares, -(-found * WAD // market.index) - done.shares)
    return found, done


def shares_for_yields(market: Market, amount: int) -> tuple[int, Traded]:
    """Shares that so many yield tokens bring: claims are bought beside them, and both are redeemed. Raises NoTrade."""
    bought = trade(market, amount)
    return to_shares(amount, market.index) + bought.shares, bought


def liquidity_for(market: Market, shares: int) -> tuple[int, int, Market]:
    """LP tokens that so many shares bring, the claims bought for them, and the market after. Raises NoTrade.

    As many claims are bought as let the rest go in beside them in the market's proportion.
    """

    def is_too_few(out: int) -> bool:
        done = trade(market, out)
        left = shares + done.shares
        return left > 0 and out * done.after.shares <= left * done.after.claims

    bought = _largest(market.claims - 1, is_too_few)
    done = trade(market, bought)
    left = shares + done.shares
    by_claims = bought * market.supply // done.after.claims
    by_shares = left * market.supply // done.after.shares
    minted = min(by_claims, by_shares)
    after = replace(
        done.after,
        claims=done.after.claims + bought,
        shares=done.after.shares + left,
        supply=market.supply + minted,
    )
    return minted, bought, after


def parts_of(market: Market, lp: int) -> tuple[int, int]:
    """Shares and claims that LP tokens give back."""
    if not market.supply:
        raise NoTrade("the market is empty")
    return lp * market.shares // market.supply, lp * market.claims // market.supply


def _anchor(market: Market, assets: int, scalar: int, left: int) -> int:
    rate = exp_wad(market.ln_rate * left // YEAR_SECONDS)
    share = market.claims * WAD // (market.claims + assets)
    return rate - _toward_zero(_logit(share) * WAD, scalar)


def _rate(claims: int, assets: int, scalar: int, anchor: int, claims_out: int) -> int:
    share = (claims - claims_out) * WAD // (claims + assets)
    if share > _MOST_CLAIMS:
        raise NoTrade("claims would be more of the market than it takes")
    rate = _toward_zero(_logit(share) * WAD, scalar) + anchor
    if rate < WAD:
        raise NoTrade("a claim would cost more than what it is due")
    return rate


def _logit(share: int) -> int:
    if share >= WAD:
        raise NoTrade("there is nothing but claims in the market")
    return ln_wad(share * WAD // (WAD - share))


def _largest(most: int, fits: Callable[[int], bool]) -> int:
    """The largest amount that fits, by halving; what the market refuses does not fit. Raises NoTrade for none."""

    def is_fit(amount: int) -> bool:
        try:
            return fits(amount)
        except NoTrade:
            return False

    low, high = 0, most + 1
    for _ in range(_MOST_STEPS):
        if high - low <= 1:
            break
        middle = (low + high) // 2
        low, high = (middle, high) if is_fit(middle) else (low, middle)
    if not low:
        raise NoTrade("the market gives nothing for that")
    return low


def _check_used(shares: int, used: int) -> None:
    """The router stops where it cannot spend all but a basis point. Raises NoTrade."""
    if shares - used > shares // 5_000 + 2:
        raise NoTrade("the market has not so many claims")


def _toward_zero(a: int, b: int) -> int:
    """Division as the contracts' signed integers do it."""
    found = abs(a) // abs(b)
    return found if (a < 0) == (b < 0) else -found
