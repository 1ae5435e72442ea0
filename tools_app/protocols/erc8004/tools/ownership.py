"""`identity_transfer_ownership`, `identity_claim_milestone`: an agent handed over, and a tier that was reached."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from tools_app.protocols.erc8004 import math, plans
from tools_app.protocols.erc8004.addresses import IDENTITY, registries_on
from tools_app.protocols.erc8004.agent_ids import AgentIdText, agent_on
from tools_app.protocols.erc8004.agent_reputation import read_standing
from tools_app.protocols.erc8004.errors import AgentNotOwned, MilestoneNotReached
from tools_app.protocols.erc8004.reads import read_agent
from tools_app.protocols.erc8004.tools.family import identity_on
from tools_app.protocols.erc8004.tools.register import check_managed
from tools_app.standards import erc8004
from tools_app.toolkit.context import ReadCall, WriteContext
from tools_app.toolkit.enums import ActionClass, RiskLayer
from tools_app.toolkit.params import Address
from tools_app.toolkit.plan import TxPlan
from tools_app.toolkit.report import Report, told

Milestone = Annotated[Literal["silver", "gold", "platinum"], Field(description="The tier that was reached.")]


class OwnershipReport(Report):
    """Who has the agent now."""

    agent_id: str
    owner: str = told("recipient")


class MilestoneReport(Report):
    """What the agent's metadata says now."""

    agent_id: str
    tier: str
    points: int


@identity_on.write(
    action_type="transfer_agent",
    risk=RiskLayer.BOUNDED,
    report=OwnershipReport,
    action_class=ActionClass.NEW_POSITION,
    privileged=True,
    snippet="transfer_agent: hand one of the golem's agents to a recipient its owner registered; not undone from here.",
    guidelines=("With the agent goes all that was said of it; only its new owner can give it back.",),
)
def identity_transfer_ownership(ctx: WriteContext, agent_id: AgentIdText, recipient: Address) -> TxPlan:
    """Hand an agent of the golem over to another account.

    Use when its owner moves the golem's identity elsewhere; owners approve it. The agent's wallet is forgotten by it.
    Does not hand over what the golem holds, and does not take the agent back.
    """
    reader = ctx.begin("Reading the agent")
    named, at = agent_on(reader, agent_id), registries_on(reader)
    agent = read_agent(reader, at, named.number)
    if agent.owner != ctx.account or recipient == ctx.account:
        raise AgentNotOwned(
            f"agent {named} belongs to {agent.owner}, and only its owner hands it to somebody else",
            agent_id=agent_id,
            owner=agent.owner,
        )
    ctx.step("Building calls")
    details = {"registry": at[IDENTITY], "agent_id": agent_id, "recipient": recipient}
    return plans.hand_over(reader, at, ctx.account, agent=named, to=recipient, details=details)


@identity_on.write(
    risk=RiskLayer.BOUNDED,
    report=MilestoneReport,
    action_class=ActionClass.NEW_POSITION,
    snippet="claim_milestone: write into an own agent's metadata that it reached silver, gold or platinum; no more.",
    guidelines=("Others count for themselves; a milestone brings no limit and no permission.",),
)
def identity_claim_milestone(ctx: WriteContext, agent_id: AgentIdText, tier: Milestone) -> TxPlan:
    """Write a tier that one of the golem's own agents has reached into its metadata.

    Use to show it to those who do not count themselves. Refused while the points are too few.
    Does not change what the golem itself may do.
    """
    reader = ctx.begin("Reading the agent")
    named, at = agent_on(reader, agent_id), registries_on(reader)
    check_managed(reader, at, named, ctx.account)
    (claimed,) = reader.call_many([ReadCall(at[IDENTITY], erc8004.GET_METADATA, (named.number, plans.MILESTONE_KEY))])
    ctx.step("Counting points")
    points, needed = read_standing(reader, at, named.number).points, math.THRESHOLDS[math.Tier(tier)]
    is_claimed = claimed.ok and bytes(claimed.values[0]) == tier.encode()
    if points < needed or is_claimed:
        raise MilestoneNotReached(
            f"agent {named} has said so already"
            if is_claimed
            else f"{tier} takes {needed} points, and it has {points}",
            agent_id=agent_id,
            points=points,
            needed=needed,
        )
    ctx.step("Building calls")
    details = {"registry": at[IDENTITY], "agent_id": agent_id, "tier": tier, "points": points}
    return plans.claim(reader, at, ctx.account, agent=named, tier=tier, details=details)
