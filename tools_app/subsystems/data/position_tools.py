"""`data_get_position` and `data_get_positions_by_owner`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tools_app.adapters import WalletNotConfigured
from tools_app.core.ratio import ratio_text
from tools_app.portfolio.market_prices import Valuer
from tools_app.portfolio.markets import markets_on
from tools_app.standards.concentrated import ratio_of_sqrt_price, sqrt_price_at_tick
from tools_app.subsystems.data.family import data
from tools_app.toolkit.context import ChainReader, ReadContext
from tools_app.toolkit.enums import TickBudget
from tools_app.toolkit.markets import RangePosition
from tools_app.toolkit.params import Address, ChainId, PositionId
from tools_app.toolkit.result import TokenAmount, UsdAmount
from tools_app.toolkit.views import TokenMeta

MOST_POSITIONS = 50


@dataclass(frozen=True, slots=True)
class PositionInfo:
    """One V3 position: what it would give if closed now, and the fees on top. Prices are token1 per token0 in units."""

    token_id: str
    owner: str
    pool_address: str
    version: str
    token0: TokenMeta
    token1: TokenMeta
    fee_tier: int
    tick_lower: int
    tick_upper: int
    price_lower: str
    price_upper: str
    current_price: str
    liquidity: str
    amount0: TokenAmount
    amount1: TokenAmount
    unclaimed_fees0: TokenAmount
    unclaimed_fees1: TokenAmount
    in_range: bool
    current_tick: int
    value_usd: UsdAmount | None
    unclaimed_fees_usd: UsdAmount | None
    value_reason: str | None


@data.read(
    query="position",
    budget=TickBudget.FAST,
    steps=("Reading the position",),
    snippet=(
        "position: one Uniswap V3 liquidity position by its id: range, whether the price is inside, both amounts, fees"
        " waiting to be collected, and its value."
    ),
    guidelines=("A position out of range earns nothing; consider closing it or waiting for the price.",),
)
def data_get_position(ctx: ReadContext, token_id: PositionId, chain_id: ChainId | None = None) -> PositionInfo:
    """Read one Uniswap V3 liquidity position by its NFT id, whoever owns it.

    Use to see its range, its amounts and the fees a collect would pay. Amounts are what taking everything out
    would give now, rounded as the pool rounds. Does not read V2 or V4 liquidity.
    """
    reader = ctx.chain(chain_id)
    markets = markets_on(reader.chain_id)
    ctx.step("Reading the position")
    position = markets.read_range(reader, token_id)
    return describe_position(reader, Valuer(reader, markets), position)


@dataclass(frozen=True, slots=True)
class OwnedPositions:
    """What `data_get_positions_by_owner` answers; positions without liquidity and fees are counted, not shown."""

    owner: str
    chain: int
    positions: tuple[PositionInfo, ...]
    held: int
    empty: int
    total_value_usd: UsdAmount | None
    total_unclaimed_fees_usd: UsdAmount | None
    value_reason: str | None


@data.read(
    query="positions",
    budget=TickBudget.MEDIUM,
    steps=("Listing positions", "Reading positions"),
    snippet=(
        "positions: every Uniswap V3 liquidity position of a wallet, by default the golem's own, with amounts, waiting"
        " fees and total value."
    ),
)
def data_get_positions_by_owner(
    ctx: ReadContext, chain_id: ChainId | None = None, owner: Address | None = None
) -> OwnedPositions:
    """List the Uniswap V3 positions of a wallet, by default the golem's own.

    Use to see what is deployed and where it stands. Shows the 50 newest; empty ones are only counted.
    Does not list V2 liquidity, V4 positions, or positions a vault holds for the wallet.
    """
    account = owner or ctx.golem.address
    if account is None:
        raise WalletNotConfigured("this golem has no wallet; name an owner")
    reader = ctx.chain(chain_id)
    markets = markets_on(reader.chain_id)
    ctx.step("Listing positions")
    listed = [(each, *each.list_ids(reader, account, limit=MOST_POSITIONS)) for each in markets.ranges]
    held = sum(count for _, _, count in listed)
    ctx.step("Reading positions")
    valuer = Valuer(reader, markets)
    found = [position for each, ids, _ in listed for position in each.read_many(reader, ids)]
    shown = [
        describe_position(reader, valuer, position)
        for position in found
        if position.liquidity or position.fees0 or position.fees1
    ]
    reasons = sorted({info.value_reason for info in shown if info.value_reason})
    return OwnedPositions(
        owner=account,
        chain=reader.chain_id,
        positions=tuple(shown),
        held=held,
        empty=len(found) - len(shown),
        total_value_usd=_total([info.value_usd for info in shown]),
        total_unclaimed_fees_usd=_total([info.unclaimed_fees_usd for info in shown]),
        value_reason=reasons[0] if reasons else None,
    )


def describe_position(reader: ChainReader, valuer: Valuer, position: RangePosition) -> PositionInfo:
    """A position with its amounts, fees and dollar value."""
    pool = position.pool
    token0, token1 = reader.token(pool.token0), reader.token(pool.token1)
    amount0, amount1 = position.amounts()
    value = valuer.value([(pool.token0, amount0), (pool.token1, amount1)])
    fees = valuer.value([(pool.token0, position.fees0), (pool.token1, position.fees1)])

    def price_at(sqrt_price: int) -> str:
        ratio = ratio_of_sqrt_price(sqrt_price)
        return ratio_text(ratio, base_decimals=token0.decimals, quote_decimals=token1.decimals)

    return PositionInfo(
        token_id=position.position_id,
        owner=position.owner,
        pool_address=pool.address,
        version="v3",
        token0=token0,
        token1=token1,
        fee_tier=pool.fee,
        tick_lower=position.tick_lower,
        tick_upper=position.tick_upper,
        price_lower=price_at(sqrt_price_at_tick(position.tick_lower)),
        price_upper=price_at(sqrt_price_at_tick(position.tick_upper)),
        current_price=price_at(pool.sqrt_price),
        liquidity=str(position.liquidity),
        amount0=TokenAmount(amount0, token0),
        amount1=TokenAmount(amount1, token1),
        unclaimed_fees0=TokenAmount(position.fees0, token0),
        unclaimed_fees1=TokenAmount(position.fees1, token1),
        in_range=position.is_in_range,
        current_tick=pool.pool_tick,
        value_usd=UsdAmount(value) if value is not None else None,
        unclaimed_fees_usd=UsdAmount(fees) if fees is not None else None,
        value_reason=None if value is not None and fees is not None else "a token of the pool has no dollar price",
    )


def _total(values: Sequence[UsdAmount | None]) -> UsdAmount | None:
    """The sum, or None when one of them is unknown: a partial sum would read as the whole."""
    known = [value.micro for value in values if value is not None]
    return UsdAmount(sum(known)) if len(known) == len(values) else None
