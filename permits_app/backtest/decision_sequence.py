"""A golem's decisions under one draft, one after the other: each on its own facts, corrected by the flips before it."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from permits_app.approvals.policy_state import PolicyState
from permits_app.backtest.drawdown_replay import DrawdownFold
from permits_app.backtest.judge_past_decision import (
    BY_CONTRACT,
    NO_REBALANCES,
    NO_TOOL,
    NOT_KEPT,
    OLD_FALL,
    ON_CHAIN,
    REPLAYED,
    DraftAnswer,
    DraftQuestion,
    PolicyDraft,
    make_question,
)
from permits_app.backtest.past_decisions import PastDecision
from permits_app.backtest.usage_correction import UsedUp
from permits_app.safety.action_gate import GATE_WINDOW
from permits_app.safety.drawdown import fall_of
from permits_app.safety.hook_inputs_json import JudgedFacts
from permits_app.safety.hooks.policy_cage import CageRows
from tools_app.toolkit.enums import LEAVING, ActionClass

Predictions = Sequence[tuple[datetime, bool]]


@dataclass(frozen=True, slots=True)
class JudgedDecision:
    """What a draft answers to one decision; `question` is None where no rule was asked."""

    answer: DraftAnswer
    question: DraftQuestion | None = None


class Course:
    """Ask it about every decision once, oldest first."""

    def __init__(self, policy: PolicyState, *, began_at: datetime, predictions: Predictions) -> None:
        self._draft = PolicyDraft(policy)
        self._used_up = UsedUp()
        self._falls = DrawdownFold(most_bps=self._draft.cage.max_drawdown_bps, began_at=began_at)
        self._predictions = predictions
        self._times = [at for at, _ in predictions]

    def judge(self, past: PastDecision) -> JudgedDecision:
        """What the draft answers to `past`; notes it when that is a flip."""
        if past.rule == BY_CONTRACT:
            return JudgedDecision(DraftAnswer(unknown=ON_CHAIN))
        if past.rule and not past.rule.startswith(REPLAYED):
            return JudgedDecision(DraftAnswer(rule=past.rule))
        if past.facts is None:
            return JudgedDecision(DraftAnswer(unknown=NOT_KEPT))
        return self._judge(past, past.facts)

    def _judge(self, past: PastDecision, facts: JudgedFacts) -> JudgedDecision:
        is_rebalance = past.action_class is ActionClass.REBALANCE
        mark = self._falls.mark_before(facts.mark)
        rows = CageRows(
            fall=fall_of(mark),
            rebalances=self._used_up.correct_rebalances(past, facts.rebalances or ()) if is_rebalance else (),
            predictions=self._list_predictions(past, facts),
            is_conservative=facts.is_conservative,
        )
        question = make_question(
            past,
            self._draft,
            facts=facts,
            rows=rows,
            usage=self._used_up.correct(past, facts),
            costs=self._used_up.correct_costs(past, facts),
        )
        if question is None:
            return JudgedDecision(DraftAnswer(unknown=NO_TOOL))
        fall = None
        if question.measures and facts.portfolio is not None and facts.portfolio.is_complete:
            fall = self._falls.measure(mark, value_micro_usd=facts.portfolio.total_before, at=past.at)
        answer = question.ask(fall)
        if not answer.rule and is_rebalance and facts.rebalances is None:
            return JudgedDecision(DraftAnswer(unknown=NO_REBALANCES), question)
        if not answer.rule and not self._falls.is_known and past.action_class not in LEAVING:
            return JudgedDecision(DraftAnswer(unknown=OLD_FALL), question)
        if not answer.unknown and past.is_allowed != (not answer.rule):
            self._used_up.note(past, question.call, facts, is_allowed=not answer.rule)
        return JudgedDecision(answer, question)

    def _list_predictions(self, past: PastDecision, facts: JudgedFacts) -> list[bool]:
        """Newest first, as the gate counts them; from the outcomes of before where the gate was off."""
        if facts.predictions is not None:
            right, seen = facts.predictions
            return [True] * right + [False] * (seen - right)
        if not self._draft.cage.is_action_gate_on:
            return []
        until = bisect_right(self._times, past.at)
        return [came_true for _, came_true in self._predictions[max(0, until - GATE_WINDOW) : until]][::-1]
