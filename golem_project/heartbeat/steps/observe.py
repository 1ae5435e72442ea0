"""OBSERVE: the chain in one batch, and what the database says of actions under way. Follows those of earlier ticks."""

from __future__ import annotations

from uuid import UUID

from django.conf import settings

from archetypes_app.toolset import view_golem
from golem_project.heartbeat.cycle_state import CycleState
from golem_project.heartbeat.debt_health import AskedHealth, list_breached, read_debts, read_told, watch_debts
from golem_project.heartbeat.frozen_token_watch import watch_still
from golem_project.heartbeat.liquidity_rule import parse_liquidity_rule
from golem_project.heartbeat.observe_reads import add_elsewhere, observe_chain
from golem_project.heartbeat.peg_watch import watch_pegs
from golem_project.heartbeat.permit_facts import read_permit_facts
from golem_project.heartbeat.refused_wish_backoff import read_waits
from golem_project.heartbeat.strategies.catalog import find_rotation, list_tokens, parse_strategies
from golem_project.heartbeat.strategies.standing_plans import read_standing_plans
from golem_project.heartbeat.unfinished_actions import settle_earlier
from golem_project.heartbeat.yield_places import read_offers
from permits_app.actions.check_drawdown import check_drawdown
from permits_app.actions.note_breached_alerts import note_breached_alerts
from permits_app.actions.note_other_chains import note_other_chains
from permits_app.models import HealthAlert, PolicyCage
from permits_app.models.health_alert import AutoAction
from permits_app.permits.other_chain_holdings import NOWHERE, look_elsewhere
from tools_app import runner
from tools_app.core.clock import Deadline
from tools_app.core.errors import GolemError
from tools_app.portfolio.account_snapshot import note_look
from tools_app.portfolio.remembered_positions import list_hints


def observe(state: CycleState) -> None:
    """Look once. A node or a rule that does not work is an anomaly of the tick, not its end."""
    before = state.begun.memory
    state.waits = read_waits(before.waits)
    state.unheard = list(before.unheard)
    state.told = read_told(before.health)
    state.permits = read_permit_facts(golem_id=state.golem.pk, heartbeat_tick=state.begun.number)
    try:
        state.rule = parse_liquidity_rule(state.begun.liquidity_rule)
    except GolemError as error:
        state.anomalies.append(f"{error.code}: {error.detail}")
    try:
        state.strategies = parse_strategies(state.begun.strategies)
    except GolemError as error:
        state.anomalies.append(f"{error.code}: {error.detail}")
    state.strategies += read_standing_plans(golem_id=state.golem.pk, is_live=state.golem.is_live, now=state.now())
    look(state)
    if state.permits.open_actions:
        # After the look, which prices the gas of what ended.
        settle_earlier(state)


def look(state: CycleState) -> None:
    """See the chain as it is now; a later look in the same tick sees what an action left."""
    view = view_golem(state.golem)
    known = state.observation.known_positions or state.begun.memory.known_positions
    try:
        chain = runner.open_reader(
            view.home_chain_id, now=state.now(), deadline=Deadline.after_ms(settings.GOLEM_HEARTBEAT_PROBE_MS)
        )
    except GolemError as error:
        state.anomalies.append(f"{error.code}: {error.detail}")
        state.reader = None
        watch_health(state)
        return
    state.reader = chain
    hints = list_hints(chain_id=view.home_chain_id, account=view.address) if view.address else ()
    elsewhere = look_elsewhere(
        golem=view,
        own_chain_id=view.home_chain_id,
        own=chain,
        now=state.now(),
        budget_ms=settings.GOLEM_HEARTBEAT_PROBE_MS,
    )
    hints = elsewhere.choose(hints)
    state.observation = observe_chain(
        chain=chain, golem=view, rule=state.rule, known=known, hints=hints, tokens=list_tokens(state.strategies)
    )
    at_home = state.observation.whole
    if at_home is not None and elsewhere is not NOWHERE:
        state.observation = add_elsewhere(
            state.observation, note_other_chains(golem=state.golem, elsewhere=elsewhere, now=state.now())
        )
    whole = state.observation.whole
    if at_home is not None and whole is not None and view.address is not None:
        check_drawdown(golem_id=state.golem.pk, account=view.address, holdings=whole, now=state.now())
        note_look(
            chain_id=view.home_chain_id,
            account=view.address,
            asked=hints,
            holdings=at_home,
            block=chain.block,
            now=state.now(),
        )
    state.anomalies.extend(each for each in state.observation.anomalies if each not in state.anomalies)
    state.off_peg = watch_pegs(
        chain, state.observation, declared=state.permits.declared_pegs, awaited=state.permits.awaited
    )
    state.still = watch_still(chain, view.address, state.observation)
    rotation = find_rotation(state.strategies)
    if rotation is not None and state.offers is None:
        # Rates do not change within a tick by what the golem does: later looks take those of the first.
        state.offers = read_offers(chain, rotation, state.anomalies)
    watch_health(state)


def watch_health(state: CycleState) -> None:
    """How every debt stands against the floor its owner set; a golem without debts asks for no floor."""
    seen = state.observation.whole
    before = read_debts(state.begun.memory.health)
    if not before and (seen is None or all(each.health_bps is None for each in seen.positions)):
        state.debts = ()
        return
    cage = getattr(state.golem, "policy_cage", None) or PolicyCage()
    asked = _read_asked(state.golem.pk)
    state.debts = watch_debts(
        holdings=seen, floor_bps=cage.min_health_bps, told=state.told, remembered=state.debts or before, asked=asked
    )
    note_breached_alerts(
        golem_id=state.golem.pk,
        alert_ids=list_breached(holdings=seen, debts=state.debts, asked=asked),
        now=state.now(),
    )


def _read_asked(golem_id: UUID) -> tuple[AskedHealth, ...]:
    return tuple(
        AskedHealth(
            alert_id=row.pk,
            protocol=row.protocol,
            chain_id=row.chain_id,
            min_health_bps=row.min_health_bps,
            tells=row.notify_on_breach,
            acts=row.auto_action != AutoAction.NONE,
            leaves=row.auto_action == AutoAction.CLOSE,
        )
        for row in HealthAlert.objects.filter(golem_id=golem_id)
    )
