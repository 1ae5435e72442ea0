"""`uniswap_api_*_lp_position` and fees: the service makes the calldata of V3 positions, and our own plan bounds it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from tools_app.protocols.uniswap.addresses import deployment_on
from tools_app.protocols.uniswap.tools.family import deadline_after
from tools_app.protocols.uniswap.tools.liquidity import (
    report_add,
    report_increase,
    uniswap_lp_add_liquidity,
    uniswap_lp_increase_liquidity,
)
from tools_app.protocols.uniswap.tools.withdrawals import (
    report_collect,
    report_remove,
    uniswap_lp_collect_fees,
    uniswap_lp_remove_liquidity,
)
from tools_app.protocols.uniswap.trading_api.answer_types import (
    AnsweredTransaction,
    ClaimAnswer,
    CreateAnswer,
    DecreaseAnswer,
    IncreaseAnswer,
)
from tools_app.protocols.uniswap.trading_api.api_family import API, uniswap_api
from tools_app.protocols.uniswap.trading_api.match_calldata import pin, read_least
from tools_app.protocols.uniswap.trading_api.match_swap_effects import ask_for_less
from tools_app.protocols.uniswap.trading_api.requests import post_question
from tools_app.protocols.uniswap.v3 import plans as v3
from tools_app.protocols.uniswap.v3.positions import read_own_position
from tools_app.standards.calldata import calls, read_exactly
from tools_app.toolkit.context import ChainReader, WriteContext
from tools_app.toolkit.enums import ActionClass, Category, RiskLayer, TickBudget
from tools_app.toolkit.outside_services import Answered, Question, ask
from tools_app.toolkit.params import (
    DeadlineSeconds,
    DecimalText,
    FeeTier,
    PercentWhole,
    PositionId,
    RawAmount,
    SlippageBps,
    Token,
)
from tools_app.toolkit.plan import TxPlan


@uniswap_api.write(
    action_type="api_add_liquidity",
    category=Category.LP,
    risk=RiskLayer.BOUNDED,
    budget=TickBudget.SLOW,
    report=report_add,
    action_class=ActionClass.NEW_POSITION,
    snippet="api_add_liquidity: as add_liquidity, with calldata that the Trading API makes and our own plan bounds.",
    guidelines=("Prefer add_liquidity, which asks nobody; take this one to compare the two.",),
)
def uniswap_api_create_lp_position(
    ctx: WriteContext,
    token0: Token,
    token1: Token,
    price_lower: DecimalText,
    price_upper: DecimalText,
    fee: FeeTier | None = None,
    amount0: RawAmount | None = None,
    amount1: RawAmount | None = None,
    slippage_bps: SlippageBps = 50,
    deadline: DeadlineSeconds = 300,
) -> TxPlan:
    """Open a Uniswap V3 position with calldata of the Trading API.

    Use where the owner wants the vendor's own calldata. It is taken only if it opens the very range in the very pool
    for the golem, takes no more and asks for no less than our own plan; else the code is FOREIGN_CALL_REFUSED.
    Does not open V2 or V4 positions and does not take the chain's own coin.
    """
    own = uniswap_lp_add_liquidity(
        ctx, token0, token1, price_lower, price_upper, fee, amount0, amount1, slippage_bps, deadline
    )

    def put(reader: ChainReader, wanted: bytes, until: int) -> Question[CreateAnswer]:
        ((first, second, of_fee, lower, upper, most0, most1, _, _, _, _),) = read_exactly(wanted, v3.MINT)
        return post_question(
            "/lp/create",
            CreateAnswer,
            walletAddress=ctx.account,
            chainId=reader.chain_id,
            protocol="V3",
            existingPool={
                "token0Address": first,
                "token1Address": second,
                "poolReference": str(own.details["pool"]),
                "fee": of_fee,
            },
            tickBounds={"tickLower": lower, "tickUpper": upper},
            independentToken={"tokenAddress": first if most0 else second, "amount": str(most0 or most1)},
            dependentToken={"tokenAddress": second if most0 else first, "amount": str(most1 if most0 else most0)},
            slippageTolerance=_say_slippage(slippage_bps),
            deadline=until,
        )

    return _take(ctx, own, v3.MINT, put, lambda answer: answer.create)


@uniswap_api.write(
    action_type="api_increase_liquidity",
    category=Category.LP,
    risk=RiskLayer.BOUNDED,
    budget=TickBudget.SLOW,
    report=report_increase,
    action_class=ActionClass.INCREASE_POSITION,
    snippet="api_increase_liquidity: as increase_liquidity, with calldata of the Trading API that our own plan bounds.",
    guidelines=("Prefer increase_liquidity, which asks nobody.",),
)
def uniswap_api_increase_lp_position(
    ctx: WriteContext,
    position_id: PositionId,
    amount0: RawAmount | None = None,
    amount1: RawAmount | None = None,
    slippage_bps: SlippageBps = 50,
    deadline: DeadlineSeconds = 300,
) -> TxPlan:
    """Add to a Uniswap V3 position of the golem with calldata of the Trading API.

    Use where the owner wants the vendor's own calldata; it is held to our own plan argument by argument.
    Does not collect fees and does not change the range.
    """
    own = uniswap_lp_increase_liquidity(ctx, position_id, amount0, amount1, slippage_bps, deadline)

    def put(reader: ChainReader, wanted: bytes, until: int) -> Question[IncreaseAnswer]:
        ((_, most0, most1, _, _, _),) = read_exactly(wanted, v3.INCREASE)
        first, second = _pair_of(reader, position_id, ctx.account)
        return post_question(
            "/lp/increase",
            IncreaseAnswer,
            walletAddress=ctx.account,
            chainId=reader.chain_id,
            protocol="V3",
            token0Address=first,
            token1Address=second,
            nftTokenId=position_id,
            independentToken={"tokenAddress": first if most0 else second, "amount": str(most0 or most1)},
            dependentToken={"tokenAddress": second if most0 else first, "amount": str(most1 if most0 else most0)},
            slippageTolerance=_say_slippage(slippage_bps),
            deadline=until,
        )

    return _take(ctx, own, v3.INCREASE, put, lambda answer: answer.increase)


@uniswap_api.write(
    action_type="api_remove_liquidity",
    category=Category.LP,
    risk=RiskLayer.LOW,
    budget=TickBudget.SLOW,
    report=report_remove,
    snippet="api_remove_liquidity: as remove_liquidity, with calldata of the Trading API that our own plan bounds.",
    guidelines=("Prefer remove_liquidity, which asks nobody and works when the service is away.",),
)
def uniswap_api_decrease_lp_position(
    ctx: WriteContext,
    position_id: PositionId,
    liquidity_pct: PercentWhole = 100,
    slippage_bps: SlippageBps = 50,
    deadline: DeadlineSeconds = 300,
) -> TxPlan:
    """Take liquidity out of a Uniswap V3 position of the golem with calldata of the Trading API, fees included.

    Use where the owner wants the vendor's own calldata; it is held to our own plan argument by argument.
    Does not burn the position's NFT, and does not sell what retires behind a cage: remove_liquidity does that.
    """
    own = uniswap_lp_remove_liquidity(ctx, position_id, liquidity_pct, True, slippage_bps, deadline)

    def put(reader: ChainReader, wanted: bytes, until: int) -> Question[DecreaseAnswer]:
        first, second = _pair_of(reader, position_id, ctx.account)
        return post_question(
            "/lp/decrease",
            DecreaseAnswer,
            walletAddress=ctx.account,
            chainId=reader.chain_id,
            protocol="V3",
            token0Address=first,
            token1Address=second,
            nftTokenId=position_id,
            liquidityPercentageToDecrease=liquidity_pct,
            slippageTolerance=_say_slippage(slippage_bps),
            deadline=until,
            withdrawAsWeth=True,
        )

    return _take(ctx, own, v3.MULTICALL, put, lambda answer: answer.decrease)


@uniswap_api.write(
    action_type="api_collect_fees",
    category=Category.LP,
    risk=RiskLayer.LOW,
    budget=TickBudget.SLOW,
    report=report_collect,
    action_class=ActionClass.DECREASE_POSITION,
    snippet="api_collect_fees: as collect_fees, with calldata of the Trading API that our own plan bounds.",
    guidelines=("Prefer collect_fees, which asks nobody.",),
)
def uniswap_api_claim_lp_fees(ctx: WriteContext, position_id: PositionId) -> TxPlan:
    """Collect the fees of a Uniswap V3 position of the golem with calldata of the Trading API.

    Use where the owner wants the vendor's own calldata; it is held to our own plan argument by argument.
    Does not take liquidity out, and does not sell what retires behind a cage: collect_fees does that.
    """
    own = uniswap_lp_collect_fees(ctx, position_id)

    def put(reader: ChainReader, wanted: bytes, until: int) -> Question[ClaimAnswer]:
        return post_question(
            "/lp/claim_fees",
            ClaimAnswer,
            walletAddress=ctx.account,
            chainId=reader.chain_id,
            protocol="V3",
            tokenId=position_id,
            collectAsWeth=True,
        )

    return _take(ctx, own, v3.COLLECT, put, lambda answer: answer.claim)


# ---- below ----------------------------------------------------------------------------------------------------------


def _take(
    ctx: WriteContext,
    own: TxPlan,
    signature: str,
    put: Callable[[ChainReader, bytes, int], Question[Any]],  # Any: a stranger's JSON
    find: Callable[[Any], AnsweredTransaction],  # Any: a stranger's JSON
) -> TxPlan:
    """Our own plan with the service's bytes in its one call to the position manager. Raises ForeignCallRefused."""
    reader = ctx.chain(own.chain_id)
    manager = deployment_on(own.chain_id).v3_position_manager
    place = next(at for at, call in enumerate(own.calls) if call.to == manager and calls(call.data, signature))
    wanted = own.calls[place]
    until = own.deadline if own.deadline is not None else deadline_after(ctx, reader, 0)
    ctx.step("Asking the service")
    answer: Answered[Any] = ask(ctx, API, put(reader, wanted.data, until))  # Any: a stranger's JSON
    call = pin(wanted, find(answer.value), account=ctx.account, chain_id=own.chain_id, now=reader.block.timestamp)
    # What their bytes demand beyond ours is promised too.
    more = [theirs - ours for theirs, ours in zip(read_least(call.data), read_least(wanted.data), strict=True)]
    receives = own.receives
    if any(more):
        receives = tuple(replace(flow, bound=flow.bound + each) for flow, each in zip(receives, more, strict=True))
    return replace(
        own,
        receives=receives,
        calls=(*own.calls[:place], call, *own.calls[place + 1 :]),
        details={
            **own.details,
            "calldata_by": answer.source.service,
            "calldata_at": answer.source.answered_at,
            "calldata_is_ours_too": call.data == wanted.data,
        },
    )


def _pair_of(reader: ChainReader, position_id: str, account: str) -> tuple[str, str]:
    pool = read_own_position(reader, deployment_on(reader.chain_id), position_id, account).pool
    return pool.token0, pool.token1


def _say_slippage(bps: int) -> float:
    """In per cent, as the service wants it."""
    return ask_for_less(bps) / 100
