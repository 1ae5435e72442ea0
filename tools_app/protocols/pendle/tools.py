"""Tools of Pendle: claims bought for a fixed rate, yield tokens, a part of their market, and what is due."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

from pydantic import Field

from tools_app.chain.abi import encode_call
from tools_app.core.units import BPS, apply_bps_down
from tools_app.protocols.pendle.addresses import NAME, Place
from tools_app.protocols.pendle.errors import (
    NothingToClaim,
)
from tools_app.protocols.pendle.family import pendle
from tools_app.protocols.pendle.market_maths import (
    claims_for,
    liquidity_for,
    parts_of,
    shares_for_yields,
    to_shares,
    trade,
    yields_for,
)
from tools_app.protocols.pendle.market_state import Standing, shares_worth
from tools_app.protocols.pendle.plan_parts import (
    DRIFT_BPS,
    LEAVING_BPS,
    allow,
    check_held,
    check_price,
    claims_change,
    describe,
    entering,
    give,
    in_units,
    leaving,
    look_at,
    lp_change,
    of_yields,
    open_market,
    pay,
    say,
    shares_of,
    solve,
    within,
    yields_change,
)
from tools_app.protocols.pendle.positions import KIND, dust, ref_of
from tools_app.protocols.pendle.reports import (
    AddedLp,
    RemovedLp,
    SoldYt,
    report_buy_pt,
    report_buy_yt,
    report_redeem,
    report_sell_pt,
)
from tools_app.protocols.pendle.signatures import (
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
from tools_app.standards.plan_draft import PlanDraft
from tools_app.toolkit.context import ChainReader, WriteContext
from tools_app.toolkit.enums import ActionClass, RiskLayer, TickBudget
from tools_app.toolkit.params import (
    ContractAddress,
    Flag,
    RawAmount,
    RawAmountOrMax,
    SlippageBps,
)
from tools_app.toolkit.plan import Call, Statement, TxPlan
from tools_app.toolkit.positions import PositionChange

Claim = Annotated[ContractAddress, Field(description="0x-prefixed PT of a market, or the market itself.")]


@pendle.write(
    action_type="pendle_buy_pt",
    risk=RiskLayer.BOUNDED,
    budget=TickBudget.SLOW,
    report=report_buy_pt,
    snippet="pendle_buy_pt: buy principal tokens of a Pendle market under what they are due, which fixes a rate.",
    guidelines=("A PT counts as the lower of its average price and what it is due, so a new one may count less.",),
)
def pendle_buy_pt(
    ctx: WriteContext, market: ContractAddress, amount: RawAmount, slippage_bps: SlippageBps = 50
) -> TxPlan:
    """Buy principal tokens (PT) with the market's asset, for a fixed yield until maturity.

    Use to lock a rate. `amount` is base units of the asset. Refused without an average price of fifteen minutes, and
    where the market asks more than `slippage_bps` above it. pendle_get_markets lists markets. Does not hold them to
    maturity by itself, and fills no limit orders.
    """
    reader = ctx.chain()
    place, standing = open_market(ctx, reader, market)

    def quote(paid: int) -> int:
        got, _ = solve(lambda: claims_for(standing.market, shares_of(standing, paid)))
        check_price(place, paid=paid, worth=standing.worth_of_claims(place, got), most_bps=slippage_bps)
        return got

    got = within(place, quote, amount, reader.token(place.asset).symbol)
    least = max(1, apply_bps_down(got, slippage_bps))
    ctx.step("Building calls")
    draft = pay(reader, ctx.account, place, amount)
    data = encode_call(BUY_PT, ctx.account, place.market, least, ANY_GUESS, paying(place.asset, amount), NO_LIMIT)
    draft.call(Call(place.router, data, 0, f"Buy at least {in_units(place, least)} {place.symbols.pt}"))
    draft.changes.append(claims_change(reader, place, standing, got, least))
    return draft.finish(
        action_class=entering(standing),
        slippage_bps=slippage_bps,
        statements=(say(place, place.pt, "least bought", least),),
        details={**describe(reader, place, standing), "amount": str(amount)},
    )


@pendle.write(
    action_type="pendle_sell_pt",
    risk=RiskLayer.LOW,
    budget=TickBudget.SLOW,
    report=report_sell_pt,
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
    place, standing = open_market(ctx, reader, market)
    sold = check_held(place, standing.held.pt, amount, place.symbols.pt)

    def quote(given: int) -> int:
        came = shares_worth(standing, solve(lambda: trade(standing.market, -given)).shares)
        check_price(place, paid=standing.worth_of_claims(place, given), worth=came, most_bps=slippage_bps)
        return came

    came = within(place, quote, sold, place.symbols.pt)
    least = max(1, apply_bps_down(came, slippage_bps))
    ctx.step("Building calls")
    draft = give(reader, ctx.account, place, place.pt, sold)
    data = encode_call(SELL_PT, ctx.account, place.market, sold, taking(place.asset, least), NO_LIMIT)
    draft.call(Call(place.router, data, 0, f"Sell {in_units(place, sold)} {place.symbols.pt}"))
    draft.receive(reader.token(place.asset), came, at_least=least)
    draft.changes.append(claims_change(reader, place, standing, -sold))
    return draft.finish(
        action_class=leaving(standing, pt=sold),
        slippage_bps=slippage_bps,
        statements=(say(place, place.pt, "sold", sold),),
        details={**describe(reader, place, standing), "amount": str(sold)},
    )


@pendle.write(
    action_type="pendle_buy_yt",
    risk=RiskLayer.UNBOUNDED,
    budget=TickBudget.SLOW,
    report=report_buy_yt,
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
    place, standing = open_market(ctx, reader, market)

    def quote(paid: int) -> int:
        got, _ = solve(lambda: yields_for(standing.market, shares_of(standing, paid)))
        check_price(place, paid=paid, worth=standing.market_of_yields(got), most_bps=of_yields(standing, slippage_bps))
        return got

    got = within(place, quote, amount, reader.token(place.asset).symbol)
    least = max(1, apply_bps_down(got, slippage_bps))
    ctx.step("Building calls")
    draft = pay(reader, ctx.account, place, amount)
    data = encode_call(BUY_YT, ctx.account, place.market, least, ANY_GUESS, paying(place.asset, amount), NO_LIMIT)
    draft.call(Call(place.router, data, 0, f"Buy at least {in_units(place, least)} {place.symbols.yt}"))
    draft.changes.append(yields_change(reader, place, got, least))
    return draft.finish(
        action_class=entering(standing),
        slippage_bps=slippage_bps,
        statements=(say(place, place.yt, "least bought", least),),
        details={**describe(reader, place, standing), "amount": str(amount)},
    )


@pendle.write(
    action_type="pendle_sell_yt",
    risk=RiskLayer.LOW,
    budget=TickBudget.SLOW,
    report=SoldYt,
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
    place, standing = open_market(ctx, reader, market)
    sold = check_held(place, standing.held.yt, amount, place.symbols.yt)

    def quote(given: int) -> int:
        shares, _ = solve(lambda: shares_for_yields(standing.market, given))
        came, fair = shares_worth(standing, max(0, shares)), standing.market_of_yields(given)
        check_price(place, paid=fair, worth=came, most_bps=of_yields(standing, slippage_bps))
        return came

    came = within(place, quote, sold, place.symbols.yt)
    least = max(1, apply_bps_down(came, slippage_bps))
    ctx.step("Building calls")
    draft = give(reader, ctx.account, place, place.yt, sold)
    data = encode_call(SELL_YT, ctx.account, place.market, sold, taking(place.asset, least), NO_LIMIT)
    draft.call(Call(place.router, data, 0, f"Sell {in_units(place, sold)} {place.symbols.yt}"))
    draft.receive(reader.token(place.asset), came, at_least=least)
    draft.changes.append(yields_change(reader, place, -sold, -sold))
    return draft.finish(
        action_class=leaving(standing, yt=sold),
        slippage_bps=slippage_bps,
        statements=(say(place, place.yt, "sold", sold),),
        details={**describe(reader, place, standing), "amount": str(sold)},
    )


@pendle.write(
    action_type="pendle_add_lp",
    risk=RiskLayer.BOUNDED,
    budget=TickBudget.SLOW,
    report=AddedLp,
    snippet="pendle_add_lp: put the market's asset into a Pendle market for LP tokens, which earn fees and rewards.",
    guidelines=("A part of a market is shares and PT; at maturity all of it is due.",),
)
def pendle_add_lp(
    ctx: WriteContext, market: ContractAddress, amount: RawAmount, slippage_bps: SlippageBps = 100
) -> TxPlan:
    """Deposit the market's asset as liquidity: some of it buys the PT that go in beside it.

    Use to earn the market's fees. A market that somebody pushed away from its average is refused. pendle_get_markets
    lists markets. Does not keep yield tokens, and takes no PT of the wallet.
    """
    reader = ctx.chain()
    place, standing = open_market(ctx, reader, market)

    def quote(paid: int) -> tuple[int, int]:
        got, bought, _ = solve(lambda: liquidity_for(standing.market, shares_of(standing, paid)))
        check_price(place, paid=paid, worth=standing.worth_of_lp(place, got), most_bps=slippage_bps)
        return got, bought

    got, bought = within(place, quote, amount, reader.token(place.asset).symbol)
    least = max(1, apply_bps_down(got, slippage_bps))
    ctx.step("Building calls")
    draft = pay(reader, ctx.account, place, amount)
    data = encode_call(ADD_LP, ctx.account, place.market, least, ANY_GUESS, paying(place.asset, amount), NO_LIMIT)
    draft.call(Call(place.router, data, 0, f"Add liquidity for at least {in_units(place, least)} LP tokens"))
    draft.changes.append(lp_change(reader, place, standing, got, least))
    kept = shares_of(standing, amount) + trade(standing.market, bought).shares
    return draft.finish(
        action_class=entering(standing),
        slippage_bps=slippage_bps,
        statements=(say(place, place.market, "least minted", least),),
        details={
            **describe(reader, place, standing),
            "amount": str(amount),
            "sy_deposited": str(kept),
            "pt_deposited": str(bought),
        },
    )


@pendle.write(
    action_type="pendle_remove_lp",
    risk=RiskLayer.LOW,
    report=RemovedLp,
    snippet="pendle_remove_lp: give LP tokens back for the market's asset and PT; max is all of them, at any time.",
    guidelines=("PT come with it: sell them before maturity, or redeem them from then on.",),
)
def pendle_remove_lp(ctx: WriteContext, market: ContractAddress, lp_amount: RawAmountOrMax) -> TxPlan:
    """Give LP tokens back for both parts of a market, before or after maturity.

    Use to leave a market. No price decides what comes: shares are paid as the asset, claims come as they are.
    pendle_get_position names its markets. Does not sell the claims.
    """
    reader = ctx.chain()
    place, standing = look_at(ctx, reader, market)
    given = check_held(place, standing.held.lp, lp_amount, place.symbols.lp)
    shares, claims = solve(lambda: parts_of(standing.market, given))
    came = shares_worth(standing, shares)
    least, least_claims = (max(1, apply_bps_down(each, LEAVING_BPS)) for each in (came, claims))
    ctx.step("Building calls")
    draft = give(reader, ctx.account, place, place.market, given)
    data = encode_call(REMOVE_LP, ctx.account, place.market, given, taking(place.asset, least), least_claims)
    draft.call(Call(place.router, data, 0, f"Give {in_units(place, given)} {place.symbols.lp} back"))
    draft.receive(reader.token(place.asset), came, at_least=least)
    gone, come = (
        lp_change(reader, place, standing, -given),
        claims_change(reader, place, standing, claims, least_claims),
    )
    expected, bound = gone.expected + come.expected, gone.bound + come.bound
    draft.changes.append(replace(gone, expected=expected, bound=bound))
    return draft.finish(
        action_class=ActionClass.DECREASE_POSITION,
        slippage_bps=LEAVING_BPS,
        statements=(
            say(place, place.market, "given back", given),
            say(place, place.pt, "least taken", least_claims),
        ),
        details={**describe(reader, place, standing), "amount": str(given), "sy_received": str(shares)},
    )


@pendle.write(
    action_type="pendle_redeem",
    risk=RiskLayer.LOW,
    report=report_redeem,
    snippet="pendle_redeem: PT for what they are due at maturity, before it with as many YT; claim takes earnings.",
    guidelines=("With claim nothing is redeemed: what YT earned comes, and called again what LP tokens are owed.",),
)
def pendle_redeem(ctx: WriteContext, pt: Claim, amount: RawAmountOrMax, claim: Flag = False) -> TxPlan:
    """Redeem principal tokens for the asset, or collect what yield tokens earned.

    Use at maturity, or before it for as many PT as YT are held. With `claim`, interest alone is
    collected, or rewards where none is left.
    Does not sell.
    """
    reader = ctx.chain()
    place, standing = look_at(ctx, reader, pt)
    if claim:
        return _claim(ctx, reader, place, standing)
    held, over = standing.held, standing.market.is_over
    there = held.pt if over else min(held.pt, held.yt)
    given = check_held(place, there, amount, place.symbols.pt if over else f"{place.symbols.pt} with as many YT")
    came = shares_worth(standing, to_shares(given, standing.market.index))
    least = max(1, apply_bps_down(came, 1) - 1)
    ctx.step("Building calls")
    draft = give(reader, ctx.account, place, place.pt, given)
    if not over:
        allow(reader, draft, place, place.yt, given)
    draft.call(
        Call(
            place.router,
            encode_call(REDEEM, ctx.account, place.yt, given, taking(place.asset, least)),
            0,
            f"Redeem {in_units(place, given)} {place.symbols.pt}",
        )
    )
    draft.receive(reader.token(place.asset), came, at_least=least)
    draft.changes.append(claims_change(reader, place, standing, -given))
    if not over:
        draft.changes.append(yields_change(reader, place, -given, -given))
    return draft.finish(
        action_class=leaving(standing, pt=given, yt=0 if over else given),
        statements=(say(place, place.pt, "redeemed", given),),
        details={**describe(reader, place, standing), "amount": str(given)},
    )


def _claim(ctx: WriteContext, reader: ChainReader, place: Place, standing: Standing) -> TxPlan:
    """Interest first; where none is left, rewards. Nobody may price those, and they keep no interest from coming."""
    came = shares_worth(standing, standing.held.interest + standing.held.sy)
    if came < dust(place) and not standing.held.reward:
        raise NothingToClaim("nothing was earned that is not paid, and no reward is owed", market=place.market)
    ctx.step("Building calls")
    draft = PlanDraft(reader.chain_id, ctx.account)
    ref = ref_of(reader.chain_id, place)
    statements: tuple[Statement, ...] = ()
    if came >= dust(place):
        shares = standing.held.interest + standing.held.sy
        if standing.held.interest:
            data = encode_call(CLAIM, ctx.account, (), (place.yt,), ())
            draft.call(Call(place.router, data, 0, "Claim what yield tokens earned"))
        least = max(1, apply_bps_down(came, 1) - 1)
        data = encode_call(REDEEM_SHARES, ctx.account, shares, place.asset, least, False)
        draft.call(Call(place.sy, data, 0, f"Redeem {in_units(place, shares)} {place.symbols.sy}"))
        draft.receive(reader.token(place.asset), came, at_least=least)
        bound = -came - came * DRIFT_BPS // BPS - 2
        draft.changes.append(PositionChange(NAME, KIND, place.asset, -came, bound, ref))
        statements = (Statement(place.sy, place.sy, "shares redeemed", str(shares)),)
    else:
        came = standing.held.reward
        data = encode_call(CLAIM, ctx.account, (), (), (place.market,))
        draft.call(Call(place.router, data, 0, "Claim the market's reward"))
        draft.receive(reader.token(place.reward), came)
        # What is earned until the transaction comes along.
        most = came + came // 20 + 10**16
        draft.changes.append(PositionChange(NAME, KIND, place.reward, -came, -most, ref, counts=False))
    return draft.finish(
        action_class=ActionClass.DECREASE_POSITION,
        statements=statements,
        details={**describe(reader, place, standing), "amount": str(came)},
    )
