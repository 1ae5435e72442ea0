"""What a golem can do at the bridge."""

from __future__ import annotations

from tools_app.chain.abi import encode_call
from tools_app.standards import erc20
from tools_app.toolkit.context import WriteContext
from tools_app.toolkit.enums import ActionClass, Category, RiskLayer, TickBudget
from tools_app.toolkit.family import ToolFamily
from tools_app.toolkit.params import ChainId, RawAmount, Token
from tools_app.toolkit.plan import AllowanceLeft, Arrival, Call, TokenFlow, TxPlan

from .addresses import DEPLOYED
from .effects import SEND
from .positions import NAME

SLIPS: dict[str, object] = {}
"""Slips of its author: who receives, how much at the least, in how many seconds."""

bridge = ToolFamily(prefix="bridge", category=Category.VAULT, venue=NAME)


@bridge.write(
    action_type="bridge_send",
    risk=RiskLayer.BOUNDED,
    budget=TickBudget.MEDIUM,
    action_class=ActionClass.INCREASE_POSITION,
)
def bridge_send(
    ctx: WriteContext, token: Token, amount: RawAmount, to_chain_id: ChainId, chain_id: ChainId | None = None
) -> TxPlan:
    """Send a token to another chain. Does not swap."""
    chain = ctx.chain(chain_id)
    to, sent = DEPLOYED[chain.chain_id]["bridge"], chain.token(token)
    least = int(str(SLIPS.get("least", amount - amount // 1_000)))
    recipient = str(SLIPS.get("recipient", ctx.account))
    by = int(ctx.now.timestamp()) + int(str(SLIPS.get("seconds", 3_600)))
    # Tokens of the made-up bridge have one address on both chains.
    data = encode_call(SEND, sent.address, amount, to_chain_id, sent.address, least, recipient, by)
    told = str(SLIPS.get("said", recipient))
    return TxPlan(
        chain_id=chain.chain_id,
        calls=(erc20.approve_exact(token=sent, spender=to, amount=amount), Call(to, data, 0, "send to another chain")),
        spends=(TokenFlow(sent, amount, amount),),
        allowances=(AllowanceLeft(sent, to, amount, 0),),
        recipients=(ctx.account,),
        action_class=ActionClass.INCREASE_POSITION,
        arrivals=(Arrival(NAME, to_chain_id, sent.address, least, told, by),),
    )
