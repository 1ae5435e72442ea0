"""Builds what the hooks judge: a tool's plan with the golem, its limits, the chain and its worth."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from uuid import UUID

from archetypes_app.models import Golem
from archetypes_app.toolset import view_golem
from permits_app.custody.signing_route import end_by_time, find_route
from permits_app.limits.payment_hosts import list_allowed
from permits_app.limits.policy import Policy
from permits_app.limits.valuation import PlanValue, value_plan
from permits_app.permits.equal_actions import hash_alike, hash_meant
from permits_app.permits.permit_lifetime import life_of
from permits_app.safety.chain_facts import expect_chain_facts
from permits_app.safety.hook import HookCall, HookStage
from tools_app import runner
from tools_app.core.clock import Deadline
from tools_app.toolkit.context import ChainReader
from tools_app.toolkit.enums import ActionClass
from tools_app.toolkit.golem_chains import find_chosen
from tools_app.toolkit.golem_toolset import Toolset
from tools_app.toolkit.tooldef import LocalWriteTool, WriteTool

_READ_BUDGET_MS = 10_000


def make_hook_call(
    *,
    stage: HookStage,
    golem: Golem,
    toolset: Toolset,
    policy: Policy,
    tool: WriteTool | LocalWriteTool,
    params: Mapping[str, object],
    api_key_id: UUID | None,
    now: datetime,
    action_hash: str = "",
    wait_seconds: int = 0,
) -> HookCall:
    """Ask the tool for its plan and put together what the hooks judge. `action_hash` names what was asked for, before
    memory or a wait of `wait_seconds` changed `params`; empty: they are it. Raises the handler's error, PriceStale.
    """
    view = view_golem(golem)
    plan, effect, chain, value, route = None, None, None, PlanValue(), None
    if isinstance(tool, LocalWriteTool):
        effect = runner.preview_local(tool=tool, params=params, golem=view, now=now)
    else:
        runner.check_chain(tool=tool, params=params, golem=view)
        chain = open_chain(find_chosen(params, view), now=now)
        expect_chain_facts(chain=chain, account=view.address, tool=tool)
        until = now + life_of(golem=golem, awaits_owner=True)
        route = end_by_time(find_route(golem=golem, chain=chain), chain=chain, at=until)
        plan = runner.build_plan(tool=tool, params=params, golem=view, now=now, chain=chain)
        value = value_plan(plan=plan, chain=chain)
    declared = tool.action_class or (plan.action_class if plan else None) or ActionClass.NEW_POSITION
    return HookCall(
        stage=stage,
        golem=golem,
        view=view,
        toolset=toolset,
        tool=tool,
        params=params,
        plan=plan,
        effect=effect,
        action_class=ActionClass.READ_ONLY if effect is not None and tool.action_class is None else declared,
        value=value,
        chain=chain,
        limits=policy.limits,
        cage=policy.cage,
        allowlist=list_allowed(policy, golem_id=golem.pk, plan=plan),
        is_venue_trusted=plan is None or policy.trusts(chain_id=plan.chain_id, venue=tool.venue),
        api_key_id=api_key_id,
        now=now,
        route=route,
        action_hash=action_hash or hash_meant(golem=golem, tool=tool, params=params),
        alike_hash=hash_alike(golem=golem, tool=tool, params=params) if plan is not None else "",
        wait_seconds=wait_seconds,
    )


def open_chain(chain_id: int, *, now: datetime) -> ChainReader:
    """A reader with the budget of a preview."""
    return runner.open_reader(chain_id, now=now, deadline=Deadline.after_ms(_READ_BUDGET_MS))
