"""risk-assessor: weighs what a call does to the golem, on facts it reads itself at the newest block.

It decodes the calls, or what is signed where nothing is sent, adds up what they can take, holds that to the owner's
limits, simulates the calls again, measures the pools they go through, and estimates from those pools' own history how
likely the call is to revert while its permit waits. A chance above 5% is a veto, a pool worth less than $100,000 a
warning. What the index knows of the pools and what health alerts say is a veto of what enters one, and else a warning.
When it fails it vetoes.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final

from permits_app.reviewers.entry_facts import judge_alerts, judge_known_pools
from permits_app.reviewers.guardian_limits import judge_limits, value_spends
from permits_app.reviewers.pool_facts import PoolOfCalldata, find_pools, value_pool
from permits_app.reviewers.revert_chance import judge_revert_chance, measure_revert_chance
from permits_app.reviewers.review import Review, ReviewVerdict
from permits_app.reviewers.safety_guardian import judge_price, judge_spends
from permits_app.safety.decoding import read_calls, read_promise
from permits_app.safety.hook import HookCall
from permits_app.safety.hooks.simulator import build_request
from tools_app import runner
from tools_app.core.clock import Deadline
from tools_app.core.errors import GolemError
from tools_app.core.units import format_micro_usd
from tools_app.simulation.select import run_simulation
from tools_app.toolkit.context import ChainReader
from tools_app.toolkit.effects import Effects, UnknownCall
from tools_app.toolkit.enums import ENTERING
from tools_app.toolkit.plan import TxPlan

logger = logging.getLogger(__name__)

REVIEWER: Final = "risk-assessor"
THIN_POOL_MICRO_USD: Final = 100_000_000_000
_BUDGET_MS: Final = 10_000


@dataclass(slots=True)
class _ReviewUnderWay:
    """One review under way: the call, the chain at its newest block, and what was found so far."""

    call: HookCall
    plan: TxPlan
    chain: ChainReader
    account: str
    effects: Effects
    pools: tuple[PoolOfCalldata, ...]
    reasons: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    figures: dict[str, object] = field(default_factory=dict)
    spent_micro_usd: int = 0


def review(call: HookCall) -> Review:
    """APPROVE, or VETO with every reason found. Never raises: a reviewer that cannot judge vetoes."""
    try:
        return _judge(call)
    except UnknownCall as error:
        return _veto(f"the calls cannot be read: {error}", "calls decoded")
    except GolemError as error:
        return _veto(f"a fact could not be read: {error.detail}", "facts read")
    except Exception:
        # Whatever broke, the answer to "is this safe?" is no; the trace is in the log.
        logger.exception("the risk-assessor raised")
        return _veto("the reviewer failed and therefore vetoes", "reviewer ran")


def _judge(call: HookCall) -> Review:
    plan, account = call.plan, call.view.address
    if plan is None:
        return Review(REVIEWER, ReviewVerdict.APPROVE, (), ("no transaction",))
    if account is None:
        return _veto("there is no account to judge against", "account present")
    chain = runner.open_reader(plan.chain_id, now=call.now, deadline=Deadline.after_ms(_BUDGET_MS))
    effects = read_calls(plan.calls, account=account, chain=chain)
    if plan.promise is not None:
        read_promise(plan.promise, account=account, chain=chain, into=effects)
    desk = _ReviewUnderWay(call, plan, chain, account, effects, find_pools(effects, chain))
    tolerance = call.limits.max_slippage_bps + call.limits.max_price_impact_bps
    rules: Sequence[tuple[str, Callable[[], None]]] = (
        ("spent equals the plan", lambda: desk.reasons.extend(judge_spends(effects, plan))),
        ("within the owner's limits", lambda: _judge_limits(desk)),
        *((("simulated again at the newest block", lambda: _judge_simulation(desk)),) if plan.calls else ()),
        ("price sanity", lambda: desk.reasons.extend(_judge_price(desk, tolerance))),
        ("depth of the pools", lambda: _weigh_pools(desk)),
        ("chance of a revert at most 5%", lambda: _judge_revert(desk)),
        ("what is known of the pools and of debts in danger", lambda: _judge_known(desk)),
    )
    for _, rule in rules:
        rule()
    desk.figures["block_number"] = chain.block.number
    return Review(
        REVIEWER,
        ReviewVerdict.VETO if desk.reasons else ReviewVerdict.APPROVE,
        tuple(desk.reasons),
        ("calls decoded", *(words for words, _ in rules)),
        tuple(desk.warnings),
        desk.figures,
    )


def _judge_price(desk: _ReviewUnderWay, tolerance: int) -> list[str]:
    return judge_price(desk.plan, desk.chain, most_lost_bps=tolerance, pays=desk.effects.only_pays)


def _judge_limits(desk: _ReviewUnderWay) -> None:
    spent = value_spends(desk.effects, desk.chain)
    desk.spent_micro_usd = spent
    desk.figures["spends_at_most_usd"] = format_micro_usd(spent)
    desk.reasons.extend(judge_limits(desk.call, spent_micro_usd=spent))


def _judge_simulation(desk: _ReviewUnderWay) -> None:
    route = desk.call.sent_by
    request = build_request(plan=desk.plan, route=route, chain=desk.chain)
    result = run_simulation(request, deadline=Deadline.after_ms(_BUDGET_MS))
    desk.figures["simulation"] = result.fidelity
    for call, outcome in zip(request.calls, result.calls, strict=False):
        if not outcome.succeeded:
            desk.reasons.append(f"{call.label} reverts at the newest block: {route.explain(outcome) or 'no reason'}")
    if len(result.calls) != len(request.calls):
        desk.reasons.append("the engine did not run every call")


def _weigh_pools(desk: _ReviewUnderWay) -> None:
    for hook in desk.effects.hooks:
        desk.warnings.append(f"pool {hook.pool} runs the hook {hook.address}, which {hook.words}")
    for pool in desk.pools:
        value = value_pool(pool, desk.chain)
        if value is None:
            desk.warnings.append(f"pool {pool.id} cannot be valued: neither of its tokens has a fresh price")
        elif value < THIN_POOL_MICRO_USD:
            desk.warnings.append(
                f"pool {pool.id} holds only {format_micro_usd(value)}, less than"
                f" {format_micro_usd(THIN_POOL_MICRO_USD)}"
            )
        desk.figures[f"pool_{pool.version}_{pool.id}_usd"] = None if value is None else format_micro_usd(value)


def _judge_revert(desk: _ReviewUnderWay) -> None:
    chance = measure_revert_chance(
        plan=desk.plan, chain=desk.chain, pools=desk.pools, permit_ttl_seconds=desk.call.golem.permit_ttl_seconds
    )
    desk.figures.update(chance.as_figures())
    desk.reasons.extend(judge_revert_chance(chance))


def _judge_known(desk: _ReviewUnderWay) -> None:
    """It can add reasons and warnings alone; what is not known adds neither."""
    doubts, known = judge_known_pools(desk.pools, desk.chain, size_micro_usd=desk.spent_micro_usd)
    desk.figures.update(known)
    if desk.pools:
        doubts += judge_alerts(desk.call.golem.pk, now=desk.call.now)
    # An exchange is over with its block; what is put into a pool stays there.
    is_entry = desk.call.action_class in ENTERING and not desk.plan.receives
    (desk.reasons if is_entry else desk.warnings).extend(doubts)


def _veto(reason: str, check: str) -> Review:
    return Review(REVIEWER, ReviewVerdict.VETO, (reason,), (check,))
