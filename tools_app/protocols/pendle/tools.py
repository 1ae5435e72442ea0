"""Tools of Pendle: claims bought for a fixed rate, yield tokens, a part of their market, and what is due."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Annotated, Any, Final, TypeVar

from pydantic import Field

from tools_app.chain.abi import encode_call
from tools_app.core.units import BPS, apply_bps_down, format_units, parse_units
from tools_app.portfolio.holdings import PriceBook
from tools_app.protocols.pendle.addresses import CHAINS, LOCAL_CHAIN_ID, NAME, Place, find_place, places_on
from tools_app.protocols.pendle.calls import (
    ADD_LP,
    ANY_GUESS,
    BUY_PT,
    BUY_YT,
    CLAIM,
    NO_LIMIT,
    REDEEM,
    REDEEM_SHARES,
    REMOVE_LP,
    SELL_PT,
    SELL_YT,
    paying,
    taking,
)
from tools_app.protocols.pendle.errors import (
    ClaimsAreDue,
    MarketNotFound,
    MarketRefuses,
    NothingToClaim,
    OracleNotReady,
    TooFewHeld,
    WorseThanAverage,
)
from tools_app.protocols.pendle.market_maths import (
    WAD,
    NoTrade,
    claims_for,
    liquidity_for,
    parts_of,
    shares_for_yields,
    to_shares,
    trade,
    yearly_rate,
    yields_for,
)
from tools_app.protocols.pendle.positions import KIND, ref_of
from tools_app.protocols.pendle.standing import Standing, ask_standings, shares_worth
from tools_app.standards import erc20
from tools_app.standards.maturing import AVERAGE_SECONDS
from tools_app.standards.plan_draft import PlanDraft
from tools_app.standards.receipts import events_of
from tools_app.toolkit.context import ChainReader, ReadContext, WriteContext
from tools_app.toolkit.enums import ActionClass, Category, RiskLayer, TickBudget
from tools_app.toolkit.family import ToolFamily
from tools_app.toolkit.params import (
    EVERYTHING,
    Address,
    ContractAddress,
    Flag,
    MicroUsdText,
    RawAmount,
    RawAmountOrMax,
    SlippageBps,
    Token,
)
from tools_app.toolkit.plan import Call, PlanOutcome, Statement, TxPlan
from tools_app.toolkit.positions import PositionChange, drive
from tools_app.toolkit.result import TokenAmount, UsdAmount
from tools_app.toolkit.views import TokenMeta

T = TypeVar("T")

pendle = ToolFamily(prefix="pendle", category=Category.YIELD, chains=CHAINS, venue=NAME, picks_chain=True)

DRIFT_BPS: Final = 100
"""How far what a claim or a part of the market counts as may move until the transaction, in basis points."""
LEAVING_BPS: Final = 100
"""What may be missing of a given-back part of the market: no price decides it, others' trades shift its parts."""
DAY_SECONDS: Final = 86_400
_NOBODY: Final = "0x0000000000000000000000000000000000000001"
Claim = Annotated[ContractAddress, Field(description="0x-prefixed PT of a market, or the market itself.")]


@dataclass(frozen=True, slots=True)
class BoughtPt:
    """Claims that were bought. Rates are yearly percent; `discount` is percent under what a claim is due, and
    `spot_price` the asset per claim that was paid.
    """

    pt_received: str
    pt_address: str
    underlying: str
    maturity: int
    days_to_maturity: int
    implied_apy: str
    discount: str
    spot_price: str


@dataclass(frozen=True, slots=True)
class SoldPt:
    """Claims that were sold. `pnl_vs_par` is percent of what they would have been due, below 0 where less came."""

    underlying_received: TokenAmount
    pnl_vs_par: str
    implied_apy: str


@dataclass(frozen=True, slots=True)
class BoughtYt:
    """Yield tokens that were bought. `leverage` is of how many assets each asset paid earns the yield."""

    yt_received: str
    yt_address: str
    implied_yield: str
    leverage: str
    maturity: int


@dataclass(frozen=True, slots=True)
class SoldYt:
    """Yield tokens that were sold. What they were bought for is not on the chain: `pnl_vs_entry` is null."""

    underlying_received: TokenAmount
    pnl_vs_entry: None
    untold: str


@dataclass(frozen=True, slots=True)
class AddedLp:
    """A part of the market. What fees and rewards bring in a year no contract tells: `apy` is null."""

    lp_received: str
    sy_deposited: str
    pt_deposited: str
    apy: None
    untold: str


@dataclass(frozen=True, slots=True)
class RemovedLp:
    """What a part of the market gave: shares, which were paid as their asset, and claims."""

    sy_received: str
    pt_received: str
    underlying_value: TokenAmount


@dataclass(frozen=True, slots=True)
class Redeemed:
    """What claims gave. When they were bought is not on the chain: `realized_apy` is null."""

    underlying_received: TokenAmount
    realized_apy: None
    untold: str


@dataclass(frozen=True, slots=True)
class MarketRow:
    """A market. Rates are percent; `tvl` is dollars, null without a price. A day's trades are not read."""

    address: str
    name: str
    underlying: str
    underlying_protocol: str
    maturity: int
    days_to_maturity: int
    implied_apy: str
    pt_discount: str | None
    tvl: UsdAmount | None
    volume_24h: None
    pt_address: str
    yt_address: str
    is_active: bool
    is_oracle_ready: bool


@dataclass(frozen=True, slots=True)
class Markets:
    """The known markets that fit."""

    markets: tuple[MarketRow, ...]
    block_number: int
    is_simulated: bool


@dataclass(frozen=True, slots=True)
class Holding:
    """So many of a market's tokens. `counts_as` is what limits count, `market_value` the average price."""

    market: str
    token: str
    balance: str
    counts_as: TokenAmount
    market_value: TokenAmount


@dataclass(frozen=True, slots=True)
class Holdings:
    """What an account has at Pendle; yield tokens count as nothing in `total_value_usd`."""

    pt_positions: tuple[Holding, ...]
    yt_positions: tuple[Holding, ...]
    lp_positions: tuple[Holding, ...]
    total_value_usd: UsdAmount | None


# ---- reports --------------------------------------------------------------------------------------------------------


def _received(outcome: PlanOutcome, token: str) -> int:
    moved = events_of(outcome, erc20.TRANSFER_EVENT, contract=token)
    return sum(int(each["value"]) for each in moved if each["to"] == outcome.account)


def _asset_delta(outcome: PlanOutcome) -> TokenAmount:
    flow = outcome.plan.receives[0]
    return TokenAmount(outcome.deltas.get(flow.token.address, 0), flow.token)


def report_buy_pt(outcome: PlanOutcome) -> BoughtPt:
    """Claims from their own transfers; rates as they were when it was planned."""
    details = outcome.plan.details
    got = _received(outcome, str(details["pt"]))
    paid = int(details["amount"])
    return BoughtPt(
        pt_received=str(got),
        pt_address=str(details["pt"]),
        underlying=str(details["asset"]),
        maturity=int(details["maturity"]),
        days_to_maturity=int(details["days_to_maturity"]),
        implied_apy=str(details["implied_apy"]),
        discount=_percent(got - paid, got),
        spot_price=format_units(paid * 10**6 // got, 6) if got else "0",
    )


def report_sell_pt(outcome: PlanOutcome) -> SoldPt:
    """What came from balances."""
    details, came = outcome.plan.details, _asset_delta(outcome)
    sold = int(details["amount"])
    return SoldPt(came, _percent(came.raw - sold, sold), str(details["implied_apy"]))


def report_buy_yt(outcome: PlanOutcome) -> BoughtYt:
    """Yield tokens from their own transfers."""
    details = outcome.plan.details
    got = _received(outcome, str(details["yt"]))
    leverage = format_units(got * 100 // int(details["amount"]), 2)
    return BoughtYt(str(got), str(details["yt"]), str(details["implied_apy"]), leverage, int(details["maturity"]))


def report_sell_yt(outcome: PlanOutcome) -> SoldYt:
    """What came from balances."""
    return SoldYt(_asset_delta(outcome), None, "pnl_vs_entry: what was paid is not on the chain")


def report_add(outcome: PlanOutcome) -> AddedLp:
    """LP tokens from their own transfers; what went in as it was planned."""
    details = outcome.plan.details
    return AddedLp(
        lp_received=str(_received(outcome, str(details["market"]))),
        sy_deposited=str(details["sy_deposited"]),
        pt_deposited=str(details["pt_deposited"]),
        apy=None,
        untold="apy: no contract tells what fees and rewards bring in a year",
    )


def report_remove(outcome: PlanOutcome) -> RemovedLp:
    """Claims from their own transfers, the asset from balances."""
    details = outcome.plan.details
    return RemovedLp(
        sy_received=str(details["sy_received"]),
        pt_received=str(_received(outcome, str(details["pt"]))),
        underlying_value=_asset_delta(outcome),
    )


def report_redeem(outcome: PlanOutcome) -> Redeemed:
    """What came from balances."""
    return Redeemed(_asset_delta(outcome), None, "realized_apy: when they were bought is not on the chain")


# ---- writes ---------------------------------------------------------------------------------------------------------


@pendle.write(
    action_type="pendle_buy_pt",
    risk=RiskLayer.BOUNDED,
    budget=TickBudget.SLOW,
    report=report_buy_pt,
    action_class=None,
    steps=("Reading the market", "Building calls"),
    snippet="pendle_buy_pt: buy principal tokens of a Pendle market under what they are due, which fixes a rate.",
    guidelines=("A PT counts as the lower of its average price and what it is due, so a new one may count less.",),
)
def pendle_buy_pt(
    ctx: WriteContext, market: ContractAddress, amount: RawAmount, slippage_bps: SlippageBps = 50
) -> TxPlan:
    """Buy principal tokens (PT) with the market's asset, for a fixed yield until maturity.

    Use to lock a rate. `amount` is base units of the asset. Refused without an average price of fifteen minutes, and
    where the market asks more than `slippage_bps` above it.
    Does not hold them to maturity by itself, and fills no limit orders.
    """
    reader = ctx.chain()
    place, standing = _open(ctx, reader, market)
    got, _ = _solve(lambda: claims_for(standing.market, _shares_of(standing, amount)))
    _check_price(place, paid=amount, worth=standing.worth_of_claims(place, got), most_bps=slippage_bps)
    least = max(1, apply_bps_down(got, slippage_bps))
    ctx.step("Building calls")
    draft = _pay(reader, ctx.account, place, amount)
    data = encode_call(BUY_PT, ctx.account, place.market, least, ANY_GUESS, paying(place.asset, amount), NO_LIMIT)
    draft.call(Call(place.router, data, 0, f"Buy at least {_units(place, least)} {place.symbols.pt}"))
    draft.changes.append(_claims(reader, place, standing, got, least))
    return draft.finish(
        action_class=_entering(standing),
        slippage_bps=slippage_bps,
        statements=(_state(place, place.pt, "least bought", least),),
        details={**_details(reader, place, standing), "amount": str(amount)},
    )


@pendle.write(
    action_type="pendle_sell_pt",
    risk=RiskLayer.LOW,
    budget=TickBudget.SLOW,
    report=report_sell_pt,
    action_class=None,
    steps=("Reading the market", "Building calls"),
    snippet="pendle_sell_pt: sell principal tokens before maturity for the market's asset; max is all of them.",
    guidelines=("From maturity on nothing is sold: pendle_redeem pays what they are due.",),
)
def pendle_sell_pt(
    ctx: WriteContext, market: ContractAddress, amount: RawAmountOrMax, slippage_bps: SlippageBps = 50
) -> TxPlan:
    """Sell principal tokens (PT) before maturity.

    Use to get out early. Refused where the market gives less than `slippage_bps` under its average of fifteen minutes.
    Does not redeem, and fills no limit orders.
    """
    reader = ctx.chain()
    place, standing = _open(ctx, reader, market)
    sold = _asked(place, standing.held.pt, amount, place.symbols.pt)
    done = _solve(lambda: trade(standing.market, -sold))
    came = shares_worth(standing, done.shares)
    _check_price(place, paid=standing.worth_of_claims(place, sold), worth=came, most_bps=slippage_bps)
    least = max(1, apply_bps_down(came, slippage_bps))
    ctx.step("Building calls")
    draft = _give(reader, ctx.account, place, place.pt, sold)
    data = encode_call(SELL_PT, ctx.account, place.market, sold, taking(place.asset, least), NO_LIMIT)
    draft.call(Call(place.router, data, 0, f"Sell {_units(place, sold)} {place.symbols.pt}"))
    draft.receive(reader.token(place.asset), came, at_least=least)
    draft.changes.append(_claims(reader, place, standing, -sold))
    return draft.finish(
        action_class=_leaving(standing, pt=sold),
        slippage_bps=slippage_bps,
        statements=(_state(place, place.pt, "sold", sold),),
        details={**_details(reader, place, standing), "amount": str(sold)},
    )


@pendle.write(
    action_type="pendle_buy_yt",
    risk=RiskLayer.UNBOUNDED,
    budget=TickBudget.SLOW,
    report=report_buy_yt,
    action_class=None,
    steps=("Reading the market", "Building calls"),
    snippet="pendle_buy_yt: buy yield tokens, which earn a yield until maturity and are then worth nothing.",
    guidelines=("Yield tokens count as nothing in every limit: their whole price counts as spent.",),
)
def pendle_buy_yt(
    ctx: WriteContext, market: ContractAddress, amount: RawAmount, slippage_bps: SlippageBps = 100
) -> TxPlan:
    """Buy yield tokens (YT) with the market's asset: a leveraged bet that yields rise.

    Use when the yield until maturity should be more than the implied one. Everything that is paid may be lost.
    Does not claim what they earn: pendle_redeem does.
    """
    reader = ctx.chain()
    place, standing = _open(ctx, reader, market)
    got, _ = _solve(lambda: yields_for(standing.market, _shares_of(standing, amount)))
    _check_price(place, paid=amount, worth=standing.market_of_yields(got), most_bps=_of_yields(standing, slippage_bps))
    least = max(1, apply_bps_down(got, slippage_bps))
    ctx.step("Building calls")
    draft = _pay(reader, ctx.account, place, amount)
    data = encode_call(BUY_YT, ctx.account, place.market, least, ANY_GUESS, paying(place.asset, amount), NO_LIMIT)
    draft.call(Call(place.router, data, 0, f"Buy at least {_units(place, least)} {place.symbols.yt}"))
    draft.changes.append(_yields(reader, place, got, least))
    return draft.finish(
        action_class=_entering(standing),
        slippage_bps=slippage_bps,
        statements=(_state(place, place.yt, "least bought", least),),
        details={**_details(reader, place, standing), "amount": str(amount)},
    )


@pendle.write(
    action_type="pendle_sell_yt",
    risk=RiskLayer.LOW,
    budget=TickBudget.SLOW,
    report=report_sell_yt,
    action_class=None,
    steps=("Reading the market", "Building calls"),
    snippet="pendle_sell_yt: sell yield tokens before maturity for the market's asset; max is all of them.",
    guidelines=("What they earned until then stays due: pendle_redeem with claim collects it.",),
)
def pendle_sell_yt(
    ctx: WriteContext, market: ContractAddress, amount: RawAmountOrMax, slippage_bps: SlippageBps = 100
) -> TxPlan:
    """Sell yield tokens (YT) before maturity.

    Use to take a gain or to save what is left of their price.
    Does not claim what they earned, and fills no limit orders.
    """
    reader = ctx.chain()
    place, standing = _open(ctx, reader, market)
    sold = _asked(place, standing.held.yt, amount, place.symbols.yt)
    shares, _ = _solve(lambda: shares_for_yields(standing.market, sold))
    came = shares_worth(standing, max(0, shares))
    fair = standing.market_of_yields(sold)
    _check_price(place, paid=fair, worth=came, most_bps=_of_yields(standing, slippage_bps))
    least = max(1, apply_bps_down(came, slippage_bps))
    ctx.step("Building calls")
    draft = _give(reader, ctx.account, place, place.yt, sold)
    data = encode_call(SELL_YT, ctx.account, place.market, sold, taking(place.asset, least), NO_LIMIT)
    draft.call(Call(place.router, data, 0, f"Sell {_units(place, sold)} {place.symbols.yt}"))
    draft.receive(reader.token(place.asset), came, at_least=least)
    draft.changes.append(_yields(reader, place, -sold, -sold))
    return draft.finish(
        action_class=_leaving(standing, yt=sold),
        slippage_bps=slippage_bps,
        statements=(_state(place, place.yt, "sold", sold),),
        details={**_details(reader, place, standing), "amount": str(sold)},
    )


@pendle.write(
    action_type="pendle_add_lp",
    risk=RiskLayer.BOUNDED,
    budget=TickBudget.SLOW,
    report=report_add,
    action_class=None,
    steps=("Reading the market", "Building calls"),
    snippet="pendle_add_lp: put the market's asset into a Pendle market for LP tokens, which earn fees and rewards.",
    guidelines=("A part of a market is shares and PT; at maturity all of it is due.",),
)
def pendle_add_lp(
    ctx: WriteContext, market: ContractAddress, amount: RawAmount, slippage_bps: SlippageBps = 100
) -> TxPlan:
    """Deposit the market's asset as liquidity: some of it buys the PT that go in beside it.

    Use to earn the market's fees. A market that somebody pushed away from its average is refused.
    Does not keep yield tokens, and takes no PT of the wallet.
    """
    reader = ctx.chain()
    place, standing = _open(ctx, reader, market)
    shares = _shares_of(standing, amount)
    got, bought, _ = _solve(lambda: liquidity_for(standing.market, shares))
    _check_price(place, paid=amount, worth=standing.worth_of_lp(place, got), most_bps=slippage_bps)
    least = max(1, apply_bps_down(got, slippage_bps))
    ctx.step("Building calls")
    draft = _pay(reader, ctx.account, place, amount)
    data = encode_call(ADD_LP, ctx.account, place.market, least, ANY_GUESS, paying(place.asset, amount), NO_LIMIT)
    draft.call(Call(place.router, data, 0, f"Add liquidity for at least {_units(place, least)} LP tokens"))
    draft.changes.append(_lp(reader, place, standing, got, least))
    kept = shares + trade(standing.market, bought).shares
    return draft.finish(
        action_class=_entering(standing),
        slippage_bps=slippage_bps,
        statements=(_state(place, place.market, "least minted", least),),
        details={
            **_details(reader, place, standing),
            "amount": str(amount),
            "sy_deposited": str(kept),
            "pt_deposited": str(bought),
        },
    )


@pendle.write(
    action_type="pendle_remove_lp",
    risk=RiskLayer.LOW,
    budget=TickBudget.MEDIUM,
    report=report_remove,
    action_class=None,
    steps=("Reading the market", "Building calls"),
    snippet="pendle_remove_lp: give LP tokens back for the market's asset and PT; max is all of them, at any time.",
    guidelines=("PT come with it: sell them before maturity, or redeem them from then on.",),
)
def pendle_remove_lp(ctx: WriteContext, market: ContractAddress, lp_amount: RawAmountOrMax) -> TxPlan:
    """Give LP tokens back for both parts of a market, before or after maturity.

    Use to leave a market. No price decides what comes: shares are paid as the asset, claims come as they are.
    Does not sell the claims.
    """
    reader = ctx.chain()
    place, standing = _look(ctx, reader, market)
    given = _asked(place, standing.held.lp, lp_amount, place.symbols.lp)
    shares, claims = _solve(lambda: parts_of(standing.market, given))
    came = shares_worth(standing, shares)
    least, least_claims = (max(1, apply_bps_down(each, LEAVING_BPS)) for each in (came, claims))
    ctx.step("Building calls")
    draft = _give(reader, ctx.account, place, place.market, given)
    data = encode_call(REMOVE_LP, ctx.account, place.market, given, taking(place.asset, least), least_claims)
    draft.call(Call(place.router, data, 0, f"Give {_units(place, given)} {place.symbols.lp} back"))
    draft.receive(reader.token(place.asset), came, at_least=least)
    gone, come = _lp(reader, place, standing, -given), _claims(reader, place, standing, claims, least_claims)
    expected, bound = gone.expected + come.expected, gone.bound + come.bound
    draft.changes.append(replace(gone, expected=expected, bound=bound))
    return draft.finish(
        action_class=ActionClass.DECREASE_POSITION,
        slippage_bps=LEAVING_BPS,
        statements=(
            _state(place, place.market, "given back", given),
            _state(place, place.pt, "least taken", least_claims),
        ),
        details={**_details(reader, place, standing), "amount": str(given), "sy_received": str(shares)},
    )


@pendle.write(
    action_type="pendle_redeem",
    risk=RiskLayer.LOW,
    budget=TickBudget.MEDIUM,
    report=report_redeem,
    action_class=None,
    steps=("Reading the market", "Building calls"),
    snippet="pendle_redeem: PT for what they are due at maturity, before it with as many YT; claim takes earnings.",
    guidelines=("With claim nothing is redeemed: what YT earned and LP tokens were rewarded comes.",),
)
def pendle_redeem(ctx: WriteContext, pt: Claim, amount: RawAmountOrMax, claim: Flag = False) -> TxPlan:
    """Redeem principal tokens for the asset, or collect what yield tokens earned.

    Use at maturity, or before it for as many PT as YT are held. With `claim`, interest and rewards alone are collected.
    Does not sell.
    """
    reader = ctx.chain()
    place, standing = _look(ctx, reader, pt)
    if claim:
        return _claim(ctx, reader, place, standing)
    held, over = standing.held, standing.market.is_over
    there = held.pt if over else min(held.pt, held.yt)
    given = _asked(place, there, amount, place.symbols.pt if over else f"{place.symbols.pt} with as many YT")
    came = shares_worth(standing, to_shares(given, standing.market.index))
    least = max(1, apply_bps_down(came, 1) - 1)
    ctx.step("Building calls")
    draft = _give(reader, ctx.account, place, place.pt, given)
    if not over:
        _allow(reader, draft, place, place.yt, given)
    draft.call(
        Call(
            place.router,
            encode_call(REDEEM, ctx.account, place.yt, given, taking(place.asset, least)),
            0,
            f"Redeem {_units(place, given)} {place.symbols.pt}",
        )
    )
    draft.receive(reader.token(place.asset), came, at_least=least)
    draft.changes.append(_claims(reader, place, standing, -given))
    if not over:
        draft.changes.append(_yields(reader, place, -given, -given))
    return draft.finish(
        action_class=_leaving(standing, pt=given, yt=0 if over else given),
        statements=(_state(place, place.pt, "redeemed", given),),
        details={**_details(reader, place, standing), "amount": str(given)},
    )


# ---- reads ----------------------------------------------------------------------------------------------------------


@pendle.read(
    query="pendle_markets",
    budget=TickBudget.MEDIUM,
    steps=("Reading markets",),
    snippet="pendle_get_markets: known Pendle markets with maturity, implied yearly rate, discount and size.",
    guidelines=("is_oracle_ready false: nothing can be bought there yet.",),
)
def pendle_get_markets(
    ctx: ReadContext, underlying: Token | None = None, min_tvl: MicroUsdText | None = None
) -> Markets:
    """List known Pendle markets, active and over.

    Use to choose a market, or to find PT and YT by it.
    Does not list markets that are not known here.
    """
    reader = ctx.chain()
    ctx.step("Reading markets")
    places = places_on(reader.chain_id)
    wanted = None if underlying is None else reader.token(underlying).address
    standings = drive(ask_standings(reader.chain_id, places, _NOBODY), reader.call_many)
    prices = PriceBook(reader)
    rows = [
        _row(place, standing, prices, reader)
        for place, standing in zip(places, standings, strict=True)
        if wanted in (None, place.asset)
    ]
    least = 0 if min_tvl is None else parse_units(min_tvl, 6)
    return Markets(
        markets=tuple(row for row in rows if (row.tvl.micro if row.tvl else 0) >= least),
        block_number=reader.block.number,
        is_simulated=reader.chain_id == LOCAL_CHAIN_ID,
    )


@pendle.read(
    query="pendle_position",
    budget=TickBudget.MEDIUM,
    steps=("Reading positions",),
    snippet="pendle_get_position: PT, YT and LP tokens of an account at Pendle and what each counts as.",
    guidelines=("YT count as nothing; market_value is what they would cost at the average.",),
)
def pendle_get_position(ctx: ReadContext, account: Address) -> Holdings:
    """What an account holds at Pendle's known markets.

    Use before selling or redeeming.
    Does not show what was paid for it.
    """
    reader = ctx.chain()
    ctx.step("Reading positions")
    places = places_on(reader.chain_id)
    standings = drive(ask_standings(reader.chain_id, places, account), reader.call_many)
    rows: dict[str, list[Holding]] = {"pt": [], "yt": [], "lp": []}
    total: int | None = 0
    prices = PriceBook(reader)
    for place, standing in zip(places, standings, strict=True):
        held, asset = standing.held, reader.token(place.asset)
        counted = {
            "pt": standing.worth_of_claims(place, held.pt) if held.pt else 0,
            "yt": 0,
            "lp": standing.worth_of_lp(place, held.lp) if held.lp else 0,
        }
        shown = {**counted, "yt": standing.market_of_yields(held.yt)}
        for kind, token, balance in (
            ("pt", place.pt, held.pt),
            ("yt", place.yt, held.yt),
            ("lp", place.market, held.lp),
        ):
            if balance:
                worth = (TokenAmount(counted[kind], asset), TokenAmount(shown[kind], asset))
                rows[kind].append(Holding(place.market, token, str(balance), *worth))
        raw = sum(counted.values()) + shares_worth(standing, held.sy + held.interest)
        micro = prices.weigh(place.asset, raw).micro_usd if raw else 0
        total = None if total is None or micro is None else total + micro
    return Holdings(
        tuple(rows["pt"]), tuple(rows["yt"]), tuple(rows["lp"]), None if total is None else UsdAmount(total)
    )


# ---- below ----------------------------------------------------------------------------------------------------------


def _claim(ctx: WriteContext, reader: ChainReader, place: Place, standing: Standing) -> TxPlan:
    """Interest comes as shares, which are redeemed with what lies in the wallet; rewards come as they are."""
    held = standing.held
    shares = held.interest + held.sy
    came = shares_worth(standing, shares)
    if not came:
        raise NothingToClaim("the yield tokens have earned nothing that is not paid", market=place.market)
    ctx.step("Building calls")
    draft = PlanDraft(reader.chain_id, ctx.account)
    if held.interest or held.reward:
        data = encode_call(
            CLAIM,
            ctx.account,
            (),
            (place.yt,) if held.interest else (),
            (place.market,) if held.reward else (),
        )
        draft.call(Call(place.router, data, 0, "Claim interest and rewards"))
    least = max(1, apply_bps_down(came, 1) - 1)
    data = encode_call(REDEEM_SHARES, ctx.account, shares, place.asset, least, False)
    draft.call(Call(place.sy, data, 0, f"Redeem {_units(place, shares)} {place.symbols.sy}"))
    asset = reader.token(place.asset)
    draft.receive(asset, came, at_least=least)
    if held.reward:
        draft.receive(reader.token(place.reward), held.reward, at_least=0)
        ref = ref_of(reader.chain_id, place)
        # What is earned until the transaction comes along.
        draft.changes.append(
            PositionChange(NAME, KIND, place.reward, -held.reward, -2 * held.reward, ref, counts=False)
        )
    ref = ref_of(reader.chain_id, place)
    bound = -came - came * DRIFT_BPS // BPS - 2
    draft.changes.append(PositionChange(NAME, KIND, place.asset, -came, bound, ref))
    return draft.finish(
        action_class=ActionClass.DECREASE_POSITION,
        statements=(Statement(place.sy, place.sy, "shares redeemed", str(shares)),),
        details={**_details(reader, place, standing), "amount": str(came)},
    )


def _look(ctx: WriteContext, reader: ChainReader, address: str) -> tuple[Place, Standing]:
    """The market of an address and how it stands. Raises MarketNotFound."""
    ctx.step("Reading the market")
    known = places_on(reader.chain_id)
    place = find_place(reader.chain_id, address)
    if place is None:
        raise MarketNotFound(f"{address} is no known market of Pendle", markets=[each.market for each in known])
    return place, drive(ask_standings(reader.chain_id, (place,), ctx.account), reader.call_many)[0]


def _open(ctx: WriteContext, reader: ChainReader, address: str) -> tuple[Place, Standing]:
    """The same for a market in which somebody may trade and whose average is known."""
    place, standing = _look(ctx, reader, address)
    if standing.market.is_over:
        raise ClaimsAreDue(
            f"{place.symbols.pt} are due since {standing.market.expiry}: redeem them, nothing is traded any more",
            expiry=standing.market.expiry,
        )
    if standing.pt_rate is None or standing.lp_rate is None:
        raise OracleNotReady(
            f"the market has no average price of {AVERAGE_SECONDS} seconds yet",
            market=place.market,
            seconds=AVERAGE_SECONDS,
        )
    return place, standing


def _solve(work: Callable[[], T]) -> T:
    try:
        return work()
    except NoTrade as error:
        raise MarketRefuses(f"{error}: try another amount") from error


def _shares_of(standing: Standing, amount: int) -> int:
    return to_shares(amount, standing.share_rate)


def _check_price(place: Place, *, paid: int, worth: int, most_bps: int) -> None:
    """Raises WorseThanAverage where more than `most_bps` of what is given is lost, measured at the average."""
    off = (paid - worth) * BPS // paid if paid else 0
    if off > most_bps:
        raise WorseThanAverage(
            f"the market would keep {off} basis points against its average of fifteen minutes; accepted are {most_bps}:"
            " less at once, or later",
            off_bps=off,
            most_bps=most_bps,
            market=place.market,
        )


def _of_yields(standing: Standing, slippage_bps: int) -> int:
    """What of a yield token's price may be lost: it is the small rest of a claim's, which moves as much by itself.

    A fee and a push of the claim's price weigh on the rest as many times as it is smaller.
    """
    rest = max(1, standing.market_of_yields(WAD))
    return min(BPS // 10, slippage_bps * max(1, (WAD - rest) // rest))


def _asked(place: Place, there: int, amount: int, what: str) -> int:
    """How many are meant. Raises TooFewHeld."""
    asked = there if amount == EVERYTHING else amount
    if not asked or asked > there:
        raise TooFewHeld(f"the account has {_units(place, there)} {what}", held=str(there), asked=str(asked or there))
    return asked


def _pay(reader: ChainReader, account: str, place: Place, amount: int) -> PlanDraft:
    draft = PlanDraft(reader.chain_id, account)
    draft.pay(reader, reader.token(place.asset), amount, to=place.router)
    return draft


def _give(reader: ChainReader, account: str, place: Place, token: str, amount: int) -> PlanDraft:
    draft = PlanDraft(reader.chain_id, account)
    _allow(reader, draft, place, token, amount)
    return draft


def _allow(reader: ChainReader, draft: PlanDraft, place: Place, token: str, amount: int) -> None:
    meta = reader.token(token)
    allowed = erc20.allowance(reader, meta, draft.account, place.router)
    draft.approve(meta, spender=place.router, amount=amount, allowance=allowed)


def _claims(
    reader: ChainReader, place: Place, standing: Standing, amount: int, least: int | None = None
) -> PositionChange:
    """So many claims come, at least `least`, or go where negative; at what they count as."""
    counted = standing.worth_of_claims(place, abs(amount))
    return _counted(reader, place, amount, counted, standing.worth_of_claims(place, least or 0))


def _lp(reader: ChainReader, place: Place, standing: Standing, amount: int, least: int | None = None) -> PositionChange:
    """The same for a part of the market."""
    counted = standing.worth_of_lp(place, abs(amount))
    return _counted(reader, place, amount, counted, standing.worth_of_lp(place, least or 0))


def _counted(reader: ChainReader, place: Place, amount: int, counted: int, least: int) -> PositionChange:
    ref = ref_of(reader.chain_id, place)
    if amount > 0:
        bound = max(0, apply_bps_down(least, DRIFT_BPS) - 2)
        return PositionChange(NAME, KIND, place.asset, counted, bound, ref)
    return PositionChange(NAME, KIND, place.asset, -counted, -counted - counted * DRIFT_BPS // BPS - 2, ref)


def _yields(reader: ChainReader, place: Place, expected: int, bound: int) -> PositionChange:
    """Yield tokens, which never count."""
    ref = ref_of(reader.chain_id, place)
    return PositionChange(NAME, KIND, place.yt, expected, bound, ref, counts=False)


def _entering(standing: Standing) -> ActionClass:
    return ActionClass.NEW_POSITION if standing.held.is_nothing else ActionClass.INCREASE_POSITION


def _leaving(standing: Standing, *, pt: int = 0, yt: int = 0) -> ActionClass:
    held = standing.held
    left = replace(held, pt=held.pt - pt, yt=held.yt - yt)
    return ActionClass.CLOSE_POSITION if left.is_nothing else ActionClass.DECREASE_POSITION


def _state(place: Place, token: str, key: str, amount: int) -> Statement:
    return Statement(place.router, token, key, str(amount))


def _details(reader: ChainReader, place: Place, standing: Standing) -> dict[str, Any]:
    market = standing.market
    return {
        "venue": NAME,
        "market": place.market,
        "pt": place.pt,
        "yt": place.yt,
        "asset": reader.token(place.asset).symbol,
        "maturity": market.expiry,
        "days_to_maturity": market.seconds_left // DAY_SECONDS,
        "implied_apy": _percent(yearly_rate(market.ln_rate), WAD),
    }


def _row(place: Place, standing: Standing, prices: PriceBook, reader: ChainReader) -> MarketRow:
    market = standing.market
    size = None
    if standing.lp_rate is not None:
        micro = prices.weigh(place.asset, standing.worth_of_lp(place, market.supply)).micro_usd
        size = None if micro is None else UsdAmount(micro)
    ready = market.is_over or standing.pt_rate is not None
    asset: TokenMeta = reader.token(place.asset)
    return MarketRow(
        address=place.market,
        name=place.symbols.lp,
        underlying=asset.symbol,
        underlying_protocol=place.symbols.sy,
        maturity=market.expiry,
        days_to_maturity=market.seconds_left // DAY_SECONDS,
        implied_apy="0" if market.is_over else _percent(yearly_rate(market.ln_rate), WAD),
        pt_discount=None if not ready else _percent(WAD - standing.claim(place).rate, WAD),
        tvl=size,
        volume_24h=None,
        pt_address=place.pt,
        yt_address=place.yt,
        is_active=not market.is_over,
        is_oracle_ready=ready,
    )


def _percent(part: int, whole: int) -> str:
    """With four decimals, rounded towards zero."""
    if not whole:
        return "0"
    scaled = abs(part) * 10**6 // whole
    return format_units(-scaled if part < 0 else scaled, 4)


def _units(place: Place, amount: int) -> str:
    return format_units(amount, place.decimals)
