"""`morpho_get_market_info` and `morpho_get_user_position`."""

from __future__ import annotations

from tools_app.chain.feeds import PriceStale, PriceUnavailable
from tools_app.chain.networks import KNOWN_NETWORKS
from tools_app.core.units import usd_to_micro, value_in_micro_usd
from tools_app.protocols.morpho_blue import math
from tools_app.protocols.morpho_blue.addresses import CHAINS, known_markets
from tools_app.protocols.morpho_blue.market import Holding, Market
from tools_app.protocols.morpho_blue.positions import MorphoPositions, trails
from tools_app.protocols.morpho_blue.reads import ask_holdings, ask_markets
from tools_app.protocols.morpho_blue.tools.family import (
    MarketRef,
    borrow_apy,
    contract_on,
    id_of,
    morpho,
    percent_text,
    read_market,
    supply_apy,
)
from tools_app.select_tool_for_venue import whose
from tools_app.standards.position_logs import follow_trails
from tools_app.toolkit.answer import OfChain, Told
from tools_app.toolkit.context import ChainReader, ReadContext
from tools_app.toolkit.enums import TickBudget
from tools_app.toolkit.params import Address, MicroUsdText, Token
from tools_app.toolkit.positions import drive
from tools_app.toolkit.result import TokenAmount, UsdAmount
from tools_app.toolkit.views import TokenMeta


class MarketRow(Told):
    """One market. Rates, utilization and `lltv` are percent; `tvl` is None with a reason where nothing prices it."""

    market_id: str
    loan_token: TokenMeta
    collateral_token: TokenMeta | None
    oracle: str
    irm: str
    lltv: str
    supply_apy: str
    borrow_apy: str
    tvl: UsdAmount | None
    tvl_reason: str | None
    utilization: str
    available_liquidity: TokenAmount
    total_supplied: TokenAmount
    total_borrowed: TokenAmount
    oracle_answers: bool


class MarketList(OfChain):
    """What `morpho_get_market_info` answers."""

    chain_id: int
    markets: tuple[MarketRow, ...]


class PositionRow(Told):
    """What an account has in one market. Ratios are percent; health is debt's cover over debt, 1.00 is liquidation."""

    market_id: str
    loan_token: TokenMeta
    collateral_token: TokenMeta | None
    supply_shares: str
    supply_assets: TokenAmount
    borrow_shares: str
    borrow_assets: TokenAmount
    collateral: TokenAmount | None
    ltv: str | None
    liquidation_ltv: str
    health_factor: str | None
    is_liquidatable: bool | None


class PositionList(OfChain):
    """What `morpho_get_user_position` answers; logs were searched from `searched_from_block` on."""

    account: str
    chain_id: int
    searched_from_block: int | None
    markets: tuple[PositionRow, ...]


@morpho.read(
    budget=TickBudget.FAST,
    aliases=("morpho_get_market",),
    chains=CHAINS,
    snippet=(
        "market_info: Morpho markets with their tokens, lending and borrowing rates, utilization and what can be"
        " withdrawn now; by token, by least size, or one by its id."
    ),
    guidelines=(
        "Only known markets are listed; name any other by its market_id.",
        "A utilization near 100 means that lenders cannot leave at once.",
    ),
)
def morpho_get_market_info(
    ctx: ReadContext,
    asset: Token | None = None,
    min_tvl: MicroUsdText | None = None,
    market_id: MarketRef | None = None,
) -> MarketList:
    """List Morpho markets with their rates, utilization and liquidity.

    Use to choose where to lend or borrow. `asset` keeps markets that lend it or take it as collateral; `min_tvl`
    keeps those where at least so many dollars are lent; `market_id` answers that market alone.
    Does not list every market ever created: anyone can create one, and most are not to be trusted.
    """
    reader = ctx.begin("Reading markets")
    contract_on(reader.chain_id)
    if market_id is not None:
        markets = [read_market(reader, id_of(market_id))]
    else:
        ids = [params.id for params in known_markets(reader.chain_id)]
        found = drive(ask_markets(reader.chain_id, ids), reader.call_many) if ids else ()
        markets = [market for market in found if market is not None]
    if asset is not None:
        wanted = reader.token(asset).address
        markets = [market for market in markets if wanted in (market.params.loan_token, market.params.collateral_token)]
    rows = [_describe_market(reader, market) for market in markets]
    if min_tvl is not None:
        least = usd_to_micro(min_tvl)
        rows = [row for row in rows if row.tvl is not None and row.tvl.micro >= least]
    return MarketList(reader.chain_id, tuple(rows))


@morpho.read(
    aliases=("morpho_get_position",),
    chains=CHAINS,
    snippet=(
        "user_position: what an account lends, owes and has as collateral in each Morpho market, with its health and"
        " whether it can be liquidated."
    ),
    guidelines=("Give market_id for a market that was entered long ago and is not among the known ones.",),
)
def morpho_get_user_position(
    ctx: ReadContext,
    account: Address | None = None,
    market_id: MarketRef | None = None,
) -> PositionList:
    """Read all positions of an account at Morpho.

    Use before repaying, withdrawing or liquidating. Without `account` it is the golem. Known markets are looked at,
    and those the account entered lately as the chain's logs tell; `market_id` looks at that one alone.
    Does not find a position in an unknown market that was entered before `searched_from_block`.
    """
    owner = whose(ctx, account)
    reader = ctx.begin("Finding markets")
    contract_on(reader.chain_id)
    since: int | None = None
    if market_id is not None:
        ids = [read_market(reader, id_of(market_id)).id]
    else:
        since = max(0, reader.block.number + 1 - KNOWN_NETWORKS[reader.chain_id].max_log_range)
        known = [params.id for params in known_markets(reader.chain_id)]
        ids = list(dict.fromkeys((*known, *find_entered(reader, owner, since=since))))
    ctx.step("Reading positions")
    holdings = drive(ask_holdings(reader.chain_id, owner, ids), reader.call_many) if ids else ()
    held = {market: holding for market, holding in zip(ids, holdings, strict=True) if not holding.is_empty}
    markets = drive(ask_markets(reader.chain_id, tuple(held)), reader.call_many) if held else ()
    rows = [
        _describe_position(reader, market, holding)
        for market, holding in zip(markets, held.values(), strict=True)
        if market is not None
    ]
    return PositionList(owner, reader.chain_id, since, tuple(rows))


def find_entered(reader: ChainReader, account: str, *, since: int) -> tuple[str, ...]:
    """Ids of the markets that `account` lent, pledged or borrowed in since a block, as logs tell."""
    found = trails(reader.chain_id, account)
    logs = follow_trails(reader, found, from_block=since, to_block=reader.block.number)
    return tuple(ref.id for ref in MorphoPositions().born(logs, account, reader.chain_id))


def _describe_market(reader: ChainReader, market: Market) -> MarketRow:
    params, state = market.params, market.state
    loan = reader.token(params.loan_token)
    tvl, reason = _value(reader, loan, state.supply_assets)
    return MarketRow(
        market_id=market.id,
        loan_token=loan,
        collateral_token=None if params.is_idle else reader.token(params.collateral_token),
        oracle=params.oracle,
        irm=params.irm,
        lltv=percent_text(params.lltv_bps),
        supply_apy=supply_apy(market),
        borrow_apy=borrow_apy(market),
        tvl=tvl,
        tvl_reason=reason,
        utilization=percent_text(state.utilization_bps),
        available_liquidity=TokenAmount(market.liquidity, loan),
        total_supplied=TokenAmount(state.supply_assets, loan),
        total_borrowed=TokenAmount(state.borrow_assets, loan),
        oracle_answers=market.price is not None,
    )


def _describe_position(reader: ChainReader, market: Market, holding: Holding) -> PositionRow:
    params, state = market.params, market.state
    loan = reader.token(params.loan_token)
    owed = state.owed_of(holding.borrow_shares)
    health, ltv = None, None
    if owed and market.price is not None:
        health = math.health_bps(collateral=holding.collateral, price=market.price, lltv=params.lltv, debt=owed)
        quoted = math.quote_collateral(holding.collateral, market.price)
        ltv = percent_text(owed * math.BPS // quoted) if quoted else None
    return PositionRow(
        market_id=market.id,
        loan_token=loan,
        collateral_token=None if params.is_idle else reader.token(params.collateral_token),
        supply_shares=str(holding.supply_shares),
        supply_assets=TokenAmount(state.lent_of(holding.supply_shares), loan),
        borrow_shares=str(holding.borrow_shares),
        borrow_assets=TokenAmount(owed, loan),
        collateral=None if params.is_idle else TokenAmount(holding.collateral, reader.token(params.collateral_token)),
        ltv=ltv,
        liquidation_ltv=percent_text(params.lltv_bps),
        health_factor=None if health is None else f"{health // math.BPS}.{health % math.BPS:04d}",
        is_liquidatable=None if owed and health is None else bool(owed) and (health or 0) < math.BPS,
    )


def _value(reader: ChainReader, token: TokenMeta, raw: int) -> tuple[UsdAmount | None, str | None]:
    try:
        price = reader.price(token)
    except (PriceUnavailable, PriceStale) as error:
        return None, error.detail
    micro = value_in_micro_usd(
        raw=raw, token_decimals=token.decimals, price=price.answer, price_decimals=price.decimals
    )
    return UsdAmount(micro), None
