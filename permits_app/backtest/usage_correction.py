"""Corrects used-up limits for a draft's other answers: sums, writes and rebalances.

The figures read with each decision are the basis, so that a draft that changes nothing changes no figure; only the
decisions that flipped before it are added or taken away.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from permits_app.backtest.past_decisions import PastDecision
from permits_app.limits.trading_costs import CostsUsed, TradeCost
from permits_app.limits.usage import Usage
from permits_app.safety.hook import HookCall
from permits_app.safety.hook_inputs_json import JudgedFacts
from permits_app.safety.hooks.spending_limiter import counts_per_day

DAY: Final = timedelta(hours=24)
HOUR: Final = timedelta(hours=1)
WEEK: Final = timedelta(days=7)
_KEPT_ONE_BY_ONE: Final = 2 * DAY


@dataclass(frozen=True, slots=True)
class Flip:
    """One decision that went the other way: `sign` is 1 when the draft allows it, -1 when it refuses it."""

    past: PastDecision
    sign: int
    tick: int
    counts_per_day: bool
    trade: TradeCost | None = None

    def amount_at(self, time: datetime) -> int:
        """Micro-USD to add at `time`."""
        return self.sign * self.past.claim.amount_at(time)

    def is_of_day(self, time: datetime) -> bool:
        """Whether it is of the 24 h that end at `time`."""
        return self.counts_per_day and self.is_within(DAY, time)

    def is_within(self, window: timedelta, time: datetime) -> bool:
        """Whether it counts in the `window` that ends at `time`: from its block once it is settled, until then
        whenever it was made.
        """
        claim = self.past.claim
        if claim.ended_at is None or time < claim.ended_at:
            return True
        return (claim.settled_at or self.past.at) > time - window


class UsedUp:
    """The flips so far. Decisions are noted and asked about in their order."""

    def __init__(self) -> None:
        self._recent: list[Flip] = []
        self._by_key: dict[UUID, int] = {}
        self._keyless: list[Flip] = []

    def note(self, past: PastDecision, call: HookCall, facts: JudgedFacts, *, is_allowed: bool) -> None:
        """Remember that the draft answers otherwise than it was."""
        flip = Flip(past, 1 if is_allowed else -1, facts.tick, counts_per_day(call), facts.trade)
        self._recent.append(flip)
        if past.key_id is None:
            self._keyless.append(flip)

    def correct(self, past: PastDecision, facts: JudgedFacts) -> Usage:
        """What the draft has used up before `past`."""
        self._fold(past.at)
        now, read = past.at, facts.usage
        held = [flip for flip in self._recent if flip.past.claim.is_held_at(now)]
        session = self._by_key.get(past.key_id, 0) if past.key_id is not None else self._sum_keyless(now)
        tick = day = writes = 0
        for flip in held:
            amount = flip.amount_at(now)
            if facts.tick and flip.tick == facts.tick:
                tick += amount
            if past.key_id is not None and flip.past.key_id == past.key_id:
                session += amount
            if flip.is_of_day(now):
                day += amount
            if flip.past.at > now - HOUR:
                writes += flip.sign
        return Usage(
            tick_micro_usd=max(0, read.tick_micro_usd + tick),
            session_micro_usd=max(0, read.session_micro_usd + session),
            day_micro_usd=max(0, read.day_micro_usd + day),
            writes_last_hour=max(0, read.writes_last_hour + writes),
        )

    def correct_costs(self, past: PastDecision, facts: JudgedFacts) -> CostsUsed:
        """What trades cost the draft in the 24 h before `past`: those that flipped at what they could have cost."""
        read, asked = facts.costs, facts.trade
        day = pair = venue = 0
        for flip in self._recent:
            trade = flip.trade
            if trade is None or not flip.past.claim.is_held_at(past.at) or not flip.is_within(DAY, past.at):
                continue
            cost = flip.sign * trade.micro_usd
            day += cost
            pair += cost if asked is not None and trade.pair == asked.pair else 0
            venue += cost if asked is not None and trade.venue == asked.venue else 0
        return CostsUsed(
            max(0, read.day_micro_usd + day),
            max(0, read.pair_micro_usd + pair),
            max(0, read.venue_micro_usd + venue),
        )

    def correct_rebalances(self, past: PastDecision, read: tuple[datetime, ...]) -> tuple[datetime, ...]:
        """The rebalances of the 24 h before `past` as the draft had them."""
        gone = {time for flip in self._recent if flip.sign < 0 for time in flip.past.rebalanced_at}
        fresh = [
            flip.past.at
            for flip in self._recent
            if flip.sign > 0 and flip.past.action_class is past.action_class and flip.past.at > past.at - DAY
        ]
        return (*(time for time in read if time not in gone), *fresh)

    def _fold(self, now: datetime) -> None:
        """What is too old for any window but the session's becomes one sum."""
        if not self._recent or self._recent[0].past.at > now - _KEPT_ONE_BY_ONE:
            return
        old = [flip for flip in self._recent if flip.past.at <= now - _KEPT_ONE_BY_ONE]
        self._recent = [flip for flip in self._recent if flip.past.at > now - _KEPT_ONE_BY_ONE]
        for flip in old:
            key = flip.past.key_id
            if key is not None and flip.past.claim.is_held_at(now):
                self._by_key[key] = self._by_key.get(key, 0) + flip.amount_at(now)

    def _sum_keyless(self, now: datetime) -> int:
        """Micro-USD to add to the seven days of what acts without a key; what is older is forgotten."""
        self._keyless = [flip for flip in self._keyless if flip.is_within(WEEK, now)]
        return sum(flip.amount_at(now) for flip in self._keyless if flip.past.claim.is_held_at(now))
