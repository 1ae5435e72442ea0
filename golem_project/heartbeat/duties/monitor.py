"""heartbeat-monitor: what is wrong with a golem's pulse, judged every minute and told in batches of five.

Observation only. Runway is the balance over the last days' loss; income is what outcomes brought in and what positions
earned. Without either the rule about gas is silent.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from django.conf import settings
from django.db import transaction
from django.db.models import BigIntegerField, Max, Sum
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import Cast

from archetypes_app.models import Golem, Heartbeat, HeartbeatTick
from archetypes_app.models.tick import TickStatus
from golem_project.heartbeat.duties.alerting import RuleAlert, floor_to_window, tell_alerts
from memory_app.models import Directive
from memory_app.models.directive import Document
from permits_app.models import NavSnapshot, OutcomeRecord
from permits_app.models.action_record import ActionRecord, ActionState
from tools_app.core import clock
from tools_app.core.isolated_sweeps import one_by_one
from tools_app.core.transaction_retry import retry_aborted
from tools_app.core.units import BPS, format_micro_usd

MONITOR: Final = "heartbeat-monitor"
RUNWAY_DAYS: Final = 30
LATE_TIMES: Final = 2
SUCCESS_WINDOW_TICKS: Final = 20
LEAST_SUCCESS_BPS: Final = 4_000
ERROR_WINDOW_TICKS: Final = 10
MOST_ERRORS: Final = 5
MOST_GAS_OF_INCOME_BPS: Final = 1_500
PLAYBOOK_TICKS: Final = 100
_INCOME_DAYS: Final = 7
_DAY: Final = timedelta(days=1)
_SECONDS: Final = 20.0
"""Of each round, of which there is one a minute: two thousand golems of ten thousand are due in one."""
_DONE: Final = (ActionState.EXECUTED, ActionState.REVERTED, ActionState.BLOCKED)


@dataclass(frozen=True, slots=True)
class Pulse:
    """What the monitor judges. Money in micro-USD, times in seconds; None where nothing is known.

    `actions` are the ends of the actions of the last twenty ticks, True where one was executed.
    """

    balance: int | None = None
    loss_a_day: int | None = None
    interval_seconds: int | None = None
    expected_seconds: int = 60
    actions: tuple[bool, ...] = ()
    failed_ticks: int = 0
    gas: int = 0
    income: int = 0
    ticks_since_playbook: int | None = None


def judge_pulse(pulse: Pulse) -> tuple[RuleAlert, ...]:
    """Every rule that `pulse` breaks. Pure."""
    found = []
    if pulse.balance is not None and pulse.loss_a_day and pulse.balance < RUNWAY_DAYS * pulse.loss_a_day:
        days = pulse.balance // pulse.loss_a_day
        found.append(
            RuleAlert("runway", f"{days} days at {format_micro_usd(pulse.loss_a_day)} a day", f"{RUNWAY_DAYS} days")
        )
    if pulse.interval_seconds is not None and pulse.interval_seconds > LATE_TIMES * pulse.expected_seconds:
        found.append(RuleAlert("late", f"{pulse.interval_seconds} s", f"{LATE_TIMES} x {pulse.expected_seconds} s"))
    if pulse.actions and sum(pulse.actions) * BPS < LEAST_SUCCESS_BPS * len(pulse.actions):
        found.append(RuleAlert("success", f"{sum(pulse.actions)} of {len(pulse.actions)} actions", "40%"))
    if pulse.failed_ticks > MOST_ERRORS:
        found.append(RuleAlert("errors", f"{pulse.failed_ticks} in {ERROR_WINDOW_TICKS} ticks", f"{MOST_ERRORS}"))
    if pulse.income > 0 and pulse.gas * BPS > MOST_GAS_OF_INCOME_BPS * pulse.income:
        seen = f"{format_micro_usd(pulse.gas)} of {format_micro_usd(pulse.income)}"
        found.append(RuleAlert("gas", seen, "15% of income"))
    if pulse.ticks_since_playbook is not None and pulse.ticks_since_playbook >= PLAYBOOK_TICKS:
        found.append(
            RuleAlert("playbook", f"unchanged for {pulse.ticks_since_playbook} ticks", f"{PLAYBOOK_TICKS} ticks")
        )
    return tuple(found)


def monitor_golems(*, now: datetime, limit: int = 500) -> int:
    """Judge golems whose heartbeat is on and whose window is over, `limit` at once, as long as there are any and the
    round has time; returns how many have alerts.
    """
    window = timedelta(seconds=settings.GOLEM_HEARTBEAT_ALERT_WINDOW_SECONDS)
    start = floor_to_window(now)
    due = Heartbeat.objects.select_related("golem__vitality_record").filter(is_on=True)
    unseen = due.exclude(monitored_at__gte=start, monitored_at__lt=start + window)
    deadline, alerted = clock.Deadline.after_ms(_SECONDS * 1_000), 0
    while True:
        some = list(unseen[:limit])
        told = list(one_by_one(some, lambda heartbeat: _monitor(heartbeat, now), what="the monitor of"))
        alerted += sum(told)
        # One that failed is due still, and another round's.
        if len(told) < limit or deadline.is_over:
            return alerted


@retry_aborted
def _monitor(heartbeat: Heartbeat, now: datetime) -> bool:
    """False when another process was first, or nothing is to be told."""
    with transaction.atomic():
        seen = Heartbeat.objects.filter(pk=heartbeat.pk, monitored_at=heartbeat.monitored_at)
        if not seen.update(monitored_at=now):
            return False
        alerts = judge_pulse(read_pulse(heartbeat, now=now))
        return bool(alerts and tell_alerts(golem=heartbeat.golem, source=MONITOR, alerts=alerts, now=now))


def read_pulse(heartbeat: Heartbeat, *, now: datetime) -> Pulse:
    """The figures of one golem."""
    golem: Golem = heartbeat.golem
    ticks = list(HeartbeatTick.objects.filter(golem=golem).order_by("-number")[:SUCCESS_WINDOW_TICKS])
    first = ticks[-1].number if ticks else 0
    ends = ActionRecord.objects.filter(golem=golem, tick__number__gte=first, state__in=[str(s) for s in _DONE])
    record = getattr(golem, "vitality_record", None)
    recent = OutcomeRecord.live.filter(permit__golem=golem, created_at__gt=now - _INCOME_DAYS * _DAY)
    income = recent.filter(pnl_micro_usd__gt=0).aggregate(total=Sum("pnl_micro_usd"))["total"] or 0
    earned = NavSnapshot.objects.filter(golem=golem, at__gt=now - _INCOME_DAYS * _DAY).aggregate(
        total=Sum(Cast(KeyTextTransform("fees_and_interest", "parts"), BigIntegerField()))
    )["total"]
    loss = recent.filter(pnl_micro_usd__lt=0).aggregate(total=Sum("pnl_micro_usd"))["total"] or 0
    gas = ActionRecord.objects.filter(golem=golem, created_at__gt=now - _INCOME_DAYS * _DAY)
    # What positions earned by themselves is income too, before anybody collects it.
    income += max(0, earned or 0)
    net_loss = -(loss + income)
    return Pulse(
        balance=record.balance_micro_usd if record else None,
        loss_a_day=net_loss // _INCOME_DAYS if net_loss > 0 else None,
        interval_seconds=int((now - ticks[0].started_at).total_seconds()) if ticks else None,
        expected_seconds=ticks[0].theta_seconds if ticks else heartbeat.base_interval_seconds,
        actions=tuple(state == ActionState.EXECUTED for state in ends.values_list("state", flat=True)),
        failed_ticks=_count_errors(ticks[:ERROR_WINDOW_TICKS]),
        gas=gas.aggregate(total=Sum("gas_micro_usd"))["total"] or 0,
        income=int(income),
        ticks_since_playbook=_count_since_playbook(golem),
    )


def _count_errors(ticks: Sequence[HeartbeatTick]) -> int:
    return sum(1 for tick in ticks if tick.status in (TickStatus.FAILED, TickStatus.ABANDONED))


def _count_since_playbook(golem: Golem) -> int | None:
    """Ticks since the playbook's newest version; None for a golem that has none."""
    newest: object = Directive.objects.filter(golem=golem, document=Document.PLAYBOOK).aggregate(at=Max("created_at"))[
        "at"
    ]
    if newest is None:
        return None
    return HeartbeatTick.objects.filter(golem=golem, started_at__gt=newest).count()
