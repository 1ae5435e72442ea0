"""Lists the actions that a golem's rule and its debts ask for, and those that wait."""

from __future__ import annotations

from dataclasses import dataclass

from archetypes_app.models.tick import Regime
from golem_project.heartbeat.backoff import REHEARSED, is_waiting
from golem_project.heartbeat.cycle_state import CycleState
from golem_project.heartbeat.debt_health import plan_rescues
from golem_project.heartbeat.entry_caution import Doubted, doubt_wishes
from golem_project.heartbeat.liquidity_plan import RuleWish, plan_liquidity
from golem_project.heartbeat.memory_caution import HeldBack, hold_back, leave_out
from permits_app.models.action_record import ActionRecord
from tools_app.adapters import UnknownAction
from tools_app.chain.chains import get_deployment
from tools_app.toolkit.enums import Phase
from tools_app.toolkit.views import NATIVE


@dataclass(frozen=True, slots=True)
class Weighed:
    """The wishes that are left, and those that wait: for a memory, or for what is known of the market."""

    wishes: tuple[RuleWish, ...]
    held_back: tuple[HeldBack, ...]
    entries_held: tuple[Doubted, ...]


def weigh_wishes(state: CycleState, *, regime: Regime, range_bps: int) -> Weighed:
    """What is asked for, less what memory or the market lets wait."""
    asked = list_wishes(state, range_bps=range_bps)
    held = hold_back(asked, state.recalled, regime=regime, chain_id=state.golem.home_chain_id)
    size = state.rule.target_micro_usd if state.rule is not None else 0
    pool = state.observation.pool
    off_peg = [each for each in state.off_peg if pool is not None and each.peg.token in (pool.token0, pool.token1)]
    doubted = doubt_wishes(asked, known=state.known_market, debts=state.debts, size_micro_usd=size, off_peg=off_peg)
    return Weighed(leave_out(asked, held, doubted), held, doubted)


def list_wishes(state: CycleState, *, range_bps: int) -> tuple[RuleWish, ...]:
    """What a debt in danger asks for, then the golem's rule; nothing without a wallet, while halted, or while an action
    is under way.

    While a debt is in danger, or an action about the rule's own pair waits for somebody, the rule only leaves positions
    and collects their fees: the rest was planned without it. What waits and is about something else holds back nothing.
    """
    if not state.golem.address or state.golem.is_halted or state.permits.unfinished:
        return ()
    # What is in danger comes before what is worth doing.
    rescues = list_rescues(state)
    if state.rule is None:
        return rescues
    wishes = plan_liquidity(
        observation=state.observation, rule=state.rule, phase=Phase(state.golem.phase), range_bps=range_bps
    )
    pair = _list_pair(state)
    is_leaving_only = bool(rescues) or any(is_about(each, pair) for each in state.waiting_actions)
    return (*rescues, *(wish for wish in wishes if wish.is_leaving or not is_leaving_only))


def is_about(action: ActionRecord, pair: frozenset[str]) -> bool:
    """Whether an action that waits moves both tokens of the rule's pool. Where the pool could not be read no pair is
    known, and everything that waits is taken for one that does.
    """
    if action.permit is None or not pair:
        return True
    flows = (*action.permit.bounds.get("spends", ()), *action.permit.bounds.get("receives", ()))
    moved = {flow["token"]["address"] for flow in flows}
    if NATIVE in moved:
        moved.add(get_deployment(action.permit.chain_id).wrapped_native)
    return pair <= moved


def _list_pair(state: CycleState) -> frozenset[str]:
    pool = state.observation.pool
    return frozenset() if pool is None else frozenset({pool.token0, pool.token1})


def list_rescues(state: CycleState) -> tuple[RuleWish, ...]:
    """What lowers the debts that stand under their floor."""
    seen = state.observation
    asked = {each.wish_key for each in state.waiting_actions}
    # An owner who excluded the tool wants to be told and nothing sold or paid.
    final = (REHEARSED, UnknownAction.code)
    refused = {key for key, wait in state.waits.items() if wait.code not in final and is_waiting(wait, now=state.now())}
    return plan_rescues(
        debts=state.debts,
        holdings=seen.whole,
        account=str(state.golem.address),
        now=seen.block.timestamp if seen.block is not None else 0,
        refused=frozenset(refused - asked),
    )
