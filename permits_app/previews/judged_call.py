"""Judges one call: by memory, the hooks, the simulation and the guardian, in their order."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from uuid import UUID

from archetypes_app.audit_actor_names import name_key
from archetypes_app.delegation import GUARDIAN
from archetypes_app.models import ApiKey, Golem
from memory_app.memory_adjustments import augment
from permits_app.errors import ReviewVetoed
from permits_app.limits.policy import Policy
from permits_app.limits.valuation import value_gas
from permits_app.permits.market_defaults import MarketDefaults
from permits_app.permits.parameter_sources import word_sources
from permits_app.permits.risk_tier_rules import needs_guardian
from permits_app.previews.approval_wait import cover_wait, find_wait
from permits_app.previews.hook_call import make_hook_call
from permits_app.previews.peg_check import refuse_off_peg
from permits_app.previews.requested_tool import RequestedTool
from permits_app.previews.signed_permits import sign_inside
from permits_app.previews.stopwatch import Stopwatch
from permits_app.reviewers import delegate_to_archetype
from permits_app.safety import hook_chain
from permits_app.safety.gas_budget import GasBudget
from permits_app.safety.hook import HookCall, HookStage
from permits_app.safety.hook_chain import HookReport
from permits_app.safety.risk_tier_of_call import classify_call
from permits_app.safety.run_preview_hooks import judge_call, keep_denial
from tools_app.core.errors import GolemError
from tools_app.standards.one_of_a_kind_tokens import ItemOfMany, check_counted
from tools_app.toolkit.enums import RiskTier
from tools_app.toolkit.golem_toolset import Toolset
from tools_app.toolkit.views import FeeQuote


@dataclass(frozen=True, slots=True)
class JudgedCall:
    """One call after the chain agreed, with everything the permit keeps."""

    call: HookCall
    report: HookReport
    fees: FeeQuote | None
    gas: GasBudget | None
    risk_tier: RiskTier
    review: dict[str, object]
    soft_params: dict[str, object]
    sources: dict[str, str]


def judge(
    *,
    golem: Golem,
    toolset: Toolset,
    policy: Policy,
    asked: RequestedTool,
    market: MarketDefaults,
    action_hash: str,
    api_key_id: UUID | None,
    now: datetime,
    watch: Stopwatch,
) -> JudgedCall:
    """Plan what was asked, with what memory and the market change of it, and have hooks and guardian judge it.

    Raises the handler's error, PolicyRejected, SimulationFailed, ReviewVetoed.
    """
    tool, params = asked.tool, market.apply(asked.params)
    soft = augment(
        golem_id=golem.pk,
        tool_name=tool.name,
        params=params,
        now=now,
        home_chain_id=golem.home_chain_id,
        is_wanted=golem.is_memory_enabled,
    )
    plan_with = partial(
        make_hook_call,
        stage=HookStage.PREVIEW,
        golem=golem,
        toolset=toolset,
        policy=policy,
        tool=tool,
        api_key_id=api_key_id,
        now=now,
        action_hash=action_hash,
    )
    try:
        # A plan on a route that memory chose is a trial: its refusal is no denial of what the agent asked for.
        judge = judge_call if soft.soft_params.route_hint is None else hook_chain.run
        call, report = _plan_and_judge(plan_with, judge, soft.apply(params), policy, watch)
    except GolemError as error:
        if soft.soft_params.route_hint is None or error.http_status >= 500:
            raise
        soft = soft.without_route(error.code)
        call, report = _plan_and_judge(plan_with, judge_call, soft.apply(params), policy, watch)
    call = replace(call, simulation=report.simulation)
    fees: FeeQuote | None = None
    gas: GasBudget | None = None
    if call.chain is not None and call.plan is not None and report.simulation is not None:
        fees, gas = call.chain.fees(), report.gas
    if call.chain is not None and gas is not None:
        micro_usd = value_gas(budget_wei=gas.wei, chain=call.chain)
        call = replace(call, value=replace(call.value, gas_micro_usd=micro_usd, gas_wei=gas.wei))
    tier, review = _review(call)
    watch.lap("gas, risk and review")
    sources = word_sources(
        params=asked.params, given=asked.given, market=market, memory=soft.changes, planned=call.params
    )
    return JudgedCall(call, report, fees, gas, tier, review, soft.as_dict(), sources)


def _plan_and_judge(
    plan_with: Callable[..., HookCall],
    judge: Callable[..., HookReport],
    params: dict[str, object],
    policy: Policy,
    watch: Stopwatch,
) -> tuple[HookCall, HookReport]:
    call = plan_with(params=params)
    wait_seconds = find_wait(call)
    if wait_seconds:
        call = plan_with(params=cover_wait(params, wait_seconds), wait_seconds=wait_seconds)
    refuse_off_peg(call, policy.declared_pegs)
    watch.lap("memory, plan and prices")
    call = sign_inside(call)
    report = judge(call)
    if report.modified_params is not None:
        call = sign_inside(plan_with(params=dict(report.modified_params), wait_seconds=wait_seconds))
        report = _keep_change(report, judge(call, may_modify=False))
    _refuse_many(call, report)
    watch.lap("hooks and simulation")
    return call, report


def _refuse_many(call: HookCall, report: HookReport) -> None:
    """Raises ItemOfMany when more than one of an item would move; it is kept as refused."""
    if call.plan is None or not call.plan.items or report.simulation is None:
        return
    moved = ((each.token, each.token_id, each.amount) for each in report.simulation.unexpected_transfers)
    try:
        check_counted(call.plan.items, moved)
    except ItemOfMany as error:
        keep_denial(call, error, facts=report.facts)
        raise


def _keep_change(first: HookReport, second: HookReport) -> HookReport:
    """What the chain decided of the changed call, with what the hook said that changed it."""
    changed = first.decisions[-1]
    kept = [{**each, **changed} if each["hook"] == changed["hook"] else each for each in second.decisions]
    return replace(second, decisions=tuple(kept))


def _review(call: HookCall) -> tuple[RiskTier, dict[str, object]]:
    tier = classify_call(call)
    if call.plan is None:
        return tier, {}
    # What is promised is not simulated: somebody else reads every word of it, however small it is.
    if call.plan.promise is None and not needs_guardian(
        tier, call.value.spend_micro_usd, call.limits.hot_lane_micro_usd
    ):
        return tier, {}
    # As everything else that the key does is named.
    keys = ApiKey.objects.filter(pk=call.api_key_id) if call.api_key_id is not None else ApiKey.objects.none()
    prefix = keys.values_list("prefix", flat=True).first()
    actor = name_key(prefix) if prefix else "system:runtime"
    review = delegate_to_archetype.review_call(call=call, reviewer=GUARDIAN, actor=actor)
    if not review.is_approved:
        raise ReviewVetoed("; ".join(review.reasons), reviewer=GUARDIAN, reasons=list(review.reasons))
    return tier, review.as_dict()
