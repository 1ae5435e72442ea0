"""`identity_submit_feedback`: what the golem says of another's agent."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

from tools_app.protocols.erc8004 import plans
from tools_app.protocols.erc8004.addresses import REPUTATION, registries_on
from tools_app.protocols.erc8004.agent_ids import AgentIdText, agent_on
from tools_app.protocols.erc8004.errors import OwnAgentFeedback
from tools_app.protocols.erc8004.reads import STARS, may_manage, read_agent
from tools_app.protocols.erc8004.tools.family import Score, Tag, identity_on
from tools_app.protocols.erc8004.tools.registration_fields import check_published
from tools_app.standards import erc8004
from tools_app.standards.receipts import list_events, read_details
from tools_app.toolkit.answer import Told
from tools_app.toolkit.context import WriteContext
from tools_app.toolkit.enums import ActionClass, RiskLayer
from tools_app.toolkit.params import PLAIN
from tools_app.toolkit.plan import PlanOutcome, TxPlan

Review = Annotated[str, Field(min_length=1, max_length=500, description="What to publish with the score."), PLAIN]


class FeedbackReport(Told):
    """`feedback_id` is agent, client and the client's own count of what it said of the agent."""

    feedback_id: str | None
    agent_id: str
    score: int


@dataclass(frozen=True, slots=True)
class _Details:
    registry: str
    agent_id: str
    score: int


def report_feedback(outcome: PlanOutcome) -> FeedbackReport:
    """The count out of the registry's own event."""
    details = read_details(_Details, outcome)
    told = list_events(outcome, erc8004.FEEDBACK_GIVEN, contract=details.registry)
    mine = [each.feedback_index for each in told if each.client_address == outcome.account]
    return FeedbackReport(
        feedback_id=f"{details.agent_id}:{outcome.account}:{mine[0]}" if mine else None,
        agent_id=details.agent_id,
        score=details.score,
    )


@identity_on.write(
    action_type="give_feedback",
    risk=RiskLayer.BOUNDED,
    report=report_feedback,
    action_class=ActionClass.NEW_POSITION,
    snippet="give_feedback: publish 0 to 5 stars, in hundredths, about another's agent; stays on the chain for ever.",
    guidelines=("Say only what the golem itself has seen of the agent's work.",),
)
def identity_submit_feedback(
    ctx: WriteContext,
    agent_id: AgentIdText,
    score: Score,
    tag1: Tag | None = None,
    tag2: Tag | None = None,
    review: Review | None = None,
) -> TxPlan:
    """Publish what the golem thinks of another's agent, as stars with tags and a review.

    Use after work with the agent is done. Without tag1 it counts as the standard's rating, starred.
    Does not rate an agent that the golem's account owns or manages: the standard forbids it.
    """
    check_published(review=review, tag1=tag1, tag2=tag2)
    reader = ctx.begin("Reading the agent")
    named, at = agent_on(reader, agent_id), registries_on(reader)
    agent = read_agent(reader, at, named.number)
    if may_manage(reader, at, agent, ctx.account):
        raise OwnAgentFeedback(f"agent {named} is this golem's own to manage", agent_id=agent_id)
    ctx.step("Building calls")
    given = plans.OwnFeedback(score, tag1 or STARS, tag2 or "", review)
    details = {"registry": at[REPUTATION], "agent_id": agent_id, "score": score}
    return plans.give_feedback(reader, at, ctx.account, agent=named, given=given, details=details)
