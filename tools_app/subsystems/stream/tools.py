"""The eight `stream_*` tools: each checks its target on the chain once, then leaves a row that a worker serves."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field

from tools_app.chain.networks import configured_networks
from tools_app.core.errors import InvalidParams
from tools_app.core.units import usd_to_micro
from tools_app.models.subscription import SubscriptionKind
from tools_app.portfolio.find_fee_jars import look_into_jar
from tools_app.portfolio.markets import market_chains, markets_on
from tools_app.subsystems.stream.family import stream
from tools_app.subsystems.stream.pool_events import POOL_EVENT_NAMES
from tools_app.subsystems.stream.snapshots import find_pair_pool
from tools_app.subsystems.stream.subscriptions import end_subscriptions, open_subscription
from tools_app.toolkit.context import ReadContext
from tools_app.toolkit.enums import TickBudget
from tools_app.toolkit.markets import Pool
from tools_app.toolkit.params import (
    Address,
    ChainId,
    ContractAddress,
    Flag,
    IntervalMs,
    MicroUsdText,
    PoolName,
    PositionId,
    SubscriptionId,
    Token,
)

LOGS_INTERVAL_MS = 2_000

PoolEventName = Annotated[
    Literal["swap", "mint", "burn", "collect"], Field(description="Kind of pool event; a V2 pool has no collect.")
]
TradeType = Annotated[Literal["swap"], Field(description="Kind of trade; only swaps are served.")]


@dataclass(frozen=True, slots=True)
class Subscribed:
    """What opening a subscription answers; its events carry the same `subscription_id`."""

    subscription_id: str
    event: str
    chain_ids: tuple[int, ...]
    interval_ms: int
    expires_at: str


@stream.read(
    query="stream_new_pools",
    budget=TickBudget.FAST,
    snippet="stream_new_pools: be told of every pool that is made on a chain, or of those of one token.",
    guidelines=(
        "Anyone can make a pool, name a token and choose a hook: an event here is a stranger's advertisement. Validate "
        "the token and look at the pool before you trade in it.",
    ),
)
def stream_new_pools(ctx: ReadContext, chain_id: ChainId, token: Token | None = None) -> Subscribed:
    """Follow the pools that are made on a chain, in every market; only those of a token where one is named.

    Use to notice a new market as it opens. Each pool is one `pool:created` event with its tokens, fee and hook; when a
    reorganisation takes its block away, the event is told again with `is_removed`. Does not tell what a pool holds,
    which at first is nothing, nor what was made before it was opened; new_pools lists that. Where somebody makes very
    many in one block, part is told and the rest counted. It ends after a day unless renewed.
    """
    reader = ctx.chain(chain_id)
    markets = markets_on(chain_id)
    ctx.step("Checking the chain")
    params = {"token": markets.asset(reader.token(token))} if token is not None else {}
    return _open(ctx, SubscriptionKind.NEW_POOLS, (chain_id,), params, LOGS_INTERVAL_MS, "pool:created")


@stream.read(
    query="stream_pool_events",
    budget=TickBudget.FAST,
    snippet="stream_pool_events: follow the swaps, mints, burns and collects of one pool as pool:event events.",
    guidelines=(
        "Name only the kinds of events you will act on, open it once, and renew it before its day is over; missed "
        "events are not told later.",
    ),
    schema_version=2,
)
def stream_pool_events(
    ctx: ReadContext,
    pool_address: PoolName,
    chain_id: ChainId,
    events: list[PoolEventName] | None = None,
) -> Subscribed:
    """Follow the swaps, mints, burns and collects of a pool of a market.

    Use to react to trades and liquidity in a pool you are in. Each log appears once as `pool:event`, with amounts in
    base units and in units; when a reorganisation takes a block away, the event is told again with `is_removed`.
    Where very much happens in one block, part is told and the rest counted in `stream:failed`.
    Does not tell what happened before it was opened. It ends after a day unless renewed.
    """
    reader = ctx.chain(chain_id)
    ctx.step("Checking the pool")
    found = markets_on(chain_id).read(reader, pool_address)
    params = {**_name_pool(found), "events": sorted(set(events or POOL_EVENT_NAMES))}
    return _open(ctx, SubscriptionKind.POOL_EVENTS, (chain_id,), params, LOGS_INTERVAL_MS, "pool:event")


@stream.read(
    query="stream_pool_state",
    budget=TickBudget.FAST,
    snippet="stream_pool_state: a snapshot of one pool's price and liquidity at an interval, as pool:state.",
    guidelines=(
        "Choose an interval as long as the plan allows; for each single trade take stream_pool_events and not a "
        "shorter interval.",
    ),
    schema_version=2,
)
def stream_pool_state(
    ctx: ReadContext, pool_address: PoolName, chain_id: ChainId, interval_ms: IntervalMs = 15_000
) -> Subscribed:
    """Get a snapshot of a pool of a market at an interval.

    Use to watch price and liquidity without asking again and again. Each snapshot is a `pool:state` event of one block.
    Does not tell what happens between two snapshots; stream_pool_events does. It ends after a day unless renewed.
    """
    reader = ctx.chain(chain_id)
    ctx.step("Checking the pool")
    params = _name_pool(markets_on(chain_id).read(reader, pool_address))
    return _open(ctx, SubscriptionKind.POOL_STATE, (chain_id,), params, interval_ms, "pool:state")


@stream.read(
    query="stream_position_alerts",
    budget=TickBudget.FAST,
    snippet="stream_position_alerts: be told when a V3 position leaves or re-enters its range or earns enough fees.",
    guidelines=(
        "An alert is a reason to look and not yet one to act: read the position again, since the price may have "
        "come back.",
    ),
)
def stream_position_alerts(
    ctx: ReadContext,
    position_id: PositionId,
    chain_id: ChainId,
    out_of_range_alert: Flag = True,
    fee_threshold_usd: MicroUsdText | None = None,
    check_interval_ms: IntervalMs = 30_000,
) -> Subscribed:
    """Be told when a liquidity position leaves or re-enters its range, earns more fees than a threshold, or closes.

    Use to watch a position without a tick for each look. Each change is one `position:alert` event; fees are told once
    each time they pass the threshold. wallet_get_status lists positions. Does not act on the position. It ends after a
    day unless renewed.
    """
    reader = ctx.chain(chain_id)
    ctx.step("Checking the position")
    markets_on(chain_id).read_range(reader, position_id)
    if not out_of_range_alert and fee_threshold_usd is None:
        raise InvalidParams("nothing to alert on: set out_of_range_alert or fee_threshold_usd")
    params = {
        "position_id": position_id,
        "out_of_range_alert": out_of_range_alert,
        "fee_threshold_micro_usd": str(usd_to_micro(fee_threshold_usd)) if fee_threshold_usd is not None else None,
    }
    return _open(ctx, SubscriptionKind.POSITION_ALERTS, (chain_id,), params, check_interval_ms, "position:alert")


@stream.read(
    query="stream_price_feed",
    aliases=("subscribe_price_feed", "stream_subscribe_price"),
    budget=TickBudget.FAST,
    snippet="stream_price_feed: the price of one token in another at an interval, from their deepest pool, as events.",
    guidelines=(
        "One pool's price can be pushed for a moment: confirm it with a quote or an oracle's feed before you trade "
        "on it.",
    ),
)
def stream_price_feed(
    ctx: ReadContext, token_a: Token, token_b: Token, chain_id: ChainId, interval_ms: IntervalMs = 15_000
) -> Subscribed:
    """Get the price of token_a in token_b at an interval, from the pair's deepest pool.

    Use to watch a pair. Each look is a `price:update` event with the change since the last one in basis points.
    Does not average over time and does not ask an oracle. It ends after a day unless renewed.
    """
    reader = ctx.chain(chain_id)
    markets = markets_on(chain_id)
    tokens = [markets.asset(reader.token(each)) for each in (token_a, token_b)]
    ctx.step("Finding the pool")
    find_pair_pool(reader, markets, *tokens)
    params = {"token_a": tokens[0], "token_b": tokens[1]}
    return _open(ctx, SubscriptionKind.PRICE_FEED, (chain_id,), params, interval_ms, "price:update")


@stream.read(
    query="stream_trades",
    aliases=("subscribe_trades",),
    budget=TickBudget.FAST,
    snippet="stream_trades: follow the swaps of a wallet on one or all chains as trade:executed events.",
    guidelines=(
        "What another wallet trades is no advice and no instruction: judge the pool and the price yourself before "
        "you follow anyone.",
    ),
)
def stream_trades(
    ctx: ReadContext,
    wallet_address: Address,
    chain_ids: list[ChainId] | None = None,
    trade_types: list[TradeType] | None = None,
) -> Subscribed:
    """Follow the trades of a wallet: what it paid into pools and what it got, once its block is mined.

    Use to be told when a swap is done. A trade is a transaction in which a pool of a market swapped and tokens
    left or reached the wallet; a side paid in the chain's own coin shows as its wrapped form. Anybody can send a wallet
    something and log what never moved: believe a token only where it is registered. Does not tell fills of limit
    orders, nor what happened before it was opened. It ends after a day unless renewed.
    """
    known = [network.chain_id for network in configured_networks() if network.chain_id in market_chains()]
    chosen = list(dict.fromkeys(chain_ids)) if chain_ids else known
    for chain_id in chosen:
        if chain_id not in known:
            raise InvalidParams(f"chain {chain_id} is not served here", chain_ids=known)
        ctx.chain(chain_id)
    params = {"wallet_address": wallet_address, "trade_types": sorted(set(trade_types or ["swap"]))}
    return _open(ctx, SubscriptionKind.TRADES, tuple(chosen), params, LOGS_INTERVAL_MS, "trade:executed")


@stream.read(
    query="stream_tokenjar",
    budget=TickBudget.FAST,
    snippet="stream_tokenjar: what lies in a jar of fees at an interval, and how often it was emptied, as events.",
    guidelines=(
        "What an event tells may be gone a block later: read the jar again before you give anything up for it.",
    ),
)
def stream_tokenjar(
    ctx: ReadContext, jar_address: ContractAddress, chain_id: ChainId, interval_ms: IntervalMs = 60_000
) -> Subscribed:
    """Get what lies in a jar of fees at an interval, and how often it was emptied since the last look.

    Use to wait until a jar holds more than emptying it costs. Each look is a `tokenjar:update` event of one block, with
    the chain's registered tokens. Does not empty the jar. It ends after a day unless renewed.
    """
    reader = ctx.chain(chain_id)
    ctx.step("Checking the jar")
    params = {"jar_address": look_into_jar(reader, jar_address).jar}
    return _open(ctx, SubscriptionKind.JAR, (chain_id,), params, interval_ms, "tokenjar:update")


@dataclass(frozen=True, slots=True)
class Unsubscribed:
    """What `stream_unsubscribe` answers: ids that ended, and ids that still live."""

    unsubscribed: tuple[str, ...]
    remaining: tuple[str, ...]


@stream.read(
    query="stream_unsubscribe",
    budget=TickBudget.FAST,
    snippet="stream_unsubscribe: end some or all of this golem's live subscriptions; their events stop at once.",
    guidelines=(
        "Name the ids you mean: without any, all of the golem's subscriptions end, and what happens meanwhile is "
        "not told later.",
    ),
)
def stream_unsubscribe(ctx: ReadContext, subscription_ids: list[SubscriptionId] | None = None) -> Unsubscribed:
    """End some or all of the golem's live subscriptions.

    Use when events are no longer needed, or to make room for others. Without ids all of them end. Does not touch
    subscriptions of other golems, and does not delete events already told.
    """
    ended, living = end_subscriptions(golem_id=ctx.golem.id, ids=subscription_ids, now=ctx.now)
    return Unsubscribed(unsubscribed=tuple(ended), remaining=tuple(living))


def _name_pool(pool: Pool) -> dict[str, str]:
    """What is kept of a pool to find it again, and whose logs tell of it where that is another contract."""
    manager = pool.pool_id.manager
    return {"pool_address": pool.id, **({"manager": manager} if manager else {})}


def _open(
    ctx: ReadContext,
    kind: SubscriptionKind,
    chain_ids: tuple[int, ...],
    params: Mapping[str, object],
    interval_ms: int,
    event: str,
) -> Subscribed:
    row = open_subscription(
        golem_id=ctx.golem.id, kind=kind, chain_ids=chain_ids, params=params, interval_ms=interval_ms, now=ctx.now
    )
    return Subscribed(
        subscription_id=str(row.subscription_id),
        event=event,
        chain_ids=chain_ids,
        interval_ms=interval_ms,
        expires_at=row.expires_at.isoformat(),
    )
