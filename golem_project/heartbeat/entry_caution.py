"""Makes entries wait where the market or the golem's own debts speak against them. Pure.

It takes wishes away and can do nothing else: none is added, made larger or changed. What leaves a position and what
lowers a debt never waits. Where nothing is known, the wishes stay as they are, and what is not known is told.

See docs/decisions/0502-liquidity-rule-what-the-index-knows-of-a-market.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from golem_project.heartbeat.debt_health import Alarm, WatchedDebt
from golem_project.heartbeat.liquidity_plan import RuleWish
from tools_app.portfolio.pegs import OffPeg
from tools_app.subsystems.intel.entry_doubts import doubt_market
from tools_app.subsystems.intel.indexed_market import KnownMarket

DEBT_IN_DANGER: Final = "DEBT_IN_DANGER"
OFF_PEG: Final = "TOKEN_OFF_PEG"


@dataclass(frozen=True, slots=True)
class Doubted:
    """A wish that waits, and the code and words of what speaks against it now."""

    wish_key: str
    action_type: str
    code: str
    words: str


def is_entering(wish: RuleWish) -> bool:
    """Whether it puts money to work, rather than taking some out or lowering a debt."""
    return not (wish.is_leaving or wish.is_rescue)


def doubt_wishes(
    wishes: Sequence[RuleWish],
    *,
    known: KnownMarket | None,
    debts: Sequence[WatchedDebt],
    size_micro_usd: int,
    off_peg: Sequence[OffPeg] = (),
) -> tuple[Doubted, ...]:
    """The wishes that wait, each with the first thing that speaks against it. `size_micro_usd` is what is put in, and
    `off_peg` are tokens of the pool that left their peg.
    """
    entering = [wish for wish in wishes if is_entering(wish)]
    reasons = [(DEBT_IN_DANGER, each.sentence) for each in debts if each.alarm is not Alarm.CALM]
    reasons += [(OFF_PEG, each.words) for each in off_peg]
    if known is not None:
        reasons += [(each.code.value, each.words) for each in doubt_market(known, size_micro_usd=size_micro_usd)]
    if not reasons:
        return ()
    code, words = reasons[0][0], "; ".join(words for _, words in reasons)
    return tuple(Doubted(wish.key, wish.action_type, code, words) for wish in entering)
