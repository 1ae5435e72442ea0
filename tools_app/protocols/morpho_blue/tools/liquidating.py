"""`morpho_liquidate`: pay the debt of a borrower who is no longer covered, for more than its worth in collateral."""

from __future__ import annotations

from dataclasses import dataclass

from tools_app.core.errors import InvalidParams
from tools_app.core.units import format_micro_usd, format_units, value_in_micro_usd
from tools_app.protocols.morpho_blue import math, plans
from tools_app.protocols.morpho_blue.errors import LiquidationAtALoss, NotLiquidatable, OracleUnusable, TooMuchAsked
from tools_app.protocols.morpho_blue.reads import ask_holdings
from tools_app.protocols.morpho_blue.tools.family import MarketMeant, morpho, open_market
from tools_app.standards.plan_draft import PlanDraft
from tools_app.standards.receipts import read_details
from tools_app.toolkit.answer import Told
from tools_app.toolkit.context import ChainReader, WriteContext
from tools_app.toolkit.enums import ActionClass, RiskLayer
from tools_app.toolkit.params import Address, RawAmount
from tools_app.toolkit.plan import PlanOutcome, TxPlan
from tools_app.toolkit.positions import drive
from tools_app.toolkit.result import TokenAmount, UsdAmount
from tools_app.toolkit.views import TokenMeta


class LiquidateReport(Told):
    """What was seized and paid. `profit_usd` is at the feeds' prices of the preview, without gas."""

    market_id: str
    borrower: str
    collateral_seized: TokenAmount
    debt_repaid: TokenAmount
    profit_usd: UsdAmount


@dataclass(frozen=True, slots=True)
class _LiquidationDetails:
    market_id: str
    borrower: str
    seized_micro_usd: int
    repaid_micro_usd: int


def report_liquidate(outcome: PlanOutcome) -> LiquidateReport:
    """Amounts from the balance differences."""
    details = read_details(_LiquidationDetails, outcome)
    paid, seized = outcome.plan.spends[0], outcome.plan.receives[0]
    got, gave = outcome.deltas.get(seized.token.address, 0), -outcome.deltas.get(paid.token.address, 0)
    worth = got * details.seized_micro_usd // max(1, seized.expected)
    cost = gave * details.repaid_micro_usd // max(1, paid.expected)
    return LiquidateReport(
        market_id=details.market_id,
        borrower=details.borrower,
        collateral_seized=TokenAmount(got, seized.token),
        debt_repaid=TokenAmount(gave, paid.token),
        profit_usd=UsdAmount(worth - cost),
    )


@morpho.write(
    risk=RiskLayer.BOUNDED,
    report=report_liquidate,
    action_class=ActionClass.REBALANCE,
    snippet=(
        "liquidate: pay a part of an uncovered borrower's debt in a Morpho market and get collateral worth more than"
        " that, at the market's incentive."
    ),
    guidelines=(
        "Look at the borrower with morpho_get_user_position first; only is_liquidatable ones can be taken.",
        "Others compete for the same debt: a plan may revert because it is gone, which costs gas.",
    ),
)
def morpho_liquidate(
    ctx: WriteContext,
    market_id: MarketMeant,
    borrower: Address,
    seized_assets: RawAmount,
) -> TxPlan:
    """Liquidate a borrower of a Morpho market whose debt is no longer covered.

    Use when a borrower's health is under 1 at the market's oracle. `seized_assets` is the collateral taken; what it
    costs in the loan token is computed exactly and approved, and must be worth less at the price feeds.
    Does not flash-borrow the loan token, does not swap what is seized, and does not take the golem's own debt.
    """
    if borrower == ctx.account:
        raise InvalidParams("the golem cannot liquidate itself; repay instead", fields={"borrower": "the golem itself"})
    ctx.step("Reading the market")
    opened = open_market(ctx, market_id)
    market, params, collateral = opened.market, opened.params, opened.collateral_token
    if market.price is None:
        raise OracleUnusable(f"the oracle of market {market.id} does not answer", market_id=market.id)
    ctx.step("Judging the borrower")
    (debtor,) = drive(ask_holdings(opened.reader.chain_id, borrower, [market.id]), opened.reader.call_many)
    owed = market.state.owed_of(debtor.borrow_shares)
    health = math.health_bps(collateral=debtor.collateral, price=market.price, lltv=params.lltv, debt=owed)
    if health is None or health >= math.BPS:
        raise NotLiquidatable(
            "the borrower owes nothing there" if health is None else f"the borrower's health is {health} bps",
            borrower=borrower,
            health_bps=health,
        )
    repaid, shares = math.repaid_for(market.state, seized=seized_assets, price=market.price, lltv=params.lltv)
    if seized_assets > debtor.collateral or shares > debtor.borrow_shares:
        most = min(debtor.collateral, seized_assets * debtor.borrow_shares // max(1, shares))
        raise TooMuchAsked(
            f"at most {format_units(most, collateral.decimals, collateral.symbol)} can be seized there", most=str(most)
        )
    worth, cost = _usd(opened.reader, collateral, seized_assets), _usd(opened.reader, opened.loan, repaid)
    if worth <= cost:
        raise LiquidationAtALoss(
            f"{format_micro_usd(cost)} would be paid for {format_micro_usd(worth)} of collateral at the price feeds",
            market_id=market.id,
        )
    ctx.step("Building calls")
    draft = PlanDraft(opened.reader.chain_id, ctx.account)
    draft.pay(opened.reader, opened.loan, repaid, to=opened.morpho, at_most=repaid + plans.ROUNDING)
    draft.call(plans.liquidate(opened.morpho, params, collateral, seized_assets, borrower))
    draft.receive(collateral, seized_assets)
    return draft.finish(
        action_class=ActionClass.REBALANCE,
        details={
            "venue": "Morpho",
            "morpho": opened.morpho,
            "market_id": market.id,
            "borrower": borrower,
            "health_bps": str(health),
            "seized_micro_usd": str(worth),
            "repaid_micro_usd": str(cost),
        },
    )


def _usd(reader: ChainReader, token: TokenMeta, raw: int) -> int:
    price = reader.price(token)
    return value_in_micro_usd(raw=raw, token_decimals=token.decimals, price=price.answer, price_decimals=price.decimals)
