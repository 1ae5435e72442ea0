"""`uniswap_lp_rebalance_position` and `uniswap_lp_compound_fees`: a V3 position moved or grown out of itself."""

from __future__ import annotations

from dataclasses import dataclass

from tools_app.core.errors import InvalidParams
from tools_app.protocols.uniswap.errors import InvalidRange, PositionEmpty
from tools_app.protocols.uniswap.paths import V4
from tools_app.protocols.uniswap.pools import find_v3_pool
from tools_app.protocols.uniswap.tools.family import uniswap
from tools_app.protocols.uniswap.tools.joint_steps import JointSteps, SwapBetween
from tools_app.protocols.uniswap.tools.liquidity import OfRange, read_added, read_opened
from tools_app.protocols.uniswap.tools.own_positions import read_own, spacing_of
from tools_app.protocols.uniswap.tools.position_details import (
    AmountsMoved,
    OfFees,
    OfPosition,
    describe_amounts,
    describe_range,
    find_event,
)
from tools_app.protocols.uniswap.tools.withdrawals import COLLECTED, read_v3_fees
from tools_app.protocols.uniswap.v3.deposits import ticks_of_range
from tools_app.protocols.uniswap.v3.positions import V3Position
from tools_app.protocols.uniswap.v4.positions import is_v4
from tools_app.standards.receipts import read_details
from tools_app.toolkit.answer import Told
from tools_app.toolkit.context import WriteContext
from tools_app.toolkit.enums import ActionClass, Category, RiskLayer, TickBudget
from tools_app.toolkit.params import DecimalText, FeeTier, Flag, RangeId, SlippageBps
from tools_app.toolkit.plan import PlanOutcome, TxPlan


class RebalanceReport(Told):
    """What moving a position to another range did; fees are base units of the pool's tokens."""

    old_position_id: str
    new_position_id: str
    new_tick_lower: int
    new_tick_upper: int
    liquidity: str
    fees_collected0: str
    fees_collected1: str


class CompoundReport(Told):
    """What compounding did; amounts are base units, `swap_amount` what was planned of `swap_token`."""

    fees_collected0: str
    fees_collected1: str
    liquidity_added: str
    swap_amount: str | None
    swap_token: str | None


@dataclass(frozen=True, slots=True)
class _RebalanceSwapped:
    swap_amount: str | None = None
    swap_token: str | None = None


def report_rebalance(outcome: PlanOutcome) -> RebalanceReport:
    """The new position and the fees from the manager's events; V4's tells no fees, and they are what the plan read."""
    details, old_position_id = read_details(OfRange, outcome), read_details(OfPosition, outcome).position_id
    new_position_id, liquidity = read_opened(outcome)
    fees = _read_told_fees(outcome) if is_v4(old_position_id) else read_v3_fees(outcome)
    return RebalanceReport(
        old_position_id=old_position_id,
        new_position_id=new_position_id,
        new_tick_lower=details.tick_lower,
        new_tick_upper=details.tick_upper,
        liquidity=liquidity,
        fees_collected0=str(fees[0]),
        fees_collected1=str(fees[1]),
    )


def report_compound(outcome: PlanOutcome) -> CompoundReport:
    """Fees and liquidity from the manager's events; V4's tells neither, and they are what the plan read and named."""
    if is_v4(read_details(OfPosition, outcome).position_id):
        fees = _read_told_fees(outcome)
    else:
        collected = find_event(outcome, COLLECTED) or AmountsMoved()
        fees = collected.amount0, collected.amount1
    swapped = read_details(_RebalanceSwapped, outcome)
    return CompoundReport(
        fees_collected0=str(fees[0]),
        fees_collected1=str(fees[1]),
        liquidity_added=read_added(outcome),
        swap_amount=swapped.swap_amount,
        swap_token=swapped.swap_token,
    )


def _read_told_fees(outcome: PlanOutcome) -> tuple[int, int]:
    told = read_details(OfFees, outcome)
    return (told.fees0, told.fees1) if outcome.receipts else (0, 0)


@uniswap.write(
    action_type="rebalance_position",
    category=Category.LP,
    risk=RiskLayer.BOUNDED,
    budget=TickBudget.SLOW,
    report=report_rebalance,
    action_class=ActionClass.REBALANCE,
    schema_version=2,
    steps=("Reading the position", "Reading the pool", "Building calls"),
    snippet=(
        "rebalance_position: close a Uniswap V3 or V4 position and open another range with what surely comes out of"
        " it, under one permit; what is over stays in the wallet."
    ),
    guidelines=(
        "Compare the fees lost outside the range with gas and swap first: each rebalance makes the loss so far final.",
        "Prices are token1 per token0 in the pool's order, as data_get_position shows them.",
        "Where the new range wants the other token, part is swapped between the two: several transactions unless a Safe"
        " sends them as one, and a price that moves in between leaves the tokens in the wallet.",
    ),
)
def uniswap_lp_rebalance_position(
    ctx: WriteContext,
    position_id: RangeId,
    new_price_lower: DecimalText,
    new_price_upper: DecimalText,
    fee: FeeTier | None = None,
    slippage_bps: SlippageBps = 50,
) -> TxPlan:
    """Move a Uniswap V3 or V4 position of the golem to another price range, by default in the same pool.

    Use when the price left the range. All liquidity and fees come out; of what surely comes out a new position is
    opened, after a swap where the range wants one. The permit bounds the whole: the least that comes out, the least the
    swap brings, the least liquidity. Does not take anything of the wallet or leave the version; V4 stays in its pool.
    """
    ctx.step("Reading the position")
    joint = JointSteps.begin(ctx, slippage_bps=slippage_bps)
    position = read_own(joint.reader, [position_id], ctx.account)[position_id]
    details = plan_rebalance(joint, position, new_price_lower, new_price_upper, fee)
    return joint.finish(action_class=ActionClass.REBALANCE, details=details)


@uniswap.write(
    action_type="compound_fees",
    category=Category.LP,
    risk=RiskLayer.BOUNDED,
    budget=TickBudget.SLOW,
    report=report_compound,
    action_class=ActionClass.REBALANCE,
    schema_version=2,
    steps=("Reading the position", "Building calls"),
    snippet=(
        "compound_fees: collect the fees of a Uniswap V3 or V4 position and put them back into it, swapping part of"
        " them where its range wants the other token."
    ),
    guidelines=(
        "Fees worth less than the gas of collecting and adding can wait.",
        "It counts as a rebalance: the owner's least time between two holds for it too.",
    ),
)
def uniswap_lp_compound_fees(
    ctx: WriteContext,
    position_id: RangeId,
    swap_to_optimal_ratio: Flag = True,
    slippage_bps: SlippageBps = 50,
) -> TxPlan:
    """Put the fees a Uniswap V3 or V4 position of the golem has earned back into the same position.

    Use when the fees are worth more than the gas. Without the swap it is one call at V3, which does both or nothing.
    wallet_get_status lists positions. Does not change the range and adds no more than the fees; what the range does not
    take stays in the wallet.
    """
    ctx.step("Reading the position")
    joint = JointSteps.begin(ctx, slippage_bps=slippage_bps)
    position = read_own(joint.reader, [position_id], ctx.account)[position_id]
    details = plan_compound(joint, position, swaps=swap_to_optimal_ratio)
    return joint.finish(action_class=ActionClass.REBALANCE, details=details)


def plan_rebalance(
    joint: JointSteps, position: V3Position, price_lower: str, price_upper: str, fee: int | None
) -> dict[str, object]:
    """The steps of one rebalance, and what the permit tells of it.

    Raises PositionEmpty, InvalidRange, AmountTooSmall.
    """
    if position.liquidity == 0:
        raise PositionEmpty(
            f"position {position.position_id} has no liquidity to move", position_id=position.position_id
        )
    old, reader = position.pool, joint.reader
    joint.ctx.step("Reading the pool")
    is_same = fee is None or fee == old.fee
    if not is_same and old.version == V4:
        raise InvalidParams(
            "a V4 position is rebalanced in its own pool; take it out and open another where the fee is another",
            fields={"fee": "leave it out"},
        )
    pool = old if is_same else find_v3_pool(reader, joint.deployment, old.token0, old.token1, fee or old.fee)
    tokens = joint.tokens_of(pool)
    ticks = ticks_of_range(
        price_lower,
        price_upper,
        decimals0=tokens[0].decimals,
        decimals1=tokens[1].decimals,
        spacing=spacing_of(reader, pool),
        is_inverse=False,
    )
    if is_same and ticks == (position.tick_lower, position.tick_upper):
        raise InvalidRange(
            f"position {position.position_id} has exactly this range; to put its fees to work use compound_fees",
            position_id=position.position_id,
        )
    joint.ctx.step("Building calls")
    have = joint.take_out(position, position.liquidity)
    have, swapped = joint.even_out(pool, ticks, have)
    offer = joint.open(pool, ticks, have)
    return {
        "position_id": position.position_id,
        **_name_manager(joint, position),
        "old_tick_lower": position.tick_lower,
        "old_tick_upper": position.tick_upper,
        "liquidity": str(offer.liquidity),
        **_describe_swap(swapped),
        **describe_range(pool, tokens, *ticks),
        **describe_amounts("fees", tokens, (position.fees0, position.fees1)),
        **describe_amounts("amount", tokens, offer.used),
        **describe_amounts("minimum_amount", tokens, offer.least),
    }


def plan_compound(joint: JointSteps, position: V3Position, *, swaps: bool) -> dict[str, object]:
    """The steps of one compounding, and what the permit tells of it. Raises PositionEmpty, AmountTooSmall."""
    if not (position.fees0 or position.fees1):
        raise PositionEmpty(
            f"position {position.position_id} has no fees to compound", position_id=position.position_id
        )
    tokens, ticks = joint.tokens_of(position.pool), (position.tick_lower, position.tick_upper)
    joint.ctx.step("Building calls")
    have = joint.collect(position)
    have, swapped = joint.even_out(position.pool, ticks, have) if swaps else (have, None)
    offer = joint.grow(position, have)
    return {
        "position_id": position.position_id,
        **_name_manager(joint, position),
        "liquidity": str(offer.liquidity),
        **_describe_swap(swapped),
        **describe_range(position.pool, tokens, *ticks),
        **describe_amounts("fees", tokens, (position.fees0, position.fees1)),
        **describe_amounts("amount", tokens, offer.used),
        **describe_amounts("minimum_amount", tokens, offer.least),
    }


def _name_manager(joint: JointSteps, position: V3Position) -> dict[str, str]:
    """Whose events tell what happened to a V4 position."""
    return {"manager": joint.v4.positions} if position.pool.version == V4 else {}


def _describe_swap(swapped: SwapBetween | None) -> dict[str, str | None]:
    if swapped is None:
        return {"swap_amount": None, "swap_token": None}
    return {
        "swap_amount": str(swapped.amount),
        "swap_token": swapped.sold.address,
        "swap_brings": swapped.bought.address,
        "swap_minimum": str(swapped.least),
    }
