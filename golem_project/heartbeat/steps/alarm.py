"""ALARM: the owner is told of a debt in danger before anything is done about it. Told once, until it gets worse."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from django.db import transaction

from archetypes_app.models import Golem
from golem_project.heartbeat.cycle_state import CycleState
from golem_project.heartbeat.duties.alerting import Alert, tell_alerts
from golem_project.heartbeat.tripwire import Alarm, Told, WatchedDebt
from permits_app.safety.figures import format_ratio
from tools_app.core.whole import whole

_SOURCE: Final = {Alarm.NEAR: "health-near", Alarm.UNDER: "health-under", Alarm.UNKNOWN: "health-unknown"}
"""Sources of their own: a breach is told though a warning was told within the same five minutes."""


def alarm(state: CycleState) -> None:
    """Tell what is news. What a batch of these minutes no longer takes is told with the next."""
    for each in state.debts:
        if each.alarm is not Alarm.CALM:
            state.anomalies.append(f"HEALTH_{each.alarm.name}: {each.sentence}")
    for kind, source in _SOURCE.items():
        news = [each for each in state.debts if each.is_news and each.alarm is kind]
        if news and _tell(state.golem, source, news, state.now()):
            state.told |= {each.ref: state.told.get(each.ref, Told()).and_of(each) for each in news}


@whole
def _tell(golem: Golem, source: str, news: list[WatchedDebt], now: datetime) -> bool:
    alerts = [Alert(f"health of {each.label}", _word(each), format_ratio(each.limit_bps)) for each in news]
    with transaction.atomic():
        return tell_alerts(golem=golem, source=source, alerts=alerts, now=now)


def _word(debt: WatchedDebt) -> str:
    return "not known" if debt.alarm is Alarm.UNKNOWN else format_ratio(debt.health_bps)
