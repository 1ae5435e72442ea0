"""The golem's own health alerts: `safety_set_health_alert`, `safety_get_health_alerts`, `safety_check_pending_alerts`
and `safety_clear_health_alert`. Its heartbeat looks after them each tick.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated
from uuid import UUID

from pydantic import Field

from archetypes_app.models import Heartbeat
from permits_app.actions.clear_health_alert import clear_health_alert
from permits_app.actions.set_health_alert import WantedAlert, set_health_alert
from permits_app.errors import HealthAlertNotFound
from permits_app.models import HealthAlert
from permits_app.models.health_alert import AutoAction
from permits_app.safety.format_rule_figures import format_ratio
from tools_app.core.clock import tell_time
from tools_app.core.errors import InvalidParams
from tools_app.subsystems.lending.family import Lender
from tools_app.subsystems.lending.tools import parse_health
from tools_app.subsystems.safety.account_measurement import measure_account
from tools_app.subsystems.safety.family import ChainOrAll, choose_account
from tools_app.subsystems.safety.health_tools import LiquidationRisk, list_debts
from tools_app.toolkit.capability import Capability
from tools_app.toolkit.context import ReadContext, WriteContext
from tools_app.toolkit.enums import Category, Requirement, TickBudget
from tools_app.toolkit.family import ToolFamily
from tools_app.toolkit.params import Address, ChainId, DecimalText, Flag
from tools_app.toolkit.plan import LocalEffect
from tools_app.toolkit.protocol import SHELF, Trait

alerts = ToolFamily(prefix="safety", venue="golem", category=Category.SAFETY, requires=frozenset({Requirement.WALLET}))

HealthFactor = Annotated[
    DecimalText, Field(description="Health factor to stay above, such as 1.6; 1.00 is liquidation.")
]
OnBreach = Annotated[
    AutoAction, Field(description="What the heartbeat does below it, where it acts. NONE only tells the owner.")
]
AlertId = Annotated[
    str,
    Field(
        pattern=r"^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$",
        description="An alert by its id, as health_alerts lists them.",
    ),
]


@dataclass(frozen=True, slots=True)
class AlertAsSet:
    """One alert. `min_health_factor` is 1.00 at liquidation; `last_triggered` is null while no tick found it below."""

    alert_id: str
    protocol: str
    chain_id: int
    min_health_factor: str
    notify_on_breach: bool
    auto_action: str
    created_at: str
    last_triggered: str | None


@dataclass(frozen=True, slots=True)
class AlertList:
    """The golem's alerts, by lender and chain. `is_watched` is whether its heartbeat is on and looks after them."""

    alerts: tuple[AlertAsSet, ...]
    is_watched: bool


@dataclass(frozen=True, slots=True)
class BreachedAlert:
    """A debt below what an alert asks for. `recommended_tool` is null where no step of ours leads out now."""

    alert_id: str
    protocol: str
    chain_id: int
    position: str
    current_health_factor: str
    threshold: str
    auto_action: str
    recommended_tool: str | None
    recommended_params: Mapping[str, object] | None


@dataclass(frozen=True, slots=True)
class PendingAlerts:
    """Breaches from the worst health on. `all_clear` is false while something could not be read: see `not_counted`."""

    breached_alerts: tuple[BreachedAlert, ...]
    all_clear: bool
    not_counted: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ClearedAlert:
    """The alert that is gone."""

    alert_id: str


def preview_health_alert(
    ctx: WriteContext,
    protocol: Lender,
    min_health_factor: HealthFactor,
    chain_id: ChainId | None = None,
    notify_on_breach: Flag = True,
    auto_action: OnBreach = AutoAction.NONE,
) -> LocalEffect:
    """The alert in words. Raises InvalidParams."""
    wanted = _read_wanted(ctx, protocol, min_health_factor, chain_id, notify_on_breach, auto_action)
    does = {AutoAction.NONE: "", AutoAction.DELEVERAGE: ", lower the debt", AutoAction.CLOSE: ", leave the position"}
    tells = "tell the owner" if notify_on_breach else "tell nobody"
    return LocalEffect(
        f"Below a health of {format_ratio(wanted.min_health_bps)} at {protocol} on chain {wanted.chain_id}:"
        f" {tells}{does[auto_action]}",
        {"protocol": protocol, "chain_id": wanted.chain_id, "min_health_bps": wanted.min_health_bps},
    )


@alerts.local_write(
    budget=TickBudget.FAST,
    in_database=True,
    preview=preview_health_alert,
    snippet=(
        "set_health_alert: have the heartbeat watch the health of your debts at one lender: tell the owner below it,"
        " and lower the debt or leave if you say so."
    ),
    guidelines=(
        "Set it above the owner's floor: that one holds anyway, and below it the debt is lowered in any case.",
    ),
)
def safety_set_health_alert(
    ctx: WriteContext,
    capability: Capability,
    protocol: Lender,
    min_health_factor: HealthFactor,
    chain_id: ChainId | None = None,
    notify_on_breach: Flag = True,
    auto_action: OnBreach = AutoAction.NONE,
) -> AlertAsSet:
    """Say how healthy the golem's debts at a lender must stay, and what its heartbeat does when they are not.

    Use after you borrowed. One alert for a lender and chain; setting it again replaces it. It only makes the golem more
    careful: the owner's floor holds beside it, and what the heartbeat does goes through every limit.
    Does not act itself, and does nothing while the heartbeat is off.
    """
    wanted = _read_wanted(ctx, protocol, min_health_factor, chain_id, notify_on_breach, auto_action)
    return _describe(set_health_alert(golem_id=ctx.golem.id, wanted=wanted, actor=f"golem:{ctx.golem.id}", now=ctx.now))


@alerts.read(
    budget=TickBudget.FAST,
    snippet=(
        "health_alerts: the health alerts you set for your debts, what each does on a breach and when it last did."
    ),
    guidelines=("Where is_watched is false nobody looks after them: ask your owner for a heartbeat.",),
)
def safety_get_health_alerts(ctx: ReadContext, chain_id: ChainOrAll | None = None) -> AlertList:
    """List the golem's health alerts, of one chain or of all.

    Use to see what the heartbeat watches. Does not measure; safety_check_pending_alerts does.
    """
    rows = HealthAlert.objects.filter(golem_id=ctx.golem.id).order_by("protocol", "chain_id")
    rows = rows.filter(chain_id=chain_id) if chain_id else rows
    return AlertList(
        alerts=tuple(_describe(row) for row in rows),
        is_watched=Heartbeat.objects.filter(golem_id=ctx.golem.id, is_on=True).exists(),
    )


@alerts.read(
    query="pending_alerts",
    snippet="pending_alerts: which of your health alerts are breached now, with the step that helps each.",
    guidelines=("Run it before you borrow more; where all_clear is false, mend the first one first.",),
)
def safety_check_pending_alerts(
    ctx: ReadContext, account: Address | None = None, chain_id: ChainOrAll | None = None
) -> PendingAlerts:
    """Measure the golem's debts against its health alerts now, the worst first.

    Use between ticks. Alerts are about the golem's own account, on one chain or with 0 on all.
    Does not act; preview the recommended tool with its parameters for that.
    """
    own = choose_account(ctx, None)
    if account is not None and account != own:
        raise InvalidParams("alerts are about the golem's own account", fields={"account": f"is not {own}"})
    rows = {(row.protocol, row.chain_id): row for row in HealthAlert.objects.filter(golem_id=ctx.golem.id)}
    if not rows:
        return PendingAlerts((), all_clear=True, not_counted=())
    ctx.step("Reading debts")
    measured = measure_account(ctx, own, chain_id)
    health = {str(held.ref): held.health_bps or 0 for _, held in measured.list_positions()}
    breached = tuple(
        _describe_breach(row, debt)
        for debt in list_debts(measured)
        if (row := rows.get((debt.protocol, debt.chain_id))) and health[debt.position] < row.min_health_bps
    )
    return PendingAlerts(breached, not breached and not measured.not_counted, measured.not_counted)


def preview_clearing(ctx: WriteContext, alert_id: AlertId) -> LocalEffect:
    """The alert that would go. Raises HealthAlertNotFound."""
    row = HealthAlert.objects.filter(golem_id=ctx.golem.id, pk=alert_id).first()
    if row is None:
        raise HealthAlertNotFound("this golem has no such health alert", alert_id=alert_id)
    return LocalEffect(f"Watch no more: {row}", {"alert_id": alert_id})


@alerts.local_write(
    budget=TickBudget.FAST,
    in_database=True,
    preview=preview_clearing,
    snippet="clear_health_alert: delete one of your health alerts by its id; the heartbeat watches for it no more.",
    guidelines=("The owner's floor goes on holding.",),
)
def safety_clear_health_alert(ctx: WriteContext, capability: Capability, alert_id: AlertId) -> ClearedAlert:
    """Delete one of the golem's health alerts.

    Use once the debt is repaid. Does not change the owner's floor.
    """
    clear_health_alert(golem_id=ctx.golem.id, alert_id=UUID(alert_id), actor=f"golem:{ctx.golem.id}", now=ctx.now)
    return ClearedAlert(alert_id)


def _read_wanted(
    ctx: WriteContext,
    protocol: str,
    min_health_factor: str,
    chain_id: int | None,
    notify_on_breach: bool,
    auto_action: AutoAction,
) -> WantedAlert:
    """Raises InvalidParams."""
    where = chain_id or ctx.golem.home_chain_id
    lenders = [each.name for each in SHELF.on(where) if Trait.LEVERAGE in each.traits]
    if protocol not in lenders:
        known = ", ".join(sorted(lenders)) or "none"
        raise InvalidParams(
            f"nothing is owed at {protocol} on chain {where}; lenders there: {known}", fields={"protocol": protocol}
        )
    health = parse_health(min_health_factor, field="min_health_factor")
    return WantedAlert(protocol, where, health, notify_on_breach, auto_action.value)


def _describe(row: HealthAlert) -> AlertAsSet:
    return AlertAsSet(
        alert_id=str(row.pk),
        protocol=row.protocol,
        chain_id=row.chain_id,
        min_health_factor=format_ratio(row.min_health_bps),
        notify_on_breach=row.notify_on_breach,
        auto_action=row.auto_action,
        created_at=row.created_at.isoformat(),
        last_triggered=tell_time(row.last_triggered_at),
    )


def _describe_breach(row: HealthAlert, debt: LiquidationRisk) -> BreachedAlert:
    return BreachedAlert(
        alert_id=str(row.pk),
        protocol=row.protocol,
        chain_id=row.chain_id,
        position=debt.position,
        current_health_factor=debt.health_factor,
        threshold=format_ratio(row.min_health_bps),
        auto_action=row.auto_action,
        recommended_tool=debt.tool,
        recommended_params=debt.params,
    )
