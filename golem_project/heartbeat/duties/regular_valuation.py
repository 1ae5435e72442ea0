"""Golems are looked at between ticks too: what they are worth, how far that fell, how much life is left.

An agent that drives its golem over REST alone, or a golem whose heartbeat its owner turned off, still holds what can
fall; and whatever an action left is looked at soon after its outcome is known. Nothing here acts.

See docs/decisions/0127-drawdown-the-high-water-mark-follows-every-look.md.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final

from django.db.models import F, Q, QuerySet

from archetypes_app.actions.update_vitality import VitalityFacts, update_vitality
from archetypes_app.models import Golem
from golem_project.heartbeat.permit_facts import read_permit_facts
from permits_app.actions.value_golem import value_golem
from permits_app.models import OutcomeRecord
from permits_app.permits.blocked_commits import list_silent_chains
from tools_app.core.clock import AHEAD
from tools_app.core.isolated_sweeps import one_by_one

VALUE_EVERY: Final = timedelta(minutes=10)
LOOK_FOR: Final = timedelta(hours=1)
"""An outcome that nobody could hold to the mark for so long is left to the looks that come anyway."""
MOST_AT_ONCE: Final = 20
ACTOR: Final = "system:valuing"


def value_unattended(*, now: datetime) -> int:
    """Value golems that nothing has valued for ten minutes, at most twenty; returns how many were."""
    is_ticking = Q(heartbeat__is_on=True)
    # Previews move the mark and measure no life, so the mark says nothing of when a golem was looked at.
    is_fresh = Q(vitality_record__measured_at__gt=now - VALUE_EVERY, vitality_record__measured_at__lte=now + AHEAD)
    due = _list_reachable(now).exclude(is_ticking).exclude(is_fresh)
    return sum(one_by_one(_draw(due), lambda golem: _measure_life(golem, now), what="the value of"))


def value_after_outcomes(*, now: datetime) -> int:
    """Value golems with an outcome that came after their mark was last held to, at most twenty; how many were."""
    mark = "permit__golem__high_water_mark"
    is_news = Q(**{mark: None}) | Q(created_at__gte=F(f"{mark}__updated_at"))
    untold = OutcomeRecord.live.filter(is_news, created_at__gt=now - LOOK_FOR)
    due = _list_reachable(now).filter(pk__in=untold.values("permit__golem"))
    return sum(one_by_one(_draw(due), lambda golem: _look(golem, now), what="the value after an outcome of"))


def _list_reachable(now: datetime) -> QuerySet[Golem]:
    alive = Golem.objects.filter(retired_at=None).exclude(address="")
    return alive.exclude(home_chain_id__in=list_silent_chains(now=now))


def _draw(due: QuerySet[Golem]) -> QuerySet[Golem]:
    """In no order: one that cannot be valued keeps no other from its turn."""
    return due.order_by("?")[:MOST_AT_ONCE]


def _look(golem: Golem, now: datetime) -> bool:
    return value_golem(golem=golem, now=now) is not None


def _measure_life(golem: Golem, now: datetime) -> bool:
    holdings = value_golem(golem=golem, now=now)
    if holdings is None:
        return False
    facts = read_permit_facts(golem_id=golem.pk, heartbeat_tick=golem.heartbeat_tick)
    update_vitality(
        golem_id=golem.pk,
        facts=VitalityFacts(
            balance_micro_usd=max(0, holdings.nav_micro_usd),
            predictions=facts.predictions,
            correct_predictions=facts.correct_predictions,
        ),
        now=now,
        actor=ACTOR,
    )
    return True
