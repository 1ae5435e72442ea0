"""The contract's arithmetic in integers: shares and assets, interest, health, liquidation; equal to it to the unit.

Rounding is always against the account: what is lent rounds down, what is owed up. Virtual shares and assets keep the
first one in a market from moving its share price.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

WAD: Final = 10**18
ORACLE_SCALE: Final = 10**36
VIRTUAL_SHARES: Final = 10**6
VIRTUAL_ASSETS: Final = 1
LIQUIDATION_CURSOR: Final = 3 * 10**17
MOST_INCENTIVE: Final = 115 * 10**16
BPS: Final = 10_000
SECONDS_PER_YEAR: Final = 365 * 86_400
MOST_HEALTH_BPS: Final = 10**9
"""Health is told up to here: a debt of a few base units against a fortune is not more exact than that."""


def mul_div_down(x: int, y: int, d: int) -> int:
    return x * y // d


def mul_div_up(x: int, y: int, d: int) -> int:
    return -(-x * y // d)


@dataclass(frozen=True, slots=True)
class MarketState:
    """What is lent and owed in all, in base units of the loan token and in shares; `fee` of the interest in 1e18."""

    supply_assets: int
    supply_shares: int
    borrow_assets: int
    borrow_shares: int
    last_update: int
    fee: int

    def accrue(self, rate: int, now: int) -> MarketState:
        """With the interest up to `now` at a borrow rate per second in 1e18, as the contract adds it before anything.

        The fee of the interest is lent on behalf of its recipient: it makes shares, not assets.
        """
        elapsed = now - self.last_update
        if elapsed <= 0:
            return self
        interest = mul_div_down(self.borrow_assets, compound(rate, elapsed), WAD)
        supplied = self.supply_assets + interest
        fee_assets = mul_div_down(interest, self.fee, WAD)
        fee_shares = to_shares_down(fee_assets, supplied - fee_assets, self.supply_shares) if self.fee else 0
        return replace(
            self,
            supply_assets=supplied,
            supply_shares=self.supply_shares + fee_shares,
            borrow_assets=self.borrow_assets + interest,
            last_update=now,
        )

    def lent_of(self, shares: int) -> int:
        """Base units that shares of what is lent would give."""
        return to_assets_down(shares, self.supply_assets, self.supply_shares)

    def owed_of(self, shares: int) -> int:
        """Base units that it takes to pay back shares of what is owed."""
        return to_assets_up(shares, self.borrow_assets, self.borrow_shares)

    def lend(self, assets: int) -> tuple[MarketState, int]:
        """After lending so much more, and the shares it gives."""
        shares = to_shares_down(assets, self.supply_assets, self.supply_shares)
        after = replace(self, supply_assets=self.supply_assets + assets, supply_shares=self.supply_shares + shares)
        return after, shares

    def take_back(self, assets: int) -> tuple[MarketState, int]:
        """After taking out so much of what is lent, and the shares it costs."""
        shares = to_shares_up(assets, self.supply_assets, self.supply_shares)
        after = replace(self, supply_assets=self.supply_assets - assets, supply_shares=self.supply_shares - shares)
        return after, shares

    def borrow(self, assets: int) -> tuple[MarketState, int]:
        """After borrowing so much, and the shares that are owed for it."""
        shares = to_shares_up(assets, self.borrow_assets, self.borrow_shares)
        after = replace(self, borrow_assets=self.borrow_assets + assets, borrow_shares=self.borrow_shares + shares)
        return after, shares

    def repay(self, assets: int) -> tuple[MarketState, int]:
        """After paying back so much, and the shares it clears."""
        shares = to_shares_down(assets, self.borrow_assets, self.borrow_shares)
        after = replace(
            self,
            borrow_assets=max(0, self.borrow_assets - assets),
            borrow_shares=self.borrow_shares - shares,
        )
        return after, shares

    @property
    def utilization_bps(self) -> int:
        """How much of what is lent is borrowed."""
        return mul_div_down(self.borrow_assets, BPS, self.supply_assets) if self.supply_assets else 0


def to_shares_down(assets: int, total_assets: int, total_shares: int) -> int:
    return mul_div_down(assets, total_shares + VIRTUAL_SHARES, total_assets + VIRTUAL_ASSETS)


def to_shares_up(assets: int, total_assets: int, total_shares: int) -> int:
    return mul_div_up(assets, total_shares + VIRTUAL_SHARES, total_assets + VIRTUAL_ASSETS)


def to_assets_down(shares: int, total_assets: int, total_shares: int) -> int:
    return mul_div_down(shares, total_assets + VIRTUAL_ASSETS, total_shares + VIRTUAL_SHARES)


def to_assets_up(shares: int, total_assets: int, total_shares: int) -> int:
    return mul_div_up(shares, total_assets + VIRTUAL_ASSETS, total_shares + VIRTUAL_SHARES)


def compound(rate: int, seconds: int) -> int:
    """The first three terms of e^(rate * seconds) - 1 in 1e18, as the contract compounds."""
    first = rate * seconds
    second = mul_div_down(first, first, 2 * WAD)
    third = mul_div_down(second, first, 3 * WAD)
    return first + second + third


def growth(assets: int, rate: int, seconds: int) -> int:
    """Interest on `assets` within so many seconds, rounded up."""
    return mul_div_up(assets, compound(rate, seconds), WAD)


def quote_collateral(collateral: int, price: int) -> int:
    """Collateral in base units of the loan token."""
    return mul_div_down(collateral, price, ORACLE_SCALE)


def health_bps(*, collateral: int, price: int, lltv: int, debt: int) -> int | None:
    """What covers the debt over the debt; 10,000 is liquidation, None without debt."""
    if not debt:
        return None
    cover = mul_div_down(quote_collateral(collateral, price), lltv, WAD)
    return min(mul_div_down(cover, BPS, debt), MOST_HEALTH_BPS)


def most_debt(*, collateral: int, price: int, lltv: int, floor_bps: int) -> int:
    """The most that may be owed in all so that health is not under `floor_bps`."""
    cover = mul_div_down(quote_collateral(collateral, price), lltv, WAD)
    return mul_div_down(cover, BPS, floor_bps)


def least_collateral(*, debt: int, price: int, lltv: int, floor_bps: int) -> int:
    """The least collateral under a debt so that health is not under `floor_bps`."""
    if not debt:
        return 0
    quoted = mul_div_up(mul_div_up(debt, floor_bps, BPS), WAD, lltv)
    # The contract rounds down twice on the way back.
    return mul_div_up(quoted + 2, ORACLE_SCALE, price)


def incentive(lltv: int) -> int:
    """By how much seized collateral is worth more than the debt paid for it, in 1e18."""
    discounted = WAD - mul_div_down(LIQUIDATION_CURSOR, WAD - lltv, WAD)
    return min(MOST_INCENTIVE, mul_div_down(WAD, WAD, discounted))


def repaid_for(state: MarketState, *, seized: int, price: int, lltv: int) -> tuple[int, int]:
    """The debt that has to be paid for so much seized collateral: base units and shares."""
    quoted = mul_div_up(seized, price, ORACLE_SCALE)
    paid = mul_div_up(quoted, WAD, incentive(lltv))
    shares = to_shares_up(paid, state.borrow_assets, state.borrow_shares)
    return to_assets_up(shares, state.borrow_assets, state.borrow_shares), shares
