"""enforce_phase_on_cage: a golem whose phase got worse tells its cage, so that the contract enforces it too.

The session key may make the phase worse and never better; it sends that itself, simulated, stored and then sent like
everything else. Better phases are the owners' to propose. Appends CagePhaseWorsened.
"""

from __future__ import annotations

from datetime import datetime
from typing import Final
from uuid import UUID

from permits_app.execution.session_key_transactions import (
    SessionAct,
    find_own_session,
    is_under_way,
    list_caged,
    send_act,
)
from permits_app.models import ActionPermit
from permits_app.policy_cage.contract import Limit, encode_worsen_phase
from tools_app.core.isolated_sweeps import one_by_one
from tools_app.toolkit.enums import Phase

TOOL_NAME: Final = "worsen_phase"
_ACTOR: Final = "system:phase"


def enforce_phases_on_cages(*, now: datetime) -> int:
    """Every golem behind a cage; how many cages were told. One that fails stops nobody else's."""
    told = one_by_one(
        list_caged(), lambda pk: enforce_phase_on_cage(golem_id=pk, now=now), what="the phase in the cage of golem"
    )
    return sum(permit is not None for permit in told)


def enforce_phase_on_cage(*, golem_id: UUID, now: datetime) -> ActionPermit | None:
    """Tell one cage; the permit as it ended, None where nothing has to be told or no session is there to tell it.

    Raises the node's errors, SimulationFailed, SameActionPending, SignerUnavailable, GolemHalted.
    """
    own = find_own_session(golem_id=golem_id, now=now)
    if own is None:
        return None
    phase = own.golem.phase
    index = tuple(Phase).index(Phase(phase))
    if index <= own.state.limit(Limit.PHASE) or is_under_way(own, tool_name=TOOL_NAME, phase=phase):
        return None
    act = SessionAct(
        tool_name=TOOL_NAME,
        data=encode_worsen_phase(index),
        label=f"make the phase {phase.lower()} in the cage",
        params={"phase": phase},
        event="CagePhaseWorsened",
        facts={"phase": phase},
    )
    return send_act(own, act, chain=own.open_chain(now=now), actor=_ACTOR, now=now)
