"""Carries out the standing plans that owners agreed to: equal trades at their times, whoever plans the rest of a tick.

A plan's own market and base units are used as they were agreed; a time that was missed is not made up for.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, ClassVar, Self
from uuid import UUID

from django.db.models import Count, Q

from archetypes_app.phases import is_allowed
from golem_project.heartbeat.liquidity_plan import RuleWish, Urgency
from golem_project.heartbeat.needed_limits import RuleNeeds
from golem_project.heartbeat.observation import ObservedToken
from golem_project.heartbeat.strategies.strategy import LEAST_TRADE_MICRO_USD, Sight, wish_swap
from permits_app.models import ActionRecord
from permits_app.models.action_record import ActionState
from permits_app.models.standing_plan import StandingPlan, list_open_plans
from tools_app.core.json_types import JsonObject
from tools_app.toolkit.enums import ActionClass

BAND_PERCENT = 2
"""How far a share may be off before anything is traded."""


@dataclass(frozen=True, slots=True)
class StandingTrades:
    """One plan as a strategy of the heartbeat: see `StandingPlan`."""

    kind: ClassVar[str] = "standing_plan"

    key: str
    words: str
    sold: str
    bought: str
    venue: str
    amount_raw: int
    every_hours: int
    slippage_bps: int
    share_percent: int | None = None

    @classmethod
    def of(cls, plan: StandingPlan) -> Self:
        """The strategy of a row."""
        return cls(
            key=plan.wish_key,
            words=plan.words,
            sold=plan.token_in,
            bought=plan.token_out,
            venue=plan.venue,
            amount_raw=int(plan.amount_raw),
            every_hours=plan.every_hours,
            slippage_bps=plan.slippage_bps,
            share_percent=plan.share_percent,
        )

    @classmethod
    def parse(cls, stored: Mapping[str, Any]) -> Self:  # Any: JSON of an owner's rule
        """See `RuleStrategy`; a plan is a row of its own."""
        return cls(**stored)

    def as_json(self) -> JsonObject:
        """See `RuleStrategy`."""
        return {name: getattr(self, name) for name in self.__match_args__}

    @property
    def tokens(self) -> tuple[str, ...]:
        """See `RuleStrategy`."""
        return (self.sold, self.bought)

    @property
    def keys(self) -> tuple[str, ...]:
        """See `RuleStrategy`."""
        return (self.key,)

    def plan(self, sight: Sight) -> tuple[RuleWish, ...]:
        """One trade once the last is long enough ago, and where it keeps a share only while that is off."""
        sold, bought, last = sight.token(self.sold), sight.token(self.bought), sight.last_done.get(self.key)
        is_due = last is None or sight.now - last >= timedelta(hours=self.every_hours)
        if sold is None or bought is None or not is_due or not is_allowed(sight.phase, ActionClass.NEW_POSITION):
            return ()
        if self.share_percent is None:
            return (self._wish(sold, bought, self.amount_raw),) if self.amount_raw <= sold.raw else ()
        return self._balance(sold, bought, self.share_percent)

    def _balance(self, first: ObservedToken, second: ObservedToken, share_percent: int) -> tuple[RuleWish, ...]:
        one, other = first.micro_usd, second.micro_usd
        if one is None or other is None or one + other <= 0:
            return ()
        excess = one - (one + other) * share_percent // 100
        if abs(excess) * 100 <= (one + other) * BAND_PERCENT or abs(excess) < LEAST_TRADE_MICRO_USD:
            return ()
        # At most the agreed amount, or as much of the other as that is worth.
        most = first.worth_of(self.amount_raw) or 0
        if excess > 0:
            raw = first.raw_worth(excess)
            return () if raw is None else (self._wish(first, second, min(raw, self.amount_raw, first.raw)),)
        raw = second.raw_worth(min(-excess, most))
        return () if raw is None or raw <= 0 else (self._wish(second, first, min(raw, second.raw)),)

    def _wish(self, sold: ObservedToken, bought: ObservedToken, raw: int) -> RuleWish:
        return wish_swap(
            key=self.key,
            sold=sold,
            bought=bought,
            raw=raw,
            venue=self.venue,
            slippage_bps=self.slippage_bps,
            reason=f"the owners agreed: {self.words}",
            urgency=Urgency.ENTER if self.share_percent is None else Urgency.BALANCE,
        )

    def list_stopped(self, sight: Sight) -> frozenset[str]:
        """None."""
        return frozenset()

    def tell_needs(self) -> RuleNeeds | None:
        """Its owners saw what it takes when they agreed."""
        return None

    def describe(self) -> str:
        """See `RuleStrategy`."""
        return f"The owners agreed: {self.words}."


def read_standing_plans(*, golem_id: UUID, is_live: bool, now: datetime) -> tuple[StandingTrades, ...]:
    """The golem's plans whose time is not over and that are not done yet, the oldest first. A golem that is not live
    counts what it rehearsed.
    """
    open_plans = list(list_open_plans(golem_id).filter(ends_at__gt=now))
    if not open_plans:
        return ()
    states = [ActionState.EXECUTED] if is_live else [ActionState.EXECUTED, ActionState.REHEARSED]
    keys = Q(wish_key__in=[plan.wish_key for plan in open_plans], state__in=states)
    rows = ActionRecord.objects.filter(keys, golem_id=golem_id).values("wish_key").annotate(done=Count("id"))
    done = {row["wish_key"]: row["done"] for row in rows}
    return tuple(StandingTrades.of(plan) for plan in open_plans if done.get(plan.wish_key, 0) < plan.times)
