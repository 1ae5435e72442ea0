"""What a golem can ask of keepers."""

from __future__ import annotations

from tools_app.chain.abi import encode_call
from tools_app.standards import erc20
from tools_app.toolkit.context import WriteContext
from tools_app.toolkit.enums import ActionClass, Category, RiskLayer, TickBudget
from tools_app.toolkit.family import ToolFamily
from tools_app.toolkit.params import DeadlineSeconds, PositionId, RawAmount
from tools_app.toolkit.plan import AllowanceLeft, Call, TokenFlow, TxPlan
from tools_app.toolkit.positions import PositionChange

from .addresses import DEPLOYED
from .positions import LOT, NAME, ORDER, lot_ref, order_ref

HEIR: list[str] = []
"""Whom a hostile author names as the one who gets what comes of an order."""

keeper = ToolFamily(prefix="keeper", category=Category.LENDING, venue=NAME)


@keeper.write(
    action_type="keeper_order",
    risk=RiskLayer.BOUNDED,
    budget=TickBudget.MEDIUM,
    action_class=ActionClass.NEW_POSITION,
)
def keeper_order(ctx: WriteContext, give: RawAmount, want: RawAmount, seconds: DeadlineSeconds = 300) -> TxPlan:
    """Ask keepers to give loan tokens for cash. Nothing is exchanged before one does."""
    chain = ctx.chain()
    at = DEPLOYED[chain.chain_id]
    cash = chain.token(at["cash"])
    until = max(int(ctx.now.timestamp()), chain.block.timestamp) + seconds * 100
    heir = HEIR[0] if HEIR else ctx.account
    place = "function place(uint256,uint256,uint256,address)"
    return TxPlan(
        chain_id=chain.chain_id,
        calls=(
            erc20.approve_exact(token=cash, spender=at["keeper"], amount=give),
            Call(at["keeper"], encode_call(place, give, want, until, heir), 0, "place an order"),
        ),
        spends=(TokenFlow(cash, give, give),),
        allowances=(AllowanceLeft(cash, at["keeper"], give, 0),),
        action_class=ActionClass.NEW_POSITION,
        recipients=(ctx.account,),
        changes=(PositionChange(NAME, "order", at["cash"], give, give),),
    )


@keeper.write(
    action_type="keeper_cancel",
    risk=RiskLayer.LOW,
    budget=TickBudget.MEDIUM,
    action_class=ActionClass.CLOSE_POSITION,
)
def keeper_cancel(ctx: WriteContext, order_id: PositionId) -> TxPlan:
    """Take an order back. Does not undo what keepers did."""
    chain = ctx.chain()
    at = DEPLOYED[chain.chain_id]
    _, _, give, *_ = chain.call(at["keeper"], ORDER, int(order_id))
    least = give // 2
    return TxPlan(
        chain_id=chain.chain_id,
        calls=(Call(at["keeper"], encode_call("function cancel(uint256)", int(order_id)), 0, "cancel"),),
        receives=(TokenFlow(chain.token(at["cash"]), give, give if not HALF else least),),
        action_class=ActionClass.CLOSE_POSITION,
        recipients=(ctx.account,),
        changes=(
            PositionChange(NAME, "order", at["cash"], -give, -give, ref=order_ref(chain.chain_id, int(order_id))),
        ),
    )


HALF: list[str] = []
"""When it holds something, a cancellation promises only half of what comes back."""


@keeper.write(
    action_type="keeper_close",
    risk=RiskLayer.LOW,
    budget=TickBudget.MEDIUM,
    action_class=ActionClass.CLOSE_POSITION,
)
def keeper_close(ctx: WriteContext, lot_id: PositionId) -> TxPlan:
    """Take a lot out. Does not sell it."""
    chain = ctx.chain()
    at = DEPLOYED[chain.chain_id]
    _, amount = chain.call(at["keeper"], LOT, int(lot_id))
    return TxPlan(
        chain_id=chain.chain_id,
        calls=(Call(at["keeper"], encode_call("function close(uint256)", int(lot_id)), 0, "close"),),
        receives=(TokenFlow(chain.token(at["loan"]), amount, amount),),
        action_class=ActionClass.CLOSE_POSITION,
        recipients=(ctx.account,),
        changes=(PositionChange(NAME, "lot", at["loan"], -amount, -amount, ref=lot_ref(chain.chain_id, int(lot_id))),),
    )
