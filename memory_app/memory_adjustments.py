"""Augment: what memory may do to an action before it is previewed, which is slippage, timing and route, and no more.

That is a type: `SoftParams` has no other member. What consolidation learned tightens slippage (never above what was
asked for, never under half of it), moves a deadline by half at most, and names a route to prefer where the action
names none, with the episodes behind each change. A route is a word of a fixed grammar that chooses among those the
tool finds. It never loads the embedding model, because it runs inside the simulation worker on the way of every
preview: like episodes are those of the same tool and tokens, by index.
Memory fails open: a database that is slow or away costs the augmentation, not the preview.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import Error, connection, transaction
from django.db.models import F, Q, QuerySet, Value

from memory_app.decay import retention_at
from memory_app.filters import EpisodeFilters, select_episodes
from memory_app.heuristic_confidence import Belief, age_of, fade_factor
from memory_app.models import Insight
from memory_app.models.insight import (
    LARGEST_DEADLINE_FACTOR_BPS,
    LEAST_FACTOR_BPS,
    LEAST_PERCENT_TO_TUNE,
    Kind,
    Tunable,
)
from memory_app.token_keys import name_token
from tools_app.core.compiled_query import CompiledStatement
from tools_app.core.prepared_statements import Prepared, fetch_together
from tools_app.core.units import BPS

logger = logging.getLogger(__name__)

_MOST_EPISODES = 5
_RECENT = 50
NOTHING_LEARNED = "like episodes are shown; nothing has been learned from them that would change a parameter"
LEARNED = "slippage was tightened: like actions went as predicted"
LEARNED_TIMING = "the deadline was moved: like actions were mined too late, or no longer are"
LEARNED_ROUTE = "a route was preferred: like swaps through another fell further short of their previews"
ROUTE_LEFT_OUT = "the route memory prefers was left out again"
_PARAMETER_OF = {"slippage_bps": "slippage_bps", "deadline_seconds": "deadline", "route_hint": "route"}
"""How tools name what SoftParams holds."""
SHORTEST_DEADLINE_SECONDS = 30
LONGEST_DEADLINE_SECONDS = 1_800
NO_EPISODES = "this golem remembers nothing like it"
UNAVAILABLE = "memory did not answer in time; the action goes on without it"


@dataclass(frozen=True, slots=True)
class SoftParams:
    """The only parameters memory can touch. None leaves what was asked for.

    Slippage in basis points, deadline in seconds from the preview, route as the tool names it, with @ and how many
    basis points more than the best one it may cost.
    """

    slippage_bps: int | None = None
    deadline_seconds: int | None = None
    route_hint: str | None = None


@dataclass(frozen=True, slots=True)
class Augmentation:
    """What memory says about one action: soft parameters, the episodes behind them, and why."""

    soft_params: SoftParams = field(default_factory=SoftParams)
    episode_ids: tuple[UUID, ...] = ()
    note: str = NO_EPISODES
    is_available: bool = True
    behind: Mapping[str, tuple[UUID, ...]] = field(default_factory=dict)
    before: Mapping[str, int | None] = field(default_factory=dict)
    """What each changed parameter was without memory; None where none was named."""

    @property
    def changes(self) -> dict[str, int | str]:
        """The soft parameters that memory sets, by the name tools give them."""
        values = asdict(self.soft_params)
        return {_PARAMETER_OF[name]: value for name, value in values.items() if value is not None}

    def as_dict(self) -> dict[str, Any]:  # Any: a column's value, of any type
        """JSON-ready form for the permit."""
        return {
            "changes": self.changes,
            "episode_ids": [str(episode_id) for episode_id in self.episode_ids],
            "note": self.note,
            "is_available": self.is_available,
            "behind": {name: [str(episode_id) for episode_id in ids] for name, ids in self.behind.items()},
            "before": dict(self.before),
        }

    def apply(self, params: Mapping[str, object]) -> dict[str, Any]:  # Any: a column's value, of any type
        """The parameters with what memory changes of those that the tool takes."""
        return {**params, **{name: value for name, value in self.changes.items() if name in params}}

    def without_route(self, reason: str) -> Augmentation:
        """The same but for the route, which could not be taken: `reason` is the code of the error."""
        return replace(
            self,
            soft_params=replace(self.soft_params, route_hint=None),
            note=f"{self.note}; {ROUTE_LEFT_OUT} ({reason})",
            behind={name: ids for name, ids in self.behind.items() if name != Tunable.ROUTE},
            before={name: value for name, value in self.before.items() if name != Tunable.ROUTE},
        )


def augment(
    *,
    golem_id: UUID,
    tool_name: str,
    params: Mapping[str, Any],  # Any: a tool's parameters, read by its schema
    now: datetime,
    home_chain_id: int | None = None,
    is_wanted: bool = True,
) -> Augmentation:
    """Up to five of this tool's last fifty episodes, same tokens first, then the best retained. Never raises.

    Tokens count by what they are, on the chain that `params` name or else on `home_chain_id`. `is_wanted` is the
    golem's own switch. Waits at most GOLEM_MEMORY_AUGMENT_TIMEOUT_MS for the database and changes nothing in it.
    """
    if not settings.GOLEM_MEMORY_ENABLED or not is_wanted:
        return Augmentation(note="memory is switched off", is_available=False)
    try:
        found, tunings = _find_alike(golem_id, tool_name, params, now, home_chain_id)
    except Error:
        logger.warning("augmentation was skipped", exc_info=True)
        return Augmentation(note=UNAVAILABLE, is_available=False)
    soft, notes, behind = SoftParams(), [], {}
    for name, tuning in tunings.items():
        if name is Tunable.ROUTE:
            # What the agent names wins.
            if "route" in params and params["route"] is None and _is_within(params, tuning.route_most_amount):
                soft = replace(soft, route_hint=tuning.route)
                notes.append(LEARNED_ROUTE)
                behind[name.value] = tuning.episode_ids
            continue
        asked = params.get(name.value)
        if not isinstance(asked, int) or isinstance(asked, bool):
            continue
        if name is Tunable.SLIPPAGE:
            tightened = tighten_slippage(asked_bps=asked, factor_bps=tuning.factor_bps)
            if tightened < asked:
                soft = replace(soft, slippage_bps=tightened)
                notes.append(LEARNED)
                behind[name.value] = tuning.episode_ids
        else:
            moved = move_deadline(asked_seconds=asked, factor_bps=tuning.factor_bps)
            if moved != asked:
                soft = replace(soft, deadline_seconds=moved)
                notes.append(LEARNED_TIMING)
                behind[name.value] = tuning.episode_ids
    note = "; ".join(notes) or (NOTHING_LEARNED if found else NO_EPISODES)
    before = {name: params[name] for name in behind}
    return Augmentation(soft_params=soft, episode_ids=found, note=note, behind=behind, before=before)


def move_deadline(*, asked_seconds: int, factor_bps: int) -> int:
    """The deadline in seconds a heuristic leaves: between half and one and a half times what was asked.

    It is never made longer than half an hour nor shorter than half a minute; what was asked beyond that stays.
    """
    factor = min(LARGEST_DEADLINE_FACTOR_BPS, max(LEAST_FACTOR_BPS, factor_bps))
    moved = asked_seconds * factor // BPS
    if moved > asked_seconds:
        return max(asked_seconds, min(moved, LONGEST_DEADLINE_SECONDS))
    return min(asked_seconds, max(moved, SHORTEST_DEADLINE_SECONDS))


def tighten_slippage(*, asked_bps: int, factor_bps: int) -> int:
    """The part of the asked slippage a heuristic leaves, in basis points: from half of it, and 1, to all of it."""
    factor = min(BPS, max(LEAST_FACTOR_BPS, factor_bps))
    return min(asked_bps, max(1, asked_bps * factor // BPS))


@dataclass(frozen=True, slots=True)
class _Tuning:
    factor_bps: int
    episode_ids: tuple[UUID, ...]
    route: str = ""
    route_most_amount: Decimal | None = None


def _fade(
    factor_bps: int,
    percent: int,
    supporting: int,
    opposing: int,
    tuned_at: datetime | None,
    is_pinned: bool,
    *,
    now: datetime,
) -> tuple[int, bool]:
    """What is left of a factor after the time since it moved, and whether it is still believed enough to tune."""
    age = age_of(tuned_at, now=now)
    if is_pinned or age <= timedelta(0):
        return factor_bps, True
    belief = Belief.read(supporting=supporting, opposing=opposing, percent=percent)
    return fade_factor(factor_bps, age), belief.faded(age).percent >= LEAST_PERCENT_TO_TUNE


def _is_within(params: Mapping[str, object], most: Decimal | None) -> bool:
    """Whether a swap is no larger than what the fills behind a route speak for."""
    if most is None:
        return True
    amount = str(params.get("amount", ""))
    # What must be received is another token's amount, about which the fills say nothing.
    return not params.get("exact_output") and amount.isdecimal() and int(amount) <= most


def _find_alike(
    golem_id: UUID, tool_name: str, params: Mapping[str, object], now: datetime, home_chain_id: int | None
) -> tuple[tuple[UUID, ...], dict[Tunable, _Tuning]]:
    chain_id = _read_chain(params)
    named = _read_tokens(params, home_chain_id if chain_id is None else chain_id)
    tokens = frozenset(named.values())
    recent, learned = _ask(golem_id, tool_name, sorted(tokens), named.get("token_in", ""), chain_id)
    ranked = sorted(
        (-len(tokens & set(keys)), -retention_at(last_accessed_at=accessed, stability_days=stability, now=now), pk)
        for pk, keys, accessed, stability in recent
    )
    tunings: dict[Tunable, _Tuning] = {}
    for parameter, factor_bps, episode_ids, route, most, percent, *evidence in learned:
        factor_bps, is_in_force = _fade(factor_bps, percent, *evidence, now=now)
        if is_in_force:
            tunings.setdefault(Tunable(parameter), _Tuning(factor_bps, tuple(episode_ids), route, most))
    return tuple(pk for _, _, pk in ranked[:_MOST_EPISODES]), tunings


def _ask(
    golem_id: UUID, tool_name: str, tokens: list[str], first_token: str, chain_id: int | None
) -> tuple[list[Any], list[Any]]:  # Any: a column's value, of any type
    """The last episodes and what was learned, each statement within its time and both in one round trip."""
    episodes = _EPISODES.fill(golem_id, tool_name)
    if chain_id is None:
        tunings = _TUNINGS_AT_HOME.fill(golem_id, tool_name, tokens, first_token)
    else:
        tunings = _TUNINGS.fill(golem_id, tool_name, tokens, first_token, chain_id)
    timeout = _TIMEOUT.fill(timeout=f"{settings.GOLEM_MEMORY_AUGMENT_TIMEOUT_MS}ms")
    # Statements sent together are one transaction by themselves, and the timeout ends with it; within an outer one it
    # is taken off by going back to the savepoint. Nothing was written.
    block = transaction.atomic() if connection.in_atomic_block else nullcontext()
    with block:
        _, recent, learned = fetch_together(timeout, episodes, tunings)
        if connection.in_atomic_block:
            transaction.set_rollback(True)
    return recent, learned


def _select_recent(golem_id: UUID, tool_name: str) -> QuerySet[Any, Any]:  # Any: rows of any model
    rows = select_episodes(golem_id=golem_id, filters=EpisodeFilters(tool_name=tool_name)).order_by("-occurred_at")
    return rows.values_list("pk", "token_keys", "last_accessed_at", "stability_days")[:_RECENT]


def _select_tunings(
    golem_id: UUID, tool_name: str, tokens: list[str], first_token: str, chain_id: int | None = None
) -> QuerySet[Any, Any]:  # Any: rows of any model
    rows = Insight.objects.filter(
        # A route leads one way only.
        Q(route_from="") | Q(route_from=first_token),
        golem_id=golem_id,
        kind=Kind.HEURISTIC,
        tool_name=tool_name,
        # One value, not one for each token: the statement stays the same.
        token_keys=Value(tokens, output_field=Insight._meta.get_field("token_keys")),
        is_quarantined=False,
        archived_at__isnull=True,
        confidence_percent__gte=LEAST_PERCENT_TO_TUNE,
        # Learned on one chain, it says nothing about another; a call that names none runs on the golem's home chain.
        chain_id=F("golem__home_chain_id") if chain_id is None else chain_id,
    )
    return rows.order_by("-confidence_percent", "pk").values_list(
        "parameter",
        "factor_bps",
        "episode_ids",
        "route",
        "route_most_amount",
        "confidence_percent",
        "evidence_for",
        "evidence_against",
        "tuned_at",
        "is_pinned",
    )


_TIMEOUT = Prepared("limit_time", "SELECT set_config('statement_timeout', %(timeout)s, true)")
_STAND_INS = (UUID(int=0), "-")
_EPISODES = CompiledStatement(_select_recent, *_STAND_INS)
_TUNINGS = CompiledStatement(_select_tunings, *_STAND_INS, ["-"], "--", 987_654_321)
_TUNINGS_AT_HOME = CompiledStatement(_select_tunings, *_STAND_INS, ["-"], "--")


def _read_tokens(params: Mapping[str, object], chain_id: int | None) -> dict[str, str]:
    """The keys of every token that `params` name, by parameter."""
    return {
        name: name_token(value, chain_id=chain_id)
        for name, value in params.items()
        if (name.startswith("token") or name.endswith("asset")) and isinstance(value, str)
    }


def _read_chain(params: Mapping[str, object]) -> int | None:
    chain_id = params.get("chain_id")
    return chain_id if isinstance(chain_id, int) else None
