"""The heartbeat's way into delegation: the golem's risk-assessor judges a permit before the tick commits it.

Only archetypes that list the risk-assessor have one; the safety-guardian of the hook chain is asked for all, elsewhere.
Appends DelegationHop and DelegationEnded with the entry `heartbeat`.
"""

from __future__ import annotations

from typing import Final
from uuid import UUID

from archetypes_app.toolset import resolve_toolset
from golem_project.heartbeat.cycle_state import ACTOR, CycleState
from permits_app.actions.make_permit_call import make_permit_call
from permits_app.permits.selectors import load_permit
from permits_app.reviewers import risk_assessor
from permits_app.reviewers.delegate_to_archetype import REVIEWERS, DelegationEntry, close_hop, open_hop
from tools_app.core.errors import GolemError

_INSTRUCTION: Final = "Judge this permit before the tick commits it."


def ask_risk_assessor(state: CycleState) -> tuple[str, str] | None:
    """A code and a reason when it vetoes or cannot be asked; None when it approves, or the archetype has none."""
    golem, permit = state.golem, state.permit
    if permit is None or not golem.archetype.delegates_to.filter(name=risk_assessor.REVIEWER).exists():
        return None
    now = state.now()
    try:
        hop = open_hop(
            golem=golem,
            target=risk_assessor.REVIEWER,
            entry=DelegationEntry.HEARTBEAT,
            actor=ACTOR,
            now=now,
            instruction=_INSTRUCTION,
        )
        row = load_permit(golem=golem, permit_id=UUID(permit["permit_id"]))
        call = make_permit_call(permit=row, golem=golem, toolset=resolve_toolset(golem), now=now)
    except GolemError as error:
        return error.code, f"the risk-assessor could not be asked: {error.detail}"
    review = REVIEWERS[hop.target](call)
    close_hop(hop=hop, outcome={"verdict": review.verdict.value, "reasons": list(review.reasons)}, actor=ACTOR, now=now)
    return None if review.is_approved else ("REVIEW_VETOED", "; ".join(review.reasons))
