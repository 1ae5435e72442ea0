"""Plans of V4 positions: opened, grown, shrunk and burned, harvested, by V4's own position manager.

Amounts and prices are in V4's own order of currencies, in which the chain's coin is the first.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from tools_app.core.errors import InvalidParams
from tools_app.core.json_types import JsonObject
from tools_app.protocols.uniswap.balances import read_holdings
from tools_app.protocols.uniswap.errors import PositionEmpty
from tools_app.protocols.uniswap.position_changes import FEE_DUST, Range, nft_ref
from tools_app.protocols.uniswap.tools.family import deadline_after
from tools_app.protocols.uniswap.tools.position_details import describe_amounts, describe_range
from tools_app.protocols.uniswap.v3.deposits import RangeDeposit, check_way_round, plan_exact_deposit, ticks_of_range
from tools_app.protocols.uniswap.v3.positions import V3Position, least_amounts
from tools_app.protocols.uniswap.v4 import liquidity_plans as plans
from tools_app.protocols.uniswap.v4.addresses import V4Contracts, v4_on
from tools_app.protocols.uniswap.v4.pools import key_of
from tools_app.protocols.uniswap.v4.positions import held_of, read_own_position, read_pool
from tools_app.standards.permit2 import PERMIT2
from tools_app.standards.plan_draft import PlanDraft, check_enough
from tools_app.toolkit.context import ChainReader, WriteContext
from tools_app.toolkit.enums import ActionClass
from tools_app.toolkit.markets import Pool
from tools_app.toolkit.plan import ItemGiven, TxPlan
from tools_app.toolkit.pool_hooks import HookPower, PoolHooks
from tools_app.toolkit.views import TokenMeta

Amounts = tuple[int, int]
Pair = tuple[TokenMeta, TokenMeta]


def open_v4_range(
    ctx: WriteContext,
    reader: ChainReader,
    found: Pool,
    named: Pair,
    *,
    prices: tuple[str, str],
    amounts: tuple[int | None, int | None],
    slippage_bps: int,
    seconds: int,
) -> TxPlan:
    """Open a position in a V4 pool; prices and amounts in the order in which the tokens are `named`.

    Raises InvalidParams, InvalidRange, AmountTooSmall, InsufficientBalance.
    """
    contracts = _contracts(reader)
    key = key_of(found)
    pool = read_pool(reader, contracts, key)
    is_inverse = named[0].address != pool.token0
    tokens = (named[1], named[0]) if is_inverse else named
    if (tokens[0].address, tokens[1].address) != (pool.token0, pool.token1):
        right = [reader.token(each).symbol for each in (pool.token0, pool.token1)]
        raise InvalidParams(
            f"pool {pool.id} is of {right[0]} and {right[1]}",
            fields={"token0": f"{right[0]} or {right[1]}", "token1": f"{right[1]} or {right[0]}"},
        )
    ticks = ticks_of_range(
        *prices,
        decimals0=tokens[0].decimals,
        decimals1=tokens[1].decimals,
        spacing=key.spacing,
        is_inverse=is_inverse,
    )
    check_way_round(
        pool.pool_tick,
        ticks,
        *prices,
        decimals0=tokens[0].decimals,
        decimals1=tokens[1].decimals,
        spacing=key.spacing,
        is_inverse=is_inverse,
    )
    limits = (amounts[1], amounts[0]) if is_inverse else amounts
    offer = plan_exact_deposit(pool.sqrt_price, *ticks, amount0=limits[0], amount1=limits[1], slippage_bps=slippage_bps)
    ctx.step("Building calls")
    until = deadline_after(ctx, reader, seconds)
    call = plans.open_range(
        manager=contracts.positions,
        key=key,
        ticks=ticks,
        liquidity=offer.liquidity,
        most=offer.offered,
        recipient=ctx.account,
        deadline=until,
        label=f"Open a Uniswap V4 position in {tokens[0].symbol}/{tokens[1].symbol}",
    )
    draft = _pay_in(ctx, reader, contracts, tokens, offer, until)
    draft.call(call)
    for token, used, most in zip(tokens, offer.used, offer.offered, strict=True):
        draft.spend(token, used, at_most=most)
    draft.changes += Range.read(reader, pool, *ticks).grows(
        offer.liquidity, offer.least_liquidity, slippage_bps=slippage_bps
    )
    return draft.finish(
        action_class=ActionClass.NEW_POSITION,
        slippage_bps=slippage_bps,
        deadline=until,
        hooks=_hooks(pool),
        details={
            "manager": contracts.positions,
            "liquidity": str(offer.liquidity),
            **_describe(pool, tokens, ticks),
            **describe_amounts("amount", tokens, offer.used),
            **describe_amounts("maximum_amount", tokens, offer.offered),
        },
    )


def grow_v4_range(
    ctx: WriteContext,
    reader: ChainReader,
    position_id: str,
    *,
    amounts: tuple[int | None, int | None],
    slippage_bps: int,
    seconds: int,
) -> TxPlan:
    """Add to a position at most these amounts; its fees are counted against them.

    Raises PositionNotFound, InvalidRange, AmountTooSmall, InsufficientBalance.
    """
    contracts = _contracts(reader)
    position = read_own_position(reader, contracts, position_id, ctx.account)
    pool, tokens = position.pool, _tokens(reader, position)
    ticks = (position.tick_lower, position.tick_upper)
    offer = plan_exact_deposit(
        pool.sqrt_price, *ticks, amount0=amounts[0], amount1=amounts[1], slippage_bps=slippage_bps
    )
    ctx.step("Building calls")
    until = deadline_after(ctx, reader, seconds)
    draft = _pay_in(ctx, reader, contracts, tokens, offer, until)
    draft.call(
        plans.grow(
            manager=contracts.positions,
            held=held_of(position),
            liquidity=offer.liquidity,
            most=offer.offered,
            recipient=ctx.account,
            deadline=until,
            label=f"Add to Uniswap V4 position {held_of(position).number}",
        )
    )
    fees = (position.fees0, position.fees1)
    for token, used, most, fee in zip(tokens, offer.used, offer.offered, fees, strict=True):
        draft.spend(token, max(0, used - fee), at_most=most)
        if fee > used:
            draft.receive(token, fee - used, at_least=0)
    within = Range.read(reader, pool, *ticks)
    draft.changes += within.grows_with_fees(
        offer.liquidity, fees, slippage_bps=slippage_bps, ref=nft_ref(reader.chain_id, position_id)
    )
    return draft.finish(
        action_class=ActionClass.INCREASE_POSITION,
        slippage_bps=slippage_bps,
        deadline=until,
        hooks=_hooks(pool),
        details={
            "manager": contracts.positions,
            "position_id": position_id,
            "liquidity": str(offer.liquidity),
            **_describe(pool, tokens, ticks),
            **describe_amounts("amount", tokens, offer.used),
            **describe_amounts("maximum_amount", tokens, offer.offered),
            **describe_amounts("fees", tokens, fees),
        },
    )


def shrink_v4_range(
    ctx: WriteContext,
    reader: ChainReader,
    position_id: str,
    *,
    percent: int,
    with_fees: bool,
    slippage_bps: int,
    seconds: int,
) -> TxPlan:
    """Take so many percent of a position out, with all its fees; of all of it the NFT is burned.

    Raises PositionNotFound, PositionEmpty, InvalidParams.
    """
    if not with_fees:
        raise InvalidParams(
            "V4 pays the fees of a position whenever it is changed", fields={"collect_fees": "leave it out, or true"}
        )
    contracts = _contracts(reader)
    position = read_own_position(reader, contracts, position_id, ctx.account)
    liquidity = position.liquidity * percent // 100
    if liquidity == 0:
        raise PositionEmpty(f"position {position_id} has no liquidity to take out", position_id=position_id)
    tokens, held = _tokens(reader, position), held_of(position)
    least = least_amounts(position, liquidity, slippage_bps)
    until = deadline_after(ctx, reader, seconds)
    ctx.step("Building calls")
    label = f"Take {percent}% out of Uniswap V4 position {held.number}"
    bounds: dict[str, Any] = {  # Any: bounds of each kind of call
        "least": least,
        "recipient": ctx.account,
        "deadline": until,
        "label": label,
    }
    if percent == 100:
        call = plans.burn(manager=contracts.positions, held=held, **bounds)
    else:
        call = plans.shrink(manager=contracts.positions, held=held, liquidity=liquidity, **bounds)
    taken = _TakenOut(position, tokens, liquidity, position.amounts(liquidity), least)
    draft = _pay_out(reader, taken, slippage_bps=slippage_bps)
    draft.call(call)
    return draft.finish(
        action_class=ActionClass.CLOSE_POSITION if percent == 100 else ActionClass.DECREASE_POSITION,
        slippage_bps=slippage_bps,
        deadline=until,
        hooks=_hooks(position.pool),
        items=(ItemGiven(contracts.positions, held.number, plans.NOBODY),) if percent == 100 else (),
        details={
            "manager": contracts.positions,
            "position_id": position_id,
            "percent_to_remove": percent,
            "liquidity_removed": str(liquidity),
            **_describe(position.pool, tokens, (position.tick_lower, position.tick_upper)),
            **describe_amounts("amount", tokens, taken.amounts),
            **describe_amounts("fees", tokens, (position.fees0, position.fees1)),
        },
    )


def harvest_v4_range(ctx: WriteContext, reader: ChainReader, position_id: str) -> TxPlan:
    """Take the fees of a position. Raises PositionNotFound, PositionEmpty."""
    contracts = _contracts(reader)
    position = read_own_position(reader, contracts, position_id, ctx.account)
    fees = (position.fees0, position.fees1)
    if fees == (0, 0):
        raise PositionEmpty(f"position {position_id} has no fees to collect", position_id=position_id)
    tokens, held = _tokens(reader, position), held_of(position)
    ctx.step("Building calls")
    until = deadline_after(ctx, reader, HARVEST_SECONDS)
    draft = _pay_out(reader, _TakenOut(position, tokens, 0, (0, 0), (0, 0)), slippage_bps=0)
    draft.call(
        plans.shrink(
            manager=contracts.positions,
            held=held,
            liquidity=0,
            least=(0, 0),
            recipient=ctx.account,
            deadline=until,
            label=f"Collect the fees of Uniswap V4 position {held.number}",
        )
    )
    return draft.finish(
        action_class=ActionClass.DECREASE_POSITION,
        deadline=until,
        hooks=_hooks(position.pool),
        details={
            "manager": contracts.positions,
            "position_id": position_id,
            "pool": position.pool.id,
            **describe_amounts("fees", tokens, fees),
        },
    )


# ---- below ----------------------------------------------------------------------------------------------------------

HARVEST_SECONDS: Final = 300
"""A harvest runs at most so long after it was planned."""


@dataclass(frozen=True, slots=True)
class _TakenOut:
    """What is taken out of a position besides all its fees: liquidity, what it gives now, and the least it may give."""

    position: V3Position
    tokens: Pair
    liquidity: int
    amounts: Amounts
    least: Amounts


def _contracts(reader: ChainReader) -> V4Contracts:
    found = v4_on(reader.chain_id)
    if found is None:
        raise AssertionError("a chain with Uniswap has V4's addresses")
    return found


def _tokens(reader: ChainReader, position: V3Position) -> Pair:
    return reader.token(position.pool.token0), reader.token(position.pool.token1)


def _hooks(pool: Pool) -> tuple[PoolHooks, ...]:
    return () if pool.hooks is None else (pool.hooks,)


def _describe(pool: Pool, tokens: Pair, ticks: tuple[int, int]) -> JsonObject:
    """The range, and what the hook of the pool could do to who is in it."""
    told = describe_range(pool, tokens, *ticks)
    if pool.hooks is not None:
        told["hook"] = pool.hooks.address
        told["hook_could"] = pool.hooks.words
        told["exit_at_risk"] = bool({HookPower.EXITS, HookPower.AMOUNTS} & set(pool.hooks.powers))
    return told


def _pay_in(
    ctx: WriteContext,
    reader: ChainReader,
    contracts: V4Contracts,
    tokens: Sequence[TokenMeta],
    offer: RangeDeposit,
    until: int,
) -> PlanDraft:
    """Balances checked, and rights through Permit2 that end with the plan."""
    draft = PlanDraft(reader.chain_id, ctx.account)
    holdings = read_holdings(reader, ctx.account, tokens, spender=PERMIT2)
    for holding, most in zip(holdings, offer.offered, strict=True):
        check_enough(holding.token, balance=holding.balance, needed=most)
        if most and not holding.token.is_native:
            draft.approve_through_permit2(
                holding.token,
                spender=contracts.positions,
                amount=most,
                allowance=holding.allowance,
                until=until,
                is_used_up=False,
            )
    return draft


def _pay_out(reader: ChainReader, taken: _TakenOut, *, slippage_bps: int) -> PlanDraft:
    """Both tokens with the fees, and how the position changes."""
    position = taken.position
    fees = (position.fees0, position.fees1)
    draft = PlanDraft(reader.chain_id, position.owner)
    for token, amount, least, fee in zip(taken.tokens, taken.amounts, taken.least, fees, strict=True):
        draft.receive(token, amount + fee, at_least=least + max(0, fee - FEE_DUST))
    draft.changes += Range.read(reader, position.pool, position.tick_lower, position.tick_upper).shrinks(
        taken.liquidity,
        position.liquidity,
        fees,
        slippage_bps=slippage_bps,
        ref=nft_ref(reader.chain_id, position.position_id),
    )
    return draft
