"""RulePlanner: keeps a liquidity position by rules; needs no model and costs nothing.

It is made anew for every look at the chain, asks for one action at a time, and leaves alone what waits after a refusal.
Its other end is `thinking/planner.py`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from golem_project.heartbeat.liquidity_plan import RuleWish
from golem_project.heartbeat.thinking.planner import Deliberation, Situation, WantedAction
from tools_app.core.clock import Deadline

NAME: Final = "rules"


@dataclass(frozen=True, slots=True)
class RulePlanner:
    """Turns the wishes of one look into what the tick does next. `waiting` are keys of wishes that were refused."""

    wishes: tuple[RuleWish, ...]
    waiting: frozenset[str] = frozenset()

    @property
    def name(self) -> str:
        """How the decision record names it."""
        return NAME

    def deliberate(self, *, situation: Situation, deadline: Deadline, now: datetime) -> Deliberation:
        """The first wish that does not wait; nothing when there is none. Never raises."""
        free = choose_wish(self.wishes, self.waiting)
        if free is None:
            return Deliberation(planner=NAME, summary=_word_rest(self.wishes))
        wanted = WantedAction(
            action_type=free.action_type,
            venue=free.venue,
            params=free.params,
            reason=free.reason,
            is_rescue=free.is_rescue,
        )
        return Deliberation(planner=NAME, summary=free.reason, wanted=(wanted,))


def choose_wish(wishes: Iterable[RuleWish], waiting: frozenset[str]) -> RuleWish | None:
    """The most urgent wish that does not wait."""
    return next((wish for wish in wishes if wish.key not in waiting), None)


def _word_rest(wishes: tuple[RuleWish, ...]) -> str:
    if not wishes:
        return "nothing to do"
    return f"waiting after a refusal: {', '.join(wish.key for wish in wishes)}"
