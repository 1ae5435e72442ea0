"""Reads what strategies a golem has, and puts the wishes of all of them in one order: by risk, then by strategy."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, Final

from golem_project.heartbeat.liquidity_plan import RuleWish
from golem_project.heartbeat.strategies.limit_ladder import LimitLadder
from golem_project.heartbeat.strategies.loan_keeper import LoanKeeper
from golem_project.heartbeat.strategies.regular_purchase import RegularPurchase
from golem_project.heartbeat.strategies.stop_orders import StopOrders
from golem_project.heartbeat.strategies.strategy import RuleStrategy, Sight
from golem_project.heartbeat.strategies.target_weights import TargetWeights
from golem_project.heartbeat.strategies.yield_rotation import YieldRotation
from tools_app.core.errors import InvalidParams

STRATEGIES: Final[Mapping[str, type[RuleStrategy]]] = {
    each.kind: each for each in (LoanKeeper, StopOrders, TargetWeights, YieldRotation, LimitLadder, RegularPurchase)
}
"""By kind; of wishes of one risk those of the first come first."""


def parse_strategies(stored: Mapping[str, Any]) -> tuple[RuleStrategy, ...]:  # Any: JSON of an owner's rule
    """The strategies of a stored object of kind to strategy, in the order of the catalogue.

    Raises InvalidParams whose fields are named `kind.field`.
    """
    wrong = {kind: "there is no such strategy" for kind in stored if kind not in STRATEGIES}
    found: list[RuleStrategy] = []
    for kind, strategy in STRATEGIES.items():
        given = stored.get(kind)
        if not given:
            continue
        if not isinstance(given, Mapping):
            wrong[kind] = "an object"
            continue
        try:
            found.append(strategy.parse(given))
        except InvalidParams as error:
            wrong |= {f"{kind}.{name}": why for name, why in error.data["fields"].items()}
    if wrong:
        raise InvalidParams("a strategy is not complete", fields=wrong)
    return tuple(found)


def list_tokens(strategies: Iterable[RuleStrategy]) -> tuple[str, ...]:
    """Names of the tokens that they have to see."""
    return tuple(dict.fromkeys(name for each in strategies for name in each.tokens))


def find_rotation(strategies: Iterable[RuleStrategy]) -> YieldRotation | None:
    """The one for which places are read."""
    return next((each for each in strategies if isinstance(each, YieldRotation)), None)


def list_keys(strategies: Iterable[RuleStrategy]) -> tuple[str, ...]:
    """Keys of wishes of which they have to know when they were last carried out."""
    return tuple(dict.fromkeys(key for each in strategies for key in each.keys))


def plan_strategies(strategies: Iterable[RuleStrategy], sight: Sight) -> tuple[RuleWish, ...]:
    """What all of them wish now, without what would buy a token that one of them has stopped."""
    chosen = tuple(strategies)
    stopped = list_stopped(chosen, sight)
    seen = replace(sight, stopped=stopped)
    return order_by_risk(leave_out_stopped([wish for each in chosen for wish in each.plan(seen)], stopped))


def list_stopped(strategies: Iterable[RuleStrategy], sight: Sight) -> frozenset[str]:
    """Addresses of tokens that nothing may buy now."""
    return frozenset(token for each in strategies for token in each.list_stopped(sight))


def leave_out_stopped(wishes: Iterable[RuleWish], stopped: frozenset[str]) -> list[RuleWish]:
    """The wishes that put nothing into a stopped token."""
    return [wish for wish in wishes if wish.is_leaving or wish.is_rescue or not stopped & _list_entered(wish)]


def order_by_risk(wishes: Iterable[RuleWish]) -> tuple[RuleWish, ...]:
    """What lowers a risk comes before what only earns; equals stay as they are."""
    return tuple(sorted(wishes, key=lambda wish: wish.rank))


def _list_entered(wish: RuleWish) -> set[str]:
    """Tokens that a wish puts money into."""
    return {str(wish.params[name]) for name in ("token_out", "token0", "token1") if name in wish.params}
