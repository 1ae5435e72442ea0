"""`uniswap_lp_remove_liquidity` and `uniswap_lp_collect_fees`: take tokens out of a V3 position of the golem."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from tools_app.chain.abi_records import AbiEvent
from tools_app.protocols.uniswap.addresses import deployment_on
from tools_app.protocols.uniswap.errors import PositionEmpty
from tools_app.protocols.uniswap.position_changes import FEE_DUST, Range, nft_ref
from tools_app.protocols.uniswap.tools.family import deadline_after, uniswap
from tools_app.protocols.uniswap.tools.position_details import (
    AmountsMoved,
    OfFees,
    OfPosition,
    describe_amounts,
    describe_range,
    find_event,
)
from tools_app.protocols.uniswap.tools.v4_ranges import harvest_v4_range, shrink_v4_range
from tools_app.protocols.uniswap.v3 import plans as v3_plans
from tools_app.protocols.uniswap.v3.positions import V3Position, least_amounts, read_own_position
from tools_app.protocols.uniswap.v4.positions import is_v4
from tools_app.standards.plan_draft import PlanDraft
from tools_app.standards.receipts import read_details
from tools_app.standards.retiring_sales import SALE_SLIPPAGE_BPS, Sale, sell_at_once
from tools_app.toolkit.answer import Told
from tools_app.toolkit.context import ChainReader, WriteContext
from tools_app.toolkit.enums import ActionClass, Category, RiskLayer
from tools_app.toolkit.params import DeadlineSeconds, Flag, PercentWhole, RangeId, SlippageBps
from tools_app.toolkit.plan import PlanOutcome, TokenFlow, TxPlan
from tools_app.toolkit.result import TokenAmount
from tools_app.toolkit.retiring_tokens import list_falling
from tools_app.toolkit.views import TokenMeta

COLLECTED: Final = AbiEvent(
    "event Collect(uint256 indexed tokenId, address recipient, uint256 amount0, uint256 amount1)", AmountsMoved
)
SHRUNK: Final = AbiEvent(
    "event DecreaseLiquidity(uint256 indexed tokenId, uint128 liquidity, uint256 amount0, uint256 amount1)",
    AmountsMoved,
)


class RemoveReport(Told):
    """What taking liquidity out did; `amount0_received` and `amount1_received` include the fees collected with it."""

    amount0_received: TokenAmount
    amount1_received: TokenAmount
    fees_collected0: TokenAmount
    fees_collected1: TokenAmount


class CollectReport(Told):
    """What a harvest brought."""

    fees_collected0: TokenAmount
    fees_collected1: TokenAmount


def report_remove(outcome: PlanOutcome) -> RemoveReport:
    """Fees are what was collected beyond the liquidity's own amounts, both in the manager's events; V4's manager tells
    neither, and its fees are what the plan read.
    """
    if is_v4(read_details(OfPosition, outcome).position_id):
        told = read_details(OfFees, outcome)
        came = [_received(outcome, flow) for flow in outcome.plan.receives]
        pairs = zip((told.fees0, told.fees1), came, strict=True)
        fees = [TokenAmount(min(fee, max(0, each.raw)), each.token) for fee, each in pairs]
        return RemoveReport(*came, *fees)
    fees0, fees1 = read_v3_fees(outcome)
    got0, got1 = (_received(outcome, flow) for flow in outcome.plan.receives)
    return RemoveReport(
        amount0_received=got0,
        amount1_received=got1,
        fees_collected0=TokenAmount(fees0, got0.token),
        fees_collected1=TokenAmount(fees1, got1.token),
    )


def read_v3_fees(outcome: PlanOutcome) -> tuple[int, int]:
    """What was collected beyond what liquidity gave back."""
    out, collected = find_event(outcome, SHRUNK) or AmountsMoved(), find_event(outcome, COLLECTED) or AmountsMoved()
    return max(0, collected.amount0 - out.amount0), max(0, collected.amount1 - out.amount1)


def report_collect(outcome: PlanOutcome) -> CollectReport:
    """What arrived in the wallet."""
    got0, got1 = (_received(outcome, flow) for flow in outcome.plan.receives)
    return CollectReport(
        fees_collected0=got0,
        fees_collected1=got1,
    )


@uniswap.write(
    action_type="remove_liquidity",
    category=Category.LP,
    risk=RiskLayer.BOUNDED,
    report=report_remove,
    schema_version=2,
    aliases=("remove_liquidity",),
    snippet=(
        "remove_liquidity: take part or all of a Uniswap V3 or V4 position back into the golem's wallet, by default"
        " together with the fees it earned; allowed in every phase."
    ),
    guidelines=(
        "Taking out 100% closes the position; anything less only decreases it.",
        "In SURVIVAL and TERMINAL close positions rather than shrink them step by step.",
    ),
)
def uniswap_lp_remove_liquidity(
    ctx: WriteContext,
    position_id: RangeId,
    percent_to_remove: PercentWhole = 100,
    collect_fees: Flag = True,
    slippage_bps: SlippageBps = 50,
    deadline: DeadlineSeconds = 300,
) -> TxPlan:
    """Take liquidity out of a Uniswap V3 or V4 position of the golem.

    Use to shrink or close a position. Both tokens come to the golem's wallet, with the earned fees unless
    `collect_fees` is false. The transaction reverts when the price has moved by more than the slippage.
    V4's NFT is burned with the last of it, V3's is not. Does not unwrap the coin and does not swap what comes out, but
    for a token that retires behind the golem's cage: as much of that as surely comes out is sold in the same plan.
    """
    reader = ctx.begin("Reading the position")
    deployment = deployment_on(reader.chain_id)
    if is_v4(position_id):
        return shrink_v4_range(
            ctx,
            reader,
            position_id,
            percent=percent_to_remove,
            with_fees=collect_fees,
            slippage_bps=slippage_bps,
            seconds=deadline,
        )
    position = read_own_position(reader, deployment, position_id, ctx.account)
    liquidity = position.liquidity * percent_to_remove // 100
    if liquidity == 0:
        raise PositionEmpty(f"position {position_id} has no liquidity to take out", position_id=position_id)
    tokens = (reader.token(position.pool.token0), reader.token(position.pool.token1))
    amounts = position.amounts(liquidity)
    least = least_amounts(position, liquidity, slippage_bps)
    fees = (position.fees0, position.fees1) if collect_fees else (0, 0)
    sure = [low + max(0, fee - FEE_DUST) for low, fee in zip(least, fees, strict=True)]
    ctx.step("Building calls")
    until = deadline_after(ctx, reader, deadline)
    sale = _sell_at_once(ctx, reader, tokens, sure, slippage_bps)
    most = _bound_collected(tokens, sale, [None if collect_fees else amount for amount in amounts])
    call = v3_plans.decrease_position(
        manager=deployment.v3_position_manager,
        position_id=position.position_id,
        liquidity=liquidity,
        least0=least[0],
        least1=least[1],
        most0=most[0],
        most1=most[1],
        recipient=ctx.account,
        deadline=until,
        label=f"Take {percent_to_remove}% out of Uniswap V3 position {position_id}",
    )
    draft = PlanDraft(reader.chain_id, ctx.account)
    draft.call(call)
    expected = [amount + fee for amount, fee in zip(amounts, fees, strict=True)]
    _receive(draft, tokens, expected, sure, sale)
    draft.changes += _range_of(reader, position).shrinks(
        liquidity, position.liquidity, fees, slippage_bps=slippage_bps, ref=nft_ref(reader.chain_id, position_id)
    )
    return draft.finish(
        action_class=ActionClass.CLOSE_POSITION if percent_to_remove == 100 else ActionClass.DECREASE_POSITION,
        slippage_bps=slippage_bps,
        deadline=until if sale is None else min(until, sale.plan.deadline or until),
        price_impact_bps=None if sale is None else sale.plan.price_impact_bps,
        details={
            "manager": deployment.v3_position_manager,
            "position_id": position_id,
            **({} if sale is None else sale.details),
            "percent_to_remove": percent_to_remove,
            "liquidity_removed": str(liquidity),
            **describe_range(position.pool, tokens, position.tick_lower, position.tick_upper),
            **describe_amounts("amount", tokens, amounts),
            **describe_amounts("fees", tokens, fees),
        },
    )


@uniswap.write(
    action_type="collect_fees",
    category=Category.LP,
    risk=RiskLayer.LOW,
    report=report_collect,
    action_class=ActionClass.DECREASE_POSITION,
    schema_version=2,
    aliases=("collect_fees",),
    snippet=(
        "collect_fees: bring the fees a Uniswap V3 or V4 position has earned into the golem's wallet and leave its"
        " liquidity where it is; allowed in every phase."
    ),
    guidelines=("Compare the fees with the gas first: a harvest worth less than its gas can wait.",),
)
def uniswap_lp_collect_fees(ctx: WriteContext, position_id: RangeId) -> TxPlan:
    """Collect the fees a Uniswap V3 or V4 position of the golem has earned.

    Use when the fees are worth more than the gas. Both tokens come to the golem's wallet. wallet_get_status lists
    positions. Does not take liquidity out and does not put the fees back to work. Fees in a token that retires behind
    the golem's cage are sold for the other one in the same plan.
    """
    reader = ctx.begin("Reading the position")
    deployment = deployment_on(reader.chain_id)
    if is_v4(position_id):
        return harvest_v4_range(ctx, reader, position_id)
    position = read_own_position(reader, deployment, position_id, ctx.account)
    fees = (position.fees0, position.fees1)
    if fees == (0, 0):
        raise PositionEmpty(f"position {position_id} has no fees to collect", position_id=position_id)
    tokens = (reader.token(position.pool.token0), reader.token(position.pool.token1))
    # Where nothing earns any more, what is owed is known to the unit.
    dust = FEE_DUST if position.liquidity else 0
    sure = [max(0, fee - dust) for fee in fees]
    ctx.step("Building calls")
    sale = _sell_at_once(ctx, reader, tokens, sure, SALE_SLIPPAGE_BPS)
    most = _bound_collected(tokens, sale, [None, None])
    call = v3_plans.collect_fees(
        manager=deployment.v3_position_manager,
        position_id=position.position_id,
        recipient=ctx.account,
        most0=most[0],
        most1=most[1],
        label=f"Collect the fees of Uniswap V3 position {position_id}",
    )
    draft = PlanDraft(reader.chain_id, ctx.account)
    draft.call(call)
    _receive(draft, tokens, fees, [max(0, fee - FEE_DUST) for fee in fees], sale)
    draft.changes += _range_of(reader, position).shrinks(
        0, position.liquidity, fees, slippage_bps=0, ref=nft_ref(reader.chain_id, position_id)
    )
    return draft.finish(
        action_class=ActionClass.DECREASE_POSITION,
        **({} if sale is None else sale.bounds),
        details={
            "manager": deployment.v3_position_manager,
            "position_id": position_id,
            **({} if sale is None else sale.details),
            "pool": position.pool.id,
            **describe_amounts("fees", tokens, fees),
        },
    )


def _sell_at_once(
    ctx: WriteContext, reader: ChainReader, tokens: Sequence[TokenMeta], sure: Sequence[int], slippage_bps: int
) -> Sale | None:
    """The sale of the token that may only fall, of exactly as much as surely comes out of it; None where none must be.

    With both falling nothing helps: what one is sold for would rise. Raises RetiringUnsold.
    """
    falling = list_falling(ctx, reader.chain_id)
    places = [place for place, token in enumerate(tokens) if token.address in falling and sure[place]]
    if len(places) != 1:
        return None
    [place] = places
    sold, bought = tokens[place], tokens[1 - place]
    return sell_at_once(ctx, reader, sold=sold, bought=bought, amount=sure[place], slippage_bps=slippage_bps)


def _bound_collected(tokens: Sequence[TokenMeta], sale: Sale | None, most: Sequence[int | None]) -> list[int | None]:
    """The most that is collected of each: of what is sold not a unit more, which would rise."""
    return [
        sale.amount if sale is not None and token == sale.token else each
        for token, each in zip(tokens, most, strict=True)
    ]


def _receive(
    draft: PlanDraft, tokens: Sequence[TokenMeta], expected: Sequence[int], sure: Sequence[int], sale: Sale | None
) -> None:
    """The flows of both tokens, after the sale."""
    if sale is not None:
        draft.adopt(sale.plan)
    for place, token in enumerate(tokens):
        if sale is None:
            draft.receive(token, expected[place], at_least=sure[place])
        elif token == sale.token:
            draft.receive(token, 0)
        else:
            draft.receive(token, expected[place] + sale.brought.expected, at_least=sure[place] + sale.brought.bound)


def _range_of(reader: ChainReader, position: V3Position) -> Range:
    return Range.read(reader, position.pool, position.tick_lower, position.tick_upper)


def _received(outcome: PlanOutcome, flow: TokenFlow) -> TokenAmount:
    return TokenAmount(outcome.deltas.get(flow.token.address, 0), flow.token)
