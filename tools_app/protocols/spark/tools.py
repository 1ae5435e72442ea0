"""The `spark_*` tools: what the way out of an account needs, and the way in."""

from __future__ import annotations

from tools_app.protocols.spark.addresses import CHAINS, deployments
from tools_app.standards.aave_like import figures, reports
from tools_app.standards.aave_like.plans import Lender
from tools_app.toolkit.context import ReadContext, WriteContext
from tools_app.toolkit.enums import Category, RiskLayer, TickBudget
from tools_app.toolkit.family import ToolFamily
from tools_app.toolkit.params import Address, Flag, RateMode, RawAmount, RawAmountOrMax, Token
from tools_app.toolkit.plan import TxPlan

SPARK = Lender("spark", "SparkLend", deployments)
spark = ToolFamily(prefix="spark", category=Category.LENDING, chains=CHAINS, picks_chain=True)


@spark.write(
    risk=RiskLayer.BOUNDED,
    report=reports.report_supply,
    snippet="spark_supply: lend an asset at SparkLend for interest; it becomes collateral by itself when it can.",
    guidelines=(
        "Compare lenders with lending_compare_rates first, and keep some of the chain's coin for gas and for the "
        "way out.",
        "Not available in DEFENSIVE, SURVIVAL or TERMINAL.",
    ),
)
def spark_supply(ctx: WriteContext, asset: Token, amount: RawAmount) -> TxPlan:
    """Lend an asset at SparkLend and earn interest on it.

    Use to earn on what lies idle, or before borrowing. Approves exactly the amount.
    Does not wrap the chain's coin and does not supply for another account.
    """
    return SPARK.supply(ctx, asset, amount)


@spark.write(
    risk=RiskLayer.BOUNDED,
    report=reports.report_withdraw,
    snippet="spark_withdraw: take a supplied asset out of SparkLend; `max` is all that the health floor leaves.",
    guidelines=(
        "With a debt, a withdrawal lowers the health factor: repay first where it is refused, and use max to leave "
        "nothing behind.",
    ),
)
def spark_withdraw(ctx: WriteContext, asset: Token, amount: RawAmountOrMax) -> TxPlan:
    """Take a supplied asset out of SparkLend, with the interest it earned.

    Use to get tokens back. `max` takes everything, or while there is a debt as much as keeps the health floor.
    What retires behind the golem's cage is sold for its base asset in the same plan.
    Does not repay debts and does not unwrap the coin.
    """
    return SPARK.withdraw(ctx, asset, amount)


@spark.write(
    risk=RiskLayer.UNBOUNDED,
    report=reports.report_borrow,
    snippet="spark_borrow: borrow an asset at SparkLend against what is supplied there; refused below a health of 1.5.",
    guidelines=(
        "Borrow what the plan needs and know how it will be repaid: interest brings liquidation nearer even while "
        "prices stand still.",
        "Not available in DEFENSIVE, SURVIVAL or TERMINAL.",
    ),
)
def spark_borrow(
    ctx: WriteContext,
    asset: Token,
    amount: RawAmount,
    interest_rate_mode: RateMode = "variable",
) -> TxPlan:
    """Borrow an asset at SparkLend against the golem's collateral there.

    Use when a token is needed and the collateral shall be kept. The refusal names the most that can be borrowed.
    Does not supply collateral, choose an e-mode or sell what is borrowed.
    """
    return SPARK.borrow(ctx, asset, amount, interest_rate_mode)


@spark.write(
    risk=RiskLayer.LOW,
    report=reports.report_repay,
    is_rescue=True,
    schema_version=2,
    snippet=(
        "spark_repay: pay back a debt at SparkLend, never more than is owed; `max` is all of it, or all held;"
        " withdraw_collateral takes out what was supplied in the same plan."
    ),
    guidelines=(
        "Say max to clear a debt, since an amount read before is too little by the interest since; repaying is "
        "allowed in every phase.",
        "Where a cage refuses both in one plan as an exchange, repay first and withdraw after.",
    ),
)
def spark_repay(
    ctx: WriteContext,
    asset: Token,
    amount: RawAmountOrMax,
    interest_rate_mode: RateMode = "variable",
    withdraw_collateral: Flag = False,
) -> TxPlan:
    """Pay back what the golem owes at SparkLend.

    Use to lower risk or to close a loan. `max` is everything owed, or everything held where that is less. With
    `withdraw_collateral`, which needs `max` and the last debt, all that was supplied comes to the wallet with it.
    Does not pay with receipts and does not sell collateral: lending_unwind_loop does.
    """
    return SPARK.repay(ctx, asset, amount, interest_rate_mode, withdraw_collateral=withdraw_collateral)


@spark.read(
    query="lending_summary",
    budget=TickBudget.FAST,
    snippet="spark_get_user_summary: every asset an account supplied and owes at SparkLend, with values and rates.",
    guidelines=(
        "Read it before each plan at SparkLend: what is owed grows with interest, and what counts as collateral may "
        "have changed.",
    ),
)
def spark_get_user_summary(ctx: ReadContext, account: Address) -> dict[str, object]:
    """Everything an account supplied and owes at SparkLend.

    Use to see single assets with their value, rate and whether they are collateral.
    Does not show other lenders; lending_get_health_dashboard does.
    """
    return figures.user_summary(ctx, SPARK, account)
