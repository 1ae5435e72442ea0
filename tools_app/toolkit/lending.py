"""Lending as every lender offers it: markets with rates and room, pairs of collateral and debt, and the four verbs.

What spans lenders (loops, unwinding, comparing rates) is written against this and never against one of them. Reading
does no I/O, as positions do it: batches of reads are yielded and their outcomes sent.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from typing import Final, Protocol

from tools_app.core.errors import GolemError, Recovery
from tools_app.toolkit.context import ReadCall
from tools_app.toolkit.plan import Call
from tools_app.toolkit.positions import Position, PositionRef, Reads
from tools_app.toolkit.yields import Door

DEFAULT_HEALTH_FLOOR_BPS: Final = 15_001
"""The least health in basis points that a plan leaves a debt with: what owners set first, and a basis point for what a
block of interest takes.
"""
KEPT_BACK_BPS: Final = 1
"""Basis points of health that a tool keeps above that floor when it says how much passes: what the interest of the
blocks until then takes, where health is told in whole basis points.
"""
WARNING_BPS: Final = 15_000
DANGER_BPS: Final = 12_000
PPM: Final = 1_000_000
"""Rates are millionths of the amount a year, compounded: 41_000 is 4.1%."""
LEAST_FREE_BPS: Final = 100
"""A market of which less than this share can be taken out now is entered no more."""
INTEREST_SLACK: Final = 5_000
"""One part in so many of a debt that interest may add before a plan is carried out."""


def risk_level(health_bps: int | None) -> str:
    """none, safe, warning under 1.5, danger under 1.2."""
    if health_bps is None:
        return "none"
    return "danger" if health_bps < DANGER_BPS else "warning" if health_bps < WARNING_BPS else "safe"


class MarketNotFound(GolemError, status=404, recovery=Recovery.FIX_PARAMS, title="The lender has no such market"):
    """The lender has no market for this asset, or none for this pair."""


class MarketClosed(GolemError, status=422, recovery=Recovery.FIX_PARAMS, title="The market does not take this now"):
    """The market exists and does not take this now: paused, frozen, not borrowable, at its cap, out of liquidity.

    `data.reason` is the reason in a word, `data.room` the most that would pass in base units where an amount would.
    """


class NothingThere(
    GolemError,
    code="LENDING_NOTHING_THERE",
    status=409,
    recovery=Recovery.CHECK_STATE,
    title="There is nothing to take out, repay or change here",
):
    """Nothing is supplied, nothing is owed, or it is as asked already; there is nothing to do."""


class NoReceiver(
    GolemError,
    code="FLASH_LOAN_NEEDS_CONTRACT",
    status=422,
    recovery=Recovery.ASK_OWNER,
    title="This account cannot take a flash loan",
):
    """A flash loan goes to a contract that pays it back in the same transaction; this account cannot.

    `data.account_kind` says what it is: plain, or a contract that does not answer the lender. `data.can` says what can.
    """


class Verb(StrEnum):
    """What can be done in a market."""

    SUPPLY = "supply"
    WITHDRAW = "withdraw"
    BORROW = "borrow"
    REPAY = "repay"


@dataclass(frozen=True, slots=True)
class LendingMarket:
    """One asset in one market. Amounts are base units of `asset`, rates PPM; None where there is no such thing.

    `market` names it inside its protocol. `collateral` is the one token it lends against, None where an account's
    whole collateral counts. `supply_room` and `borrow_room` are what its caps leave, None where there is no cap.
    `way_in` and `way_out` are how rules of a golem lend there and take it back.
    """

    protocol: str
    market: str
    label: str
    asset: str
    supply_ppm: int
    borrow_ppm: int | None
    supplied: int
    borrowed: int
    liquidity: int
    collateral: str | None = None
    ltv_bps: int = 0
    threshold_bps: int = 0
    supply_room: int | None = None
    borrow_room: int | None = None
    way_in: Door | None = None
    way_out: Door | None = None

    @property
    def utilization_bps(self) -> int:
        """How much of what is supplied is lent out."""
        return self.borrowed * 10_000 // self.supplied if self.supplied else 0


@dataclass(frozen=True, slots=True)
class LendingPair:
    """What an account has, and may have, of one collateral and one debt in one position. Amounts are base units.

    `rate` is the lender's own price: base units of debt that one base unit of collateral is worth. `ltv_bps` is what
    may be borrowed against it, `threshold_bps` what counts before it is liquidated. `other_cover` and `other_debt` are
    what else the position has, weighted by its thresholds, in base units of debt; `other_ltv` the same by what may be
    borrowed. `supply_room` and `borrow_room` are the most that goes in and out now; `closed` says why where it is zero.
    A debt is nothing or at least `least_debt`; a repayment may clear `interest_room` less, for interest until it is
    mined. `calls_of_round` is how many calls it takes to withdraw, sell and repay once. `clears_by_shares`: a plan that
    clears the debt says so in shares, of which each repayment costs a little less than it is allowed to take.
    `pays_exactly`: it takes all that is paid, so that what clears a debt is the debt and its `interest_room`.
    `is_collateral_exact`: all of it is as much as was read, where a receipt that grows brings a little more.
    """

    ref: PositionRef
    market: str
    collateral: str
    debt: str
    collateral_raw: int
    debt_raw: int
    rate: Fraction
    ltv_bps: int
    threshold_bps: int
    supply_ppm: int
    borrow_ppm: int
    supply_room: int
    borrow_room: int
    withdraw_room: int
    other_cover: Fraction = Fraction(0)
    other_ltv: Fraction = Fraction(0)
    other_debt: Fraction = Fraction(0)
    closed: str = ""
    least_debt: int = 0
    interest_room: int = 0
    calls_of_round: int = 5
    clears_by_shares: bool = False
    pays_exactly: bool = False
    is_collateral_exact: bool = False

    def health_bps(self, *, collateral: int, debt: int) -> int | None:
        """Cover over debt with these amounts in it, 10,000 is liquidation, rounded down; None without debt."""
        owed = debt + self.other_debt
        if owed <= 0:
            return None
        cover = collateral * self.rate * self.threshold_bps / 10_000 + self.other_cover
        return int(cover * 10_000 / owed)

    def most_debt(self, *, collateral: int, floor_bps: int) -> int:
        """How much may be owed against `collateral`: by what may be borrowed, and by the floor; never negative."""
        by_ltv = collateral * self.rate * self.ltv_bps / 10_000 + self.other_ltv - self.other_debt
        cover = collateral * self.rate * self.threshold_bps / 10_000 + self.other_cover
        by_floor = cover * 10_000 / floor_bps - self.other_debt
        return max(0, int(min(by_ltv, by_floor)))

    def least_collateral(self, *, debt: int, floor_bps: int) -> int:
        """How much collateral `debt` needs to stay at the floor, rounded up; never negative."""
        if debt + self.other_debt <= 0:
            return 0
        missing = (debt + self.other_debt) * floor_bps / 10_000 - self.other_cover
        weight = self.rate * self.threshold_bps / 10_000
        return max(0, -int(-missing // weight)) if weight else 0


@dataclass(frozen=True, slots=True)
class FlashTerms:
    """A loan within one transaction: how much there is, and what it costs, in base units and PPM of the amount."""

    liquidity: int
    fee_ppm: int

    def fee(self, amount: int) -> int:
        """Base units that come on top of `amount`, rounded up."""
        return -(-amount * self.fee_ppm // PPM)


class Lending(Protocol):
    """What one lender offers to those who know no lender by name."""

    def markets(self, chain_id: int, asset: str) -> Reads[tuple[LendingMarket, ...]]:
        """Every market in which `asset` is lent; none where it is not. Raises PositionsUnreadable."""

    def pair(
        self, chain_id: int, account: str, collateral: str, debt: str, market: str | None = None
    ) -> Reads[LendingPair]:
        """One pair as it stands for `account`; the deepest market unless one is named.

        Raises MarketNotFound, PositionsUnreadable.
        """

    def leg_rates(self, position: Position) -> Reads[tuple[int, ...]]:
        """PPM a year of each leg of a position, in their order: what it earns, or what a debt costs."""

    def spender(self, pair: LendingPair, verb: Verb) -> str:
        """Which contract takes the tokens of a supply or a repayment, by allowance."""

    def calls(
        self,
        pair: LendingPair,
        verb: Verb,
        amount: int | None,
        *,
        earlier: Sequence[int] = (),
        clears: bool = False,
    ) -> tuple[Call, ...]:
        """The calls of a verb in a pair: SUPPLY and WITHDRAW move its collateral, BORROW and REPAY its debt.

        `amount` in base units; None is everything, for WITHDRAW and REPAY. What it pays goes to the account. `earlier`
        are the amounts of the same verb that the plan has before this one; `clears`: its repayments together leave no
        debt. Raises MarketClosed for a verb not offered.
        """

    def flash_terms(self, chain_id: int, asset: str) -> Reads[FlashTerms | None]:
        """What a flash loan of `asset` costs; None where there is none."""

    def flash_probe(self, chain_id: int, receiver: str, asset: str) -> ReadCall:
        """The lender's callback with nothing lent, as a read of `receiver`: an account that cannot take loans reverts,
        or answers what the lender would not take.
        """

    def flash_call(self, chain_id: int, receiver: str, asset: str, amount: int, data: bytes) -> Call:
        """The call that takes a flash loan for a contract that pays it back in the same transaction."""
