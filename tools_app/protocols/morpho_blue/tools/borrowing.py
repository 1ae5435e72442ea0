"""`morpho_borrow_market` and `morpho_repay_market`: borrow the loan token against collateral, and pay it back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from tools_app.chain.abi_records import AbiEvent
from tools_app.core.errors import InvalidParams
from tools_app.core.units import format_units
from tools_app.protocols.morpho_blue import math, plans
from tools_app.protocols.morpho_blue.errors import TooMuchAsked
from tools_app.protocols.morpho_blue.plan_checks import (
    check_borrow,
    check_liquidity,
    check_used,
    price_market,
    ratio_bps,
)
from tools_app.protocols.morpho_blue.tools.family import (
    MarketMeant,
    Opened,
    borrow_apy,
    morpho,
    open_market,
    percent_text,
)
from tools_app.standards.plan_draft import PlanDraft
from tools_app.standards.receipts import list_events, read_details
from tools_app.standards.retiring_sales import RETIRES
from tools_app.toolkit.answer import Told
from tools_app.toolkit.context import WriteContext
from tools_app.toolkit.enums import ActionClass, RiskLayer
from tools_app.toolkit.lending import DEFAULT_HEALTH_FLOOR_BPS, NothingThere
from tools_app.toolkit.params import EVERYTHING, Flag, RawAmount, RawAmountOrMax
from tools_app.toolkit.plan import PlanOutcome, TxPlan
from tools_app.toolkit.report import Report, received
from tools_app.toolkit.result import TokenAmount
from tools_app.toolkit.retiring_tokens import list_falling


@dataclass(frozen=True, slots=True)
class _Repaid:
    shares: int


REPAID: Final = AbiEvent(
    "event Repay(bytes32 indexed id, address indexed caller, address indexed onBehalf, uint256 assets, uint256 shares)",
    _Repaid,
)


class BorrowReport(Report):
    """What borrowing did. The yearly rate and the ratios of debt to collateral are percent."""

    market_id: str
    borrowed: TokenAmount = received()
    borrow_apy: str
    ltv: str
    liquidation_ltv: str


class RepayReport(Told):
    """What was paid back, and what is left to pay when all shares of the debt are not cleared; the collateral that
    came out with it, None where none was asked for.
    """

    market_id: str
    repaid: TokenAmount
    remaining_debt: TokenAmount
    shares_repaid: str
    collateral_withdrawn: TokenAmount | None


@dataclass(frozen=True, slots=True)
class _RepayDetails:
    morpho: str
    market_id: str
    owed: int
    shares_owed: int


def report_repay(outcome: PlanOutcome) -> RepayReport:
    """The amount from the balance difference, shares from the contract's event."""
    details, token = read_details(_RepayDetails, outcome), outcome.plan.spends[0].token
    cleared = sum(event.shares for event in list_events(outcome, REPAID, contract=details.morpho))
    repaid = -outcome.deltas.get(token.address, 0)
    is_all = cleared >= details.shares_owed
    return RepayReport(
        market_id=details.market_id,
        repaid=TokenAmount(repaid, token),
        remaining_debt=TokenAmount(0 if is_all else max(0, details.owed - repaid), token),
        shares_repaid=str(cleared),
        collateral_withdrawn=next(
            (TokenAmount(outcome.deltas.get(flow.token.address, 0), flow.token) for flow in outcome.plan.receives), None
        ),
    )


@morpho.write(
    action_type="borrow",
    risk=RiskLayer.UNBOUNDED,
    report=BorrowReport,
    aliases=("morpho_borrow",),
    snippet=(
        "borrow: take the loan token of a Morpho market against collateral there; collateral_amount puts collateral in"
        " first. Health must stay at 1.5 or above."
    ),
    guidelines=(
        "Collateral of a Morpho market covers the debt of that market only.",
        "The refusal of too large a debt names the most that passes.",
        "Not available in DEFENSIVE, SURVIVAL or TERMINAL.",
    ),
)
def morpho_borrow_market(
    ctx: WriteContext,
    market_id: MarketMeant,
    amount: RawAmount,
    collateral_amount: RawAmount | None = None,
) -> TxPlan:
    """Borrow the loan token of a Morpho market against collateral in it.

    Use to get the loan token without selling the collateral. `collateral_amount` puts so much of the collateral token
    in first, in the same plan. Collateral counts at the lower of the market's oracle and the price feeds, and must
    cover the debt 1.5 times at its liquidation value, interest until the transaction runs included.
    morpho_get_market_info lists markets. Does not borrow on behalf of others, and does not swap what is borrowed.
    """
    ctx.step("Reading the market")
    opened = open_market(ctx, market_id)
    market, collateral_token = opened.market, opened.collateral_token
    ctx.step("Judging the debt")
    priced = price_market(opened.reader, market, opened.loan, collateral_token)
    collateral = opened.holding.collateral + (collateral_amount or 0)
    owed = check_borrow(priced, collateral=collateral, owed=opened.owed, amount=amount)
    check_used(market, opened.loan)
    check_liquidity(market, opened.loan, amount)
    ctx.step("Building calls")
    chain_id = opened.reader.chain_id
    draft = PlanDraft(chain_id, opened.account)
    if collateral_amount:
        draft.pay(opened.reader, collateral_token, collateral_amount, to=opened.morpho)
        draft.call(plans.pledge(opened.morpho, opened.params, collateral_token, collateral_amount, opened.account))
        draft.changes.append(
            plans.change(chain_id, market, collateral_token.address, collateral_amount, collateral_amount)
        )
    draft.call(plans.borrow(opened.morpho, opened.params, opened.loan, amount, opened.account))
    draft.receive(opened.loan, amount)
    draft.changes.append(
        plans.change(
            chain_id,
            market,
            opened.loan.address,
            -amount,
            -amount - plans.settle(market, opened.owed + amount),
            least_health_bps=DEFAULT_HEALTH_FLOOR_BPS,
        )
    )
    ratio = ratio_bps(priced, collateral=collateral, owed=opened.owed + amount) or 0
    return draft.finish(
        action_class=ActionClass.NEW_POSITION if opened.holding.is_empty else ActionClass.INCREASE_POSITION,
        collateral_ratio_bps=ratio,
        details={
            **_details(opened),
            "owed_after": str(owed),
            "borrow_apy": borrow_apy(market),
            "ltv": percent_text(math.BPS * math.BPS // ratio if ratio else 0),
            "liquidation_ltv": percent_text(opened.params.lltv_bps),
        },
    )


@morpho.write(
    action_type="repay",
    risk=RiskLayer.LOW,
    report=report_repay,
    is_rescue=True,
    schema_version=2,
    aliases=("morpho_repay",),
    snippet=(
        "repay: pay back a debt in a Morpho market, in part or with max entirely; withdraw_collateral takes the"
        " collateral out in the same plan."
    ),
    guidelines=(
        "Say max to clear a debt: an amount read before is too little by the interest since.",
        "Allowed in every phase: it only lowers risk.",
        "Where a cage refuses both in one plan as an exchange, repay first and withdraw after.",
    ),
)
def morpho_repay_market(
    ctx: WriteContext,
    market_id: MarketMeant,
    amount: RawAmountOrMax,
    withdraw_collateral: Flag = False,
) -> TxPlan:
    """Pay back what is owed in a Morpho market.

    Use to lower or clear a debt. `max` clears all of it: the approval leaves room for interest until the transaction
    runs, and what is not needed of it is revoked in the same plan. More than is owed is refused. With
    `withdraw_collateral`, which needs `max`, all collateral in the market comes to the wallet once the debt is gone.
    Does not take back what is lent there, and does not sell collateral: lending_unwind_loop does.
    """
    ctx.step("Reading the market")
    opened = open_market(ctx, market_id)
    market, token, owed = opened.market, opened.loan, opened.owed
    if not owed:
        raise NothingThere(f"the golem owes nothing in market {market.id}", market_id=market.id)
    is_all = amount == EVERYTHING
    if withdraw_collateral and not is_all:
        raise InvalidParams(
            "all collateral comes out only once nothing is owed; say max", fields={"withdraw_collateral": "needs max"}
        )
    if not is_all and amount > owed:
        raise TooMuchAsked(
            f"the golem owes {format_units(owed, token.decimals, token.symbol)} there; say max to clear it",
            most=str(owed),
        )
    paid = owed if is_all else amount
    growth = plans.settle(market, owed)
    ctx.step("Building calls")
    draft = PlanDraft(opened.reader.chain_id, opened.account)
    draft.pay(opened.reader, token, paid, to=opened.morpho, at_most=owed + growth if is_all else None)
    draft.call(
        plans.repay(
            opened.morpho,
            opened.params,
            token,
            amount=0 if is_all else amount,
            shares=opened.holding.borrow_shares if is_all else 0,
            account=opened.account,
        )
    )
    # What is measured is what is owed less afterwards: all of it, or the amount less rounding and interest.
    least = paid - (plans.ROUNDING if is_all else growth)
    draft.changes.append(plans.change(opened.reader.chain_id, market, token.address, paid, least))
    left, stays = opened.holding.collateral, {}
    if withdraw_collateral and left and opened.params.collateral_token in list_falling(ctx, opened.reader.chain_id):
        stays = {"left_behind": [f"{opened.collateral_token.symbol}: {RETIRES}"]}
    elif withdraw_collateral and left:
        pledged = opened.collateral_token
        draft.call(plans.release(opened.morpho, opened.params, pledged, left, opened.account))
        draft.receive(pledged, left)
        draft.changes.append(plans.change(opened.reader.chain_id, market, pledged.address, -left, -left))
        left = 0
    is_whole = is_all and not (left or opened.holding.supply_shares)
    return draft.finish(
        action_class=ActionClass.CLOSE_POSITION if is_whole else ActionClass.DECREASE_POSITION,
        details={
            **_details(opened),
            **stays,
            "owed": str(owed),
            "shares_owed": str(opened.holding.borrow_shares),
        },
    )


def _details(opened: Opened) -> dict[str, object]:
    return {"venue": "Morpho", "morpho": opened.morpho, "market_id": opened.market.id}
