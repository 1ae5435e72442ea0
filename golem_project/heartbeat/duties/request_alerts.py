"""Requests that finish later are told on: one that is ready, or a standing order that ended, wakes the golem's
heartbeat; one that is not to be had any more, not in time, or that brought less than it asked for, is an alert for its
owner, and so is a part that somebody else took.
"""

from __future__ import annotations

from datetime import datetime
from typing import Final

from django.db.models import F, Q

from golem_project.heartbeat.duties.alerting import RuleAlert, tell_alerts
from golem_project.heartbeat.tick_claims import make_due
from permits_app.limits.pending_requests import BROUGHT_LESS, say_taken
from permits_app.models import PendingRequest
from permits_app.models.pending_request import ENDS_OF_ORDERS, FOLLOWED, RequestState
from tools_app.core.isolated_sweeps import one_by_one

SOURCE: Final = "pending-requests"
_WAKES: Final = (RequestState.READY, *ENDS_OF_ORDERS)
_TOLD: Final = (*_WAKES, RequestState.STUCK, RequestState.LOST)
_BATCH: Final = 500


def tell_requests(*, now: datetime) -> int:
    """Tell on every request whose state nobody was told yet; how many. Told again where this dies half-way."""
    in_news = Q(state__in=[str(state) for state in _TOLD]) & ~Q(told_state=F("state"))
    took_more = Q(state__in=[str(state) for state in FOLLOWED]) & ~Q(others_told=F("others_took"))
    news = PendingRequest.objects.filter(in_news | took_more)
    by_golem: dict[object, list[PendingRequest]] = {}
    for row in news.select_related("golem").order_by("updated_at")[:_BATCH]:
        by_golem.setdefault(row.golem_id, []).append(row)
    return sum(one_by_one(by_golem, lambda golem_id: _tell(by_golem[golem_id], now), what="requests of golem"))


def _tell(rows: list[PendingRequest], now: datetime) -> int:
    news = [row for row in rows if row.state in _TOLD and row.told_state != row.state]
    ready = [row for row in news if row.state in _WAKES and row.last_error != BROUGHT_LESS]
    bad = [row for row in news if row not in ready]
    robbed = [row for row in rows if row.others_told != row.others_took]
    told = 0
    if ready:
        make_due(golem_id=rows[0].golem_id, now=now)
        told += _mark(ready)
    alerts = [RuleAlert(f"request {row.state.lower()}", row.ref, row.last_error or "a way out") for row in bad]
    alerts += [RuleAlert("request taken in part", row.ref, say_taken(row.others_took)) for row in robbed]
    # A window has one batch; what comes later in it is told in the next.
    if alerts and tell_alerts(golem=rows[0].golem, source=SOURCE, alerts=alerts, now=now):
        told += _mark(bad)
        told += sum(PendingRequest.objects.filter(pk=r.pk).update(others_told=r.others_took) for r in robbed)
    return told


def _mark(rows: list[PendingRequest]) -> int:
    return sum(PendingRequest.objects.filter(pk=row.pk, state=row.state).update(told_state=row.state) for row in rows)
