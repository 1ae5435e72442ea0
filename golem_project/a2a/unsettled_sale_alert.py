"""Tells owners of golems that sell answers when nobody carries their buyers' payments out, and when somebody does.

One account carries out what is paid to every golem of a server: it is asked once a look for each chain on which
something is sold, and not at all where nothing is. No tick asks; a look is shorter than a tick.
"""

from __future__ import annotations

from datetime import datetime
from typing import Final

from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet, Subquery
from django.db.models.fields.json import KT

from archetypes_app.models import AlertBatch, Golem
from golem_project.a2a import settle_paid_read
from golem_project.a2a.models import OpenedRead
from golem_project.heartbeat.duties.alerting import RuleAlert
from golem_project.heartbeat.duties.position_monitor import tell_news
from permits_app.permits.row_locks import lock_golem
from tools_app.core.isolated_sweeps import one_by_one
from tools_app.core.transaction_retry import retry_aborted

SOURCE: Final = "sales-wait"
AWAY: Final = "payments are not carried out"
BACK: Final = "payments are carried out"
_MOST: Final = 500


def watch_sales(*, now: datetime) -> int:
    """Look once; how many golems' owners were told something. Of more than 500 the rest is told at the next looks."""
    sellers = Golem.objects.filter(Exists(_PRICED), retired_at=None)
    chains = sellers.order_by().values_list("home_chain_id", flat=True).distinct()
    return sum(one_by_one(sorted(chains), lambda chain_id: _watch(sellers, chain_id, now), what="sales on chain"))


def _watch(sellers: QuerySet[Golem], chain_id: int, now: datetime) -> int:
    why = settle_paid_read.say_nobody_is_paid(chain_id=chain_id, now=now)
    told_away = Q(told=AWAY)
    news = Q(told__isnull=True) | ~told_away if why else told_away
    found = sellers.filter(home_chain_id=chain_id).annotate(told=_TOLD).filter(news).order_by("pk")[:_MOST]
    return sum(one_by_one(found, lambda golem: _tell(golem, why, now), what="the sales of"))


@retry_aborted
def _tell(golem: Golem, why: str, now: datetime) -> bool:
    alerts = (RuleAlert(AWAY, why, "nobody is asked to pay and nothing is answered for a price"),) if why else ()
    with transaction.atomic():
        # Of two looks at once the second one sees what the first one told.
        lock_golem(golem.pk)
        return tell_news(golem, alerts, now, source=SOURCE, well=BACK, waits_for_window=False)


_PRICED: Final = OpenedRead.objects.filter(golem=OuterRef("pk"), price_micro_usdc__isnull=False)
_TOLD: Final = Subquery(
    AlertBatch.objects.filter(golem=OuterRef("pk"), source=SOURCE)
    .order_by("-window_start")
    .values(rule=KT("alerts__0__rule"))[:1]
)
