"""What hooks 1 to 4 looked at besides the plan and the policy, as JSON in the row of the decision, and back.

Kept so that a draft of the policy can be judged on the holdings, the mark and the usage of that moment instead of on
those of today. Nothing here decides: `permits_app/backtest` puts the facts before the same rules.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from permits_app.limits.trading_costs import CostsUsed, TradeCost
from permits_app.limits.usage import Usage
from permits_app.safety.action_gate import GATE_WINDOW
from permits_app.safety.assets import Portfolio
from permits_app.safety.hook import HookCall
from permits_app.safety.load_call_records import asks_predictions, asks_rebalances
from permits_app.safety.predicted_holdings import Dependent, Share
from permits_app.safety.records import Mark, Records
from permits_app.safety.repetition import list_alike
from tools_app.toolkit.enums import Category, Phase, RiskLayer

MOST_ASSETS: Final = 64
MOST_REBALANCES: Final = 256
_VERSION: Final = 1
_MICROSECOND: Final = timedelta(microseconds=1)


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


def encode_facts(call: HookCall) -> dict[str, Any]:
    """The facts of a transaction after the hooks ran, as far as they were read. Reads nothing itself."""
    if call.plan is None or call.records is None:
        return {}
    facts: dict[str, Any] = {
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
        facts["trade"] = [trade.micro_usd, trade.pair, trade.venue]
        facts["costs"] = [used.day_micro_usd, used.pair_micro_usd, used.venue_micro_usd]
    if call.records.portfolio is not None:
        facts.update(_encode_portfolio(call.records.portfolio))
    return facts


def decode_facts(facts: Mapping[str, Any], *, at: datetime) -> JudgedFacts | None:
    """The facts kept with a decision made `at`; None when it was recorded before facts were kept."""
    if facts.get("v") != _VERSION:
        return None
    tick, session, day, writes = facts.get("usage", (0, 0, 0, 0))
    rebalances, predictions = facts.get("rebalances"), facts.get("predictions")
    return JudgedFacts(
        phase=Phase(facts["phase"]),
        layer=RiskLayer(facts["layer"]),
        category=Category(facts["category"]),
        tick=facts["tick"],
        spend_micro_usd=facts["spend"],
        is_conservative=facts.get("conservative", False),
        usage=Usage(tick, session, day, writes),
        trade=TradeCost(*facts["trade"]) if "trade" in facts else None,
        costs=CostsUsed(*facts.get("costs", ())),
        mark=_decode_mark(facts.get("mark"), at),
        rebalances=None if rebalances is None else tuple(at - each * _MICROSECOND for each in rebalances),
        predictions=None if predictions is None else (predictions[0], predictions[1]),
        portfolio=_decode_portfolio(facts) if "assets" in facts else None,
        alike=facts.get("alike_before", 0),
    )


def _encode_records(call: HookCall, read: Records) -> dict[str, Any]:
    used = read.usage
    found: dict[str, Any] = {
        "conservative": read.is_conservative,
        "usage": [used.tick_micro_usd, used.session_micro_usd, used.day_micro_usd, used.writes_last_hour],
        "mark": _encode_mark(read.mark, call.now),
    }
    if alike := list_alike(earlier=read.earlier, alike_hash=call.alike_hash):
        found["alike_before"] = len(alike)
    if asks_rebalances(call) and len(read.rebalances) <= MOST_REBALANCES:
        found["rebalances"] = [_ago(each, call.now) for each in read.rebalances]
    if asks_predictions(call):
        window = read.predictions[:GATE_WINDOW]
        found["predictions"] = [sum(window), len(window)]
    return found


def _encode_mark(mark: Mark | None, now: datetime) -> list[Any] | None:
    if mark is None:
        return None
    times = (mark.reached_at, mark.violated_at, mark.paused_until)
    reached, violated, paused = (None if each is None else _ago(each, now) for each in times)
    later = [[value, _ago(each, now)] for value, each in mark.later]
    return [mark.value_micro_usd, reached, violated, mark.violated_bps, paused, *([later] if later else [])]


def _decode_mark(kept: Sequence[Any] | None, at: datetime) -> Mark | None:
    if kept is None:
        return None
    value, reached, violated, bps, paused, *rest = kept
    return Mark(
        value_micro_usd=value,
        reached_at=at - reached * _MICROSECOND,
        violated_at=None if violated is None else at - violated * _MICROSECOND,
        violated_bps=bps,
        paused_until=None if paused is None else at - paused * _MICROSECOND,
        later=tuple((value, at - ago * _MICROSECOND) for value, ago in (rest[0] if rest else ())),
    )


def _encode_portfolio(portfolio: Portfolio) -> dict[str, Any]:
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


def _decode_portfolio(facts: Mapping[str, Any]) -> Portfolio:
    return Portfolio(
        before={address: before for address, _, before, _ in facts["assets"]},
        after={address: after for address, _, _, after in facts["assets"]},
        names={address: name for address, name, _, _ in facts["assets"]},
        base_asset=facts["base"],
        position_after=facts["position"],
        positions=facts["positions"],
        is_complete=facts["complete"],
        shares=tuple(Share(*each) for each in facts.get("shares", ())),
        exposure=facts.get("exposure", {}),
        collateral_bps=facts.get("collateral"),
        depending=tuple(Dependent(*each) for each in facts.get("depending", ())),
    )


def _ago(time: datetime, now: datetime) -> int:
    """Microseconds from `time` to `now`; negative when it lies ahead."""
    return (now - time) // _MICROSECOND
