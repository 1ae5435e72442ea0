"""What hooks 1 to 4 looked at besides the plan and the policy, as JSON in the row of the decision, and back.

Kept so that a draft of the policy can be judged on the holdings, the mark and the usage of that moment instead of on
those of today. Nothing here decides: `permits_app/backtest` puts the facts before the same rules.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass, field
from datetime import datetime, timedelta
from typing import Final

from permits_app.limits.trading_costs import CostsUsed, TradeCost
from permits_app.limits.usage import Usage
from permits_app.safety.action_gate import GATE_WINDOW
from permits_app.safety.assets import Portfolio
from permits_app.safety.call_records import Mark, Records
from permits_app.safety.hook import HookCall
from permits_app.safety.load_call_records import asks_predictions, asks_rebalances
from permits_app.safety.loop_and_breaker_rules import list_alike
from permits_app.safety.predicted_holdings import Dependent, Share
from tools_app.core.json_types import JsonObject
from tools_app.core.stored_json import read_stored
from tools_app.toolkit.enums import Category, Phase, RiskLayer

MOST_ASSETS: Final = 64
MOST_REBALANCES: Final = 256
_VERSION: Final = 1
_MICROSECOND: Final = timedelta(microseconds=1)
_StoredMark = tuple[int, int, int | None, int, int | None]
"""Micro-USD, when it was reached and violated, by how many basis points, until when a pause runs."""
_StoredLaterMark = tuple[int, int, int | None, int, int | None, tuple[tuple[int, int], ...]]
"""The same with the marks that follow it."""


@dataclass(frozen=True, slots=True)
class JudgedFacts:
    """The facts of one decision. USD in micro-USD.

    `predictions` is (right, of how many), where the action gate asked. `portfolio` is None when no hook wanted it or
    it could not be kept; `trade` is None for what is none; `rebalances` is None for an action of another class. `alike`
    counts calls before it that differ in numbers only. A call that its phase refused has no usage and no mark: nothing
    was asked for them.
    """

    phase: Phase
    layer: RiskLayer
    category: Category
    tick: int
    spend_micro_usd: int
    is_conservative: bool
    usage: Usage
    trade: TradeCost | None
    costs: CostsUsed
    mark: Mark | None
    rebalances: tuple[datetime, ...] | None
    predictions: tuple[int, int] | None
    portfolio: Portfolio | None
    alike: int = 0


def encode_facts(call: HookCall) -> JsonObject:
    """The facts of a transaction after the hooks ran, as far as they were read. Reads nothing itself."""
    if call.plan is None or call.records is None:
        return {}
    facts: dict[str, object] = {
        "v": _VERSION,
        "phase": call.golem.phase,
        "layer": int(call.tool.risk_layer),
        "category": call.tool.category.value,
        "tick": call.golem.heartbeat_tick,
        "spend": call.value.spend_micro_usd,
        "alike": call.alike_hash,
    }
    if call.records.known is not None:
        facts.update(_encode_records(call, call.records.known))
    if (trade := call.records.trade) is not None and (known := call.records.known) is not None:
        used = known.costs
        facts |= {
            "trade": [trade.micro_usd, trade.pair, trade.venue],
            "costs": [used.day_micro_usd, used.pair_micro_usd, used.venue_micro_usd],
        }
    if call.records.portfolio is not None:
        facts.update(_encode_portfolio(call.records.portfolio))
    return facts


@dataclass(frozen=True, slots=True)
class _StoredFacts:
    """The facts as `encode_facts` writes them: lists by place, times in microseconds before the decision."""

    phase: Phase
    layer: int
    category: Category
    tick: int
    spend: int
    conservative: bool = False
    usage: tuple[int, int, int, int] = (0, 0, 0, 0)
    trade: tuple[int, str, str] | None = None
    costs: tuple[int, int, int] = (0, 0, 0)
    mark: _StoredMark | _StoredLaterMark | None = None
    rebalances: tuple[int, ...] | None = None
    predictions: tuple[int, int] | None = None
    alike_before: int = 0
    assets: tuple[tuple[str, str, int, int], ...] | None = None
    base: str = ""
    position: int = 0
    positions: int = 0
    complete: bool = False
    shares: tuple[tuple[str, str, int, int], ...] = ()
    exposure: dict[str, int] = field(default_factory=dict)
    collateral: int | None = None
    depending: tuple[tuple[str, str, int, int], ...] = ()


def decode_facts(facts: Mapping[str, object], *, at: datetime) -> JudgedFacts | None:
    """The facts kept with a decision made `at`; None when it was recorded before facts were kept."""
    if facts.get("v") != _VERSION:
        return None
    kept = read_stored(_StoredFacts, facts)
    return JudgedFacts(
        phase=kept.phase,
        layer=RiskLayer(kept.layer),
        category=kept.category,
        tick=kept.tick,
        spend_micro_usd=kept.spend,
        is_conservative=kept.conservative,
        usage=Usage(*kept.usage),
        trade=TradeCost(*kept.trade) if kept.trade is not None else None,
        costs=CostsUsed(*kept.costs),
        mark=_decode_mark(kept.mark, at),
        rebalances=None if kept.rebalances is None else tuple(at - each * _MICROSECOND for each in kept.rebalances),
        predictions=kept.predictions,
        portfolio=_decode_portfolio(kept, kept.assets) if kept.assets is not None else None,
        alike=kept.alike_before,
    )


def _encode_records(call: HookCall, read: Records) -> dict[str, object]:
    used = read.usage
    alike = list_alike(earlier=read.earlier, alike_hash=call.alike_hash)
    asks_times = asks_rebalances(call) and len(read.rebalances) <= MOST_REBALANCES
    window = read.predictions[:GATE_WINDOW]
    return {
        "conservative": read.is_conservative,
        "usage": [used.tick_micro_usd, used.session_micro_usd, used.day_micro_usd, used.writes_last_hour],
        "mark": _encode_mark(read.mark, call.now),
        **({"alike_before": len(alike)} if alike else {}),
        **({"rebalances": [_ago(each, call.now) for each in read.rebalances]} if asks_times else {}),
        **({"predictions": [sum(window), len(window)]} if asks_predictions(call) else {}),
    }


def _encode_mark(mark: Mark | None, now: datetime) -> list[object] | None:
    if mark is None:
        return None
    times = (mark.reached_at, mark.violated_at, mark.paused_until)
    reached, violated, paused = (None if each is None else _ago(each, now) for each in times)
    later = [[value, _ago(each, now)] for value, each in mark.later]
    return [mark.value_micro_usd, reached, violated, mark.violated_bps, paused, *([later] if later else [])]


def _decode_mark(kept: _StoredMark | _StoredLaterMark | None, at: datetime) -> Mark | None:
    if kept is None:
        return None
    value, reached, violated, bps, paused, *rest = kept
    return Mark(
        value_micro_usd=value,
        reached_at=at - reached * _MICROSECOND,
        violated_at=None if violated is None else at - violated * _MICROSECOND,
        violated_bps=bps,
        paused_until=None if paused is None else at - paused * _MICROSECOND,
        later=tuple((later, at - ago * _MICROSECOND) for later, ago in (rest[0] if rest else ())),
    )


def _encode_portfolio(portfolio: Portfolio) -> dict[str, object]:
    before, after = portfolio.before, portfolio.after
    held = [each for each in {**before, **after} if before.get(each) or after.get(each)]
    if max(len(held), len(portfolio.shares), len(portfolio.depending)) > MOST_ASSETS:
        return {}
    return {
        "assets": [[each, portfolio.names.get(each, ""), before.get(each, 0), after.get(each, 0)] for each in held],
        "base": portfolio.base_asset,
        "position": portfolio.position_after,
        "positions": portfolio.positions,
        "complete": portfolio.is_complete,
        **({"shares": [[*astuple(each)] for each in portfolio.shares]} if portfolio.shares else {}),
        **({"depending": [[*astuple(each)] for each in portfolio.depending]} if portfolio.depending else {}),
        **({"exposure": dict(portfolio.exposure)} if portfolio.exposure else {}),
        **({"collateral": portfolio.collateral_bps} if portfolio.collateral_bps is not None else {}),
    }


def _decode_portfolio(kept: _StoredFacts, assets: Sequence[tuple[str, str, int, int]]) -> Portfolio:
    return Portfolio(
        before={address: before for address, _, before, _ in assets},
        after={address: after for address, _, _, after in assets},
        names={address: name for address, name, _, _ in assets},
        base_asset=kept.base,
        position_after=kept.position,
        positions=kept.positions,
        is_complete=kept.complete,
        shares=tuple(Share(*each) for each in kept.shares),
        exposure=kept.exposure,
        collateral_bps=kept.collateral,
        depending=tuple(Dependent(*each) for each in kept.depending),
    )


def _ago(time: datetime, now: datetime) -> int:
    """Microseconds from `time` to `now`; negative when it lies ahead."""
    return (now - time) // _MICROSECOND
