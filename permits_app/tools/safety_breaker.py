"""`safety_set_circuit_breaker` and `safety_get_status`: an agent stops its own golem, and sees what holds it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Final

from pydantic import Field

from archetypes_app.models import ApiKey, Golem, Heartbeat
from permits_app.actions.halt import halt_golem
from permits_app.errors import BreakerResetByOwner
from permits_app.limits.ledger import read_usage
from permits_app.limits.trading_costs import read_costs
from permits_app.models import ActionPermit, HealthAlert, SpendingLimits
from permits_app.models.permit import UNFINISHED, PermitStatus
from tools_app.core.clock import tell_time
from tools_app.toolkit.capability import Capability
from tools_app.toolkit.context import ReadContext, WriteContext
from tools_app.toolkit.enums import ActionClass, Category, Requirement, TickBudget
from tools_app.toolkit.family import ToolFamily
from tools_app.toolkit.params import PLAIN
from tools_app.toolkit.plan import LocalEffect
from tools_app.toolkit.result import UsdAmount

breaker = ToolFamily(prefix="safety", venue="golem", category=Category.SAFETY)

_WAITING: Final = (PermitStatus.CREATED, PermitStatus.AWAITING_APPROVAL, PermitStatus.ANNOUNCED)


class BreakerAction(StrEnum):
    """What to do with the breaker."""

    TRIGGER = "TRIGGER"
    RESET = "RESET"


Reason = Annotated[
    str,
    Field(min_length=1, max_length=300, description="Why, in a sentence for the owner; kept in the audit log."),
    PLAIN,
]
WhatToDo = Annotated[BreakerAction, Field(description="TRIGGER stops the golem. RESET is the owner's alone.")]


@dataclass(frozen=True, slots=True)
class BreakerAnswer:
    """`scope` is always the whole golem: a part of it cannot be stopped alone. `epoch` counts its halts."""

    action: str
    scope: str
    active: bool
    reason: str
    epoch: int
    timestamp: str


@dataclass(frozen=True, slots=True)
class SpendingWindow:
    """One limit. `frees_at` is when the oldest part of what is used is free again; null while nothing is used."""

    window: str
    limit_usd: UsdAmount
    used_usd: UsdAmount
    frees_at: str | None


@dataclass(frozen=True, slots=True)
class SafetyStatus:
    """What holds the golem now. A key is told by its prefix; a halt takes COMMIT from its scopes until the resume."""

    is_halted: bool
    halt_reason: str | None
    halted_since: str | None
    phase: str
    limits: tuple[SpendingWindow, ...]
    per_transaction_usd: UsdAmount
    permits_waiting: int
    permits_under_way: int
    keys: tuple[ApiKeyAnswer, ...]
    heartbeat_is_on: bool
    health_alerts: int


@dataclass(frozen=True, slots=True)
class ApiKeyAnswer:
    """An API key that is in force."""

    prefix: str
    scopes: tuple[str, ...]
    expires_at: str | None


def preview_breaker(ctx: WriteContext, action: WhatToDo, reason: Reason | None = None) -> LocalEffect:
    """What the golem's stop would end. Raises BreakerResetByOwner."""
    _refuse_reset(action)
    waiting = ActionPermit.objects.filter(golem_id=ctx.golem.id, status__in=_WAITING).count()
    return LocalEffect(
        f"Stop this golem until its owner resumes it; {waiting} open permits end, keys lose COMMIT",
        {"open_permits": waiting, "reason": reason or ""},
    )


@breaker.local_write(
    action_type="circuit_breaker",
    preview=preview_breaker,
    # It closes: no limit of an hour or a day, no phase and no loop refuses it, and no Warden has it wait.
    action_class=ActionClass.CLOSE_POSITION,
    requires=(Requirement.WALLET,),
    snippet=(
        "circuit_breaker: stop this golem at once when something is wrong that you cannot judge; open permits end,"
        " nothing more is signed, and only the owner resumes it."
    ),
    guidelines=(
        "Use it rather than go on in doubt; say in the reason what you saw.",
        "No limit refuses it. Where no worker takes it up, call emergency_halt, which needs none.",
    ),
)
def safety_set_circuit_breaker(
    ctx: WriteContext, capability: Capability, action: WhatToDo, reason: Reason | None = None
) -> BreakerAnswer:
    """Stop the golem: the same halt that its owner has, for an agent that sees something wrong.

    Use when prices, a protocol or your own instructions cannot be right. Open permits end, approvals are revoked and
    transactions in flight cancelled, as the owner chose for halts.
    Does not resume: RESET is refused, the owner does that in the browser. Does not stop a single chain alone.
    """
    _refuse_reset(action)
    ctx.step("Stopping the golem")
    why = f"its agent stopped it: {reason}" if reason else "its agent stopped it"
    golem = Golem.objects.get(pk=ctx.golem.id)
    report = halt_golem(golem=golem, reason=why, actor=f"golem:{golem.pk}", now=ctx.now)
    return BreakerAnswer(action.value, "all", True, report["reason"], report["epoch"], ctx.now.isoformat())


@breaker.read(
    query="safety_status",
    budget=TickBudget.FAST,
    aliases=("check_safety_status",),
    snippet="safety_status: whether you are halted, what is left of each limit, open permits, keys and alerts.",
    guidelines=("Ask it first when something was refused: it says what holds you and until when.",),
)
def safety_get_status(ctx: ReadContext) -> SafetyStatus:
    """Say what holds the golem now: halt, spending limits with what is used, permits, API keys, alerts.

    Use after a refusal. Does not measure positions; safety_get_risk_dashboard does.
    """
    golem = Golem.objects.get(pk=ctx.golem.id)
    limits = SpendingLimits.objects.filter(golem=golem).first() or SpendingLimits()
    beat = Heartbeat.objects.filter(golem=golem).first()
    used = read_usage(golem_id=golem.pk, api_key_id=None, heartbeat_tick=golem.heartbeat_tick, now=ctx.now)
    costs = read_costs(golem_id=golem.pk, now=ctx.now)
    windows = (
        ("tick", limits.per_tick_micro_usd, used.tick_micro_usd, used.tick_resets_at),
        ("session", limits.per_session_micro_usd, used.session_micro_usd, used.session_resets_at),
        ("day", limits.per_day_micro_usd, used.day_micro_usd, used.day_resets_at),
        ("trading costs of a day", limits.trading_costs_per_day_micro_usd, costs.day_micro_usd, costs.resets_at),
    )
    permits = ActionPermit.objects.filter(golem=golem)
    keys = ApiKey.objects.filter(golem=golem, revoked_at__isnull=True, expires_at__gt=ctx.now)
    keys = keys.order_by("created_at", "pk")
    return SafetyStatus(
        is_halted=golem.is_halted,
        halt_reason=golem.halt_reason or None if golem.is_halted else None,
        halted_since=tell_time(golem.halted_at),
        phase=golem.phase,
        limits=tuple(
            SpendingWindow(name, UsdAmount(most), UsdAmount(spent), tell_time(frees) if spent else None)
            for name, most, spent, frees in windows
        ),
        per_transaction_usd=UsdAmount(limits.per_transaction_micro_usd),
        permits_waiting=permits.filter(status__in=_WAITING).count(),
        permits_under_way=permits.filter(status__in=[str(each) for each in UNFINISHED]).count(),
        keys=tuple(ApiKeyAnswer(key.prefix, tuple(key.scopes), tell_time(key.expires_at)) for key in keys),
        heartbeat_is_on=beat is not None and beat.is_on,
        health_alerts=HealthAlert.objects.filter(golem=golem).count(),
    )


def _refuse_reset(action: BreakerAction) -> None:
    """Raises BreakerResetByOwner."""
    if action is BreakerAction.RESET:
        raise BreakerResetByOwner("ask the owner to resume the golem on its page, after they looked at what happened")
