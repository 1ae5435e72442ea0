"""Lists the actions that a golem's rule and its debts ask for, and those that wait."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from archetypes_app.models.tick import Regime
from golem_project.heartbeat.cycle_state import CycleState
from golem_project.heartbeat.debt_health import plan_rescues
from golem_project.heartbeat.entry_caution import Doubted, doubt_wishes
from golem_project.heartbeat.liquidity_plan import RuleWish, plan_liquidity
from golem_project.heartbeat.memory_caution import HeldBack, hold_back, leave_out
from golem_project.heartbeat.refused_wish_backoff import REHEARSED, is_waiting
from golem_project.heartbeat.strategies.catalog import (
    find_rotation,
    leave_out_stopped,
    list_keys,
    list_stopped,
    order_by_risk,
    plan_strategies,
)
from golem_project.heartbeat.strategies.strategy import Sight
from golem_project.heartbeat.yield_places import see_places
from permits_app.models.action_record import ActionRecord, ActionState
from permits_app.permits.kept_bounds import read_bounds
from permits_app.permits.latest_action_per_wish import read_latest_actions
from tools_app.chain.chains import get_deployment
from tools_app.portfolio.markets import list_markets
from tools_app.select_tool_for_venue import UnknownAction
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
    by_strategy = frozenset(wish.key for wish in list_strategy_wishes(state))
    held = hold_back(asked, state.recalled, regime=regime, chain_id=state.golem.home_chain_id)
    size = state.rule.target_micro_usd if state.rule is not None else 0
    pool = state.observation.pool
    off_peg = [each for each in state.off_peg if pool is not None and each.peg.token in (pool.token0, pool.token1)]
    doubted = doubt_wishes(
        [wish for wish in asked if wish.key not in by_strategy],
        known=state.known_market,
        debts=state.debts,
        size_micro_usd=size,
        off_peg=off_peg,
    )
    for wish in asked:
        if wish.key in by_strategy:
            # The market of the rule's pool says nothing of what another trade is about.
            bought = [each for each in state.off_peg if each.peg.token == wish.params.get("token_out")]
            doubted += doubt_wishes([wish], known=None, debts=state.debts, size_micro_usd=0, off_peg=bought)
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
    by_strategy = [wish for wish in list_strategy_wishes(state) if wish.is_leaving or not rescues]
    return order_by_risk((*rescues, *by_strategy, *_list_rule_wishes(state, range_bps=range_bps, is_calm=not rescues)))


def _list_rule_wishes(state: CycleState, *, range_bps: int, is_calm: bool) -> list[RuleWish]:
    """What the rule asks for; only what leaves where a debt is in danger or an action about its pair waits."""
    if state.rule is None:
        return []
    wishes = plan_liquidity(
        observation=state.observation, rule=state.rule, phase=Phase(state.golem.phase), range_bps=range_bps
    )
    pair = _list_pair(state)
    is_leaving_only = not is_calm or any(is_about(each, pair) for each in state.waiting_actions)
    stopped = list_stopped(state.strategies, look_for_strategies(state))
    return leave_out_stopped([wish for wish in wishes if wish.is_leaving or not is_leaving_only], stopped)


def list_strategy_wishes(state: CycleState) -> tuple[RuleWish, ...]:
    """What the golem's strategies ask for, by risk."""
    if not state.strategies or state.observation.block is None:
        return ()
    return plan_strategies(state.strategies, look_for_strategies(state))


def look_for_strategies(state: CycleState) -> Sight:
    """What strategies are shown of this look."""
    seen = state.observation
    sight = Sight(
        now=state.now(),
        account=str(state.golem.address),
        phase=Phase(state.golem.phase),
        venue=seen.pool.protocol if seen.pool is not None else next(iter(list_markets(state.golem.home_chain_id)), ""),
        tokens=seen.holdings,
        debts=state.debts,
        whole=seen.whole,
        last_done=_read_last_done(state),
        gas_wei=2 * seen.block.base_fee if seen.block is not None else 0,
    )
    rotation = find_rotation(state.strategies)
    token = sight.token(rotation.token) if rotation is not None else None
    if token is None or not state.offers:
        return sight
    return replace(sight, places=see_places(state.offers, token.token.address, seen.whole, state.golem.home_chain_id))


def _read_last_done(state: CycleState) -> Mapping[str, datetime]:
    """When each wish of the strategies was last carried out; in a rehearsal also when it was last rehearsed."""
    keys = list_keys(state.strategies)
    if state.last_done is None and keys:
        done = (ActionState.EXECUTED,) if state.golem.is_live else (ActionState.EXECUTED, ActionState.REHEARSED)
        latest = read_latest_actions(golem_id=state.golem.pk, keys=keys, states=done)
        state.last_done = {key: row.created_at for key, row in latest.items()}
    return state.last_done or {}


def is_about(action: ActionRecord, pair: frozenset[str]) -> bool:
    """Whether an action that waits moves both tokens of the rule's pool. Where the pool could not be read no pair is
    known, and everything that waits is taken for one that does.
    """
    if action.permit is None or not pair:
        return True
    moved: set[str | None] = {flow.token.address for flow in read_bounds(action.permit.bounds).flows}
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
