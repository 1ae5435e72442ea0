"""preview_action: from an agent's wish to a permit bound to a simulation of the exact bytes.

Reads the chain and simulates with no transaction open; then one short transaction locks the limits row,
reserves the worst case and opens the permit. Emits permit:created; appends PermitCreated.
Seed: 000 "Layer 2"; 002 "Data flow: execute swap"; architecture part 1.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import QuerySet

from archetypes_app.delegation import GUARDIAN
from archetypes_app.errors import GolemHalted
from archetypes_app.models import Golem
from archetypes_app.toolset import add_rescue_tools, resolve_toolset, view_golem
from memory_app.augment import augment
from permits_app.actions.expire import expire_found, fill_lapsed
from permits_app.actions.read_wish import read_params, read_why
from permits_app.actions.request_change import find_waiting_permit, request_permit_approval
from permits_app.actions.take_up_wish import take_up_wish
from permits_app.actions.waiting import cover_wait, find_wait, list_missing, needs_owners
from permits_app.approvals.plan_by_owners import draft_plan
from permits_app.custody.signing_route import find_route
from permits_app.errors import RateLimited, ReviewVetoed, SameActionPending, SpendingLimitExceeded
from permits_app.limits import ledger
from permits_app.limits.policy import Policy, load_for_decision, read_policy
from permits_app.limits.valuation import PlanValue, value_gas, value_plan
from permits_app.models import ActionPermit
from permits_app.models.permit import UNFINISHED, PermitStatus
from permits_app.permits.equality import hash_meant
from permits_app.permits.life import PERMIT_TICKS, life_of
from permits_app.permits.market_defaults import MarketDefaults, SeenRegime, choose_defaults, fill_regime, read_regime
from permits_app.permits.parameter_sources import word_sources
from permits_app.permits.plan_store import encode_batch, encode_bounds, encode_effect_bound
from permits_app.permits.risk import needs_guardian
from permits_app.permits.sealing import hash_plan, hash_simulation
from permits_app.permits.selectors import view_permit
from permits_app.reviewers import delegation_router
from permits_app.safety import hook_chain
from permits_app.safety.chain_facts import expect_chain_facts
from permits_app.safety.gas_budget import GasBudget
from permits_app.safety.hook import HookCall, HookStage
from permits_app.safety.hook_chain import HookReport
from permits_app.safety.hooks.spending_limiter import counts_per_day
from permits_app.safety.judging import judge_call, keep_denial
from permits_app.safety.prediction import describe_expected
from permits_app.safety.tiers import classify_call
from tools_app import runner
from tools_app.adapters import resolve_action
from tools_app.core import audit_log, clock, event_bus
from tools_app.core.clock import Deadline
from tools_app.core.compiled_query import CompiledStatement
from tools_app.core.errors import GolemError
from tools_app.core.events import Event, EventType
from tools_app.core.prepared import fetch_together
from tools_app.core.whole import whole
from tools_app.simulation.engine import SimulationResult
from tools_app.toolkit.context import ChainReader
from tools_app.toolkit.enums import ActionClass, PiTool, RiskTier
from tools_app.toolkit.old_shape import renew_params
from tools_app.toolkit.registry import REGISTRY
from tools_app.toolkit.tooldef import LocalWriteTool, WriteTool
from tools_app.toolkit.toolset import Toolset
from tools_app.toolkit.views import FeeQuote

_READ_BUDGET_MS = 10_000


@dataclass(frozen=True, slots=True)
class _Judged:
    """One call after the chain agreed, with everything the permit keeps."""

    call: HookCall
    report: HookReport
    fees: FeeQuote | None
    gas: GasBudget | None
    risk_tier: RiskTier
    review: dict[str, Any]
    soft_params: dict[str, Any]
    sources: dict[str, str]


@dataclass(frozen=True, slots=True)
class _Asked:
    """A tool and its parameters, defaults filled in; `given` are the names of those the agent wrote itself."""

    tool: WriteTool | LocalWriteTool
    params: dict[str, Any]
    given: frozenset[str]


class _Stopwatch:
    """Milliseconds of each stage, answered with the permit so that a slow preview explains itself."""

    def __init__(self) -> None:
        self.laps: dict[str, float] = {}
        self._since_ms = clock.monotonic_ms()

    def lap(self, name: str) -> None:
        now_ms = clock.monotonic_ms()
        self.laps[name] = round(now_ms - self._since_ms, 1)
        self._since_ms = now_ms


def preview_action(
    *,
    golem_id: UUID,
    api_key_id: UUID | None,
    body: Mapping[str, Any],
    now: datetime,
    actor: str = "system:runtime",
    is_rescue: bool = False,
) -> dict[str, Any]:
    """Judge one action and permit it: the permit, as agents see it.

    `body` has `action_type`, `venue`, `why`, and the action's parameters.

    With `is_rescue`, the health tripwire's own, tools that lower a debt are there whatever the profiles hold.
    Raises GolemHalted, UnknownAction, InvalidParams, a handler's error, PolicyRejected, SimulationFailed,
    ReviewVetoed, TooManyChanges, SameActionPending, SchemaRetired.
    """
    with event_bus.holding(golem_id=golem_id, now=now):
        return _preview(golem_id, api_key_id, body, now, actor, is_rescue)


def _preview(
    golem_id: UUID, api_key_id: UUID | None, body: Mapping[str, Any], now: datetime, actor: str, is_rescue: bool
) -> dict[str, Any]:
    watch = _Stopwatch()
    golem, addresses = load_for_decision(golem_id)
    if golem.is_halted:
        raise GolemHalted("this golem is halted; only its owner can resume it", reason=golem.halt_reason)
    toolset, why = resolve_toolset(golem), read_why(body)
    body, wished_by = take_up_wish(golem_id=golem.pk, body=body, toolset=toolset, now=now)
    asked = _resolve(body, add_rescue_tools(golem, toolset) if is_rescue else toolset, now)
    action_hash = hash_meant(golem=golem, tool=asked.tool, params=asked.params)
    waiting, regime = _find_equal_action(golem, action_hash, now)
    if waiting is not None:
        return {**view_permit(waiting), "timings_ms": watch.laps}
    policy = read_policy(golem=golem, toolset=toolset, addresses=addresses)
    watch.lap("toolset and policy")
    # What a debt in danger asks for is judged and sent as the rules wrote it, whatever the market does.
    market = MarketDefaults() if is_rescue else _follow_market(golem, policy, asked, regime, now)
    judged = _judge(golem, toolset, policy, asked, market, action_hash, api_key_id, now, watch)
    try:
        permit = _open_permit(golem, policy, judged, action_hash, api_key_id, actor, now, why, wished_by)
    except (RateLimited, SpendingLimitExceeded) as error:
        # Only the reservation counts the gas, and what others reserved meanwhile.
        keep_denial(judged.call, error, facts=judged.report.facts)
        raise
    watch.lap("reserve and open the permit")
    return {**view_permit(permit), "missing": list_missing(permit), "timings_ms": watch.laps}


def _resolve(body: Mapping[str, Any], toolset: Toolset, now: datetime) -> _Asked:
    venue = body.get("venue")
    tool = resolve_action(
        pi_tool=PiTool.PREVIEW_ACTION,
        key=str(body.get("action_type", "")),
        venue=str(venue) if venue is not None else None,
        toolset=toolset,
        known=REGISTRY,
    )
    if not isinstance(tool, WriteTool | LocalWriteTool):
        raise TypeError(f"{tool.name} is routed as a write but is none")
    params = renew_params(tool=tool, params=read_params(body), now=now)
    given = frozenset(name for name, value in params.items() if value is not None)
    return _Asked(tool, runner.check_params(tool=tool, params=params), given)


def _follow_market(
    golem: Golem, policy: Policy, asked: _Asked, regime: SeenRegime | None, now: datetime
) -> MarketDefaults:
    return choose_defaults(
        golem=golem,
        tool=asked.tool,
        params=asked.params,
        given=asked.given,
        seen=regime,
        most_slippage_bps=policy.limits.max_slippage_bps,
        now=now,
    )


def _select_equal_actions(golem_id: UUID, action_hash: str) -> QuerySet[Any, Any]:
    states = [str(state) for state in (*UNFINISHED, PermitStatus.AWAITING_APPROVAL)]
    equal = ActionPermit.objects.filter(golem_id=golem_id, action_hash=action_hash, status__in=states)
    return equal.order_by().values_list("status", "pk")


_EQUAL_ACTIONS = CompiledStatement(_select_equal_actions, UUID(int=0), "-")


def _find_equal_action(golem: Golem, action_hash: str, now: datetime) -> tuple[ActionPermit | None, SeenRegime | None]:
    """The permit of an equal action that waits for owners, and the market's regime as the heartbeat last saw it.

    Raises SameActionPending for one that is under way. Expires what has lapsed, before anything counts its
    reservation. Narrow statements in one round trip: nearly every preview finds nothing.
    """
    asked = _EQUAL_ACTIONS.fill(golem.pk, action_hash), fill_lapsed(golem_id=golem.pk, now=now), fill_regime(golem.pk)
    equal, lapsed, regime = fetch_together(*asked)
    expire_found(lapsed, now=now)
    found: dict[str, UUID] = dict(equal)
    for status in UNFINISHED:
        if status in found:
            raise SameActionPending(
                "an equal action is being committed or its outcome is unknown; look its permit up",
                permit_id=str(found[status]),
                permit_status=str(status),
            )
    waiting = find_waiting_permit(golem=golem, action_hash=action_hash) if found else None
    return waiting, read_regime(regime)


def _judge(
    golem: Golem,
    toolset: Toolset,
    policy: Policy,
    asked: _Asked,
    market: MarketDefaults,
    action_hash: str,
    api_key_id: UUID | None,
    now: datetime,
    watch: _Stopwatch,
) -> _Judged:
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
        call, report = _plan_and_judge(plan_with, judge, soft.apply(params), watch)
    except GolemError as error:
        if soft.soft_params.route_hint is None or error.http_status >= 500:
            raise
        soft = soft.without_route(error.code)
        call, report = _plan_and_judge(plan_with, judge_call, soft.apply(params), watch)
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
    return _Judged(call, report, fees, gas, tier, review, soft.as_dict(), sources)


def _plan_and_judge(
    plan_with: Callable[..., HookCall], judge: Callable[..., HookReport], params: dict[str, Any], watch: _Stopwatch
) -> tuple[HookCall, HookReport]:
    call = plan_with(params=params)
    wait_seconds = find_wait(call)
    if wait_seconds:
        call = plan_with(params=cover_wait(params, wait_seconds), wait_seconds=wait_seconds)
    watch.lap("memory, plan and prices")
    report = judge(call)
    if report.modified_params is not None:
        call = plan_with(params=dict(report.modified_params), wait_seconds=wait_seconds)
        report = _keep_change(report, judge(call, may_modify=False))
    watch.lap("hooks and simulation")
    return call, report


def _keep_change(first: HookReport, second: HookReport) -> HookReport:
    """What the chain decided of the changed call, with what the hook said that changed it."""
    changed = first.decisions[-1]
    kept = [{**each, **changed} if each["hook"] == changed["hook"] else each for each in second.decisions]
    return replace(second, decisions=tuple(kept))


def make_hook_call(
    *,
    stage: HookStage,
    golem: Golem,
    toolset: Toolset,
    policy: Policy,
    tool: WriteTool | LocalWriteTool,
    params: Mapping[str, Any],
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
        chain = open_chain(int(params.get("chain_id") or golem.home_chain_id), now=now)
        expect_chain_facts(chain=chain, account=view.address, tool=tool)
        route = find_route(golem=golem, chain=chain)
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
        allowlist=policy.allowlist_on(plan.chain_id) if plan else frozenset(),
        is_venue_trusted=plan is None or policy.trusts(chain_id=plan.chain_id, venue=tool.venue),
        api_key_id=api_key_id,
        now=now,
        route=route,
        action_hash=action_hash or hash_meant(golem=golem, tool=tool, params=params),
        wait_seconds=wait_seconds,
    )


def open_chain(chain_id: int, *, now: datetime) -> ChainReader:
    """A reader with the budget of a preview."""
    return runner.open_reader(chain_id, now=now, deadline=Deadline.after_ms(_READ_BUDGET_MS))


def _review(call: HookCall) -> tuple[RiskTier, dict[str, Any]]:
    tier = classify_call(call)
    if call.plan is None:
        return tier, {}
    # What is promised is not simulated: somebody else reads every word of it, however small it is.
    if call.plan.promise is None and not needs_guardian(
        tier, call.value.spend_micro_usd, call.limits.hot_lane_micro_usd
    ):
        return tier, {}
    actor = f"key:{call.api_key_id}" if call.api_key_id else "system:runtime"
    review = delegation_router.review_call(call=call, reviewer=GUARDIAN, actor=actor)
    if not review.is_approved:
        raise ReviewVetoed("; ".join(review.reasons), reviewer=GUARDIAN, reasons=list(review.reasons))
    return tier, review.as_dict()


@whole
def _open_permit(
    golem: Golem,
    policy: Policy,
    judged: _Judged,
    action_hash: str,
    api_key_id: UUID | None,
    actor: str,
    now: datetime,
    why: str,
    wished_by: dict[str, Any],
) -> ActionPermit:
    call = judged.call
    permit = _make_permit(golem, policy, judged, action_hash, api_key_id, now)
    permit.wished_by = wished_by
    with transaction.atomic():
        (head,) = ledger.reserve(
            permit=permit,
            value=call.value,
            counts_per_day=counts_per_day(call),
            heartbeat_tick=golem.heartbeat_tick,
            now=now,
            along=[audit_log.fill_lock(golem.pk)],
        )
        facts = {
            "permit_id": str(permit.pk),
            "tool_name": permit.tool_name,
            "action_type": permit.action_type,
            "risk_tier": permit.risk_tier,
            "value_micro_usd": str(permit.value_micro_usd),
            "simulation_hash": permit.simulation_hash,
            "expires_at": permit.expires_at.isoformat(),
        }
        created = Event(EventType.PERMIT_CREATED, {**facts, "verdicts": list(permit.hook_decisions)})
        audit_log.append(
            golem_id=golem.pk,
            event="PermitCreated",
            actor=actor,
            data={
                **facts,
                "plan_hash": permit.plan_hash,
                "policy_hash": permit.policy_hash,
                **({"wished_by": wished_by} if wished_by else {}),
            },
            now=now,
            head=head,
            along=[event_bus.fill_events(golem_id=golem.pk, events=[created], now=now)],
        )
        if permit.status == PermitStatus.AWAITING_APPROVAL:
            request_permit_approval(
                permit=permit,
                actor=actor,
                now=now,
                why=why,
                safe_tx=draft_plan(permit, call.sent_by) if call.plan else None,
            )
    return permit


def _make_permit(
    golem: Golem, policy: Policy, judged: _Judged, action_hash: str, api_key_id: UUID | None, now: datetime
) -> ActionPermit:
    call, simulation = judged.call, judged.report.simulation
    awaits_owner = needs_owners(tier=judged.risk_tier, call=call)
    permit = ActionPermit(
        id=uuid.uuid4(),
        golem=golem,
        api_key_id=api_key_id,
        created_at=now,
        tool_name=call.tool.name,
        schema_version=call.tool.schema_version,
        action_type=call.tool.key,
        venue=call.tool.venue,
        chain_id=call.plan.chain_id if call.plan else golem.home_chain_id,
        params=_as_json(call.params),
        action_hash=action_hash,
        action_class=call.action_class.value,
        risk_tier=judged.risk_tier.value,
        is_local=call.plan is None,
        signer=call.sent_by.signer if call.plan else "",
        acts_for=call.sent_by.acts_for if call.plan else "",
        value_micro_usd=call.value.total_micro_usd,
        prices=call.value.as_prices(),
        policy_hash=policy.hash,
        hook_decisions=list(judged.report.decisions),
        facts=dict(judged.report.facts),
        review=judged.review,
        soft_params=judged.soft_params,
        status=PermitStatus.AWAITING_APPROVAL if awaits_owner else PermitStatus.CREATED,
        expires_at=now + life_of(golem=golem, awaits_owner=awaits_owner),
        expires_at_tick=golem.heartbeat_tick + PERMIT_TICKS,
        bounds=encode_bounds(call.plan) if call.plan else encode_effect_bound(call.effect),
        code=judged.report.bound.as_dict() if judged.report.bound else {},
        calls=call.sent_by.encode_sent(call.sent_calls, judged.gas.limits) if call.plan and judged.gas else [],
        batch=encode_batch(call.plan.calls) if call.plan and call.sent_by.acts_for else [],
    )
    if judged.fees is not None:
        permit.max_fee_per_gas = str(judged.fees.max_fee)
        permit.max_priority_fee_per_gas = str(judged.fees.priority_fee)
    permit.expected_outcome = describe_expected(call=call, fees=judged.fees, gas=judged.gas, sources=judged.sources)
    permit.plan_hash = hash_plan(permit)
    if simulation is not None:
        _attach_simulation(permit, simulation)
    return permit


def _attach_simulation(permit: ActionPermit, simulation: SimulationResult) -> None:
    permit.simulation = simulation.as_dict()
    permit.block_number = simulation.block.number
    permit.block_hash = simulation.block.hash
    permit.simulation_hash = hash_simulation(plan_hash=permit.plan_hash, simulation=simulation)


def _as_json(params: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: str(value) if isinstance(value, int) and not isinstance(value, bool) and abs(value) > 2**53 else value
        for name, value in params.items()
    }
