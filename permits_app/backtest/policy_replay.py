"""A draft of the policy tried on what the golem asked for: which decisions would flip, and what they were worth.

Each decision is judged by the hooks' own rules on the facts of its moment: the holdings, the mark and the usage as they
were read then. What was refused for another reason than a limit stays refused. What the golem came to hold is taken as
it was: a flip changes what is used up of the limits, not the holdings that later decisions were judged on.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from archetypes_app.models import Golem
from permits_app.approvals.policy_state import PolicyState
from permits_app.backtest.decision_sequence import Course, Predictions
from permits_app.backtest.judge_past_decision import DraftAnswer
from permits_app.backtest.past_decisions import LAST_DECISIONS, PastDecision, list_decisions
from permits_app.models import OutcomeRecord
from permits_app.safety.action_gate import DIVERGENCE_TOLERANCE_BPS
from tools_app.wording.formats import format_usd

ALLOWED: Final = "allowed"


@dataclass(frozen=True, slots=True)
class ReplayLine:
    """One decision under the draft. `flips` when it is the other way round; `unknown` says why it cannot be judged."""

    at: datetime
    what: str
    worth: str
    value_micro_usd: int
    was: str
    becomes: str
    flips: bool
    unknown: str = ""


@dataclass(frozen=True, slots=True)
class RuleCount:
    """How many decisions one rule flips, and what they are worth; `share` is percent of the most frequent one."""

    rule: str
    count: int
    worth: str
    share: int


@dataclass(frozen=True, slots=True)
class DayCount:
    """One day of the period: decisions, and how many of them the draft refuses or allows instead."""

    day: str
    decisions: int
    newly_refused: int
    newly_allowed: int


@dataclass(frozen=True, slots=True)
class PolicyReplay:
    """All of them, oldest first."""

    lines: tuple[ReplayLine, ...]

    @property
    def flipped(self) -> tuple[ReplayLine, ...]:
        """Those that would be decided otherwise."""
        return tuple(line for line in self.lines if line.flips)

    @property
    def unknown(self) -> tuple[ReplayLine, ...]:
        """Those that cannot be judged."""
        return tuple(line for line in self.lines if line.unknown)

    @property
    def newly_refused(self) -> tuple[ReplayLine, ...]:
        """Those that were allowed."""
        return tuple(line for line in self.flipped if line.was == ALLOWED)

    @property
    def newly_allowed(self) -> tuple[ReplayLine, ...]:
        """Those that were refused."""
        return tuple(line for line in self.flipped if line.was != ALLOWED)

    @property
    def flipped_worth(self) -> str:
        """What they were worth together, in dollars."""
        return sum_worth(self.flipped)

    @property
    def rules(self) -> tuple[RuleCount, ...]:
        """What the draft flips by rule, most decisions first."""
        found: dict[str, list[ReplayLine]] = {}
        for line in self.flipped:
            found.setdefault(line.becomes if line.was == ALLOWED else line.was, []).append(line)
        most = max(map(len, found.values()), default=1)
        counts = [
            RuleCount(rule, len(lines), sum_worth(lines), 100 * len(lines) // most) for rule, lines in found.items()
        ]
        return tuple(sorted(counts, key=lambda each: (-each.count, each.rule)))

    @property
    def days(self) -> tuple[DayCount, ...]:
        """The period day by day (UTC), oldest first; days without a decision are left out."""
        found: dict[str, list[ReplayLine]] = {}
        for line in self.lines:
            found.setdefault(line.at.date().isoformat(), []).append(line)
        return tuple(
            DayCount(
                day,
                len(lines),
                sum(line.flips and line.was == ALLOWED for line in lines),
                sum(line.flips and line.was != ALLOWED for line in lines),
            )
            for day, lines in found.items()
        )


def sum_worth(lines: Sequence[ReplayLine]) -> str:
    """What they are worth together, in dollars."""
    return format_usd(sum(line.value_micro_usd for line in lines))


def replay_permits(
    *,
    golem: Golem,
    policy: PolicyState,
    last: int = LAST_DECISIONS,
    on_progress: Callable[[int, int], None] | None = None,
) -> PolicyReplay:
    """Try `policy` on the golem's last decisions; `on_progress` is told how many of how many are done."""
    decisions = list_decisions(golem=golem, last=last)
    return replay_decisions(decisions, policy, predictions=list_predictions(golem), on_progress=on_progress)


def replay_decisions(
    decisions: Sequence[PastDecision],
    policy: PolicyState,
    *,
    predictions: Predictions = (),
    on_progress: Callable[[int, int], None] | None = None,
) -> PolicyReplay:
    """Try `policy` on `decisions`, oldest first. `predictions` are (when, came true), oldest first."""
    if not decisions:
        return PolicyReplay(())
    course = Course(policy, began_at=decisions[0].at, predictions=predictions)
    lines = []
    for done, past in enumerate(decisions, start=1):
        lines.append(_describe(past, course.judge(past).answer))
        if on_progress is not None:
            on_progress(done, len(decisions))
    return PolicyReplay(tuple(lines))


def list_predictions(golem: Golem) -> list[tuple[datetime, bool]]:
    """When each outcome of the golem was seen and whether its prediction came true, oldest first."""
    rows = OutcomeRecord.live.filter(permit__golem=golem, is_cancelled=False).order_by("created_at")
    return [
        (at, is_verified and divergence <= DIVERGENCE_TOLERANCE_BPS)
        for at, is_verified, divergence in rows.values_list("created_at", "is_verified", "divergence_bps")
    ]


def _describe(past: PastDecision, answer: DraftAnswer) -> ReplayLine:
    becomes = "" if answer.unknown else answer.rule or ALLOWED
    return ReplayLine(
        at=past.at,
        what=f"{past.action_type} at {past.venue}",
        worth=format_usd(past.value_micro_usd),
        value_micro_usd=past.value_micro_usd,
        was=past.rule or ALLOWED,
        becomes=becomes,
        flips=not answer.unknown and past.is_allowed != (becomes == ALLOWED),
        unknown=answer.unknown,
    )
