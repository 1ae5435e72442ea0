"""What the `safety_*` reads answer, as far as the risk board shows it; dollars are decimal text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ToldAction:
    """One thing that waits to be done about a position."""

    position: str
    action: str


@dataclass(frozen=True, slots=True)
class ToldDashboard:
    """The answer of `safety_get_risk_dashboard`."""

    net_worth_usd: str | None
    overall_risk: str
    summary: str
    off_peg: tuple[str, ...]
    pending_actions: tuple[ToldAction, ...]
    not_counted: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ToldShare:
    """One place of worth; its share is in percent."""

    name: str
    held_usd: str | None
    owed_usd: str | None
    held_share_percent: str


@dataclass(frozen=True, slots=True)
class ToldExposure:
    """The answer of `safety_get_protocol_exposure`."""

    by_protocol: tuple[ToldShare, ...]
    by_chain: tuple[ToldShare, ...]
    by_asset: tuple[ToldShare, ...]
    by_asset_type: tuple[ToldShare, ...]
    by_issuer: tuple[ToldShare, ...]
    by_bridge: tuple[ToldShare, ...]
    by_oracle: tuple[ToldShare, ...]
    concentration_risk: str


@dataclass(frozen=True, slots=True)
class ToldDebtRisk:
    """One debt near to liquidation."""

    label: str
    health_factor: str
    collateral_may_fall_percent: str
    risk_level: str
    debt_usd: str | None
    action: str


@dataclass(frozen=True, slots=True)
class ToldLiquidationRisks:
    """The answer of `safety_get_liquidation_risks`."""

    risky_positions: tuple[ToldDebtRisk, ...]


@dataclass(frozen=True, slots=True)
class ToldLiquidation:
    """A position that a fall of prices liquidates."""

    label: str


@dataclass(frozen=True, slots=True)
class ToldFall:
    """What one fall of prices leaves; its change is in percent."""

    price_change_pct: int
    net_worth_usd: str | None
    total_loss_usd: str | None
    survives: bool
    liquidated_positions: tuple[ToldLiquidation, ...]


@dataclass(frozen=True, slots=True)
class ToldStress:
    """The answer of `safety_simulate_price_stress`."""

    falls: tuple[str, ...]
    scenarios: tuple[ToldFall, ...]
    max_drawdown_survivable: int | None


@dataclass(frozen=True, slots=True)
class ToldWayOut:
    """How one position is left; its wait is in seconds."""

    position: str
    label: str
    kind: str
    reason: str
    cost_usd: str | None
    wait_seconds: int | None


@dataclass(frozen=True, slots=True)
class ToldUnwinding:
    """The answer of `safety_estimate_unwind_cost`."""

    positions: tuple[ToldWayOut, ...]
    total_unwind_cost_usd: str | None
    estimated_total_time: int | None


@dataclass(frozen=True, slots=True)
class ToldBreaches:
    """The answer of `safety_check_pending_alerts`; each breach is shown member by member."""

    breached_alerts: tuple[Mapping[str, object], ...]


@dataclass(frozen=True, slots=True)
class ToldAlerts:
    """The answer of `safety_get_health_alerts`, which are only counted."""

    alerts: tuple[object, ...]
