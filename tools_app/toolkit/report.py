"""What a write tells of its success, declared field by field: each says where its figure comes from.

    class Borrowed(Report):
        '''What was borrowed.'''

        market: str                              # a detail of the plan, by the same name
        rate: str = told("borrow_rate")          # a detail by another name
        borrowed: TokenAmount = received()       # what the balances say
        shares: str = seen(count_shares)         # worked out from what happened
        note: None = None                        # always the same

A detail is told as the field's type says: a count as text becomes a number, and what was not known stays null.
"""

from __future__ import annotations

import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import NoneType
from typing import Any

from tools_app.toolkit.plan import PlanOutcome, TokenFlow
from tools_app.toolkit.result import TokenAmount
from tools_app.toolkit.views import TokenMeta


@dataclass(frozen=True, slots=True)
class _Source:
    read: Callable[[PlanOutcome], Any]  # Any: each member takes its own type
    is_detail: bool = False


class Report:
    """The own words of a write's success; where it was mined is put beside them (`tools_app/standards/receipts.py`)."""

    @classmethod
    def read(cls, outcome: PlanOutcome) -> Mapping[str, Any]:  # Any: each member takes its own type
        """Every field with its figure. Raises KeyError for a detail that the plan does not have."""
        return {name: _read(cls, name, kind, outcome) for name, kind in fields_of(cls).items()}


def fields_of(report: type[Report]) -> Mapping[str, object]:
    """The fields of a report with their types, in their order."""
    return typing.get_type_hints(report)


def told(name: str) -> Any:  # Any: each member takes its own type
    """The detail of the plan that has this name."""
    return _Source(lambda outcome: outcome.plan.details[name], is_detail=True)


def spent(place: int = 0) -> Any:  # Any: each member takes its own type
    """What really left of the token that the plan spends, by the balances."""
    return _Source(lambda outcome: amount_spent(outcome, outcome.plan.spends[place].token))


def received(place: int = 0) -> Any:  # Any: each member takes its own type
    """What really came of the token that the plan receives, by the balances."""
    return _Source(lambda outcome: amount_received(outcome, outcome.plan.receives[place].token))


def all_received() -> Any:  # Any: each member takes its own type
    """What really came of every token that the plan receives, each once."""
    return _Source(
        lambda outcome: tuple(amount_received(outcome, token) for token in _tokens_of(outcome.plan.receives).values())
    )


def spent_as(name: str) -> Any:  # Any: each member takes its own type
    """A detail in base units of the token that the plan spends."""
    return _Source(lambda outcome: TokenAmount(int(outcome.plan.details[name]), outcome.plan.spends[0].token))


def received_as(name: str) -> Any:  # Any: each member takes its own type
    """A detail in base units of the token that the plan receives."""
    return _Source(lambda outcome: TokenAmount(int(outcome.plan.details[name]), outcome.plan.receives[0].token))


def seen(read: Callable[[PlanOutcome], Any]) -> Any:  # Any: each member takes its own type
    """What a function makes of what happened."""
    return _Source(read)


def amount_spent(outcome: PlanOutcome, token: TokenMeta) -> TokenAmount:
    """What really left of a token."""
    return TokenAmount(-outcome.deltas.get(token.address, 0), token)


def amount_received(outcome: PlanOutcome, token: TokenMeta) -> TokenAmount:
    """What really came of a token."""
    return TokenAmount(outcome.deltas.get(token.address, 0), token)


def _read(
    report: type[Report],
    name: str,
    kind: object,
    outcome: PlanOutcome,
) -> Any:  # Any: each member takes its own type
    source = getattr(report, name, told(name))
    if not isinstance(source, _Source):
        return source
    value = source.read(outcome)
    return _as_kind(kind, value) if source.is_detail else value


def _as_kind(kind: Any, value: Any) -> object:  # Any: each member takes its own type
    """A plan's details are text and lists; what a field is, its type says."""
    choices = [each for each in typing.get_args(kind) if each is not NoneType] if _is_optional(kind) else [kind]
    if value is None and _is_optional(kind):
        return None
    wanted = typing.get_origin(choices[0]) or choices[0]
    return wanted(value) if wanted in (str, int, bool, tuple, list, dict) else value


def _is_optional(kind: object) -> bool:
    return NoneType in typing.get_args(kind)


def _tokens_of(flows: tuple[TokenFlow, ...]) -> Mapping[str, TokenMeta]:
    return {flow.token.address: flow.token for flow in flows}
