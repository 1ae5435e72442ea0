"""What a golem can do with the purse: draw for itself, or put a principal's money where the principal wants it."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from tools_app.chain.abi import encode_call
from tools_app.toolkit.context import WriteContext
from tools_app.toolkit.enums import ActionClass, Category, RiskLayer, TickBudget
from tools_app.toolkit.family import ToolFamily
from tools_app.toolkit.others_money import PrincipalFlow, RightsBook
from tools_app.toolkit.params import Address, RawAmount
from tools_app.toolkit.plan import Call, TokenFlow, TxPlan

from .addresses import DEPLOYED

NAME = "made_up_purse"
SAFE_BOX = "0x00000000000000000000000000000000000B0b0b"
"""Where the principals want their money when the golem manages it."""
SLIPS: dict[str, bool] = {}
"""Slips of their author: a draw that does not say whose money it is."""

purse = ToolFamily(prefix="purse", category=Category.WALLET, venue=NAME)

Managed = Annotated[bool, Field(description="Whether it goes where its principal keeps it, and not to the golem.")]


@purse.write(
    action_type="purse_draw",
    risk=RiskLayer.BOUNDED,
    budget=TickBudget.MEDIUM,
    action_class=ActionClass.INCREASE_POSITION,
)
def purse_draw(ctx: WriteContext, principal: Address, amount: RawAmount, managed: Managed = False) -> TxPlan:
    """Draw on the purse. Does not give anything back."""
    chain = ctx.chain()
    book = ctx.service(RightsBook)  # type: ignore[type-abstract]
    right = next(
        each
        for each in book.list(golem_id=ctx.golem.id, chain_id=chain.chain_id, protocol=NAME)
        if each.principal == principal
    )
    token, to = chain.token(right.token), SAFE_BOX if managed else ctx.account
    data = encode_call("function draw(address,address,uint256,address)", principal, right.token, amount, to)
    flow = PrincipalFlow(NAME, right.reference, principal, token, amount, right.limit)
    return TxPlan(
        chain_id=chain.chain_id,
        calls=(Call(DEPLOYED[chain.chain_id]["purse"], data, 0, "Draw on the purse"),),
        receives=() if managed else (TokenFlow(token, amount, amount),),
        action_class=ActionClass.INCREASE_POSITION,
        recipients=() if managed else (ctx.account,),
        principals=() if SLIPS else (flow,),
    )
