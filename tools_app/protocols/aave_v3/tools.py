"""The `aave_*` tools: supply, withdraw, borrow, repay, what counts as collateral, and what an account looks like."""

from __future__ import annotations

from tools_app.protocols.aave_v3.addresses import CHAINS, deployments
from tools_app.standards.aave_like import figures, reports
from tools_app.standards.aave_like.plans import Lender
from tools_app.toolkit.context import ReadContext, WriteContext
from tools_app.toolkit.enums import Category, RiskLayer, TickBudget
from tools_app.toolkit.family import ToolFamily
from tools_app.toolkit.params import Address, Flag, OwnAccount, RateMode, RawAmount, RawAmountOrMax, Token
from tools_app.toolkit.plan import TxPlan

AAVE = Lender("aave_v3", "Aave V3", deployments)
aave = ToolFamily(prefix="aave", category=Category.LENDING, chains=CHAINS, picks_chain=True)


@aave.write(
    risk=RiskLayer.BOUNDED,
    report=reports.report_supply,
    aliases=("aave_supply_collateral",),
    snippet="aave_supply: lend an asset at Aave V3 for interest; it becomes collateral by itself when it can.",
    guidelines=(
        "Read aave_get_rates first: a frozen reserve or a full supply cap takes nothing.",
        "Keep some of the chain's coin for gas.",
    ),
)
def aave_supply(
    ctx: WriteContext,
    asset: Token,
    amount: RawAmount,
    on_behalf_of: OwnAccount | None = None,
) -> TxPlan:
    """Lend an asset at Aave V3 and earn interest on it.

    Use to earn on what lies idle, or before borrowing: the first supply of an asset makes it collateral where Aave
    takes it as such. `amount` is in base units. Approves exactly the amount.
    Does not wrap the chain's coin (supply the wrapped token) and does not supply for another account.
    """
    return AAVE.supply(ctx, asset, amount, on_behalf_of)


@aave.write(
    risk=RiskLayer.BOUNDED,
    report=reports.report_withdraw,
    snippet=(
        "aave_withdraw: take a supplied asset out of Aave V3; `max` is all of it, or with a debt as much as keeps"
        " the health floor."
    ),
    guidelines=("With a debt, a withdrawal of collateral lowers the health factor; repay first if it is refused.",),
)
def aave_withdraw(ctx: WriteContext, asset: Token, amount: RawAmountOrMax) -> TxPlan:
    """Take a supplied asset out of Aave V3, with the interest it earned.

    Use to get tokens back. `max` takes everything; while there is a debt, as much as keeps the golem's health floor
    and as much as the pool has.
    What retires behind the golem's cage is sold for its base asset in the same plan.
    Does not repay debts and does not unwrap the coin.
    """
    return AAVE.withdraw(ctx, asset, amount)


@aave.write(
    risk=RiskLayer.UNBOUNDED,
    report=reports.report_borrow,
    snippet=(
        "aave_borrow: borrow an asset at Aave V3 against what is supplied there; refused below a health factor of"
        " 1.5, with the most that would pass."
    ),
    guidelines=(
        "Check aave_get_liquidation_risk before and after; under 1.2 others may soon take the collateral.",
        "Borrow what the plan needs, and know how it will be repaid.",
    ),
)
def aave_borrow(
    ctx: WriteContext,
    asset: Token,
    amount: RawAmount,
    interest_rate_mode: RateMode = "variable",
) -> TxPlan:
    """Borrow an asset at Aave V3 against the golem's collateral there.

    Use when a token is needed and the collateral shall be kept. The debt grows with interest until it is repaid. The
    health factor stays at 1.5 or above; the refusal names the most that can be borrowed.
    Does not supply collateral, choose an e-mode or sell what is borrowed.
    """
    return AAVE.borrow(ctx, asset, amount, interest_rate_mode)


@aave.write(
    risk=RiskLayer.LOW,
    report=reports.report_repay,
    is_rescue=True,
    schema_version=2,
    snippet=(
        "aave_repay: pay back a debt at Aave V3, never more than is owed; `max` is all of it, or all that is held;"
        " withdraw_collateral takes out what was supplied in the same plan."
    ),
    guidelines=(
        "Repaying lowers risk and is allowed in every phase.",
        "Where a cage refuses both in one plan as an exchange, repay first and withdraw after.",
    ),
)
def aave_repay(
    ctx: WriteContext,
    asset: Token,
    amount: RawAmountOrMax,
    interest_rate_mode: RateMode = "variable",
    withdraw_collateral: Flag = False,
) -> TxPlan:
    """Pay back what the golem owes at Aave V3.

    Use to lower risk or to close a loan. `max` is everything owed, or everything held where that is less. Interest
    until the transaction runs is covered by a small margin, of which the rest stays in the wallet. With
    `withdraw_collateral`, which needs `max` and the last debt, all that was supplied comes to the wallet with it.
    Does not pay with aTokens and does not sell collateral: lending_unwind_loop does.
    """
    return AAVE.repay(ctx, asset, amount, interest_rate_mode, withdraw_collateral=withdraw_collateral)


@aave.write(
    risk=RiskLayer.BOUNDED,
    report=reports.report_collateral,
    snippet="aave_enable_collateral: let a supplied asset count as collateral at Aave V3, so that it covers debts.",
    guidelines=(
        "What counts as collateral can be liquidated with the rest: let it count where the debt needs it, and read "
        "the health factor after.",
    ),
)
def aave_enable_collateral(ctx: WriteContext, asset: Token, use_as_collateral: Flag = True) -> TxPlan:
    """Let a supplied asset count as collateral at Aave V3, or no longer.

    Use when an asset was supplied without becoming collateral, or to raise the health factor.
    Does not supply anything and does not borrow.
    """
    return AAVE.use_as_collateral(ctx, asset, use_as_collateral)


@aave.write(
    risk=RiskLayer.LOW,
    report=reports.report_collateral,
    snippet="aave_disable_collateral: let a supplied asset at Aave V3 cover no debt any more; it goes on earning.",
    guidelines=(
        "With a debt, read aave_get_liquidation_risk first: what is taken out of the collateral brings liquidation "
        "nearer.",
    ),
)
def aave_disable_collateral(ctx: WriteContext, asset: Token) -> TxPlan:
    """Take a supplied asset out of the golem's collateral at Aave V3.

    Use before other collateral is isolated, or so that an asset cannot be liquidated. Refused where the health factor
    would fall below the floor.
    Does not withdraw the asset; it goes on earning.
    """
    return AAVE.use_as_collateral(ctx, asset, False)


@aave.read(
    budget=TickBudget.FAST,
    schema_version=2,
    snippet="aave_get_health_factor: health factor, collateral, debt and what may still be borrowed at Aave V3.",
    guidelines=(
        "Read it before and after each loan or withdrawal, and leave room for prices and interest: the golem's "
        "floor lies above 1.00.",
    ),
)
def aave_get_health_factor(ctx: ReadContext, account: Address) -> dict[str, object]:
    """Health factor, collateral and debt of an account at Aave V3.

    Use before borrowing or withdrawing. Dollars are those of Aave's own oracle; 1.00 is liquidation. `assets` are
    those whose prices move it. Does not say how much of each is there; aave_get_user_summary does.
    """
    return figures.health_factor(ctx, AAVE, account)


@aave.read(
    query="lending_rates",
    budget=TickBudget.FAST,
    snippet="aave_get_rates: supply and borrow rates, liquidity, caps and limits of one asset at Aave V3.",
    guidelines=(
        "A frozen reserve or a full cap takes nothing, whatever its rate; rates move with each deposit and loan, so "
        "read them again before acting.",
    ),
)
def aave_get_rates(ctx: ReadContext, asset: Token) -> dict[str, object]:
    """Rates, liquidity, caps and risk parameters of one asset at Aave V3.

    Use to choose what to supply or borrow. Rates are percent a year, compounded.
    Does not include rewards paid in other tokens.
    """
    return figures.rates(ctx, AAVE, asset)


@aave.read(
    query="lending_summary",
    budget=TickBudget.FAST,
    snippet="aave_get_user_summary: every asset an account supplied and owes at Aave V3, with values and rates.",
    guidelines=(
        "Take the amounts of a plan from here and not from memory: interest changes what is supplied and what is "
        "owed all the time.",
    ),
)
def aave_get_user_summary(ctx: ReadContext, account: Address) -> dict[str, object]:
    """Everything an account supplied and owes at Aave V3.

    Use to see single assets with their value, rate and whether they are collateral.
    Does not show other lenders; lending_get_health_dashboard does.
    """
    return figures.user_summary(ctx, AAVE, account)


@aave.read(
    budget=TickBudget.FAST,
    snippet="aave_get_liquidation_risk: how far collateral may fall at Aave V3 before others may liquidate it.",
    guidelines=(
        "Act while there is room: under a health factor of 1.2 repay or add collateral at once instead of looking "
        "once more.",
    ),
)
def aave_get_liquidation_risk(ctx: ReadContext, account: Address) -> dict[str, object]:
    """How near an account at Aave V3 is to liquidation.

    Use with every debt, before borrowing and when prices move. Prices of each collateral are with all others standing
    still; the percentage is of all collateral falling together.
    Does not predict prices and does not repay anything.
    """
    return figures.liquidation_risk(ctx, AAVE, account)
