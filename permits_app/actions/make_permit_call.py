"""A stored permit as the call that hooks and reviewers judge; its plan is read from the row, never asked again."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from archetypes_app.models import Golem
from archetypes_app.toolset import view_golem
from permits_app.custody.signing_route import Carrier, find_route
from permits_app.errors import PolicyChanged
from permits_app.limits.payment_hosts import list_allowed
from permits_app.limits.policy import Policy, read_policy
from permits_app.limits.valuation import PlanValue, value_plan
from permits_app.models import ActionPermit
from permits_app.models.permit import PermitStatus
from permits_app.permits.plan_store import decode_plan, read_stated_end
from permits_app.safety.gas_budget import read_promised
from permits_app.safety.hook import HookCall, HookStage
from tools_app import runner
from tools_app.chain.running_code import RunningCode
from tools_app.core.clock import Deadline
from tools_app.standards.deadline_contract import is_there
from tools_app.toolkit.enums import ActionClass
from tools_app.toolkit.golem_toolset import Toolset
from tools_app.toolkit.plan import LocalEffect
from tools_app.toolkit.registry import REGISTRY
from tools_app.toolkit.tooldef import LocalWriteTool, WriteTool

_BUDGET_MS = 10_000


def make_permit_call(
    *, permit: ActionPermit, golem: Golem, toolset: Toolset, now: datetime, policy: Policy | None = None
) -> HookCall:
    """The call of `permit` at the chain's newest block.

    Raises PolicyChanged when another key or account acts for the golem now, and what reading the chain raises.
    """
    tool = find_local_write(permit, toolset) if permit.is_local else REGISTRY.get(permit.tool_name)
    if not isinstance(tool, WriteTool | LocalWriteTool):
        raise TypeError(f"{tool.name} is no write")
    policy = policy or read_policy(golem=golem, toolset=toolset)
    plan = None if permit.is_local else decode_plan(permit)
    chain = runner.open_reader(plan.chain_id, now=now, deadline=Deadline.after_ms(_BUDGET_MS)) if plan else None
    route = find_route(golem=golem, chain=chain) if plan else None
    if route is not None and (route.signer, route.acts_for) != (permit.signer, permit.acts_for):
        raise PolicyChanged("the golem signs with another key since the preview", permit_id=str(permit.pk))
    ends_at = read_stated_end(permit)
    if route is not None and chain is not None and ends_at:
        if not is_there(chain):
            raise PolicyChanged(
                "what ends the owners' signatures by time is not on the chain", permit_id=str(permit.pk)
            )
        route = replace(route, ends_at=ends_at)
    if route is not None and permit.owner_signatures:
        signatures = bytes.fromhex(permit.owner_signatures.removeprefix("0x"))
        route = replace(route, carrier=Carrier.OWNERS, signatures=signatures)
    if route is not None and route.waits_for_owners and permit.status != PermitStatus.AWAITING_APPROVAL:
        raise PolicyChanged("the Safe's owners have to sign this since the preview", permit_id=str(permit.pk))
    return HookCall(
        stage=HookStage.COMMIT,
        golem=golem,
        view=view_golem(golem),
        toolset=toolset,
        tool=tool,
        params=permit.params,
        plan=plan,
        effect=LocalEffect(summary="") if plan is None else None,
        action_class=ActionClass(permit.action_class),
        value=value_plan(plan=plan, chain=chain) if plan and chain else PlanValue(),
        chain=chain,
        limits=policy.limits,
        cage=policy.cage,
        allowlist=list_allowed(policy, golem_id=golem.pk, plan=plan),
        is_venue_trusted=plan is None or policy.trusts(chain_id=plan.chain_id, venue=tool.venue),
        api_key_id=permit.api_key_id,
        now=now,
        own_permit_id=permit.pk,
        route=route,
        promised=read_promised(permit) if plan is not None else None,
        bound=RunningCode.of_dict(permit.code) if permit.code else None,
        action_hash=permit.action_hash,
        alike_hash=str(permit.facts.get("alike", "")),
    )


def find_local_write(permit: ActionPermit, toolset: Toolset) -> LocalWriteTool:
    """The local write a permit is for: a built-in, or one its golem's owner brought and did not revoke.

    Raises PolicyChanged for one that was revoked.
    """
    tool = REGISTRY.get(permit.tool_name) if permit.tool_name in REGISTRY else toolset.tools.get(permit.tool_name)
    if tool is None:
        raise PolicyChanged("the tool was revoked since the preview", permit_id=str(permit.pk))
    if not isinstance(tool, LocalWriteTool):
        raise TypeError(f"{tool.name} is no local write")
    return tool
