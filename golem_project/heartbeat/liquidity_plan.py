"""Chooses the next action that keeps a liquidity position as its rule wants it. Pure.

In range and earning: harvest when it pays. Out of range: close, then open around the price, swapping only what is
missing of one side; neither while the pool is pushed away from the feeds. In a late phase: only what leaves. One action
at a time, because each is planned on what the one before really left. Anybody can put a position into the account: one
smaller than what would be opened is not the one that is kept, and one not worth its gas is left where it is.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import Any, Final

from archetypes_app.phases import is_allowed
from golem_project.heartbeat.liquidity_rule import LiquidityRule
from golem_project.heartbeat.observation import Observation, ObservedPosition, ObservedToken, value_of
from tools_app.core.ratio import ratio_text
from tools_app.core.units import BPS, apply_bps_up, format_micro_usd
from tools_app.standards.concentrated import ratio_of_sqrt_price, sqrt_price_moved
from tools_app.toolkit.enums import ActionClass, Phase
from tools_app.toolkit.markets import Pool
from tools_app.toolkit.views import NATIVE

HARVEST_GAS: Final = 250_000
HARVEST_PAYS_TIMES: Final = 5
MOST_HALF_WIDTH_BPS: Final = 5_000
# A swap for the missing side asks for a little more, so that fee and slippage do not leave it short again.
_SWAP_MARGIN_BPS: Final = 150
# Below this share of the wanted side the position is opened smaller rather than swapped for.
_LEAST_SHORTAGE_BPS: Final = 500
_LATE: Final = frozenset({Phase.SURVIVAL, Phase.TERMINAL})


class Urgency(IntEnum):
    """How soon a wish is to be carried out, the first before the others: what lowers a risk before what earns."""

    RESCUE = 0
    LOAN = 10
    STOP = 20
    LEAVE = 30
    PROFIT = 40
    BALANCE = 50
    ENTER = 60


@dataclass(frozen=True, slots=True)
class RuleWish:
    """One action the rule asks for. `key` names it from tick to tick, so that a refused one can wait.

    `venue` is the protocol of the pool; `is_leaving` says that it only takes out of a position or of the market,
    `is_rescue` that it lowers a debt in danger. `urgency` is left out where these two say it.
    """

    key: str
    venue: str
    action_type: str
    params: dict[str, Any]  # Any: a tool's parameters, read by its schema
    reason: str
    is_leaving: bool = False
    is_rescue: bool = False
    urgency: Urgency | None = None

    @property
    def rank(self) -> Urgency:
        """Where it stands among the wishes of one look."""
        if self.urgency is not None:
            return self.urgency
        if self.is_rescue:
            return Urgency.RESCUE
        return Urgency.LEAVE if self.is_leaving else Urgency.ENTER


def plan_liquidity(
    *, observation: Observation, rule: LiquidityRule, phase: Phase, range_bps: int = 0
) -> tuple[RuleWish, ...]:
    """The next actions in order of urgency; empty when all is well or nothing can be told. `range_bps` is volatility.

    The first is to be done before the others are worth doing; positions of other pools are left alone.
    """
    pool = observation.pool
    if pool is None:
        return ()
    mine = [each for each in observation.positions if each.position.pool.id == pool.id]
    least = _least_taken(observation, rule)
    worthwhile = [each for each in mine if each.position.liquidity and _is_worth(each, least)]
    closing = [each for each in worthwhile if not each.position.is_in_range or phase in _LATE]
    if closing and (phase in _LATE or _is_fair(observation, rule)):
        return tuple(_close(each, phase) for each in closing) if _may_leave(phase) else ()
    wishes = [wish for each in mine if (wish := _harvest(each, observation, rule, phase)) is not None]
    smallest = rule.target_micro_usd * _LEAST_SHORTAGE_BPS // BPS
    is_kept = any(each.position.liquidity and _is_worth(each, smallest) for each in mine)
    if not is_kept and is_allowed(phase, ActionClass.NEW_POSITION):
        opening = _open(observation, pool, rule, range_bps)
        wishes += [opening] if opening is not None else []
    return tuple(wishes)


def _least_taken(observation: Observation, rule: LiquidityRule) -> int:
    """What taking something out has to bring, in micro-USD: as much as the owner wants, and several times its gas."""
    return max(rule.harvest_micro_usd, HARVEST_PAYS_TIMES * harvest_gas_micro_usd(observation))


def _is_worth(held: ObservedPosition, micro_usd: int) -> bool:
    """Whether it is worth as much, or nobody knows what it is worth."""
    return held.micro_usd is None or held.micro_usd >= micro_usd


def _is_fair(observation: Observation, rule: LiquidityRule) -> bool:
    """Whether the pool's price is near the feeds'; not when it cannot be told."""
    return observation.deviation_bps is not None and observation.deviation_bps <= rule.most_deviation_bps


def _may_leave(phase: Phase) -> bool:
    return is_allowed(phase, ActionClass.CLOSE_POSITION)


def _close(held: ObservedPosition, phase: Phase) -> RuleWish:
    position = held.position
    where = "is out of range" if not position.is_in_range else f"is not kept in phase {phase.value}"
    return RuleWish(
        key=f"close:{position.position_id}",
        venue=position.pool.protocol,
        action_type="remove_liquidity",
        params={"position_id": position.position_id, "percent_to_remove": 100, "collect_fees": True},
        reason=f"position {position.position_id} {where}: pool tick {position.pool.pool_tick}, range"
        f" {position.tick_lower} to {position.tick_upper}",
        is_leaving=True,
    )


def _harvest(held: ObservedPosition, observation: Observation, rule: LiquidityRule, phase: Phase) -> RuleWish | None:
    fees = held.fees_micro_usd
    if not fees or fees < _least_taken(observation, rule):
        return None
    if not is_allowed(phase, ActionClass.DECREASE_POSITION):
        return None
    position_id = held.position.position_id
    return RuleWish(
        key=f"harvest:{position_id}",
        venue=held.position.pool.protocol,
        action_type="collect_fees",
        params={"position_id": position_id},
        reason=f"position {position_id} has earned {format_micro_usd(fees)}",
        is_leaving=True,
    )


def harvest_gas_micro_usd(observation: Observation) -> int:
    """What collecting costs at twice the base fee; 0 when the coin has no price."""
    coin = observation.holding(NATIVE)
    if coin is None or coin.price is None or observation.block is None:
        return 0
    return value_of(2 * observation.block.base_fee * HARVEST_GAS, coin.token, coin.price)


def _open(observation: Observation, pool: Pool, rule: LiquidityRule, range_bps: int) -> RuleWish | None:
    sides = (observation.holding(pool.token0), observation.holding(pool.token1))
    side0, side1 = sides
    if side0 is None or side1 is None:
        return None
    if not _is_fair(observation, rule):
        return None
    half = rule.target_micro_usd // 2
    wanted0, wanted1 = side0.raw_worth(half), side1.raw_worth(half)
    if not wanted0 or not wanted1:
        return None
    swap = _fill_up(pool.protocol, side0, side1, wanted0, wanted1, rule) or _fill_up(
        pool.protocol, side1, side0, wanted1, wanted0, rule
    )
    if swap is not None:
        return swap
    amounts = (min(side0.raw, wanted0), min(side1.raw, wanted1))
    if amounts[0] * BPS < wanted0 * _LEAST_SHORTAGE_BPS or amounts[1] * BPS < wanted1 * _LEAST_SHORTAGE_BPS:
        return None
    half_width = min(MOST_HALF_WIDTH_BPS, max(rule.half_width_bps, range_bps))
    lower, upper = (_price_text(pool, side0, side1, bps) for bps in (-half_width, half_width))
    return RuleWish(
        key="open",
        venue=pool.protocol,
        action_type="add_liquidity",
        params={
            "token0": pool.token0,
            "token1": pool.token1,
            "fee": pool.fee,
            "price_lower": lower,
            "price_upper": upper,
            "amount0": str(amounts[0]),
            "amount1": str(amounts[1]),
            "slippage_bps": rule.slippage_bps,
        },
        reason=f"no position in the pool; one of about {format_micro_usd(rule.target_micro_usd)} within"
        f" {half_width} bps of the price",
    )


def _fill_up(
    venue: str, short: ObservedToken, other: ObservedToken, wanted: int, kept: int, rule: LiquidityRule
) -> RuleWish | None:
    """A swap for what is missing of one side, out of what the other side has beyond its own half."""
    missing = wanted - short.raw
    if missing * BPS <= wanted * _LEAST_SHORTAGE_BPS or short.price is None:
        return None
    worth = apply_bps_up(value_of(missing, short.token, short.price), _SWAP_MARGIN_BPS)
    needed = other.raw_worth(worth)
    spare = other.raw - kept
    if needed is None or spare <= 0 or needed <= 0:
        return None
    amount = min(needed, spare)
    return RuleWish(
        key=f"swap:{other.token.address}:{short.token.address}",
        venue=venue,
        action_type="swap",
        params={
            "token_in": other.token.address,
            "token_out": short.token.address,
            "amount": str(amount),
            "slippage_bps": rule.slippage_bps,
        },
        reason=f"{short.token.symbol} is missing for the position",
    )


def _price_text(pool: Pool, side0: ObservedToken, side1: ObservedToken, bps: int) -> str:
    ratio = ratio_of_sqrt_price(sqrt_price_moved(pool.sqrt_price, bps=bps))
    return ratio_text(ratio, base_decimals=side0.token.decimals, quote_decimals=side1.token.decimals)
