"""run_heartbeat_tick: the nine steps of one tick, in order, once, under a fence.

A quiet tick observes, retrieves, analyses, passes the gate and reflects. One that thinks takes actions one after the
other, each simulated, validated, executed and verified before the next is planned on what it left. Killed anywhere, it
leaves rows from which the next tick goes on: its own row still running, its actions at the step they reached, its
permits to the sweep.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from datetime import datetime

from django.conf import settings
from django.db import DatabaseError

from archetypes_app.models import DecisionCycleRecord
from golem_project.heartbeat import tick_claims
from golem_project.heartbeat.abandoned_ticks import record_abandoned
from golem_project.heartbeat.budget import open_tick_budget
from golem_project.heartbeat.cycle_state import ACTOR, CycleState, Work
from golem_project.heartbeat.planners import choose_planner
from golem_project.heartbeat.steps.alarm import alarm
from golem_project.heartbeat.steps.analyze import analyze
from golem_project.heartbeat.steps.execute import execute
from golem_project.heartbeat.steps.gate import gate
from golem_project.heartbeat.steps.observe import observe
from golem_project.heartbeat.steps.reflect import reflect
from golem_project.heartbeat.steps.retrieve import retrieve
from golem_project.heartbeat.steps.simulate import simulate
from golem_project.heartbeat.steps.study_market import study_market
from golem_project.heartbeat.steps.validate import validate
from golem_project.heartbeat.steps.verify import verify
from golem_project.heartbeat.tick_claims import TickClaim
from golem_project.heartbeat.tick_events import make_opening_events
from golem_project.heartbeat.wait_for_commit import hand_to_worker
from tools_app.core import clock, event_bus
from tools_app.core.blocked_flows import audited
from tools_app.core.errors import GolemError, InternalError

logger = logging.getLogger(__name__)


def run_heartbeat_tick(
    *, claim: TickClaim, now: Callable[[], datetime] = clock.now, work: Work = hand_to_worker
) -> DecisionCycleRecord | None:
    """Run the tick of `claim`; its decision, or None when the claim is not the newest or was begun before.

    What goes wrong inside is in the decision; only a database that fails is raised, and then the lease frees the golem.
    """
    started_ms = clock.monotonic_ms()
    begun = tick_claims.begin_tick(claim=claim, lease_seconds=settings.GOLEM_HEARTBEAT_LEASE_SECONDS, now=now())
    if begun is None:
        return None
    if begun.abandoned_tick_id is not None:
        record_abandoned(tick_id=begun.abandoned_tick_id, golem=begun.golem, now=now())
    with (
        audited(golem_id=begun.golem.pk, actor=ACTOR, now=now),
        event_bus.within_tick(begun.number),
        open_tick_budget(
            theta_seconds=begun.theta_seconds, most_seconds=settings.GOLEM_HEARTBEAT_TICK_SECONDS
        ) as deadline,
    ):
        state = CycleState(
            begun=begun, golem=begun.golem, now=now, deadline=deadline, work=work, choose_planner=choose_planner
        )
        error = _take_steps(state)
        record = reflect(state, duration_ms=int(clock.monotonic_ms() - started_ms), error=error)
    if record is None:
        logger.warning("tick %s of golem %s was taken over", begun.number, begun.golem.pk)
    return record


def _take_steps(state: CycleState) -> GolemError | None:
    try:
        observe(state)
        retrieve(state)
        study_market(state)
        analyze(state)
        gate(state)
        alarm(state)
        if not state.is_quiet:
            _announce(state)
            _note_market(state)
            _act(state)
    except GolemError as error:
        logger.warning("a tick of golem %s failed: %s", state.golem.pk, error.code)
        return error
    except DatabaseError:
        raise
    except Exception:
        logger.exception("a tick of golem %s failed unexpectedly", state.golem.pk)
        return InternalError("the tick failed unexpectedly; the log says how")
    return None


def _act(state: CycleState) -> None:
    """Actions until there is none left to take, or one went otherwise than planned."""
    for _ in range(settings.GOLEM_HEARTBEAT_MOST_ACTIONS):
        simulate(state)
        if state.is_stopped:
            return
        validate(state)
        execute(state)
        verify(state)
        if state.is_stopped:
            return


def _note_market(state: CycleState) -> None:
    """A regime without a price of its own is the one before, and is not said again."""
    if state.observation.price is not None:
        tick_claims.note_regime(begun=state.begun, regime=state.analysis.regime.value, now=state.now())


def _announce(state: CycleState) -> None:
    event_bus.emit_all(
        golem_id=state.golem.pk, events=make_opening_events(state), now=state.now(), heartbeat_tick=state.begun.number
    )
