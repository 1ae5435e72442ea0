"""What a golem can do at the comet."""

from __future__ import annotations

from tools_app.chain.abi import encode_call
from tools_app.core.units import format_units
from tools_app.standards import erc20
from tools_app.toolkit.context import WriteContext
from tools_app.toolkit.enums import ActionClass, Category, RiskLayer, TickBudget
from tools_app.toolkit.family import ToolFamily
from tools_app.toolkit.params import RawAmount
from tools_app.toolkit.plan import AllowanceLeft, Call, TokenFlow, TxPlan
from tools_app.toolkit.positions import ACCOUNT, PositionChange, PositionRef

from .addresses import DEPLOYED
from .effects import SUPPLY, WITHDRAW
from .positions import NAME

comet = ToolFamily(prefix="comet", category=Category.LENDING, venue=NAME)


def _plan(ctx: WriteContext, signature: str, key: str, amount: int, action_class: ActionClass) -> TxPlan:
    chain = ctx.chain()
    at, is_in = DEPLOYED[chain.chain_id], signature == SUPPLY
    token, to = chain.token(at[key]), at["comet"]
    flow = (TokenFlow(token, amount, amount),)
    call = Call(to, encode_call(signature, token.address, amount), 0, f"{signature[9:15]} {format_units(amount, 18)}")
    change = amount if is_in else -amount
    ref = PositionRef(NAME, ACCOUNT, chain.chain_id, ctx.account)
    return TxPlan(
        chain_id=chain.chain_id,
        calls=(erc20.approve_exact(token=token, spender=to, amount=amount), call) if is_in else (call,),
        spends=flow if is_in else (),
        receives=() if is_in else flow,
        allowances=(AllowanceLeft(token, to, amount, 0),) if is_in else (),
        action_class=action_class,
        recipients=(ctx.account,),
        changes=(PositionChange(NAME, ACCOUNT, token.address, change, change, ref=ref),),
        collateral_ratio_bps=100_000 if action_class is ActionClass.INCREASE_POSITION and not is_in else None,
    )


@comet.write(
    action_type="comet_supply",
    risk=RiskLayer.BOUNDED,
    budget=TickBudget.MEDIUM,
    action_class=ActionClass.INCREASE_POSITION,
)
def comet_supply(ctx: WriteContext, amount: RawAmount) -> TxPlan:
    """Put the base asset in. Does not repay on purpose."""
    return _plan(ctx, SUPPLY, "base", amount, ActionClass.INCREASE_POSITION)


@comet.write(
    action_type="comet_pledge",
    risk=RiskLayer.BOUNDED,
    budget=TickBudget.MEDIUM,
    action_class=ActionClass.INCREASE_POSITION,
)
def comet_pledge(ctx: WriteContext, amount: RawAmount) -> TxPlan:
    """Put cover in. Does not borrow."""
    return _plan(ctx, SUPPLY, "cover", amount, ActionClass.INCREASE_POSITION)


@comet.write(
    action_type="comet_withdraw",
    risk=RiskLayer.LOW,
    budget=TickBudget.MEDIUM,
    action_class=ActionClass.DECREASE_POSITION,
)
def comet_withdraw(ctx: WriteContext, amount: RawAmount) -> TxPlan:
    """Take the base asset out. Does not look how much of it there is."""
    return _plan(ctx, WITHDRAW, "base", amount, ActionClass.DECREASE_POSITION)


@comet.write(
    action_type="comet_borrow",
    risk=RiskLayer.UNBOUNDED,
    budget=TickBudget.MEDIUM,
    action_class=ActionClass.INCREASE_POSITION,
)
def comet_borrow(ctx: WriteContext, amount: RawAmount) -> TxPlan:
    """Borrow the base asset. Does not sell it."""
    return _plan(ctx, WITHDRAW, "base", amount, ActionClass.INCREASE_POSITION)


@comet.write(
    action_type="comet_repay",
    risk=RiskLayer.LOW,
    budget=TickBudget.MEDIUM,
    action_class=ActionClass.DECREASE_POSITION,
)
def comet_repay(ctx: WriteContext, amount: RawAmount) -> TxPlan:
    """Repay the base asset. Does not look how much is owed."""
    return _plan(ctx, SUPPLY, "base", amount, ActionClass.DECREASE_POSITION)


@comet.write(
    action_type="comet_release",
    risk=RiskLayer.LOW,
    budget=TickBudget.MEDIUM,
    action_class=ActionClass.DECREASE_POSITION,
)
def comet_release(ctx: WriteContext, amount: RawAmount) -> TxPlan:
    """Take cover out. Does not repay."""
    return _plan(ctx, WITHDRAW, "cover", amount, ActionClass.DECREASE_POSITION)
