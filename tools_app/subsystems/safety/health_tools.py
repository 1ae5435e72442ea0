"""`safety_get_portfolio_health`, `safety_get_liquidation_risks` and `safety_get_risk_dashboard`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Final

from tools_app.core.units import MICRO_USD_PER_USD
from tools_app.portfolio.holdings import HeldPosition
from tools_app.standards.format_loan_figures import show_health
from tools_app.subsystems.safety.account_measurement import (
    MeasuredAccount,
    OnChain,
    describe_health,
    is_simulated,
    judge_overall,
    may_fall_bps,
    measure_account,
    name_position,
    show_percent,
    sum_cover,
    sum_held,
)
from tools_app.subsystems.safety.exit_options import find_way_out
from tools_app.subsystems.safety.family import ChainOrAll, board
from tools_app.toolkit.context import ReadContext
from tools_app.toolkit.lending import risk_level
from tools_app.toolkit.params import Address
from tools_app.toolkit.result import UsdAmount

NOT_WHOLE_NOW: Final = "cannot be left whole now"
"""What an action begins with where its protocol keeps a part of the position."""
_CONCENTRATED_BPS = 5_000
_MOST_RISKS = 8


@dataclass(frozen=True, slots=True)
class PositionRisk:
    """One position. `value_usd` is held less owed, null where a part has no price; `health_factor` is 1.00 at
    liquidation and null without debt; `cannot_leave_usd` is what its protocol cannot give now.
    """

    position: str
    protocol: str
    label: str
    chain_id: int
    is_simulated: bool
    value_usd: UsdAmount | None
    collateral_usd: UsdAmount
    debt_usd: UsdAmount
    health_factor: str | None
    risk_level: str
    cannot_leave_usd: UsdAmount


@dataclass(frozen=True, slots=True)
class PortfolioHealth:
    """A whole account. Totals are null where a chain did not answer; `not_counted` names what figures leave out."""

    account: str
    timestamp: str
    total_value_usd: UsdAmount | None
    collateral_usd: UsdAmount | None
    debt_usd: UsdAmount | None
    net_worth_usd: UsdAmount | None
    can_leave_now_usd: UsdAmount | None
    positions: tuple[PositionRisk, ...]
    overall_risk: str
    top_risks: tuple[str, ...]
    not_counted: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class LiquidationRisk:
    """One debt. `collateral_may_fall_percent` is the fall of its cover that leads to liquidation, all else standing.

    `action` says what helps; `tool` and `params` are the next step out, null where no step of ours leads out now.
    """

    position: str
    protocol: str
    label: str
    chain_id: int
    health_factor: str
    risk_level: str
    collateral_usd: UsdAmount
    debt_usd: UsdAmount
    collateral_may_fall_percent: str
    action: str
    tool: str | None
    params: Mapping[str, object] | None


@dataclass(frozen=True, slots=True)
class LiquidationRisks:
    """Debts from the nearest to liquidation on. `total_at_risk_usd` is the cover of those in warning or danger."""

    account: str
    risky_positions: tuple[LiquidationRisk, ...]
    total_at_risk_usd: UsdAmount | None
    most_urgent: str | None
    not_counted: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PendingAction:
    """What should be done next, 1 first. `tool` is null where only a person or time helps."""

    priority: int
    position: str
    action: str
    tool: str | None
    params: Mapping[str, object] | None


@dataclass(frozen=True, slots=True)
class RiskDashboard:
    """The board on one page. `overall_risk` is Safe, Warning or Danger, and never Safe while something is not read.

    `off_peg` are tokens that left the dollar or ether they stand for, with the figures; nothing more goes into them.
    """

    account: str
    timestamp: str
    net_worth_usd: UsdAmount | None
    total_debt_usd: UsdAmount | None
    overall_risk: str
    critical_positions: tuple[LiquidationRisk, ...]
    pending_actions: tuple[PendingAction, ...]
    off_peg: tuple[str, ...]
    summary: str
    not_counted: tuple[str, ...]


@board.read(
    aliases=("data_get_portfolio_snapshot",),
    snippet=(
        "portfolio_health: value, collateral, debt and net worth of an account over all protocols, the health of each"
        " position, and what endangers it most."
    ),
    guidelines=("A health factor under 1.50 is a warning and under 1.20 a danger; each debt stands for itself.",),
)
def safety_get_portfolio_health(
    ctx: ReadContext, account: Address | None = None, chain_id: ChainOrAll | None = None
) -> PortfolioHealth:
    """Measure an account as a whole: what it holds and owes everywhere, and how safe each position is.

    Use before a new position and after a fall of prices. The account is the golem's own unless one is named, the chain
    its home unless one is named; chain 0 is all of them. Values are those of price feeds, never of a pool.
    Does not foresee prices; safety_simulate_price_stress tries some.
    """
    ctx.step("Reading everything the account holds")
    measured = measure_account(ctx, account, chain_id)
    held = sum(part.micro_usd or 0 for _, part in measured.list_parts() if part.raw > 0)
    return PortfolioHealth(
        account=measured.account,
        timestamp=ctx.now.isoformat(),
        total_value_usd=measured.total(held),
        collateral_usd=measured.total(measured.collateral_micro_usd),
        debt_usd=measured.total(measured.debt_micro_usd),
        net_worth_usd=measured.total(measured.net_micro_usd),
        can_leave_now_usd=measured.total(measured.liquid_micro_usd),
        positions=tuple(_describe(place, each) for place, each in measured.list_positions()),
        overall_risk=judge_overall(measured),
        top_risks=tuple(_list_risks(measured)[:_MOST_RISKS]),
        not_counted=measured.not_counted,
    )


@board.read(
    snippet=(
        "liquidation_risks: every debt of an account, the nearest to liquidation first, with the fall of its collateral"
        " that would end it and the step that helps."
    ),
    guidelines=("Mend the first one first: collateral at one lender covers no debt at another.",),
)
def safety_get_liquidation_risks(
    ctx: ReadContext, account: Address | None = None, chain_id: ChainOrAll | None = None
) -> LiquidationRisks:
    """List the debts of an account by how near they are to liquidation, with what to do about each.

    Use when prices move. How far collateral may fall supposes that the debt and everything else stand still.
    Does not act; preview the named tool with its parameters for that.
    """
    ctx.step("Reading debts")
    measured = measure_account(ctx, account, chain_id)
    risks = list_debts(measured)
    at_risk = sum(each.collateral_usd.micro for each in risks if each.risk_level != "safe")
    return LiquidationRisks(
        account=measured.account,
        risky_positions=tuple(risks),
        total_at_risk_usd=measured.total(at_risk),
        most_urgent=risks[0].position if risks else None,
        not_counted=measured.not_counted,
    )


@board.read(
    snippet=(
        "risk_dashboard: one answer that says how safe an account is now: net worth, debt, positions in danger, and"
        " what to do next in order."
    ),
    guidelines=("Begin a cycle with it; where it says Danger, do its first action before anything else.",),
)
def safety_get_risk_dashboard(
    ctx: ReadContext, account: Address | None = None, chain_id: ChainOrAll | None = None
) -> RiskDashboard:
    """Say in one answer how safe an account is, which positions are in danger and what to do next.

    Use at the start of a cycle. Actions are in the order in which they help: debts in danger, debts in warning, then
    positions whose protocol gives less than it owes. A token that left its peg is in `off_peg`: sell it or leave it.
    Does not act, and does not judge a token's or a protocol's own risk.
    """
    ctx.step("Reading everything the account holds")
    measured = measure_account(ctx, account, chain_id)
    debts = list_debts(measured)
    critical = tuple(each for each in debts if each.risk_level != "safe")
    overall = judge_overall(measured)
    return RiskDashboard(
        account=measured.account,
        timestamp=ctx.now.isoformat(),
        net_worth_usd=measured.total(measured.net_micro_usd),
        total_debt_usd=measured.total(measured.debt_micro_usd),
        overall_risk=overall,
        critical_positions=critical,
        pending_actions=_list_actions(measured, critical),
        off_peg=tuple(each.words for each in measured.off_peg),
        summary=_summarize(measured, debts, overall),
        not_counted=measured.not_counted,
    )


def _describe(place: OnChain, held: HeldPosition) -> PositionRisk:
    value = held.micro_usd
    return PositionRisk(
        position=str(held.ref),
        protocol=held.ref.protocol,
        label=name_position(held),
        chain_id=place.chain_id,
        is_simulated=is_simulated(held),
        value_usd=UsdAmount(value) if value is not None else None,
        collateral_usd=UsdAmount(sum_cover(held) if held.position.has_debt else 0),
        debt_usd=UsdAmount(held.debt_micro_usd),
        health_factor=describe_health(held.health_bps),
        risk_level=risk_level(held.health_bps),
        cannot_leave_usd=UsdAmount(_locked(place, held)),
    )


def _locked(place: OnChain, held: HeldPosition) -> int:
    """Micro-USD that waits for a later second or that the protocol cannot give now."""
    waits = sum(
        part.micro_usd or 0
        for leg, part in zip(held.position.legs, held.parts, strict=True)
        if leg.raw > 0 and leg.free_at is not None and leg.free_at > place.now
    )
    return waits + held.locked_micro_usd(place.now)


def list_debts(measured: MeasuredAccount) -> list[LiquidationRisk]:
    """Debts, the worst health first."""
    owing = [(place, held, held.health_bps) for place, held in measured.list_positions() if held.position.has_health]
    owing.sort(key=lambda each: (each[2] if each[2] is not None else 2**63, each[1].ref))
    return [_describe_debt(place, held, health) for place, held, health in owing if health is not None]


def _describe_debt(place: OnChain, held: HeldPosition, health: int) -> LiquidationRisk:
    level, way = risk_level(health), find_way_out(place, held)
    less = "close" if held.position.is_margin else "repay"
    advice = {
        "danger": f"{less} now, or add collateral now",
        "warning": f"{less} a part or add collateral",
        "safe": "nothing to do now",
    }
    return LiquidationRisk(
        position=str(held.ref),
        protocol=held.ref.protocol,
        label=name_position(held),
        chain_id=place.chain_id,
        health_factor=show_health(health),
        risk_level=level,
        collateral_usd=UsdAmount(sum_cover(held)),
        debt_usd=UsdAmount(held.debt_micro_usd),
        collateral_may_fall_percent=show_percent(may_fall_bps(health)),
        action=advice[level],
        tool=way.tool,
        params=way.params,
    )


def _list_actions(measured: MeasuredAccount, critical: tuple[LiquidationRisk, ...]) -> tuple[PendingAction, ...]:
    steps: list[tuple[str, str, str | None, Mapping[str, object] | None]] = [
        (each.position, each.action, each.tool, each.params) for each in critical
    ]
    for place, held in measured.list_positions():
        if held.position.locked and not held.position.has_health and held.position.legs:
            way = find_way_out(place, held)
            steps.append((str(held.ref), f"{NOT_WHOLE_NOW}: {way.reason}", way.tool, way.params))
    return tuple(PendingAction(number, *step) for number, step in enumerate(steps, start=1))


def _list_risks(measured: MeasuredAccount) -> list[str]:
    """What endangers the account, the worst first, in sentences."""
    told = [
        f"{each.label}: health {each.health_factor}, liquidated when its collateral falls by"
        f" {each.collateral_may_fall_percent}%"
        for each in list_debts(measured)
        if each.risk_level != "safe"
    ]
    told += [each.words for each in measured.off_peg]
    for place, held in measured.list_positions():
        if locked := _locked(place, held):
            told.append(f"{name_position(held)}: {_dollars(locked)} of it cannot be taken out now")
    whole = sum(part.micro_usd or 0 for _, part in measured.list_parts() if part.raw > 0)
    for _, held in measured.list_positions():
        share = sum_held(held) * 10_000 // whole if whole else 0
        if share > _CONCENTRATED_BPS:
            told.append(f"{name_position(held)}: {show_percent(share)}% of everything is in this one position")
    return [*told, *(f"not counted: {each}" for each in measured.not_counted)]


def _summarize(measured: MeasuredAccount, debts: list[LiquidationRisk], overall: str) -> str:
    worth = _dollars(measured.net_micro_usd) if measured.is_known else "unknown"
    nearest = f"; the nearest debt has health {debts[0].health_factor}" if debts else "; nothing is owed"
    gaps = f"; {len(measured.not_counted)} things are not counted" if measured.not_counted else ""
    off = f"; off its peg: {', '.join(each.peg.name for each in measured.off_peg)}" if measured.off_peg else ""
    return f"{overall}: net worth {worth}{nearest}{off}{gaps}."


def _dollars(micro: int) -> str:
    return f"{Decimal(micro) / MICRO_USD_PER_USD:,.2f} USD"
