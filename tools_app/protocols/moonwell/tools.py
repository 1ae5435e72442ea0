"""The `moonwell_*` tools: lend, borrow, repay, take out, claim, and what markets and accounts look like."""

from __future__ import annotations

from tools_app.chain.abi import encode_call
from tools_app.portfolio.holdings import PriceBook
from tools_app.protocols.moonwell import signatures
from tools_app.protocols.moonwell.addresses import CHAINS, NAME, place_on
from tools_app.protocols.moonwell.errors import NoReward
from tools_app.protocols.moonwell.market_action import Desk, find_market, open_desk, read_account
from tools_app.protocols.moonwell.positions import ref_of, reward_of
from tools_app.protocols.moonwell.reads import Account, Held, State, ask_markets, interest_in, yearly_ppm
from tools_app.protocols.moonwell.reports import (
    BorrowReport,
    ClaimReport,
    MarketList,
    MarketRow,
    PositionList,
    PositionRow,
    RepayReport,
    SupplyReport,
    WithdrawReport,
)
from tools_app.select_tool_for_venue import whose
from tools_app.standards import erc20
from tools_app.standards.aave_like.plans import PLAN_SECONDS
from tools_app.standards.format_loan_figures import percent, show, show_health_of
from tools_app.standards.plan_draft import PlanDraft, check_enough
from tools_app.toolkit.context import ChainReader, ReadContext, WriteContext
from tools_app.toolkit.enums import ActionClass, Category, RiskLayer
from tools_app.toolkit.family import ToolFamily
from tools_app.toolkit.lending import NothingThere
from tools_app.toolkit.params import EVERYTHING, Address, Flag, RawAmount, RawAmountOrMax, Token
from tools_app.toolkit.plan import Call, Statement, TxPlan
from tools_app.toolkit.positions import ACCOUNT, PositionChange, drive
from tools_app.toolkit.result import TokenAmount, UsdAmount

moonwell = ToolFamily(
    prefix="moonwell", category=Category.LENDING, chains=CHAINS, venue=NAME, picks_chain=True, reads_named=True
)


@moonwell.write(
    risk=RiskLayer.BOUNDED,
    report=SupplyReport,
    snippet="moonwell_supply: lend a token at Moonwell; it earns interest, and covers debts unless said otherwise.",
    guidelines=("Read moonwell_get_markets first: a market has a cap and may be paused.",),
)
def moonwell_supply(ctx: WriteContext, asset: Token, amount: RawAmount, covers_debts: Flag = True) -> TxPlan:
    """Lend a token at Moonwell.

    Use to earn interest, or to cover a debt. `amount` is in base units and exactly approved. With `covers_debts` the
    market is entered, so that what is lent there covers debts, and can be seized for them.
    Does not wrap the chain's coin, does not supply for another account, and leaves no market that was entered before.
    """
    desk = open_desk(ctx, asset)
    desk.check_supply(amount)
    ctx.step("Building calls")
    draft = desk.draft()
    draft.pay(desk.reader, desk.token, amount, to=desk.market.address)
    draft.call(desk.call(signatures.MINT, amount, "Supply", amount))
    enters = covers_debts and not desk.held.is_member
    statements: tuple[Statement, ...] = ()
    if enters:
        data = encode_call(signatures.ENTER, [desk.market.address])
        draft.call(Call(desk.place.comptroller, data, 0, f"Have {desk.token.symbol} at Moonwell cover debts"))
        statements = (Statement(desk.place.comptroller, desk.account, "covers debts", desk.market.address),)
    draft.changes.append(desk.change(amount - desk.rounding() // 2, amount - desk.rounding()))
    covers = desk.held.is_member or enters
    there = amount + (desk.held.supplied if enters else 0)
    grown = desk.state.worth(there) * desk.state.factor // signatures.FACTOR if covers else 0
    return draft.finish(
        action_class=ActionClass.NEW_POSITION if desk.whole.is_empty else ActionClass.INCREASE_POSITION,
        details={**desk.details(cover=desk.whole.cover + grown, debt=desk.whole.debt), "covers_debts": covers},
        statements=statements,
    )


@moonwell.write(
    risk=RiskLayer.BOUNDED,
    report=WithdrawReport,
    snippet="moonwell_withdraw: take what is lent out of a Moonwell market; max is all that debts do not need.",
    guidelines=("What covers debts comes out as far as health stays at 1.5; repay first for more.",),
)
def moonwell_withdraw(ctx: WriteContext, asset: Token, amount: RawAmountOrMax) -> TxPlan:
    """Take a token out of its Moonwell market.

    Use to get tokens back. `max` is everything that is there, that can be taken out now, and that debts do not need.
    What is lent of WETH comes out as the chain's coin. Does not repay and does not claim rewards.
    """
    desk = open_desk(ctx, asset)
    there = desk.held.supplied
    if not there or (amount != EVERYTHING and amount > there):
        raise NothingThere(
            f"{show(there, desk.token)} is there to be taken out"
            if there
            else f"nothing of {desk.token.symbol} is at Moonwell",
            asset=desk.token.address,
            most=str(there),
        )
    wanted = min(there, desk.state.cash, desk.most_released()) if amount == EVERYTHING else amount
    desk.check_cash(max(1, wanted))
    desk.check_release(max(1, wanted))
    is_all = wanted == there
    ctx.step("Building calls")
    draft = desk.draft()
    if is_all:
        draft.call(desk.call(signatures.REDEEM, desk.held.receipts, "Withdraw", wanted))
    else:
        draft.call(desk.call(signatures.REDEEM_UNDERLYING, wanted, "Withdraw", wanted))
    draft.receive(desk.paid_in(), wanted)
    grown = interest_in(wanted, desk.state.supply_rate, PLAN_SECONDS) + desk.rounding()
    keeps = desk.held.is_member and desk.whole.debt > 0
    draft.changes.append(desk.change(-wanted, -(wanted + grown), keeps_health=keeps))
    taken = desk.state.worth(wanted) if desk.held.is_member else 0
    is_last = is_all and not desk.has_others and not desk.held.owed and not desk.held.reward
    return draft.finish(
        action_class=ActionClass.CLOSE_POSITION if is_last else ActionClass.DECREASE_POSITION,
        collateral_ratio_bps=desk.ratio_bps(less=taken),
        details=desk.details(
            cover=desk.whole.cover - taken * desk.state.factor // signatures.FACTOR, debt=desk.whole.debt
        ),
    )


@moonwell.write(
    risk=RiskLayer.UNBOUNDED,
    report=BorrowReport,
    snippet="moonwell_borrow: borrow a token at Moonwell against what covers debts there; health stays at 1.5.",
    guidelines=("Supply what covers first. A refusal names the most that passes.",),
)
def moonwell_borrow(ctx: WriteContext, asset: Token, amount: RawAmount) -> TxPlan:
    """Borrow a token at Moonwell.

    Use when the token is needed and what covers it shall be kept. The health factor stays at 1.5 or above. WETH is paid
    out as the chain's coin, and repaid as WETH.
    Does not put anything in, and does not sell what was borrowed.
    """
    desk = open_desk(ctx, asset)
    desk.check_borrow(amount)
    ctx.step("Building calls")
    draft = desk.draft()
    draft.call(desk.call(signatures.BORROW, amount, "Borrow", amount))
    draft.receive(desk.paid_in(), amount)
    draft.changes.append(desk.change(-amount, -(amount + desk.rounding()), keeps_health=True))
    more = desk.state.worth(amount)
    return draft.finish(
        action_class=ActionClass.INCREASE_POSITION,
        collateral_ratio_bps=desk.ratio_bps(more=more),
        details=desk.details(cover=desk.whole.cover, debt=desk.whole.debt + more),
    )


@moonwell.write(
    risk=RiskLayer.LOW,
    report=RepayReport,
    is_rescue=True,
    snippet="moonwell_repay: pay back a debt at Moonwell, never more than is owed; max is all of it.",
    guidelines=("Repaying lowers risk and is allowed in every phase; take covers out after it.",),
)
def moonwell_repay(ctx: WriteContext, asset: Token, amount: RawAmountOrMax) -> TxPlan:
    """Pay back what the golem owes of a token at Moonwell.

    Use to lower risk or to close a debt. `max` is all that is owed, or all that is held where that is less. Interest
    until the transaction runs is covered by a small margin, which is taken back.
    Does not take anything out.
    """
    desk = open_desk(ctx, asset)
    owed = desk.held.owed
    if not owed:
        raise NothingThere(f"nothing of {desk.token.symbol} is owed at Moonwell", asset=desk.token.address)
    [wallet] = erc20.balances_of(desk.reader, [(desk.token, desk.account)])
    most = desk.debt_in_a_while()
    is_all = amount == EVERYTHING and wallet >= most or amount != EVERYTHING and amount >= most
    wanted = owed if is_all else min(amount, owed, max(wallet, 1)) if amount == EVERYTHING else min(amount, owed)
    check_enough(desk.token, balance=wallet, needed=wanted)
    ctx.step("Building calls")
    draft = desk.draft()
    draft.pay(desk.reader, desk.token, wanted, to=desk.market.address, at_most=most if is_all else None)
    draft.call(desk.call(signatures.REPAY, signatures.EVERYTHING if is_all else wanted, "Repay", wanted))
    draft.changes.append(desk.change(wanted, wanted - desk.rounding() - (most - owed)))
    is_last = is_all and not desk.has_others and not desk.held.receipts and not desk.held.reward
    return draft.finish(
        action_class=ActionClass.CLOSE_POSITION if is_last else ActionClass.DECREASE_POSITION,
        details={
            **desk.details(cover=desk.whole.cover, debt=desk.whole.debt - desk.state.worth(wanted)),
            "owed_before": str(owed),
            "is_all": is_all,
        },
    )


@moonwell.write(
    action_type="claim_moonwell",
    risk=RiskLayer.LOW,
    report=ClaimReport,
    snippet="claim_moonwell: have the rewards of all Moonwell markets paid out; what is lent and owed stays.",
    guidelines=("A reward without a price here does not count: its owner allows it before it is claimed.",),
)
def moonwell_claim_rewards(ctx: WriteContext) -> TxPlan:
    """Claim what Moonwell's markets pay beside interest.

    Use to collect rewards of lending or borrowing, WELL on public chains.
    Does not sell them, and does not touch what is lent or owed.
    """
    reader = ctx.begin("Reading markets")
    place = place_on(reader.chain_id)
    whole = read_account(reader, place, ctx.account)
    due: dict[str, int] = {}
    markets = []
    for each in whole.held:
        if each.reward:
            due[each.reward_token] = due.get(each.reward_token, 0) + each.reward
            markets.append(each.state.market.address)
    if not due:
        raise NoReward("Moonwell owes the account nothing beside interest")
    ctx.step("Building calls")
    draft = PlanDraft(reader.chain_id, ctx.account)
    data = encode_call(signatures.CLAIM, ctx.account, markets)
    draft.call(Call(place.comptroller, data, 0, "Claim rewards of Moonwell"))
    ref = ref_of(reader.chain_id, ctx.account)
    for token, raw in due.items():
        draft.receive(reader.token(token), raw)
        counts = reward_of(token).is_counted(reader.chain_id)
        bound = -(raw + raw // 20 + 10**6)
        draft.changes.append(PositionChange(NAME, ACCOUNT, token, -raw, bound, ref, counts=counts))
    stays = any(each.receipts or each.owed for each in whole.held)
    return draft.finish(
        action_class=ActionClass.DECREASE_POSITION if stays else ActionClass.CLOSE_POSITION,
        details={"venue": NAME, "markets": markets},
    )


@moonwell.read(
    snippet="moonwell_get_markets: rates, liquidity, caps and what covers debts in the markets of Moonwell.",
    guidelines=("Rates are of interest alone; rewards come on top where there are any.",),
)
def moonwell_get_markets(ctx: ReadContext, asset: Token | None = None) -> MarketList:
    """List the known markets of Moonwell with rates, liquidity, caps and collateral factors.

    Use to choose where to lend or borrow. With `asset` its market alone.
    Does not tell what rewards are worth a year.
    """
    reader = ctx.begin("Reading markets")
    place = place_on(reader.chain_id)
    wanted = None if asset is None else find_market(reader, asset)[1]
    states = drive(ask_markets(place), reader.call_many)
    return MarketList(
        markets=tuple(_describe(reader, each) for each in states if wanted in (None, each.market)),
    )


@moonwell.read(
    snippet="moonwell_get_position: what an account lends, owes and may borrow at Moonwell, and its health.",
    guidelines=("Read it before repaying or taking out: interest changes amounts all the time.",),
)
def moonwell_get_position(ctx: ReadContext, account: Address | None = None) -> PositionList:
    """Read everything an account has at Moonwell.

    Use before repaying, taking out or borrowing more. Without `account` it is the golem.
    Does not show other lenders; lending_get_health_dashboard does.
    """
    owner = whose(ctx, account)
    reader = ctx.begin("Reading positions")
    place = place_on(reader.chain_id)
    whole = read_account(reader, place, owner)
    return PositionList(
        account=owner,
        positions=tuple(_describe_held(reader, owner, whole, each) for each in whole.held if not each.is_empty),
        health_factor=show_health_of(whole.health_bps),
        is_whole=whole.is_whole,
    )


# ---- below ----------------------------------------------------------------------------------------------------------


def _describe(reader: ChainReader, state: State) -> MarketRow:
    token = reader.token(state.market.asset)
    tvl = PriceBook(reader).weigh(token.address, state.supplied).micro_usd
    return MarketRow(
        asset=token.symbol,
        market=state.market.address,
        supply_apy=percent(yearly_ppm(state.supply_rate)),
        borrow_apy=percent(yearly_ppm(state.borrow_rate)),
        total_supplied=TokenAmount(state.supplied, token),
        total_borrowed=TokenAmount(state.borrowed, token),
        available_liquidity=TokenAmount(state.cash, token),
        utilization=percent(state.borrowed * 1_000_000 // state.supplied if state.supplied else 0),
        collateral_factor=percent(100 * state.factor_bps),
        supply_room=None if state.room is None else TokenAmount(state.room, token),
        borrow_room=None if state.borrow_room is None else TokenAmount(state.borrow_room, token),
        tvl=None if tvl is None else UsdAmount(tvl),
        is_paused=state.is_in_paused or state.is_borrow_paused,
    )


def _describe_held(reader: ChainReader, owner: str, whole: Account, held: Held) -> PositionRow:
    token = reader.token(held.state.market.asset)
    desk = Desk(reader, place_on(reader.chain_id), owner, whole, held, token)
    return PositionRow(
        asset=token.symbol,
        supplied=TokenAmount(held.supplied, token),
        owed=TokenAmount(held.owed, token),
        covers_debts=held.is_member,
        can_borrow=TokenAmount(min(desk.most_borrowed(), held.state.cash), token),
        claimable_reward=str(held.reward),
        reward_token=held.reward_token or None,
    )
