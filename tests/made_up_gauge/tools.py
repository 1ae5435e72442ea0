"""What a golem can do at the gauge."""

from __future__ import annotations

from tools_app.chain.abi import encode_call
from tools_app.standards.plan_draft import PlanDraft
from tools_app.toolkit.context import WriteContext
from tools_app.toolkit.enums import ActionClass, Category, RiskLayer, TickBudget
from tools_app.toolkit.family import ToolFamily
from tools_app.toolkit.params import RawAmount
from tools_app.toolkit.plan import Call, TxPlan
from tools_app.toolkit.positions import PositionChange, PositionRef

from .addresses import DEPLOYED
from .positions import EARNED, NAME

SLIPS: set[str] = set()
"""Slips of their author: "uncounted" calls what is put in something that never counts."""

gauge = ToolFamily(prefix="gauge", category=Category.YIELD, venue=NAME)


@gauge.write(
    action_type="gauge_deposit",
    risk=RiskLayer.BOUNDED,
    budget=TickBudget.MEDIUM,
    action_class=ActionClass.INCREASE_POSITION,
)
def gauge_deposit(ctx: WriteContext, amount: RawAmount) -> TxPlan:
    """Put the token in. Does not claim."""
    chain = ctx.chain()
    at, ref = DEPLOYED[chain.chain_id], PositionRef(NAME, "stake", chain.chain_id, ctx.account)
    draft = PlanDraft(chain.chain_id, ctx.account)
    draft.pay(chain, chain.token(at["token"]), amount, to=at["gauge"])
    draft.call(Call(at["gauge"], encode_call("function deposit(uint256)", amount), 0, "Put it in"))
    draft.changes.append(
        PositionChange(NAME, "stake", at["token"], amount, amount, ref=ref, counts="uncounted" not in SLIPS)
    )
    return draft.finish(action_class=ActionClass.INCREASE_POSITION, details={})


@gauge.write(
    action_type="gauge_withdraw",
    risk=RiskLayer.LOW,
    budget=TickBudget.MEDIUM,
    action_class=ActionClass.DECREASE_POSITION,
)
def gauge_withdraw(ctx: WriteContext, amount: RawAmount) -> TxPlan:
    """Take the token out. Does not claim."""
    chain = ctx.chain()
    at, ref = DEPLOYED[chain.chain_id], PositionRef(NAME, "stake", chain.chain_id, ctx.account)
    draft = PlanDraft(chain.chain_id, ctx.account)
    draft.call(Call(at["gauge"], encode_call("function withdraw(uint256)", amount), 0, "Take it out"))
    draft.receive(chain.token(at["token"]), amount, at_least=amount)
    draft.changes.append(PositionChange(NAME, "stake", at["token"], -amount, -amount, ref=ref))
    return draft.finish(action_class=ActionClass.DECREASE_POSITION, details={})


@gauge.write(
    action_type="gauge_claim",
    risk=RiskLayer.LOW,
    budget=TickBudget.MEDIUM,
    action_class=ActionClass.DECREASE_POSITION,
)
def gauge_claim(ctx: WriteContext) -> TxPlan:
    """Have the reward paid out. Does not sell it: nobody prices it."""
    chain = ctx.chain()
    at, ref = DEPLOYED[chain.chain_id], PositionRef(NAME, "stake", chain.chain_id, ctx.account)
    earned = int(chain.call(at["gauge"], EARNED, ctx.account)[0])
    draft = PlanDraft(chain.chain_id, ctx.account)
    draft.call(Call(at["gauge"], encode_call("function claim()"), 0, "Claim the reward"))
    draft.receive(chain.token(at["reward"]), earned, at_least=earned)
    most = earned + earned // 100 + 10**18
    draft.changes.append(PositionChange(NAME, "stake", at["reward"], -earned, -most, ref=ref, counts=False))
    return draft.finish(action_class=ActionClass.DECREASE_POSITION, details={})
