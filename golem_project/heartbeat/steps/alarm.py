"""ALARM: the owner is told of a debt in danger before anything is done about it. Told once, until it gets worse.

What was told is written down with the telling, so a tick that dies after it is not told again by the next.
"""

from __future__ import annotations

from typing import Final

from django.db import transaction

from golem_project.heartbeat.cycle_state import CycleState
from golem_project.heartbeat.debt_health import Alarm, ToldDebt, WatchedDebt, write_debts
from golem_project.heartbeat.duties.alerting import RuleAlert, tell_alerts
from golem_project.heartbeat.tick_claims import keep_in_state
from permits_app.safety.format_rule_figures import format_ratio
from tools_app.core.transaction_retry import retry_aborted

_SOURCE: Final = {Alarm.NEAR: "health-near", Alarm.UNDER: "health-under", Alarm.UNKNOWN: "health-unknown"}
"""Sources of their own: a breach is told though a warning was told within the same five minutes."""


def alarm(state: CycleState) -> None:
    """Tell what is news. What a batch of these minutes no longer takes is told with the next."""
    for each in state.debts:
        if each.alarm is not Alarm.CALM:
            state.anomalies.append(f"HEALTH_{each.alarm.name}: {each.sentence}")
    for kind, source in _SOURCE.items():
        news = [each for each in state.debts if each.is_news and each.alarm is kind]
        told = {each.ref: state.told.get(each.ref, ToldDebt()).and_of(each) for each in news}
        if news and _tell(state, source, news, state.told | told):
            state.told |= told


@retry_aborted
def _tell(state: CycleState, source: str, news: list[WatchedDebt], told: dict[str, ToldDebt]) -> bool:
    alerts = [RuleAlert(f"health of {each.label}", _word(each), format_ratio(each.limit_bps)) for each in news]
    with transaction.atomic():
        keep_in_state(begun=state.begun, part={"health": write_debts(state.debts, told)})
        is_new = tell_alerts(golem=state.golem, source=source, alerts=alerts, now=state.now())
        if not is_new:
            transaction.set_rollback(True)
        return is_new


def _word(debt: WatchedDebt) -> str:
    return "not known" if debt.alarm is Alarm.UNKNOWN else format_ratio(debt.health_bps)
