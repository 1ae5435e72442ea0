"""The least policy that would have allowed a recorded period: every limit as tight as the period's calls let it be.

No formula of a rule is inverted here: a limit is moved until the rules themselves refuse the first call. The two that
tighten without an end, collateral ratio and rebalance interval, are left out when no call of the period came near them.
Shares of an issuer, a bridge and an oracle stay as they are: what hung on an oracle is known after a simulation alone.
So does how many actions may be alike: a period without two alike would have the second of them refused from then on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final

from archetypes_app.models import Golem
from permits_app.approvals.policy_state import PolicyState, name_entry, read_policy_state
from permits_app.backtest.decision_sequence import Course, Predictions
from permits_app.backtest.judge_past_decision import DraftQuestion, PolicyDraft, find_wrapped
from permits_app.backtest.past_decisions import MOST_DECISIONS, PastDecision, list_decisions
from permits_app.backtest.policy_replay import ALLOWED, list_predictions, replay_decisions
from permits_app.models.allowlist import AllowlistKind
from permits_app.models.spending import AllowlistMode
from permits_app.safety.drawdown import Fall
from permits_app.safety.hooks.allowlist_guard import find_unlisted
from tools_app.core.json_types import JsonObject
from tools_app.core.units import BPS
from tools_app.toolkit.views import NATIVE

SUGGESTION_DAYS: Final = 7
_ENDLESS: Final = 2**31 - 1
_ENDLESS_MICRO_USD: Final = 2**62
_DAY_SECONDS: Final = 86_400
_GOLDEN: Final = 2_654_435_769


@dataclass(frozen=True, slots=True)
class _Limit:
    """One column and the two ends it is moved between."""

    row: str
    name: str
    tightest: int
    loosest: int

    def with_value(self, policy: PolicyState, value: int) -> PolicyState:
        return {**policy, self.row: {**policy[self.row], self.name: str(value)}}


_LIMITS: Final = (
    *(
        _Limit("limits", f"per_{each}_micro_usd", 0, _ENDLESS_MICRO_USD)
        for each in ("transaction", "tick", "session", "day")
    ),
    *(
        _Limit("limits", f"trading_costs_per_{each}_micro_usd", 0, _ENDLESS_MICRO_USD)
        for each in ("day", "pair", "venue")
    ),
    _Limit("limits", "writes_per_hour", 0, _ENDLESS),
    _Limit("limits", "max_slippage_bps", 0, _ENDLESS),
    _Limit("limits", "max_price_impact_bps", 0, _ENDLESS),
    _Limit("cage", "max_position_bps", 0, BPS),
    _Limit("cage", "max_concentration_bps", 500, BPS),
    _Limit("cage", "min_rebalance_interval_seconds", _DAY_SECONDS, 0),
    _Limit("cage", "max_rebalances_per_day", 0, _ENDLESS),
    _Limit("cage", "min_collateral_ratio_bps", _ENDLESS, 10_500),
)
_MAX_ASSETS: Final = _Limit("cage", "max_assets", 0, _ENDLESS)
_DRAWDOWN: Final = _Limit("cage", "max_drawdown_bps", 100, 5_000)


@dataclass(frozen=True, slots=True)
class SuggestedValue:
    """One part of the least policy. `least` None takes an allowlist entry away."""

    row: str
    name: str
    least: str | None


@dataclass(frozen=True, slots=True)
class Suggestion:
    """The least policy for `covered` calls of the period; `unknown` could not be judged and are not covered.

    `hopeless` were refused and would be under every policy. `values` is empty when no call is covered.
    """

    values: tuple[SuggestedValue, ...]
    covered: int
    unknown: int = 0
    hopeless: int = 0

    def as_changes(self) -> list[JsonObject]:
        """As changes of a policy."""
        return [{"row": each.row, "name": each.name, "after": each.least} for each in self.values]


def suggest_least_policy(
    *,
    golem: Golem,
    now: datetime,
    days: int = SUGGESTION_DAYS,
    with_refused: bool = False,
    on_progress: Callable[[int, int], None] | None = None,
) -> Suggestion:
    """The least policy under which everything the golem was allowed in the last `days` is allowed again.

    With `with_refused`, what a limit refused in that time is allowed too, as far as any policy can. `on_progress` is
    told how many of how many limits are found.
    """
    decisions = list_decisions(golem=golem, last=MOST_DECISIONS, since=now - timedelta(days=days))
    return find_least_policy(
        decisions,
        state=read_policy_state(golem),
        predictions=list_predictions(golem),
        with_refused=with_refused,
        on_progress=on_progress,
    )


def find_least_policy(
    decisions: Sequence[PastDecision],
    *,
    state: PolicyState,
    predictions: Predictions = (),
    with_refused: bool = False,
    on_progress: Callable[[int, int], None] | None = None,
) -> Suggestion:
    """The same for `decisions`, oldest first, beside the policy `state`. Reads nothing."""
    wanted = [past for past in decisions if past.is_allowed or with_refused]
    loosest = _loosest(state)
    asked: dict[int, DraftQuestion] = {}
    unknown = hopeless = 0
    if wanted:
        course = Course(loosest, began_at=decisions[0].at, predictions=predictions)
        for place, past in enumerate(wanted):
            judged = course.judge(past)
            if judged.answer.unknown or judged.question is None:
                unknown += bool(judged.answer.unknown)
                hopeless += not judged.answer.unknown
            elif judged.answer.rule:
                hopeless += 1
            else:
                asked[place] = judged.question
    if not asked:
        return Suggestion((), 0, unknown, hopeless)
    least = _tighten(loosest, wanted, asked, predictions, on_progress or _tell_nobody)
    return Suggestion(tuple(_compare(state, least)), len(asked), unknown, hopeless)


def _tighten(
    loosest: PolicyState,
    wanted: Sequence[PastDecision],
    asked: Mapping[int, DraftQuestion],
    predictions: Predictions,
    on_progress: Callable[[int, int], None],
) -> JsonObject:
    # Spread out, so that a series of ever larger calls does not move a limit once per call.
    questions = [question for _, question in sorted(asked.items(), key=_spread)]
    allowlist = {"allowlist": dict.fromkeys(_list_entries(questions, loosest["allowlist"]), "")}
    strict = {**loosest, **allowlist, "limits": {**loosest["limits"], "allowlist_mode": str(AllowlistMode.STRICT)}}
    found: JsonObject = {"limits": {"allowlist_mode": str(AllowlistMode.STRICT)}, "cage": {}, **allowlist}
    for done, limit in enumerate(_LIMITS):
        on_progress(done, len(_LIMITS) + 3)
        least = _find_least(limit, loosest, questions)
        if least != limit.tightest or limit.loosest > limit.tightest:
            found[limit.row][limit.name] = str(least)
    found["cage"][_MAX_ASSETS.name] = str(_find_least(_MAX_ASSETS, strict, questions))

    def allows_all(policy: PolicyState) -> bool:
        # All of them, for a fall is measured by those too that no policy can allow.
        lines = replay_decisions(wanted, policy, predictions=predictions).lines
        return all(lines[place].becomes == ALLOWED for place in asked)

    def stands(value: int) -> bool:
        return allows_all(_DRAWDOWN.with_value(loosest, value))

    on_progress(len(_LIMITS) + 1, len(_LIMITS) + 3)
    found["cage"][_DRAWDOWN.name] = str(_bisect(_DRAWDOWN, _DRAWDOWN.tightest, stands))
    gated = {**loosest, "cage": {**loosest["cage"], "is_action_gate_on": "True"}}
    found["cage"]["is_action_gate_on"] = str(allows_all(gated))
    return found


def _tell_nobody(done: int, total: int) -> None:
    """For who only waits for the answer."""


def _spread(numbered: tuple[int, DraftQuestion]) -> int:
    return numbered[0] * _GOLDEN % 2**32


def _find_least(limit: _Limit, others: PolicyState, questions: Iterable[DraftQuestion]) -> int:
    """The tightest value under which every question is answered with yes; the other limits do not bind."""
    value = limit.tightest
    draft = PolicyDraft(limit.with_value(others, value))
    for question in questions:
        if _is_allowed(question, draft):
            continue

        def passes(tried: int, question: DraftQuestion = question) -> bool:
            return _is_allowed(question, PolicyDraft(limit.with_value(others, tried)))

        value = _bisect(limit, value, passes)
        draft = PolicyDraft(limit.with_value(others, value))
    return value


def _bisect(limit: _Limit, start: int, passes: Callable[[int], bool]) -> int:
    """The value closest to `start` that passes, on the way to the loosest one, which does."""
    if passes(start):
        return start
    step = 1 if limit.loosest > start else -1
    refused, allowed = 0, abs(limit.loosest - start)
    while allowed - refused > 1:
        middle = (refused + allowed) // 2
        if passes(start + step * middle):
            allowed = middle
        else:
            refused = middle
    return start + step * allowed


def _is_allowed(question: DraftQuestion, draft: PolicyDraft) -> bool:
    chain_id = question.call.plan.chain_id if question.call.plan is not None else 0
    call = replace(question.call, limits=draft.limits, cage=draft.cage, allowlist=draft.allowlist_on(chain_id))
    # Whether a fall stands depends on all calls before; it is looked at by itself.
    quiet = replace(question, call=call, rows=replace(question.rows, fall=Fall()))
    return not quiet.ask(Fall()).rule


def _list_entries(questions: Iterable[DraftQuestion], known: Mapping[str, str]) -> list[str]:
    """Allowlist entries without any of which a call would be refused; entries of now are preferred to new ones."""
    needed: set[str] = set()
    either: list[tuple[str, str]] = []
    for question in questions:
        call = question.call
        if call.plan is None:
            continue
        wrapped = find_wrapped(call)
        touched = find_unlisted(
            plan=call.plan, account=call.view.address or "", allowlist=frozenset(), wrapped_native=wrapped
        )
        for touch in touched:
            own = name_entry(call.plan.chain_id, str(touch.kind), touch.address)
            other = _other_entry(call.plan.chain_id, touch.kind, touch.address, wrapped)
            if other is None:
                needed.add(own)
            else:
                either.append((own, other))
    for own, other in either:
        if other not in needed:
            needed.add(other if other in known and own not in known else own)
    # One that was added for its own sake may cover what another was added for.
    covered = {own for own, other in either if other in needed}
    return sorted(needed - covered)


def _other_entry(chain_id: int, kind: AllowlistKind, address: str, wrapped: str | None) -> str | None:
    """A second entry that would allow the same: a contract for a spender, the wrapped token for the coin."""
    if kind is AllowlistKind.SPENDER:
        return name_entry(chain_id, str(AllowlistKind.CONTRACT), address)
    if kind is AllowlistKind.TOKEN and address == NATIVE and wrapped is not None:
        return name_entry(chain_id, str(AllowlistKind.TOKEN), wrapped)
    return None


def _loosest(state: PolicyState) -> JsonObject:
    policy: JsonObject = {
        "limits": {**state["limits"], "allowlist_mode": str(AllowlistMode.OFF)},
        "cage": {**state["cage"], "is_action_gate_on": "False"},
        "allowlist": dict(state["allowlist"]),
    }
    for limit in (*_LIMITS, _MAX_ASSETS, _DRAWDOWN):
        policy[limit.row][limit.name] = str(limit.loosest)
    return policy


def _compare(state: PolicyState, least: PolicyState) -> Iterable[SuggestedValue]:
    for row in ("limits", "cage"):
        for name, value in least[row].items():
            yield SuggestedValue(row, name, value)
    for key in sorted(set(state["allowlist"]) - set(least["allowlist"])):
        yield SuggestedValue("allowlist", key, None)
    for key in sorted(set(least["allowlist"]) - set(state["allowlist"])):
        yield SuggestedValue("allowlist", key, "used in the period")
