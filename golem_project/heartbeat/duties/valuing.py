"""Golems without a heartbeat are looked at too: what they are worth, how far that fell, how much life is left.

An agent that drives its golem over REST alone, or a golem whose heartbeat its owner turned off, still holds what can
fall. Nothing here acts. Seed: 001, "Drawdown"; decisions, "vitality"; decision 0127.
"""

from __future__ import annotations

import logging
from datetime import datetime, timedelta
from typing import Final

from django.conf import settings
from django.db.models import Q

from archetypes_app.actions.update_vitality import VitalityFacts, update_vitality
from archetypes_app.models import Golem
from archetypes_app.toolset import view_golem
from golem_project.heartbeat.steps.observe import read_permit_facts
from permits_app.actions.hold_to_mark import hold_to_mark
from permits_app.actions.record_nav import record_nav
from permits_app.actions.weigh_missing import weigh_missing
from permits_app.permits.blockage import list_silent_chains
from tools_app import runner
from tools_app.core.clock import Deadline
from tools_app.core.errors import GolemError
from tools_app.core.one_by_one import one_by_one
from tools_app.portfolio.holdings import measure_holdings
from tools_app.portfolio.known import list_hints
from tools_app.portfolio.looks import note_look

logger = logging.getLogger(__name__)

VALUE_EVERY: Final = timedelta(minutes=10)
MOST_AT_ONCE: Final = 20
ACTOR: Final = "system:valuing"


def value_unattended(*, now: datetime) -> int:
    """Value golems that nothing has valued for ten minutes, at most twenty; returns how many were."""
    is_ticking = Q(heartbeat__is_on=True)
    # Previews move the mark and measure no life, so the mark says nothing of when a golem was looked at.
    is_fresh = Q(vitality_record__measured_at__gt=now - VALUE_EVERY)
    # In no order: one that cannot be valued keeps no other from its turn.
    due = (
        Golem.objects.filter(retired_at=None)
        .exclude(address="")
        .exclude(home_chain_id__in=list_silent_chains(now=now))
        .exclude(is_ticking)
        .exclude(is_fresh)
        .order_by("?")[:MOST_AT_ONCE]
    )
    return sum(one_by_one(due, lambda golem: _value(golem, now), what="the value of"))


def _value(golem: Golem, now: datetime) -> bool:
    view = view_golem(golem)
    if view.address is None:
        return False
    chain_id = view.home_chain_id
    try:
        deadline = Deadline.after_ms(settings.GOLEM_HEARTBEAT_PROBE_MS)
        chain = runner.open_reader(chain_id, now=now, deadline=deadline)
        hints = list_hints(chain_id=chain_id, account=view.address)
        holdings = measure_holdings(chain=chain, account=view.address, hints=hints)
        block = chain.block
    except GolemError as error:
        logger.info("golem %s is not valued now: %s", golem.pk, error.code)
        return False
    note_look(chain_id=chain_id, account=view.address, asked=hints, holdings=holdings, block=block, now=now)
    holdings = weigh_missing(golem_id=golem.pk, chain_id=chain_id, block_number=block.number, holdings=holdings)
    if hold_to_mark(golem_id=golem.pk, holdings=holdings, now=now) is None:
        return False
    record_nav(golem=golem, chain_id=chain_id, block=block, holdings=holdings, now=now)
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
