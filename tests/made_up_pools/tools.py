"""What a golem can do in the made-up pools."""

from __future__ import annotations

from tools_app.chain.abi import encode_call
from tools_app.standards import erc20
from tools_app.toolkit.context import WriteContext
from tools_app.toolkit.enums import ActionClass, Category, RiskLayer, TickBudget
from tools_app.toolkit.family import ToolFamily
from tools_app.toolkit.params import PoolName, RawAmount, Token
from tools_app.toolkit.plan import AllowanceLeft, Call, TokenFlow, TxPlan

from .addresses import DEPLOYED, NAME
from .markets import MadeUpMarkets

SLIPS: set[str] = set()
"""What its author forgets: `hooks` to name them."""
QUOTE = "function quote(bytes32,bool,uint256) view returns (uint256)"

pools = ToolFamily(prefix="pools", category=Category.TRADING, venue=NAME)


@pools.write(
    action_type="pools_trade",
    risk=RiskLayer.BOUNDED,
    budget=TickBudget.MEDIUM,
    action_class=ActionClass.REBALANCE,
)
def pools_trade(ctx: WriteContext, pool: PoolName, token_in: Token, amount: RawAmount) -> TxPlan:
    """Trade in one made-up pool. Does not choose one."""
    chain = ctx.chain()
    manager = DEPLOYED[chain.chain_id]["manager"]
    found = MadeUpMarkets().read(chain, pool)
    sold = chain.token(token_in)
    bought = chain.token(found.other(sold.address))
    raw = bytes.fromhex(pool[2:])
    forward = sold.address == found.token0
    (out,) = chain.call(manager, QUOTE, raw, forward, amount)
    least = out * 99 // 100
    trade = encode_call("function trade(bytes32,bool,uint256,uint256)", raw, forward, amount, least)
    return TxPlan(
        chain_id=chain.chain_id,
        calls=(
            erc20.approve_exact(token=sold, spender=manager, amount=amount),
            Call(manager, trade, 0, f"Trade in {pool}"),
        ),
        spends=(TokenFlow(sold, amount, amount),),
        receives=(TokenFlow(bought, out, least),),
        allowances=(AllowanceLeft(sold, manager, amount, 0),),
        action_class=ActionClass.REBALANCE,
        recipients=(ctx.account,),
        slippage_bps=100,
        hooks=() if found.hooks is None or "hooks" in SLIPS else (found.hooks,),
    )
