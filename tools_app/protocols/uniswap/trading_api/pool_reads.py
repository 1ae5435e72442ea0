"""One pool as the Trading API describes it, and what it has no endpoint for any more."""

from __future__ import annotations

from tools_app.core.errors import InvalidParams
from tools_app.protocols.uniswap.trading_api.answer_types import (
    AnsweredPool,
    Pools,
)
from tools_app.protocols.uniswap.trading_api.api_family import API, uniswap_api, uniswap_api_anywhere
from tools_app.protocols.uniswap.trading_api.errors import ForeignAnswerUnfit
from tools_app.protocols.uniswap.trading_api.requests import post_question
from tools_app.toolkit.answer import Told
from tools_app.toolkit.context import ReadContext
from tools_app.toolkit.enums import Category, TickBudget
from tools_app.toolkit.foreign_text import ForeignText, mark_foreign
from tools_app.toolkit.outside_services import OutsideSource, ask
from tools_app.toolkit.params import (
    Bytes32,
    PoolAddress,
    PositionId,
)


class ApiPool(Told):
    """One pool as the service describes it. What it does not tell (value, volume, fees, rewards) is null."""

    pool_id: ForeignText
    protocol: ForeignText
    token0: str
    token1: str
    fee_tier: str | None
    tick_spacing: int | None
    current_tick: int | None
    sqrt_price_x96: str | None
    liquidity: str | None
    reserves0: str | None
    reserves1: str | None
    hooks: str | None
    tvl: None
    volume_24h: None
    fees_24h: None
    reward_programs: None
    untold_reason: str
    source: OutsideSource


@uniswap_api.read(
    query="api_pool",
    category=Category.LP,
    budget=TickBudget.SLOW,
    snippet=(
        "api_pool: one pool of any version as the vendor's Trading API describes it, with its hooks and reserves; a"
        " stranger's words."
    ),
    guidelines=("pool_info reads the chain; this names pools of versions that are not read here.",),
)
def uniswap_api_get_lp_pool_info(
    ctx: ReadContext,
    pool_address: PoolAddress | None = None,
    pair_address: PoolAddress | None = None,
    pool_id: Bytes32 | None = None,
) -> ApiPool:
    """Ask the Trading API about one pool: `pool_address` of V3, `pair_address` of V2, or `pool_id` of V4.

    Use to look at a pool of a version that is not read here. An answer about another pool or chain is refused; what
    the service does not tell is null with the reason. Does not read the chain.
    """
    named = [(kind, one) for kind, one in (("V3", pool_address), ("V2", pair_address), ("V4", pool_id)) if one]
    if len(named) != 1:
        raise InvalidParams(
            "name exactly one of pool_address, pair_address and pool_id", fields={"pool_address": "one of three"}
        )
    [(protocol, reference)] = named
    wanted = ctx.chain_id
    ctx.step("Asking the service")
    asked = post_question(
        "/lp/pool_info",
        Pools,
        protocol=protocol,
        chainId=wanted,
        poolReferences=[{"poolReferenceIdentifier": reference}],
    )
    answer = ask(ctx, API, asked)
    if len(answer.value.pools) != 1:
        raise ForeignAnswerUnfit(f"it tells of {len(answer.value.pools)} pools, and one was asked about", field="pools")
    pool: AnsweredPool = answer.value.pools[0]
    if pool.chain_id != wanted or pool.reference.lower() != reference.lower():
        raise ForeignAnswerUnfit("it tells of another pool than was asked about", field="pool")
    kinds = [pool.protocol] if isinstance(pool.protocol, str) else pool.protocol
    if protocol not in kinds:
        raise ForeignAnswerUnfit("it tells of another version than was asked about", field="protocol")
    return ApiPool(
        pool_id=mark_foreign(pool.reference, most=66),
        protocol=mark_foreign(protocol, most=10),
        token0=pool.token_a,
        token1=pool.token_b,
        fee_tier=pool.fee,
        tick_spacing=pool.tick_spacing,
        current_tick=pool.tick,
        sqrt_price_x96=pool.sqrt_price,
        liquidity=pool.liquidity,
        reserves0=pool.reserves_a,
        reserves1=pool.reserves_b,
        hooks=pool.hooks,
        tvl=None,
        volume_24h=None,
        fees_24h=None,
        reward_programs=None,
        untold_reason="the service tells reserves and state, and neither value, volume, fees nor rewards",
        source=answer.source,
    )


class NoEndpoint(Told):
    """Why the service cannot do it, and what can be done instead."""

    is_available: bool
    reason: str
    instead: str


@uniswap_api_anywhere.read(
    query="api_migrate",
    category=Category.LP,
    budget=TickBudget.FAST,
    snippet=(
        "api_migrate: says that the vendor's Trading API no longer moves positions from one version to another, and"
        " which steps do."
    ),
    guidelines=("Take everything out before you put it in elsewhere, each step under its own permit.",),
)
def uniswap_api_migrate_liquidity(ctx: ReadContext, position_id: PositionId) -> NoEndpoint:
    """Say how a position gets from one version to another: not by the Trading API, which has no such endpoint any more.

    Use to learn the way that there is. wallet_get_status lists positions. Does not ask the service and moves nothing.
    """
    return NoEndpoint(
        False,
        "the Trading API of August 2026 has no endpoint that migrates a position",
        f"remove_liquidity of position {position_id}, then add_liquidity where it should go",
    )


@uniswap_api_anywhere.read(
    query="api_rewards",
    category=Category.LP,
    budget=TickBudget.FAST,
    snippet=(
        "api_rewards: says that the vendor's Trading API has no way to claim rewards of a position any more, and where"
        " they are paid instead."
    ),
    guidelines=("Collect what the position itself earned with collect_fees.",),
)
def uniswap_api_claim_rewards(ctx: ReadContext, position_id: PositionId) -> NoEndpoint:
    """Say how rewards of a position are claimed: not by the Trading API, which has no such endpoint any more.

    Use to learn the way that there is. Does not ask the service and claims nothing.
    """
    return NoEndpoint(
        False,
        "the Trading API of August 2026 has no endpoint that claims rewards",
        f"collect_fees of position {position_id} brings its fees; claim_rewards brings what it earned at the staker",
    )
