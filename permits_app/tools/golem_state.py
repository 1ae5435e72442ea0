"""The golem's own state: `golem_get_health`, `golem_get_mortality_state`, `golem_get_vitality_score`,
`golem_get_heartbeat_stats`. Rows of this server, and no word of a chain.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from django.db.models import Avg, Count, Max, Q, Sum

from archetypes_app.models import Golem, Heartbeat, HeartbeatTick, VitalityRecord
from archetypes_app.models.tick import TickStatus
from archetypes_app.vitality import LEAST_PREDICTIONS, MILLION, death_reserve
from permits_app.halts.deaths import find_open_death
from permits_app.models import ActionPermit, HaltRecord
from permits_app.models.permit import UNFINISHED
from tools_app.core.clock import tell_time
from tools_app.core.ratio import decimal_text
from tools_app.toolkit.context import ReadContext
from tools_app.toolkit.enums import Category, TickBudget
from tools_app.toolkit.family import ToolFamily
from tools_app.toolkit.result import UsdAmount

golem = ToolFamily(prefix="golem", category=Category.DATA)

_NEWEST_TICKS: Final = 100
_FORMULA: Final = "economic * epistemic * stochastic, each from 0 to 1"


@dataclass(frozen=True, slots=True)
class VitalityAnswer:
    """Shares from 0 to 1. `measured_at` and all figures are null before the first tick that measured.

    `epistemic` stays 1 until twenty predictions were judged, `is_epistemic_judged` says whether they were.
    """

    vitality: str | None
    economic: str | None
    epistemic: str | None
    stochastic: str | None
    predictions: int
    correct_predictions: int
    is_epistemic_judged: bool
    phase: str
    formula: str
    measured_at: str | None
    age_seconds: int | None


@golem.read(
    budget=TickBudget.FAST,
    aliases=("get_vitality_score",),
    snippet="vitality_score: how much life the golem has left, by its three factors, with when that was measured.",
    guidelines=("A score older than an hour is of a golem that does not tick: say so before you use it.",),
)
def golem_get_vitality_score(ctx: ReadContext) -> VitalityAnswer:
    """Read the golem's vitality and its three factors as its last tick measured them.

    Use to judge how much may still be risked. Does not measure anew and does not foresee.
    """
    return _read_vitality(ctx)


@dataclass(frozen=True, slots=True)
class Mortality:
    """How the golem's life stands. `death_state` is null while no end is announced; the reserve pays for its end.

    `ticks_of_hazard` are the ticks that wore on it since this life began.
    """

    phase: str
    vitality: str | None
    death_state: str | None
    death_reason: str | None
    ends_at: str | None
    balance_usd: UsdAmount | None
    starting_budget_usd: UsdAmount | None
    death_reserve_usd: UsdAmount | None
    ticks_of_hazard: int | None
    measured_at: str | None


@golem.read(
    budget=TickBudget.FAST,
    aliases=("get_mortality_state",),
    snippet="mortality_state: phase, announced end if any, budget, reserve and what wore on the golem's life so far.",
    guidelines=("When an end is announced, close positions in order and leave no allowance.",),
)
def golem_get_mortality_state(ctx: ReadContext) -> Mortality:
    """Read whether the golem's end is announced, and what its life rests on.

    Use in the later phases. Does not stop or begin an end: owners do.
    """
    row = VitalityRecord.objects.filter(golem_id=ctx.golem.id).first()
    death = find_open_death(ctx.golem.id)
    budget = row.starting_budget_micro_usd if row is not None else None
    return Mortality(
        phase=ctx.golem.phase.value,
        vitality=_share(row.value) if row is not None else None,
        death_state=str(death.state) if death is not None else None,
        death_reason=str(death.reason) if death is not None else None,
        ends_at=tell_time(death.due_at) if death is not None else None,
        balance_usd=UsdAmount(row.balance_micro_usd) if row is not None else None,
        starting_budget_usd=UsdAmount(budget) if budget is not None else None,
        death_reserve_usd=UsdAmount(death_reserve(budget)) if budget is not None else None,
        ticks_of_hazard=row.hazard_millionths if row is not None else None,
        measured_at=tell_time(row.measured_at) if row is not None else None,
    )


@dataclass(frozen=True, slots=True)
class HeartbeatStats:
    """The newest hundred ticks at most. Times are milliseconds, null without a tick that ended."""

    is_on: bool
    planner: str | None
    next_tick_at: str | None
    regime: str | None
    ticks: int
    completed: int
    failed: int
    abandoned: int
    mean_duration_ms: int | None
    longest_duration_ms: int | None
    mean_lateness_ms: int | None
    missed_ticks: int
    last_tick_at: str | None


@golem.read(
    budget=TickBudget.FAST,
    aliases=("get_heartbeat_stats",),
    snippet="heartbeat_stats: how the golem ticks: on or off, how its newest hundred ticks ended, how long they took.",
    guidelines=("Ticks that are late or abandoned mean a busy server: plan for fewer actions.",),
)
def golem_get_heartbeat_stats(ctx: ReadContext) -> HeartbeatStats:
    """Read how regularly the golem ticks and how its newest hundred ticks ended.

    Use to see whether the golem lives. Does not turn the heartbeat on or off.
    """
    return _read_beats(ctx)


@dataclass(frozen=True, slots=True)
class GolemHealth:
    """One look at the golem itself. `problems` says in words what is wrong, and `status` is OK, WARNING or STOPPED."""

    name: str
    status: str
    phase: str
    is_halted: bool
    halted_because: str | None
    permits_under_way: int
    vitality: VitalityAnswer
    heartbeat: HeartbeatStats
    problems: tuple[str, ...]


@golem.read(
    query="golem_health",
    budget=TickBudget.FAST,
    aliases=("get_golem_health",),
    snippet="golem_health: one look at the golem itself: halted or not, vitality, heartbeat, open permits, problems.",
    guidelines=("Tell the owner each problem in its words; a halted golem is started by its owner alone.",),
)
def golem_get_health(ctx: ReadContext) -> GolemHealth:
    """Read in one answer how the golem itself is: halt, vitality, heartbeat and permits under way.

    Use at the start of a cycle. Does not look at money or at chains: wallet_status and risk_dashboard do.
    """
    row = Golem.objects.get(pk=ctx.golem.id)
    halt = HaltRecord.objects.filter(golem=row, epoch=row.halt_epoch).first() if row.is_halted else None
    vitality, beats = _read_vitality(ctx), _read_beats(ctx)
    problems = _list_problems(row, vitality, beats)
    return GolemHealth(
        name=row.name,
        status="STOPPED" if row.is_halted else "WARNING" if problems else "OK",
        phase=ctx.golem.phase.value,
        is_halted=row.is_halted,
        halted_because=halt.reason if halt is not None else None,
        permits_under_way=ActionPermit.objects.filter(golem=row, status__in=UNFINISHED).count(),
        vitality=vitality,
        heartbeat=beats,
        problems=problems,
    )


def _list_problems(row: Golem, vitality: VitalityAnswer, beats: HeartbeatStats) -> tuple[str, ...]:
    found = []
    if row.is_halted:
        found.append("it is halted; its owner resumes it")
    if find_open_death(row.pk) is not None:
        found.append("its end is announced")
    if vitality.measured_at is None:
        found.append("its vitality was never measured")
    if beats.failed or beats.abandoned:
        found.append(f"of its newest {beats.ticks} ticks {beats.failed} failed and {beats.abandoned} were abandoned")
    return tuple(found)


def _read_vitality(ctx: ReadContext) -> VitalityAnswer:
    row = VitalityRecord.objects.filter(golem_id=ctx.golem.id).first()
    if row is None:
        return VitalityAnswer(None, None, None, None, 0, 0, False, ctx.golem.phase.value, _FORMULA, None, None)
    return VitalityAnswer(
        vitality=_share(row.value),
        economic=_share(row.economic),
        epistemic=_share(row.epistemic),
        stochastic=_share(row.stochastic),
        predictions=row.predictions,
        correct_predictions=row.correct_predictions,
        is_epistemic_judged=row.predictions >= LEAST_PREDICTIONS,
        phase=ctx.golem.phase.value,
        formula=_FORMULA,
        measured_at=tell_time(row.measured_at),
        age_seconds=max(0, int((ctx.now - row.measured_at).total_seconds())),
    )


@dataclass(frozen=True, slots=True)
class _TickSums:
    """What the newest ticks come to; durations in milliseconds, None where there was none."""

    ticks: int
    completed: int
    failed: int
    abandoned: int
    mean: float | None
    longest: int | None
    lateness: float | None
    missed: int | None
    last: datetime | None


def _read_beats(ctx: ReadContext) -> HeartbeatStats:
    beat = Heartbeat.objects.filter(golem_id=ctx.golem.id).first()
    newest = HeartbeatTick.objects.filter(golem_id=ctx.golem.id).order_by("-started_at").values("pk")[:_NEWEST_TICKS]
    found = HeartbeatTick.objects.filter(pk__in=newest).aggregate(
        ticks=Count("pk"),
        completed=Count("pk", filter=Q(status=TickStatus.COMPLETE)),
        failed=Count("pk", filter=Q(status=TickStatus.FAILED)),
        abandoned=Count("pk", filter=Q(status=TickStatus.ABANDONED)),
        mean=Avg("duration_ms"),
        longest=Max("duration_ms"),
        lateness=Avg("lateness_ms"),
        missed=Sum("missed_before"),
        last=Max("started_at"),
    )
    sums = _TickSums(**found)
    return HeartbeatStats(
        is_on=beat is not None and beat.is_on,
        planner=str(beat.planner) if beat is not None else None,
        next_tick_at=tell_time(beat.next_tick_at) if beat is not None and beat.is_on else None,
        regime=str(beat.regime) if beat is not None else None,
        ticks=sums.ticks,
        completed=sums.completed,
        failed=sums.failed,
        abandoned=sums.abandoned,
        mean_duration_ms=_whole(sums.mean),
        longest_duration_ms=sums.longest,
        mean_lateness_ms=_whole(sums.lateness),
        missed_ticks=sums.missed or 0,
        last_tick_at=tell_time(sums.last),
    )


def _share(millionths: int) -> str:
    return decimal_text(millionths, MILLION)


def _whole(value: float | None) -> int | None:
    return round(value) if value is not None else None
