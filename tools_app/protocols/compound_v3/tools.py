"""The `compound_v3_*` tools: lend, cover, borrow, repay, take out, claim, and what markets and accounts look like."""

from __future__ import annotations

from tools_app.chain.abi import encode_call
from tools_app.portfolio.holdings import PriceBook
from tools_app.protocols.compound_v3 import signatures
from tools_app.protocols.compound_v3.addresses import CHAINS, NAME, comets_on
from tools_app.protocols.compound_v3.errors import NoReward
from tools_app.protocols.compound_v3.market_action import Desk, find_market, open_desk, read_both
from tools_app.protocols.compound_v3.positions import KIND, ref_of, reward_of
from tools_app.protocols.compound_v3.reads import (
    Account,
    Market,
    ask_accounts,
    ask_market,
    counted,
    health_of,
    interest_in,
    yearly_ppm,
)
from tools_app.select_tool_for_venue import whose
from tools_app.standards import erc20
from tools_app.standards.aave_like.plans import PLAN_SECONDS, ROUNDING
from tools_app.standards.format_loan_figures import debt_left, percent, show, show_health_of
from tools_app.standards.plan_draft import check_enough
from tools_app.toolkit.answer import OfChain, Told
from tools_app.toolkit.context import ChainReader, ReadContext, WriteContext
from tools_app.toolkit.enums import ActionClass, Category, RiskLayer
from tools_app.toolkit.family import ToolFamily
from tools_app.toolkit.lending import NothingThere
from tools_app.toolkit.params import EVERYTHING, Address, RawAmount, RawAmountOrMax, Token
from tools_app.toolkit.plan import Call, TxPlan
from tools_app.toolkit.positions import PositionChange, drive, side_by_side
from tools_app.toolkit.report import Report, received, seen, spent, told
from tools_app.toolkit.result import TokenAmount, UsdAmount

compound = ToolFamily(
    prefix="compound_v3", category=Category.LENDING, chains=CHAINS, venue=NAME, picks_chain=True, reads_named=True
)


class SupplyReport(Report):
    """What went in. The yearly rate is percent; of a cover, which earns nothing, null."""

    market: str
    supplied: TokenAmount = spent()
    supply_apy: str | None = seen(
        lambda outcome: str(outcome.plan.details["supply_apy_pct"]) if outcome.plan.details["earns"] else None
    )
    health_factor_after: str | None


class WithdrawReport(Report):
    """What came out."""

    market: str
    withdrawn: TokenAmount = received()
    health_factor_after: str | None


class BorrowReport(Report):
    """What was borrowed, at a yearly rate in percent."""

    market: str
    borrowed: TokenAmount = received()
    borrow_apy: str = told("borrow_apy_pct")
    health_factor_after: str | None


class RepayReport(Report):
    """What was paid back and what is left of the debt."""

    market: str
    repaid: TokenAmount = spent()
    remaining_debt: TokenAmount = seen(debt_left)
    health_factor_after: str | None


class ClaimReport(Report):
    """What came beside interest."""

    market: str
    claimed: TokenAmount = received()


class CoverRow(Told):
    """An asset that covers debts. Fractions are percent; `room` is what its supply cap leaves."""

    asset: str
    symbol: str
    loan_to_value: str
    liquidation_threshold: str
    room: TokenAmount


class MarketRow(Told):
    """A market. Rates are percent a year, compounded; the reward's rate is not told where nobody prices the reward."""

    market: str
    comet: str
    supply_apy: str
    borrow_apy: str
    pays_rewards: bool
    total_supplied: TokenAmount
    total_borrowed: TokenAmount
    available_liquidity: TokenAmount
    utilization: str
    least_debt: TokenAmount
    tvl: UsdAmount | None
    is_paused: bool
    collateral: tuple[CoverRow, ...]


class MarketList(OfChain):
    """The known markets that fit."""

    markets: tuple[MarketRow, ...]


class Held(Told):
    """So much of an asset."""

    symbol: str
    amount: TokenAmount


class PositionRow(Told):
    """What an account has in one market. Health is null without a debt."""

    market: str
    supplied: TokenAmount
    owed: TokenAmount
    collateral: tuple[Held, ...]
    health_factor: str | None
    can_borrow: TokenAmount
    claimable_reward: str
    reward_token: str


class PositionList(OfChain):
    """All of an account's markets."""

    account: str
    positions: tuple[PositionRow, ...]


@compound.write(
    risk=RiskLayer.BOUNDED,
    report=SupplyReport,
    snippet="compound_v3_supply: lend what a Compound V3 market lends, or with asset put in what covers a debt there.",
    guidelines=(
        "A market is named by what it lends: USDC or WETH. A cover earns no interest.",
        "Read compound_v3_get_markets first: a cover has a supply cap.",
    ),
)
def compound_v3_supply(ctx: WriteContext, market: Token, amount: RawAmount, asset: Token | None = None) -> TxPlan:
    """Lend into a Compound V3 market, or put a cover into it.

    Use to earn interest on what the market lends, or with `asset` to cover a debt there. `amount` is in base units and
    exactly approved. While the golem owes there, lending is refused: it would repay.
    Does not wrap the chain's coin and does not supply for another account.
    """
    desk = open_desk(ctx, market)
    token, cover = desk.chosen(asset)
    desk.check_supply(amount, token, cover)
    ctx.step("Building calls")
    draft = desk.draft()
    draft.pay(desk.reader, token, amount, to=desk.comet.address)
    draft.call(desk.call(signatures.SUPPLY, token, amount, "Supply", amount))
    draft.changes.append(desk.change(token.address, amount, amount - ROUNDING))
    is_new = not (desk.own.supplied or desk.own.owed or desk.own.covers)
    grown = counted(desk.market, [(cover, amount)]) if cover is not None else 0
    return draft.finish(
        action_class=ActionClass.NEW_POSITION if is_new else ActionClass.INCREASE_POSITION,
        details={**desk.details(cover=desk.cover + grown, owed=desk.own.owed), "earns": cover is None},
    )


@compound.write(
    risk=RiskLayer.BOUNDED,
    report=WithdrawReport,
    snippet="compound_v3_withdraw: take what is lent, or with asset a cover, out of a Compound V3 market; max is all.",
    guidelines=("It never borrows: more than is lent is refused; compound_v3_borrow borrows.",),
)
def compound_v3_withdraw(
    ctx: WriteContext, market: Token, amount: RawAmountOrMax, asset: Token | None = None
) -> TxPlan:
    """Take out of a Compound V3 market what is lent there, or a cover.

    Use to get tokens back. `max` is everything, of a cover under a debt as much as keeps the health floor.
    Does not borrow, although the market's own call would, and does not repay.
    """
    desk = open_desk(ctx, market)
    token, cover = desk.chosen(asset)
    desk.check_open_out()
    there = desk.own.supplied if cover is None else desk.own.held(cover.asset)
    if not there or (amount != EVERYTHING and amount > there):
        raise NothingThere(
            f"{show(there, token)} is there to be taken out; more would be borrowed"
            if there
            else f"nothing of {token.symbol} is in the {desk.comet.label}",
            asset=token.address,
            most=str(there),
        )
    if cover is None:
        wanted = min(there, desk.market.liquidity) if amount == EVERYTHING else amount
        desk.check_liquidity(max(1, wanted))
    else:
        wanted = desk.most_released(cover) if amount == EVERYTHING else amount
        desk.check_release(max(1, wanted), token, cover)
    is_all = wanted == there
    ctx.step("Building calls")
    draft = desk.draft()
    named = signatures.EVERYTHING if is_all and cover is None else wanted
    draft.call(desk.call(signatures.WITHDRAW, token, named, "Withdraw", wanted))
    draft.receive(token, wanted)
    grown = interest_in(wanted, desk.market.supply_rate, PLAN_SECONDS) if named != wanted else ROUNDING
    keeps = cover is not None and desk.own.owed > 0
    draft.changes.append(desk.change(token.address, -wanted, -(wanted + grown), keeps_health=keeps))
    left = counted(desk.market, [(cover, wanted)]) if cover is not None else 0
    others = len(desk.own.covers) - (cover is not None and is_all) + bool(desk.own.supplied and cover is not None)
    is_last = is_all and not others and not desk.own.owed and not desk.own.reward
    taken = desk.market.in_base(cover, wanted) if cover is not None else 0
    return draft.finish(
        action_class=ActionClass.CLOSE_POSITION if is_last else ActionClass.DECREASE_POSITION,
        collateral_ratio_bps=desk.ratio_bps(owed=desk.own.owed, less=taken),
        details=desk.details(cover=desk.cover - left, owed=desk.own.owed),
    )


@compound.write(
    risk=RiskLayer.UNBOUNDED,
    report=BorrowReport,
    snippet="compound_v3_borrow: borrow what a Compound V3 market lends against covers there; health stays at 1.5.",
    guidelines=(
        "Put covers in first: compound_v3_supply with asset. A refusal names the most that passes.",
        "A market lends no less than its least_debt.",
    ),
)
def compound_v3_borrow(ctx: WriteContext, market: Token, amount: RawAmount) -> TxPlan:
    """Borrow what a Compound V3 market lends against covers in it.

    Use when that token is needed and the covers shall be kept. The health factor stays at 1.5 or above.
    Does not put covers in, and is refused while something is lent there: that would be taken out first.
    """
    desk = open_desk(ctx, market)
    desk.check_borrow(amount)
    ctx.step("Building calls")
    draft = desk.draft()
    draft.call(desk.call(signatures.WITHDRAW, desk.base, amount, "Borrow", amount))
    draft.receive(desk.base, amount)
    draft.changes.append(desk.change(desk.base.address, -amount, -(amount + ROUNDING), keeps_health=True))
    owed = desk.own.owed + amount
    return draft.finish(
        action_class=ActionClass.INCREASE_POSITION,
        collateral_ratio_bps=desk.ratio_bps(owed=owed),
        details=desk.details(cover=desk.cover, owed=owed),
    )


@compound.write(
    risk=RiskLayer.LOW,
    report=RepayReport,
    is_rescue=True,
    snippet="compound_v3_repay: pay back a debt in a Compound V3 market, never more than is owed; max is all of it.",
    guidelines=("Repaying lowers risk and is allowed in every phase; take covers out after it.",),
)
def compound_v3_repay(ctx: WriteContext, market: Token, amount: RawAmountOrMax) -> TxPlan:
    """Pay back what the golem owes in a Compound V3 market.

    Use to lower risk or to close a debt. `max` is all that is owed, or all that is held where that is less. Interest
    until the transaction runs is covered by a small margin, which is taken back. compound_v3_get_position names its
    markets. Does not lend what is too much, although the market's own call would, and takes no cover out.
    """
    desk = open_desk(ctx, market)
    owed = desk.own.owed
    if not owed:
        raise NothingThere(f"nothing is owed in the {desk.comet.label}", asset=desk.base.address)
    if desk.market.is_supply_paused:
        desk.close("paused", "takes nothing in, repayments neither: its guardians paused it")
    [wallet] = erc20.balances_of(desk.reader, [(desk.base, desk.account)])
    most = desk.debt_in_a_while(owed)
    is_all = amount == EVERYTHING and wallet >= most or amount != EVERYTHING and amount >= most
    wanted = owed if is_all else min(amount, owed, max(wallet, 1)) if amount == EVERYTHING else min(amount, owed)
    check_enough(desk.base, balance=wallet, needed=wanted)
    ctx.step("Building calls")
    draft = desk.draft()
    draft.pay(desk.reader, desk.base, wanted, to=desk.comet.address, at_most=most if is_all else None)
    named = signatures.EVERYTHING if is_all else wanted
    draft.call(desk.call(signatures.SUPPLY, desk.base, named, "Repay", wanted))
    draft.changes.append(desk.change(desk.base.address, wanted, wanted - ROUNDING - (most - owed)))
    is_last = is_all and not (desk.own.covers or desk.own.reward)
    return draft.finish(
        action_class=ActionClass.CLOSE_POSITION if is_last else ActionClass.DECREASE_POSITION,
        details={
            **desk.details(cover=desk.cover, owed=owed - wanted),
            "owed_before": str(owed),
            "is_all": is_all,
        },
    )


@compound.write(
    action_type="claim_compound",
    risk=RiskLayer.LOW,
    report=ClaimReport,
    snippet="claim_compound: have the rewards of a Compound V3 market paid out; what is lent and owed stays.",
    guidelines=("On public chains COMP has no price here: its owner allows it before it is claimed.",),
)
def compound_v3_claim_rewards(ctx: WriteContext, market: Token) -> TxPlan:
    """Claim what a Compound V3 market pays beside interest.

    Use to collect rewards of lending or borrowing, COMP on public chains. compound_v3_get_position names its markets.
    Does not sell them, and does not touch what is lent or owed.
    """
    desk = open_desk(ctx, market)
    due, token = desk.own.reward, desk.own.reward_token
    if not due:
        raise NoReward(f"the {desk.comet.label} owes the account nothing beside interest", market=desk.base.symbol)
    ctx.step("Building calls")
    draft, chain_id = desk.draft(), desk.reader.chain_id
    data = encode_call(signatures.CLAIM, desk.comet.address, desk.account, True)
    draft.call(Call(desk.comet.rewards, data, 0, f"Claim rewards of the {desk.comet.label}"))
    draft.receive(desk.reader.token(token), due)
    counts = reward_of(token).is_counted(chain_id)
    ref = ref_of(chain_id, desk.comet)
    draft.changes.append(PositionChange(NAME, KIND, token, -due, -(due + due // 20 + 10**6), ref, counts=counts))
    stays = desk.own.supplied or desk.own.owed or desk.own.covers
    return draft.finish(
        action_class=ActionClass.DECREASE_POSITION if stays else ActionClass.CLOSE_POSITION,
        details=desk.details(cover=desk.cover, owed=desk.own.owed),
    )


@compound.read(
    snippet="compound_v3_get_markets: rates, liquidity and what covers debts in the markets of Compound V3.",
    guidelines=("Rates are of interest alone; whether rewards come on top is said.",),
)
def compound_v3_get_markets(ctx: ReadContext, market: Token | None = None) -> MarketList:
    """List the known markets of Compound V3 with rates, liquidity and what covers debts in them.

    Use to choose where to lend or borrow. With `market` that one alone.
    Does not tell what rewards are worth a year.
    """
    reader = ctx.begin("Reading markets")
    comets = comets_on(reader.chain_id) if market is None else (find_market(reader, market)[0],)
    found = drive(side_by_side([ask_market(each) for each in comets]), reader.call_many)
    return MarketList(
        markets=tuple(_describe(reader, each) for each in found),
    )


@compound.read(
    snippet="compound_v3_get_position: what an account lends, owes and has as covers in each Compound V3 market.",
    guidelines=("Read it before repaying or taking out: interest changes amounts all the time.",),
)
def compound_v3_get_position(ctx: ReadContext, account: Address | None = None) -> PositionList:
    """Read everything an account has at Compound V3.

    Use before repaying, taking out or borrowing more. Without `account` it is the golem.
    Does not show other lenders; lending_get_health_dashboard does.
    """
    owner = whose(ctx, account)
    reader = ctx.begin("Reading positions")
    comets = comets_on(reader.chain_id)
    accounts = drive(ask_accounts(comets, owner), reader.call_many)
    held = [comet for comet, each in zip(comets, accounts, strict=True) if not each.is_empty]
    rows = tuple(_describe_position(reader, owner, *read_both(reader, comet, owner)) for comet in held)
    return PositionList(owner, rows)


# ---- below ----------------------------------------------------------------------------------------------------------


def _describe(reader: ChainReader, market: Market) -> MarketRow:
    base = reader.token(market.comet.base)
    tvl = PriceBook(reader).weigh(base.address, market.supplied).micro_usd
    return MarketRow(
        market=base.symbol,
        comet=market.comet.address,
        supply_apy=percent(yearly_ppm(market.supply_rate)),
        borrow_apy=percent(yearly_ppm(market.borrow_rate)),
        pays_rewards=market.reward_speed > 0,
        total_supplied=TokenAmount(market.supplied, base),
        total_borrowed=TokenAmount(market.borrowed, base),
        available_liquidity=TokenAmount(market.liquidity, base),
        utilization=percent(market.borrowed * 1_000_000 // market.supplied if market.supplied else 0),
        least_debt=TokenAmount(market.least_debt, base),
        tvl=None if tvl is None else UsdAmount(tvl),
        is_paused=market.is_supply_paused or market.is_withdraw_paused,
        collateral=tuple(
            CoverRow(
                asset=each.asset,
                symbol=(token := reader.token(each.asset)).symbol,
                loan_to_value=percent(100 * each.ltv_bps),
                liquidation_threshold=percent(100 * each.threshold_bps),
                room=TokenAmount(max(0, each.cap - each.total), token),
            )
            for each in market.covers
        ),
    )


def _describe_position(reader: ChainReader, owner: str, market: Market, own: Account) -> PositionRow:
    base = reader.token(market.comet.base)
    desk = Desk(reader, owner, market, own, base)
    return PositionRow(
        market=base.symbol,
        supplied=TokenAmount(own.supplied, base),
        owed=TokenAmount(own.owed, base),
        collateral=tuple(
            Held((token := reader.token(cover.asset)).symbol, TokenAmount(raw, token)) for cover, raw in own.covers
        ),
        health_factor=show_health_of(health_of(desk.cover, own.owed)),
        can_borrow=TokenAmount(0 if own.supplied else min(desk.most_borrowed(), market.liquidity), base),
        claimable_reward=str(own.reward),
        reward_token=own.reward_token,
    )
