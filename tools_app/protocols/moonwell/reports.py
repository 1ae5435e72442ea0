"""What the tools of Moonwell answer."""

from __future__ import annotations

from dataclasses import dataclass

from tools_app.protocols.moonwell.reads import yearly_ppm
from tools_app.standards.lending_words import percent
from tools_app.toolkit.plan import PlanOutcome
from tools_app.toolkit.result import TokenAmount, UsdAmount


@dataclass(frozen=True, slots=True)
class SupplyReport:
    """What went in. The yearly rate is percent, of interest alone."""

    supplied: TokenAmount
    supply_apy: str
    covers_debts: bool
    health_factor_after: str | None


@dataclass(frozen=True, slots=True)
class WithdrawReport:
    """What came out."""

    withdrawn: TokenAmount
    health_factor_after: str | None


@dataclass(frozen=True, slots=True)
class BorrowReport:
    """What was borrowed, at a yearly rate in percent."""

    borrowed: TokenAmount
    borrow_apy: str
    health_factor_after: str | None


@dataclass(frozen=True, slots=True)
class RepayReport:
    """What was paid back and what is left of the debt."""

    repaid: TokenAmount
    remaining_debt: TokenAmount
    health_factor_after: str | None


@dataclass(frozen=True, slots=True)
class ClaimReport:
    """What came beside interest."""

    claimed: tuple[TokenAmount, ...]


@dataclass(frozen=True, slots=True)
class MarketRow:
    """A market. Rates are percent a year, compounded, of interest alone; rooms are what caps leave, null without."""

    asset: str
    market: str
    supply_apy: str
    borrow_apy: str
    total_supplied: TokenAmount
    total_borrowed: TokenAmount
    available_liquidity: TokenAmount
    utilization: str
    collateral_factor: str
    supply_room: TokenAmount | None
    borrow_room: TokenAmount | None
    tvl: UsdAmount | None
    is_paused: bool


@dataclass(frozen=True, slots=True)
class MarketList:
    """The known markets that fit."""

    markets: tuple[MarketRow, ...]
    block_number: int
    is_simulated: bool


@dataclass(frozen=True, slots=True)
class PositionRow:
    """What an account has in one market. `reward_token` is null where nothing is claimable."""

    asset: str
    supplied: TokenAmount
    owed: TokenAmount
    covers_debts: bool
    can_borrow: TokenAmount
    claimable_reward: str
    reward_token: str | None


@dataclass(frozen=True, slots=True)
class PositionList:
    """All of an account's markets. Health is null without a debt, and is of all of them together."""

    account: str
    positions: tuple[PositionRow, ...]
    health_factor: str | None
    is_whole: bool
    block_number: int
    is_simulated: bool


def report_supply(outcome: PlanOutcome) -> SupplyReport:
    """The amount from the balance difference."""
    details, token = outcome.plan.details, outcome.plan.spends[0].token
    return SupplyReport(
        supplied=TokenAmount(-outcome.deltas.get(token.address, 0), token),
        supply_apy=percent(yearly_ppm(int(details["supply_rate"]))),
        covers_debts=bool(details["covers_debts"]),
        health_factor_after=details["health_factor_after"],
    )


def report_withdraw(outcome: PlanOutcome) -> WithdrawReport:
    """The amount from the balance difference."""
    token = outcome.plan.receives[0].token
    amount = TokenAmount(outcome.deltas.get(token.address, 0), token)
    return WithdrawReport(amount, outcome.plan.details["health_factor_after"])


def report_borrow(outcome: PlanOutcome) -> BorrowReport:
    """The amount from the balance difference."""
    details, token = outcome.plan.details, outcome.plan.receives[0].token
    amount = TokenAmount(outcome.deltas.get(token.address, 0), token)
    return BorrowReport(amount, percent(yearly_ppm(int(details["borrow_rate"]))), details["health_factor_after"])


def report_repay(outcome: PlanOutcome) -> RepayReport:
    """The amount from the balance difference; what said everything leaves nothing."""
    details, token = outcome.plan.details, outcome.plan.spends[0].token
    repaid = -outcome.deltas.get(token.address, 0)
    left = 0 if details["is_all"] else max(0, int(details["owed_before"]) - repaid)
    return RepayReport(TokenAmount(repaid, token), TokenAmount(left, token), details["health_factor_after"])


def report_claim(outcome: PlanOutcome) -> ClaimReport:
    """The amounts from the balance differences."""
    tokens = [flow.token for flow in outcome.plan.receives]
    return ClaimReport(tuple(TokenAmount(outcome.deltas.get(each.address, 0), each) for each in tokens))
