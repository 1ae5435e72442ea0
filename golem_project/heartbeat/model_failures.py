"""Handles a model that failed in a tick: what is said, who acts instead, when the owner is told.

A model failed when something ended its thinking early and it had touched no permit. Without a model nothing is lost
but time: the rules act in its place where the owner left that on, and after three ticks in a row people are told once,
and once more when it thinks again.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from archetypes_app.errors import ModelBudgetSpent
from golem_project.heartbeat.cycle_state import CycleState
from golem_project.heartbeat.duties.alerting import RuleAlert, tell_alerts
from golem_project.heartbeat.rule_planner import NAME as RULES
from golem_project.heartbeat.thinking.errors import (
    ModelAnswerInvalid,
    ModelEndpointRefused,
    ModelNotConfigured,
    ModelTimedOut,
    ModelUnavailable,
    ThinkingCancelled,
    ThinkingLoops,
    ThinkingOutOfTime,
    ThinkingTooDear,
    ThinkingTooLong,
)
from golem_project.heartbeat.thinking.planner import Deliberation
from tools_app.core.clock import Deadline
from tools_app.core.units import format_micro_usd

SOURCE: Final = "thinking"
MOST_IN_A_ROW: Final = 3
"""Failed ticks in a row of which people are told."""
THINKS_AGAIN: Final = "it thinks again"
_KEY: Final = "failed_to_think"
_COST_KEY: Final = "failed_to_think_micro_usd"
_TIME_FOR_RULES_MS: Final = 10_000
"""What a model leaves of a tick's time to the rules that stand in for it, a third of it at most."""

_WORDS: Final[Mapping[str, str]] = {
    ModelUnavailable.code: "the language model did not answer",
    ModelTimedOut.code: "the language model did not answer in time",
    ModelAnswerInvalid.code: "the language model's answer could not be read",
    ModelBudgetSpent.code: "the day's budget for the language model is spent",
    ModelNotConfigured.code: "no language model is set up on this server",
    ModelEndpointRefused.code: "the language model's address is none this server may speak to",
    ThinkingOutOfTime.code: "the tick's time was over before the language model had its last word",
    ThinkingTooLong.code: "the language model took more steps than one tick may",
    ThinkingLoops.code: "the language model asked the same again and again",
    ThinkingTooDear.code: "its next request could have cost more than it may",
    ThinkingCancelled.code: "its thinking was cancelled",
}


def has_failed(deliberation: Deliberation) -> bool:
    """Whether a model's thinking ended early with nothing begun, so that somebody else may act in its place."""
    return deliberation.planner != RULES and bool(deliberation.stopped_by) and not deliberation.touched


def describe_failure(code: str) -> str:
    """Why it could not think, in words that stand in a sentence."""
    return _WORDS.get(code, f"its thinking was ended early ({code})")


def leave_time_for_rules(deadline: Deadline) -> Deadline:
    """The time a model has when rules stand in for it."""
    left = deadline.remaining_ms()
    return Deadline.after_ms(left - min(_TIME_FOR_RULES_MS, left // 3))


def count_failures(state: CycleState) -> int:
    """Ticks in a row in which the model failed, with this one; one in which no model was asked counts for nothing."""
    before = state.begun.memory.failed_to_think or 0
    asked = [each for each in state.deliberations if each.planner != RULES]
    if not asked:
        return before
    return before + 1 if has_failed(asked[-1]) else 0


def sum_costs_of_failures(state: CycleState) -> int:
    """Micro-USD that the failed ticks in a row cost, with this one."""
    if not count_failures(state):
        return 0
    before = state.begun.memory.failed_to_think_micro_usd or 0
    return before + sum(each.cost_micro_usd for each in state.deliberations if has_failed(each))


def remember_failures(state: CycleState) -> dict[str, object]:
    """For what the next tick starts from."""
    return {_KEY: count_failures(state), _COST_KEY: sum_costs_of_failures(state)}


def tell_failures(state: CycleState) -> None:
    """Tell people with the third failed tick in a row and what they cost, and with the first that thinks again."""
    before, now_failed = state.begun.memory.failed_to_think or 0, count_failures(state)
    if now_failed == MOST_IN_A_ROW and before < MOST_IN_A_ROW:
        failed = next(each for each in state.deliberations if has_failed(each))
        cost = format_micro_usd(sum_costs_of_failures(state))
        words = f"{MOST_IN_A_ROW} ticks in a row: {describe_failure(failed.stopped_by)}. That cost {cost}"
    elif before >= MOST_IN_A_ROW and not now_failed:
        words = THINKS_AGAIN
    else:
        return
    alerts = [RuleAlert("the language model fails", words, "an answer")]
    tell_alerts(golem=state.golem, source=SOURCE, alerts=alerts, now=state.now(), waits_for_window=False)
