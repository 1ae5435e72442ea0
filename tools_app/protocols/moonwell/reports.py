"""Writes what the tools of Moonwell answer."""

from __future__ import annotations

from tools_app.protocols.moonwell.reads import yearly_ppm
from tools_app.standards.format_loan_figures import debt_left, percent
from tools_app.toolkit.answer import OfChain, Told
from tools_app.toolkit.report import Report, all_received, received, seen, spent
from tools_app.toolkit.result import TokenAmount, UsdAmount


class SupplyReport(Report):
    """What went in. The yearly rate is percent, of interest alone."""

    supplied: TokenAmount = spent()
    supply_apy: str = seen(lambda outcome: percent(yearly_ppm(int(outcome.plan.details["supply_rate"]))))
    covers_debts: bool
    health_factor_after: str | None


class WithdrawReport(Report):
    """What came out."""

    withdrawn: TokenAmount = received()
    health_factor_after: str | None


class BorrowReport(Report):
    """What was borrowed, at a yearly rate in percent."""

    borrowed: TokenAmount = received()
    borrow_apy: str = seen(lambda outcome: percent(yearly_ppm(int(outcome.plan.details["borrow_rate"]))))
    health_factor_after: str | None


class RepayReport(Report):
    """What was paid back and what is left of the debt."""

    repaid: TokenAmount = spent()
    remaining_debt: TokenAmount = seen(debt_left)
    health_factor_after: str | None


class ClaimReport(Report):
    """What came beside interest."""

    claimed: tuple[TokenAmount, ...] = all_received()


class MarketRow(Told):
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


class MarketList(OfChain):
    """The known markets that fit."""

    markets: tuple[MarketRow, ...]


class PositionRow(Told):
    """What an account has in one market. `reward_token` is null where nothing is claimable."""

    asset: str
    supplied: TokenAmount
    owed: TokenAmount
    covers_debts: bool
    can_borrow: TokenAmount
    claimable_reward: str
    reward_token: str | None


class PositionList(OfChain):
    """All of an account's markets. Health is null without a debt, and is of all of them together."""

    account: str
    positions: tuple[PositionRow, ...]
    health_factor: str | None
    is_whole: bool
