"""`uniswap_lp_add_liquidity` and `uniswap_lp_increase_liquidity`: put tokens into a V3 position of the golem."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from tools_app.chain.abi_records import AbiEvent
from tools_app.core.errors import InvalidParams
from tools_app.protocols.uniswap.addresses import UniswapDeployment, deployment_on
from tools_app.protocols.uniswap.balances import read_holdings
from tools_app.protocols.uniswap.paths import V4
from tools_app.protocols.uniswap.pools import find_pools, find_v3_pool, read_pool
from tools_app.protocols.uniswap.position_changes import Range, nft_ref, pair_feeds
from tools_app.protocols.uniswap.tools.family import deadline_after, uniswap
from tools_app.protocols.uniswap.tools.position_details import (
    OfLiquidity,
    OfManager,
    OfPosition,
    describe_amounts,
    describe_range,
    find_event,
)
from tools_app.protocols.uniswap.tools.v4_ranges import grow_v4_range, open_v4_range
from tools_app.protocols.uniswap.v3 import plans as v3_plans
from tools_app.protocols.uniswap.v3.deposits import RangeDeposit, check_way_round, plan_deposit, ticks_of_range
from tools_app.protocols.uniswap.v3.positions import read_own_position
from tools_app.protocols.uniswap.v3.ticks import read_tick_spacing
from tools_app.protocols.uniswap.v4.liquidity_plans import NOBODY
from tools_app.protocols.uniswap.v4.positions import PREFIX, is_v4
from tools_app.standards.erc721 import MOVED
from tools_app.standards.plan_draft import PlanDraft, check_enough
from tools_app.standards.receipts import list_events, read_details
from tools_app.toolkit.answer import Told
from tools_app.toolkit.context import ChainReader, WriteContext
from tools_app.toolkit.enums import ActionClass, Category, RiskLayer, TickBudget
from tools_app.toolkit.markets import Pool, PoolNotFound, sort_tokens
from tools_app.toolkit.params import (
    DeadlineSeconds,
    DecimalText,
    FeeTier,
    PoolName,
    RangeId,
    RawAmount,
    SlippageBps,
    Token,
)
from tools_app.toolkit.plan import Call, PlanOutcome, TokenFlow, TxPlan
from tools_app.toolkit.positions import PositionRef
from tools_app.toolkit.result import TokenAmount
from tools_app.toolkit.views import TokenMeta


@dataclass(frozen=True, slots=True)
class Grown:
    """A V3 position that grew, as its manager's log tells it."""

    token_id: int
    liquidity: int


GROWN: Final = AbiEvent(
    "event IncreaseLiquidity(uint256 indexed tokenId, uint128 liquidity, uint256 amount0, uint256 amount1)", Grown
)


@dataclass(frozen=True, slots=True)
class OfRange:
    """Of a plan's details: the range that is opened."""

    venue: str
    pool: str
    tick_lower: int
    tick_upper: int


class AddReport(Told):
    """What opening a position did."""

    position_id: str
    pool: str
    tick_lower: int
    tick_upper: int
    liquidity: str
    amount0_deposited: TokenAmount
    amount1_deposited: TokenAmount


class IncreaseReport(Told):
    """What adding to a position did."""

    liquidity_added: str
    amount0_deposited: TokenAmount
    amount1_deposited: TokenAmount


def report_add(outcome: PlanOutcome) -> AddReport:
    """Position id and liquidity from the manager's event, amounts from the balance differences."""
    spent0, spent1 = outcome.plan.spends
    (position_id, liquidity), details = read_opened(outcome), read_details(OfRange, outcome)
    return AddReport(
        position_id=position_id,
        pool=details.pool,
        tick_lower=details.tick_lower,
        tick_upper=details.tick_upper,
        liquidity=liquidity,
        amount0_deposited=_spent(outcome, spent0),
        amount1_deposited=_spent(outcome, spent1),
    )


def report_increase(outcome: PlanOutcome) -> IncreaseReport:
    """Liquidity from the manager's event (of V4 it is what the calls name), amounts from the balance differences."""
    spent0, spent1 = outcome.plan.spends
    return IncreaseReport(
        liquidity_added=read_added(outcome),
        amount0_deposited=_spent(outcome, spent0),
        amount1_deposited=_spent(outcome, spent1),
    )


@uniswap.write(
    action_type="add_liquidity",
    category=Category.LP,
    risk=RiskLayer.BOUNDED,
    budget=TickBudget.SLOW,
    report=report_add,
    action_class=ActionClass.NEW_POSITION,
    schema_version=2,
    aliases=("add_liquidity",),
    snippet=(
        "add_liquidity: open a Uniswap V3 or V4 position in a price range you choose; earns swap fees while the price"
        " stays inside, and changes its mix of tokens as the price moves."
    ),
    guidelines=(
        "Look at the pool and its health score first; a thin or young pool is a reason not to open.",
        "Prices are units of token1 per unit of token0, in the order in which you name the tokens.",
        "Give one amount and let the tool work out the other, unless you mean to cap both.",
        "Not available in DEFENSIVE, SURVIVAL or TERMINAL: positions are only reduced or closed there.",
    ),
)
def uniswap_lp_add_liquidity(
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
    pool: PoolName | None = None,
) -> TxPlan:
    """Open a Uniswap V3 or V4 liquidity position in a price range.

    Use to earn swap fees on two tokens. The range is widened to the nearest ticks the pool allows. Without
    `fee` the pool with the most liquidity is taken; with only one amount the other is what the range needs at
    the present price. The transaction reverts when the price has moved by more than the slippage.
    A V4 `pool` is named by its id; one of the chain's coin takes the coin itself, and one whose hook could take
    something waits for the owners. Does not create a pool, does not swap to the right ratio, takes no coin into V3.
    """
    reader = ctx.begin("Reading tokens")
    deployment = deployment_on(reader.chain_id)
    named = (reader.token(token0), reader.token(token1))
    ctx.step("Reading the pool")
    if pool is not None:
        wanted = read_pool(reader, deployment, pool)
        if wanted.version == V4:
            prices, amounts = (price_lower, price_upper), (amount0, amount1)
            check_amounts(*amounts)
            return open_v4_range(
                ctx, reader, wanted, named, prices=prices, amounts=amounts, slippage_bps=slippage_bps, seconds=deadline
            )
        fee = _fee_of(wanted, named, fee)
    chosen = choose_range(
        reader, deployment, named=named, prices=(price_lower, price_upper), amounts=(amount0, amount1), fee=fee
    )
    found, tokens, limits = chosen.pool, chosen.tokens, chosen.amounts
    tick_lower, tick_upper = chosen.ticks
    offer = plan_deposit(
        found.sqrt_price, tick_lower, tick_upper, amount0=limits[0], amount1=limits[1], slippage_bps=slippage_bps
    )
    ctx.step("Building calls")
    until = deadline_after(ctx, reader, deadline)
    mint = v3_plans.mint_position(
        manager=deployment.v3_position_manager,
        token0=found.token0,
        token1=found.token1,
        fee=found.fee,
        tick_lower=tick_lower,
        tick_upper=tick_upper,
        deposit=v3_plans.OfferedAmounts(*offer.offered, *offer.least),
        recipient=ctx.account,
        deadline=until,
        label=f"Open a Uniswap V3 position in {tokens[0].symbol}/{tokens[1].symbol}",
    )
    return _deposit_plan(
        ctx,
        reader,
        deployment,
        tokens,
        offer,
        mint,
        within=Range.read(reader, found, tick_lower, tick_upper),
        action_class=ActionClass.NEW_POSITION,
        slippage_bps=slippage_bps,
        deadline=until,
        details=describe_range(found, tokens, tick_lower, tick_upper),
    )


@uniswap.write(
    action_type="increase_liquidity",
    category=Category.LP,
    risk=RiskLayer.BOUNDED,
    budget=TickBudget.SLOW,
    report=report_increase,
    action_class=ActionClass.INCREASE_POSITION,
    schema_version=2,
    snippet=(
        "increase_liquidity: add tokens to a Uniswap V3 or V4 position the golem already holds, in the same price"
        " range; fees earned so far stay in a V3 one until collected."
    ),
    guidelines=(
        "Read the position first: one that is out of range earns nothing and takes one token only.",
        "Not available in DEFENSIVE, SURVIVAL or TERMINAL.",
    ),
)
def uniswap_lp_increase_liquidity(
    ctx: WriteContext,
    position_id: RangeId,
    amount0: RawAmount | None = None,
    amount1: RawAmount | None = None,
    slippage_bps: SlippageBps = 50,
    deadline: DeadlineSeconds = 300,
) -> TxPlan:
    """Add tokens to a Uniswap V3 or V4 position of the golem without changing its range.

    Use to grow a position that works. `amount0` and `amount1` follow the pool's token order, which
    data_get_position shows; with only one the other is what the range needs at the present price.
    Does not change the range. Fees stay in a V3 position; V4 counts them against what goes in.
    """
    check_amounts(amount0, amount1)
    reader = ctx.begin("Reading the position")
    deployment = deployment_on(reader.chain_id)
    if is_v4(position_id):
        amounts = (amount0, amount1)
        return grow_v4_range(ctx, reader, position_id, amounts=amounts, slippage_bps=slippage_bps, seconds=deadline)
    position = read_own_position(reader, deployment, position_id, ctx.account)
    tokens = (reader.token(position.pool.token0), reader.token(position.pool.token1))
    offer = plan_deposit(
        position.pool.sqrt_price,
        position.tick_lower,
        position.tick_upper,
        amount0=amount0,
        amount1=amount1,
        slippage_bps=slippage_bps,
    )
    ctx.step("Building calls")
    until = deadline_after(ctx, reader, deadline)
    increase = v3_plans.increase_position(
        manager=deployment.v3_position_manager,
        position_id=position.position_id,
        deposit=v3_plans.OfferedAmounts(*offer.offered, *offer.least),
        deadline=until,
        label=f"Add to Uniswap V3 position {position_id}",
    )
    return _deposit_plan(
        ctx,
        reader,
        deployment,
        tokens,
        offer,
        increase,
        within=Range.read(reader, position.pool, position.tick_lower, position.tick_upper),
        ref=nft_ref(reader.chain_id, position_id),
        action_class=ActionClass.INCREASE_POSITION,
        slippage_bps=slippage_bps,
        deadline=until,
        details={
            "position_id": position_id,
            **describe_range(position.pool, tokens, position.tick_lower, position.tick_upper),
        },
    )


# ---- below ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ChosenRange:
    """A pool and what is opened in it; tokens and amounts in the pool's order."""

    pool: Pool
    tokens: tuple[TokenMeta, TokenMeta]
    ticks: tuple[int, int]
    amounts: tuple[int | None, int | None]


def choose_range(
    reader: ChainReader,
    deployment: UniswapDeployment,
    *,
    named: tuple[TokenMeta, TokenMeta],
    prices: tuple[str, str],
    amounts: tuple[int | None, int | None],
    fee: int | None,
) -> ChosenRange:
    """What tokens, prices and amounts mean in the pool's order. Raises InvalidParams, PoolNotFound, InvalidRange."""
    _check_pair(*named)
    is_inverse = sort_tokens(named[0].address, named[1].address)[0] != named[0].address
    tokens = (named[1], named[0]) if is_inverse else named
    check_amounts(*amounts)
    reader.expect(calls=pair_feeds(reader.chain_id, tokens[0].address, tokens[1].address).calls)
    pool = _choose_pool(reader, deployment, tokens, fee)
    decimals0, decimals1 = tokens[0].decimals, tokens[1].decimals
    spacing = read_tick_spacing(reader, pool)
    ticks = ticks_of_range(*prices, decimals0=decimals0, decimals1=decimals1, spacing=spacing, is_inverse=is_inverse)
    check_way_round(
        pool.pool_tick,
        ticks,
        *prices,
        decimals0=decimals0,
        decimals1=decimals1,
        spacing=spacing,
        is_inverse=is_inverse,
    )
    return ChosenRange(pool, tokens, ticks, (amounts[1], amounts[0]) if is_inverse else amounts)


def check_amounts(amount0: int | None, amount1: int | None) -> None:
    """Raises InvalidParams where none is given."""
    if amount0 is None and amount1 is None:
        raise InvalidParams("give amount0, amount1 or both", fields={"amount0": "missing", "amount1": "missing"})


def _fee_of(pool: Pool, named: tuple[TokenMeta, TokenMeta], fee: int | None) -> int:
    """The fee by which a V3 pool that was named is found. Raises InvalidParams."""
    if pool.version != "v3" or {pool.token0, pool.token1} != {each.address for each in named}:
        raise InvalidParams(
            f"{pool.id} is no V3 or V4 pool of {named[0].symbol} and {named[1].symbol}",
            fields={"pool": "another pool"},
        )
    if fee not in (None, pool.fee):
        raise InvalidParams(f"the fee of {pool.id} is {pool.fee}", fields={"fee": f"leave it out, or {pool.fee}"})
    return pool.fee


def read_added(outcome: PlanOutcome) -> str:
    """The liquidity that a position grew by; of V4 it is what the calls name."""
    if is_v4(read_details(OfPosition, outcome).position_id):
        return read_details(OfLiquidity, outcome).liquidity if outcome.receipts else "0"
    grown = find_event(outcome, GROWN)
    return "0" if grown is None else str(grown.liquidity)


def read_opened(outcome: PlanOutcome) -> tuple[str, str]:
    """Id and liquidity of the position that was opened; V4's manager tells its NFT alone, the calls the liquidity."""
    if read_details(OfRange, outcome).venue != "uniswap v4":
        grown = find_event(outcome, GROWN)
        return ("", "0") if grown is None else (str(grown.token_id), str(grown.liquidity))
    sent = list_events(outcome, MOVED, contract=read_details(OfManager, outcome).manager)
    made = next((each for each in sent if each.from_ == NOBODY), None)
    return (f"{PREFIX}{made.token_id}", read_details(OfLiquidity, outcome).liquidity) if made else ("", "0")


def _check_pair(token0: TokenMeta, token1: TokenMeta) -> None:
    for name, token in (("token0", token0), ("token1", token1)):
        if token.is_native:
            raise InvalidParams(
                f"a V3 position holds the wrapped coin, not {token.symbol} itself; name the wrapped token or a V4 pool",
                fields={name: "name the wrapped token"},
            )
    if token0.address == token1.address:
        raise InvalidParams("token0 and token1 are one token", fields={"token1": "same as token0"})


def _choose_pool(
    reader: ChainReader, deployment: UniswapDeployment, tokens: tuple[TokenMeta, TokenMeta], fee: int | None
) -> Pool:
    pair = (tokens[0].address, tokens[1].address)
    if fee is not None:
        return find_v3_pool(reader, deployment, *pair, fee)
    pools = [pool for pool in find_pools(reader, deployment, [pair]) if pool.version == "v3" and pool.is_usable]
    if not pools:
        raise PoolNotFound(
            f"there is no V3 pool of {tokens[0].symbol} and {tokens[1].symbol}", token0=pair[0], token1=pair[1]
        )
    return max(pools, key=lambda pool: pool.liquidity)


def _deposit_plan(
    ctx: WriteContext,
    reader: ChainReader,
    deployment: UniswapDeployment,
    tokens: tuple[TokenMeta, TokenMeta],
    offer: RangeDeposit,
    call: Call,
    *,
    within: Range,
    ref: PositionRef | None = None,
    action_class: ActionClass,
    slippage_bps: int,
    deadline: int,
    details: dict[str, object],
) -> TxPlan:
    manager = deployment.v3_position_manager
    holdings = read_holdings(reader, ctx.account, tokens, spender=manager)
    draft = PlanDraft(reader.chain_id, ctx.account)
    for holding, offered, least in zip(holdings, offer.offered, offer.least, strict=True):
        check_enough(holding.token, balance=holding.balance, needed=offered)
        # If the price moves, less of one token is taken; at worst this much of its approval stays.
        draft.approve(holding.token, spender=manager, amount=offered, allowance=holding.allowance, least_taken=least)
    draft.call(call)
    for token, used, offered in zip(tokens, offer.used, offer.offered, strict=True):
        draft.spend(token, used, at_most=offered)
    draft.changes += within.grows(offer.liquidity, offer.least_liquidity, slippage_bps=slippage_bps, ref=ref)
    return draft.finish(
        action_class=action_class,
        slippage_bps=slippage_bps,
        deadline=deadline,
        details={
            "manager": manager,
            "liquidity": str(offer.liquidity),
            **details,
            **describe_amounts("amount", tokens, offer.used),
            **describe_amounts("minimum_amount", tokens, offer.least),
        },
    )


def _spent(outcome: PlanOutcome, flow: TokenFlow) -> TokenAmount:
    return TokenAmount(-outcome.deltas.get(flow.token.address, 0), flow.token)
