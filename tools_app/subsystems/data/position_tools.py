"""`data_get_position` and `data_get_positions_by_owner`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from tools_app.core.ratio import ratio_text
from tools_app.portfolio.holdings import HeldPosition, PriceBook, ValueUnknown
from tools_app.portfolio.markets import markets_on
from tools_app.portfolio.position_priority import list_foremost
from tools_app.portfolio.read_all_positions import read_positions_at
from tools_app.portfolio.remembered_positions import list_hints
from tools_app.select_tool_for_venue import WalletNotConfigured
from tools_app.standards.concentrated import ratio_of_sqrt_price, sqrt_price_at_tick
from tools_app.subsystems.data.family import data
from tools_app.toolkit.context import ChainReader, ReadContext
from tools_app.toolkit.enums import TickBudget
from tools_app.toolkit.markets import RangePosition, RangePositions
from tools_app.toolkit.params import Address, RangeId
from tools_app.toolkit.positions import PositionRef
from tools_app.toolkit.result import TokenAmount, UsdAmount
from tools_app.toolkit.views import TokenMeta

MOST_POSITIONS = 50


@dataclass(frozen=True, slots=True)
class PositionInfo:
    """One position: what it would give if closed now, and the fees on top. Prices are token1 per token0 in units.

    Both values are at the price feeds, as in the net asset value, and together what the position adds to it: amounts at
    the feeds' ratio, which a trade in the pool does not move.
    """

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
    budget=TickBudget.FAST,
    schema_version=2,
    snippet=(
        "position: one liquidity position with a range, by its id: whether the price is inside, both amounts, fees"
        " waiting to be collected, and its value."
    ),
    guidelines=("A position out of range earns nothing; consider closing it or waiting for the price.",),
)
def data_get_position(ctx: ReadContext, token_id: RangeId) -> PositionInfo:
    """Read one liquidity position with a range by its NFT id, whoever owns it.

    Use to see its range, its amounts and the fees a collect would pay. Amounts are what taking everything out would
    give now, rounded as the pool rounds. A V4 one is `v4:NUMBER`. wallet_get_status lists the golem's own. Does not
    read V2 shares.
    """
    reader = ctx.begin("Reading the position")
    markets = markets_on(reader.chain_id)
    position = markets.read_range(reader, token_id)
    ref = markets.name_range(position)
    worth = weigh_ranges(reader, position.owner, [ref])
    return describe_position(reader, PriceBook(reader), position, worth.get(ref))


@dataclass(frozen=True, slots=True)
class OwnedPositions:
    """What `data_get_positions_by_owner` answers; positions without liquidity and fees are counted, not shown.

    The totals are None where something that is held is not in them.
    """

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
    snippet=(
        "positions: every liquidity position with a range of a wallet, by default the golem's own, with amounts,"
        " waiting fees and total value."
    ),
    guidelines=(
        "Take a position's number from here for whatever follows; one that is out of range earns nothing until the "
        "price returns.",
    ),
)
def data_get_positions_by_owner(ctx: ReadContext, owner: Address | None = None) -> OwnedPositions:
    """List the liquidity positions with a range of a wallet, by default the golem's own.

    Use to see what is deployed and where it stands. Shows the 50 worth most; empty ones are only counted.
    Does not list V2 shares or positions a vault holds for the wallet.
    """
    account = owner or ctx.golem.address
    if account is None:
        raise WalletNotConfigured("this golem has no wallet; name an owner")
    reader = ctx.begin("Listing positions")
    markets = markets_on(reader.chain_id)
    listed = [(each, *each.list_ids(reader, account, limit=MOST_POSITIONS)) for each in markets.ranges]
    held = sum(count for _, _, count in listed)
    ctx.step("Reading positions")
    newest = [each.name(reader.chain_id, number) for each, ids, _ in listed for number in ids]
    # What no contract lists is looked for by the names it is known by, and told where something is in it.
    met = [ref for ref in list_hints(chain_id=reader.chain_id, account=account) if _is_unlisted(markets.ranges, ref)]
    worth = weigh_ranges(reader, account, [*newest, *met]) if held or met else {}
    held += sum(_is_unlisted(markets.ranges, ref) for ref in worth)
    book = PriceBook(reader)
    # Anybody can send positions: what is worth most comes before the newest.
    foremost = [one.ref for one in list_foremost(worth.values()) if one.position.is_whole]
    asked = [(each, _put_first(each, reader.chain_id, foremost, ids)) for each, ids, _ in listed]
    found = [position for each, ids in asked for position in each.read_many(reader, ids)]
    shown = [
        describe_position(reader, book, position, worth.get(markets.name_range(position)))
        for position in found
        if position.liquidity or position.fees0 or position.fees1
    ]
    total, reason = _sum_up(worth.values())
    fees = _total([info.unclaimed_fees_usd for info in shown]) if held == len(found) else None
    return OwnedPositions(
        owner=account,
        chain=reader.chain_id,
        positions=tuple(shown),
        held=held,
        empty=len(found) - len(shown),
        total_value_usd=_less(total, fees),
        total_unclaimed_fees_usd=fees,
        value_reason=reason or (f"only {len(found)} of {held} positions are shown" if fees is None else None),
    )


def _is_unlisted(ranges: Sequence[RangePositions], ref: PositionRef) -> bool:
    return any(each.name(ref.chain_id, ref.id) == ref and not each.lists(ref.id) for each in ranges)


def _put_first(
    ranges: RangePositions, chain_id: int, foremost: Iterable[PositionRef], newest: Iterable[str]
) -> list[str]:
    first = [ref.id for ref in foremost if ranges.name(chain_id, ref.id) == ref]
    return list(dict.fromkeys((*first, *newest)))[:MOST_POSITIONS]


def weigh_ranges(reader: ChainReader, account: str, refs: Sequence[PositionRef]) -> dict[PositionRef, HeldPosition]:
    """All that `account` has at the protocols of these, weighed as its net asset value weighs it.

    Raises PositionsUnreadable, the node's errors.
    """
    protocols = {ref.protocol for ref in refs}
    kinds = {(ref.protocol, ref.kind) for ref in refs}
    positions = read_positions_at(chain=reader, account=account, protocols=protocols, hints=refs)
    book = PriceBook(reader)
    book.preload(leg.token for position in positions for leg in position.legs)
    return {each.ref: book.weigh_position(each) for each in positions if (each.ref.protocol, each.ref.kind) in kinds}


def describe_position(
    reader: ChainReader, book: PriceBook, position: RangePosition, held: HeldPosition | None
) -> PositionInfo:
    """A position with its amounts, fees and dollar value; nothing is `held` in an empty one."""
    pool = position.pool
    token0, token1 = reader.token(pool.token0), reader.token(pool.token1)
    amount0, amount1 = position.amounts()
    value, fees, reason = _value(book, position, held)

    def price_at(sqrt_price: int) -> str:
        ratio = ratio_of_sqrt_price(sqrt_price)
        return ratio_text(ratio, base_decimals=token0.decimals, quote_decimals=token1.decimals)

    return PositionInfo(
        token_id=position.position_id,
        owner=position.owner,
        pool_address=pool.id,
        version=pool.version,
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
        value_usd=value,
        unclaimed_fees_usd=fees,
        value_reason=reason,
    )


def _value(
    book: PriceBook, position: RangePosition, held: HeldPosition | None
) -> tuple[UsdAmount | None, UsdAmount | None, str | None]:
    """What it is worth without its fees, what they are worth, and why one of them is unknown."""
    if held is None and not position.liquidity:
        return UsdAmount(0), UsdAmount(0), None
    try:
        fees = book.value_of(position.pool.token0, position.fees0) + book.value_of(position.pool.token1, position.fees1)
    except ValueUnknown as error:
        return None, None, error.detail
    whole = held.micro_usd if held is not None else None
    if whole is None:
        return None, UsdAmount(fees), "a token of the pool has no price feed, or the position could not be counted"
    return UsdAmount(whole - fees), UsdAmount(fees), None


def _sum_up(worth: Iterable[HeldPosition]) -> tuple[int | None, str | None]:
    """Of all that is held; None with the reason where a part of it is unknown."""
    known = 0
    for each in worth:
        if each.micro_usd is None:
            return None, f"not counted: {each.position.label}"
        known += each.micro_usd
    return known, None


def _less(whole: int | None, fees: UsdAmount | None) -> UsdAmount | None:
    return None if whole is None or fees is None else UsdAmount(whole - fees.micro)


def _total(values: Sequence[UsdAmount | None]) -> UsdAmount | None:
    """The sum, or None when one of them is unknown: a partial sum would read as the whole."""
    known = [value.micro for value in values if value is not None]
    return UsdAmount(sum(known)) if len(known) == len(values) else None
