"""`data_get_pool_info` and the three lists of pools."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from datetime import UTC, datetime

from tools_app.core.errors import InvalidParams
from tools_app.core.ratio import ratio_text
from tools_app.core.units import usd_to_micro
from tools_app.portfolio.markets import ChainMarkets, markets_on
from tools_app.subsystems.data.family import data
from tools_app.subsystems.data.pool_figures import PoolSummary, by_tvl, read_figures, summarise
from tools_app.toolkit.context import ChainReader, ReadContext
from tools_app.toolkit.enums import TickBudget
from tools_app.toolkit.markets import CreatedPool, Pool, PoolNotFound
from tools_app.toolkit.params import Hours, Limit, MicroUsdText, PoolName, Token
from tools_app.toolkit.result import TokenAmount, UsdAmount
from tools_app.toolkit.views import TokenMeta

SECONDS_PER_HOUR = 3_600
MOST_NEW_POOLS = 40
"""Newest pools that are valued, however many a spammer made."""
SCAN_BLOCKS = 5_000
"""Blocks whose logs are read at a time; after each a call that runs out of time can go on."""
REREAD_BLOCKS = 20
_READING_LOGS = "Reading the factories' logs"


@dataclass(frozen=True, slots=True)
class PoolHook:
    """The hook of a pool: its contract, what it could do, and whether a golem's owner decides about it."""

    address: str
    powers: tuple[str, ...]
    is_risky: bool


@dataclass(frozen=True, slots=True)
class PoolInfo:
    """What `data_get_pool_info` answers. `sqrt_price_x96`, `tick` and `liquidity` are None for a V2 pool.

    `manager` is the contract that keeps a pool without an address of its own. `hook` is a stranger's code that runs
    with every use of the pool: its contract, what it could do, and whether that can change amounts, fees or exits.
    """

    pool_address: str
    manager: str | None
    hook: PoolHook | None
    chain_id: int
    block_number: int
    version: str
    token0: TokenMeta
    token1: TokenMeta
    fee_tier: int
    sqrt_price_x96: str | None
    tick: int | None
    liquidity: str | None
    balance0: TokenAmount
    balance1: TokenAmount
    tvl_usd: UsdAmount | None
    tvl_reason: str | None
    volume_24h_usd: UsdAmount | None
    fees_24h_usd: UsdAmount | None
    swaps_24h: int | None
    fee_apy_24h: str | None
    history_reason: str | None
    price_token0_in_token1: str
    price_token1_in_token0: str


@data.read(
    query="pool",
    budget=TickBudget.FAST,
    aliases=("get_pool_info", "uniswap_get_pool_info"),
    snippet=(
        "pool: the state of one pool of a market: price, depth, what it holds in dollars, what was traded in"
        " 24 hours and what that pays."
    ),
    guidelines=("A pool with less than $100,000 in it moves far on a small swap; say so before you use it.",),
    schema_version=2,
)
def data_get_pool_info(ctx: ReadContext, pool_address: PoolName) -> PoolInfo:
    """Read the current state of one pool of a market.

    Use before a swap or a position in that pool. Prices are units per unit before fees; 24-hour figures come
    from the pool's own logs and are null, with a reason, when it is younger than that.
    Does not look at other exchanges, and does not run a pool's hook.
    """
    reader = ctx.begin("Reading the pool")
    markets = markets_on(reader.chain_id)
    pool = markets.read(reader, pool_address)
    if not pool.is_usable:
        raise PoolNotFound(f"the pool {pool_address} was made but never given a price", pool_address=pool_address)
    ctx.step("Reading 24 hours of trades")
    figures = read_figures(reader, markets, [pool])
    if not figures:
        raise PoolNotFound(
            f"the pool {pool_address} holds something that is no ERC-20 token", pool_address=pool_address
        )
    found = figures[0]
    is_v3 = pool.is_concentrated
    decimals0, decimals1 = found.token0.decimals, found.token1.decimals
    return PoolInfo(
        pool_address=pool.id,
        manager=pool.pool_id.manager or None,
        hook=_describe_hook(pool),
        chain_id=reader.chain_id,
        block_number=reader.block.number,
        version=pool.version,
        token0=found.token0,
        token1=found.token1,
        fee_tier=pool.fee,
        sqrt_price_x96=str(pool.sqrt_price) if is_v3 else None,
        tick=pool.pool_tick if is_v3 else None,
        liquidity=str(pool.liquidity) if is_v3 else None,
        balance0=TokenAmount(found.balance0, found.token0),
        balance1=TokenAmount(found.balance1, found.token1),
        tvl_usd=found.tvl,
        tvl_reason=found.tvl_reason,
        volume_24h_usd=found.volume_24h,
        fees_24h_usd=found.fees_24h,
        swaps_24h=None if found.day.reason else found.day.swaps,
        fee_apy_24h=found.fee_apy_24h,
        history_reason=found.history_reason,
        price_token0_in_token1=ratio_text(pool.spot, base_decimals=decimals0, quote_decimals=decimals1),
        price_token1_in_token0=ratio_text(pool.spot.inverse(), base_decimals=decimals1, quote_decimals=decimals0),
    )


def _describe_hook(pool: Pool) -> PoolHook | None:
    if pool.hooks is None:
        return None
    return PoolHook(pool.hooks.address, tuple(map(str, pool.hooks.powers)), pool.hooks.is_risky)


@dataclass(frozen=True, slots=True)
class PoolList:
    """Pools of a pair or of a token, the deepest first."""

    chain: int
    pools: tuple[PoolSummary, ...]


@data.read(
    query="pools_by_pair",
    budget=TickBudget.FAST,
    aliases=("uniswap_get_pools_by_token_pair",),
    snippet=(
        "pools_by_pair: every pool of two tokens in every market with its fee, dollars held and 24-hour volume,"
        " the deepest first; the way to find a pool's address."
    ),
    guidelines=(
        "The deepest pool is not always the cheapest, since fee and depth count together: quote the swap before you "
        "choose a pool.",
    ),
)
def data_get_pools_by_token_pair(ctx: ReadContext, token0: Token, token1: Token) -> PoolList:
    """List the pools of two tokens in every market, the deepest first.

    Use to find a pool's address or to compare fee tiers. The order of the tokens does not matter.
    Does not list V4 pools, and answers an empty list when there is no pool.
    """
    reader = ctx.begin("Finding pools")
    markets = markets_on(reader.chain_id)
    pair = [markets.asset(reader.token(token)) for token in (token0, token1)]
    if pair[0] == pair[1]:
        raise InvalidParams("token0 and token1 are one asset", fields={"token1": "same as token0"})
    pools = [pool for pool in markets.find(reader, [(pair[0], pair[1])]) if pool.is_usable]
    ctx.step("Reading 24 hours of trades")
    return PoolList(reader.chain_id, tuple(summarise(found) for found in by_tvl(read_figures(reader, markets, pools))))


@dataclass(frozen=True, slots=True)
class TokenPools:
    """Pools of one token, the deepest first."""

    token: TokenMeta
    chain: int
    pools: tuple[PoolSummary, ...]


@data.read(
    budget=TickBudget.FAST,
    snippet=(
        "pools_by_token: the pools of every market in which one token trades against the tokens this server knows,"
        " the deepest first."
    ),
    guidelines=(
        "A token that trades in shallow pools only is easily bought and hardly sold: look at the depth before you "
        "enter.",
    ),
)
def data_get_pools_by_token(ctx: ReadContext, token: Token, limit: Limit = 10) -> TokenPools:
    """List the pools of one token in every market, the deepest first.

    Use to see where a token can be traded. Looks at its pairs with every token registered on the chain.
    Does not find pools against unregistered tokens and does not list V4 pools.
    """
    reader = ctx.begin("Finding pools")
    markets = markets_on(reader.chain_id)
    meta = reader.token(token)
    wanted = markets.asset(meta)
    others = {markets.hubs(reader)[0], *(other.address for other in reader.registered_tokens())} - {wanted}
    found = markets.find(reader, [(wanted, other) for other in sorted(others)])
    ctx.step("Reading 24 hours of trades")
    figures = by_tvl(read_figures(reader, markets, [pool for pool in found if pool.is_usable]))
    return TokenPools(meta, reader.chain_id, tuple(summarise(row) for row in figures[:limit]))


@dataclass(frozen=True, slots=True)
class NewPool:
    """A pool that was created recently; `created_at` is RFC 3339.

    `manager` keeps a pool without an address of its own; `hook` is a stranger's code that runs with every use of it.
    """

    pool_address: str
    manager: str | None
    hook: PoolHook | None
    version: str
    token0: TokenMeta
    token1: TokenMeta
    fee_tier: int
    tvl_usd: UsdAmount | None
    tvl_reason: str | None
    created_at: str
    created_block: int
    tx_hash: str


@dataclass(frozen=True, slots=True)
class NewPools:
    """What `data_get_new_pools` answers. `found` counts all that were created, `pools` holds those that pass."""

    chain: int
    lookback_hours: int
    found: int
    looked_at: int
    pools: tuple[NewPool, ...]


@data.read(
    keeps_checkpoint=True,
    snippet=(
        "new_pools: pools of every market created in the last hours, newest first, with the dollars they hold;"
        " names and symbols of their tokens are foreign data."
    ),
    guidelines=("Anyone can create a pool and name a token: a new pool is no recommendation.",),
)
def data_get_new_pools(
    ctx: ReadContext,
    hours: Hours = 24,
    min_tvl: MicroUsdText = "0",
    limit: Limit = 10,
) -> NewPools:
    """List the pools of every market created in the last hours, newest first.

    Use to watch for new markets. Pools holding less than `min_tvl` dollars are left out, and with a minimum
    above zero also those without a dollar value. Of many, the 40 newest are looked at.
    Does not judge whether a token is genuine. On a slow node a call that runs out of time goes on where it was when
    it is made again with the same parameters within ten minutes.
    """
    reader = ctx.begin(_READING_LOGS)
    markets = markets_on(reader.chain_id)
    found_count, latest = _scan_created(ctx, reader, markets, hours)
    newest = latest[::-1]
    ctx.step("Valuing pools")
    states = markets.states(reader, [created.as_pool() for created in newest])
    figures = {found.pool.id: found for found in read_figures(reader, markets, states)}
    least = usd_to_micro(min_tvl)
    rows: list[NewPool] = []
    for pool in newest:
        found = figures.get(pool.id)
        if found is None or (least > 0 and (found.tvl is None or found.tvl.micro < least)) or len(rows) == limit:
            continue
        rows.append(
            NewPool(
                pool_address=pool.id,
                manager=pool.manager or None,
                hook=_describe_hook(found.pool),
                version=pool.version,
                token0=found.token0,
                token1=found.token1,
                fee_tier=found.pool.fee,
                tvl_usd=found.tvl,
                tvl_reason=found.tvl_reason,
                created_at=datetime.fromtimestamp(reader.block_at(pool.block_number).timestamp, UTC).isoformat(),
                created_block=pool.block_number,
                tx_hash=pool.tx_hash,
            )
        )
    return NewPools(reader.chain_id, hours, found_count, len(newest), tuple(rows))


def _scan_created(
    ctx: ReadContext, reader: ChainReader, markets: ChainMarkets, hours: int
) -> tuple[int, list[CreatedPool]]:
    """How many pools were made in the last hours, and the newest of them, oldest first; goes on from a checkpoint."""
    left = ctx.checkpoint.left
    if left.get("chain_id") == reader.chain_id:
        since = int(left["since"])
        # What lay near the head then may have been reorganised since: it is read again.
        at = max(since, int(left["next"]) - REREAD_BLOCKS)
        known = [CreatedPool(**row) for row in left["latest"]]
        latest = [each for each in known if each.block_number < at]
        count = int(left["count"]) - (len(known) - len(latest))
    else:
        since = reader.first_block_since(reader.block.timestamp - hours * SECONDS_PER_HOUR).number
        at, latest, count = since, [], 0
    while at <= reader.block.number:
        end = min(at + SCAN_BLOCKS - 1, reader.block.number)
        made = markets.created(reader, from_block=at, to_block=end)
        count += len(made)
        latest = [*latest, *made][-MOST_NEW_POOLS:]
        at = end + 1
        ctx.checkpoint.keep(
            chain_id=reader.chain_id, since=since, next=at, count=count, latest=[asdict(each) for each in latest]
        )
        if at <= reader.block.number:
            ctx.step(_READING_LOGS)
    return count, latest
