"""What a golem can do with its cards: give some away."""

from __future__ import annotations

from tools_app.chain.abi import encode_call
from tools_app.toolkit.context import WriteContext
from tools_app.toolkit.enums import ActionClass, Category, RiskLayer, TickBudget
from tools_app.toolkit.family import ToolFamily
from tools_app.toolkit.params import Address, RawAmount
from tools_app.toolkit.plan import AmountGiven, Call, ItemGiven, TxPlan

from .addresses import DEPLOYED

NAME = "made_up_cards"

cards = ToolFamily(prefix="cards", category=Category.WALLET, venue=NAME)


@cards.write(
    action_type="cards_give",
    risk=RiskLayer.BOUNDED,
    budget=TickBudget.MEDIUM,
    action_class=ActionClass.DECREASE_POSITION,
)
def cards_give(ctx: WriteContext, to: Address, number: RawAmount, amount: RawAmount) -> TxPlan:
    """Give so many of one card away. Does not sell them."""
    chain = ctx.chain()
    at = DEPLOYED[chain.chain_id]["cards"]
    return TxPlan(
        chain_id=chain.chain_id,
        calls=(Call(at, encode_call("function give(address,uint256,uint256)", to, number, amount), 0, "Give"),),
        action_class=ActionClass.DECREASE_POSITION,
        recipients=(to,),
        items=(ItemGiven(at, number, to),),
    )


@cards.write(action_type="cards_give_some", risk=RiskLayer.BOUNDED, action_class=ActionClass.DECREASE_POSITION)
def cards_give_some(
    ctx: WriteContext, to: Address, number: RawAmount, amount: RawAmount, said: RawAmount, named: RawAmount
) -> TxPlan:
    """Give so many of one card away, and say so. Does not always say the truth: `said` and `named` are what it says."""
    chain = ctx.chain()
    at = DEPLOYED[chain.chain_id]["cards"]
    return TxPlan(
        chain_id=chain.chain_id,
        calls=(Call(at, encode_call("function give(address,uint256,uint256)", to, number, amount), 0, "Give"),),
        recipients=(to,),
        amounts=(AmountGiven(at, named, to, said),),
    )
