"""What a golem can do with the bond."""

from __future__ import annotations

from typing import Any, Final

from tools_app.chain.abi import encode_call
from tools_app.core.ratio import Ratio
from tools_app.standards.dated_claim_values import AVERAGE_SECONDS, ONE
from tools_app.standards.plan_draft import PlanDraft
from tools_app.standards.pool_maths import reserves_at
from tools_app.toolkit.context import ChainReader, WriteContext
from tools_app.toolkit.enums import ActionClass, Category, RiskLayer, TickBudget
from tools_app.toolkit.family import ToolFamily
from tools_app.toolkit.params import RawAmount
from tools_app.toolkit.plan import Call, TxPlan
from tools_app.toolkit.positions import PositionChange, PositionRef

from .addresses import DEPLOYED
from .positions import AVERAGE, COUPON_PRICE, FIGURES, MATURITY, NAME

SLIPPAGE_BPS: Final = 100
SLIPS: dict[str, int] = {}
"""Slips of their author: what an action says of what it changes, in parts of ten thousand of the truth."""

bond = ToolFamily(prefix="bond", category=Category.YIELD, venue=NAME)
_GROWS: dict[str, Any] = {
    "risk": RiskLayer.BOUNDED,
    "budget": TickBudget.MEDIUM,
    "action_class": ActionClass.INCREASE_POSITION,
}
_LEAVES: dict[str, Any] = {
    "risk": RiskLayer.LOW,
    "budget": TickBudget.MEDIUM,
    "action_class": ActionClass.DECREASE_POSITION,
}


def _read(chain: ChainReader, signature: str, *args: object) -> int:
    return int(chain.call(DEPLOYED[chain.chain_id]["bond"], signature, *args)[0])


def _rate(chain: ChainReader) -> int:
    """What a claim counts as. Raises what the bond answers while it has no average."""
    if chain.block.timestamp >= _read(chain, MATURITY):
        return ONE
    return min(ONE, _read(chain, AVERAGE, AVERAGE_SECONDS))


def _less(raw: int) -> int:
    return raw - raw * SLIPPAGE_BPS // 10_000


def _change(chain: ChainReader, account: str, raw: int, *, kind: str = "claims", counts: bool = True) -> PositionChange:
    at = DEPLOYED[chain.chain_id]
    ref = PositionRef(NAME, kind, chain.chain_id, account)
    bound = raw - abs(raw) * SLIPPAGE_BPS // 10_000 - 2
    token = at["cash"] if counts else at["bond"]
    return PositionChange(NAME, kind, token, raw, bound if counts or raw > 0 else raw, ref=ref, counts=counts)


@bond.write(action_type="bond_buy", **_GROWS)
def bond_buy(ctx: WriteContext, amount: RawAmount) -> TxPlan:
    """Buy claims in the pool. Does not wait until they are due."""
    chain = ctx.chain()
    at, cash = DEPLOYED[chain.chain_id], chain.token(DEPLOYED[chain.chain_id]["cash"])
    rate = _rate(chain)
    cash_in, claims_in, _ = (_read(chain, each) for each in FIGURES)
    given = claims_in - cash_in * claims_in // (cash_in + amount)
    draft = PlanDraft(chain.chain_id, ctx.account)
    draft.pay(chain, cash, amount, to=at["bond"])
    draft.call(Call(at["bond"], encode_call("function buy(uint256,uint256)", amount, _less(given)), 0, "Buy claims"))
    draft.changes.append(_change(chain, ctx.account, given * rate // ONE))
    return draft.finish(action_class=ActionClass.INCREASE_POSITION, details={})


@bond.write(action_type="bond_sell", **_LEAVES)
def bond_sell(ctx: WriteContext, claims: RawAmount) -> TxPlan:
    """Sell claims in the pool. Does not redeem."""
    chain = ctx.chain()
    at, cash = DEPLOYED[chain.chain_id], chain.token(DEPLOYED[chain.chain_id]["cash"])
    cash_in, claims_in, _ = (_read(chain, each) for each in FIGURES)
    given = cash_in - cash_in * claims_in // (claims_in + claims)
    draft = PlanDraft(chain.chain_id, ctx.account)
    draft.call(Call(at["bond"], encode_call("function sell(uint256,uint256)", claims, _less(given)), 0, "Sell claims"))
    draft.receive(cash, given, at_least=_less(given))
    draft.changes.append(_change(chain, ctx.account, -(claims * _rate(chain) // ONE)))
    return draft.finish(action_class=ActionClass.DECREASE_POSITION, details={})


@bond.write(action_type="bond_redeem", **_LEAVES)
def bond_redeem(ctx: WriteContext, claims: RawAmount) -> TxPlan:
    """Take cash for claims that are due, or for as many coupons with them before. Does not sell."""
    chain = ctx.chain()
    at, cash = DEPLOYED[chain.chain_id], chain.token(DEPLOYED[chain.chain_id]["cash"])
    draft = PlanDraft(chain.chain_id, ctx.account)
    draft.call(Call(at["bond"], encode_call("function redeem(uint256)", claims), 0, "Redeem claims"))
    draft.receive(cash, claims, at_least=claims)
    draft.changes.append(_change(chain, ctx.account, -(claims * _rate(chain) // ONE)))
    if chain.block.timestamp < _read(chain, MATURITY):
        draft.changes.append(_change(chain, ctx.account, -claims, counts=False))
    return draft.finish(action_class=ActionClass.DECREASE_POSITION, details={})


@bond.write(action_type="bond_buy_coupons", **_GROWS)
def bond_buy_coupons(ctx: WriteContext, amount: RawAmount) -> TxPlan:
    """Buy coupons, which may bring nothing. Does not buy claims."""
    chain = ctx.chain()
    at, cash = DEPLOYED[chain.chain_id], chain.token(DEPLOYED[chain.chain_id]["cash"])
    given = amount * ONE // _read(chain, COUPON_PRICE)
    data = encode_call("function buyCoupons(uint256,uint256)", amount, _less(given))
    draft = PlanDraft(chain.chain_id, ctx.account)
    draft.pay(chain, cash, amount, to=at["bond"])
    draft.call(Call(at["bond"], data, 0, "Buy coupons"))
    draft.changes.append(_change(chain, ctx.account, given * SLIPS.get("says", 10_000) // 10_000, counts=False))
    return draft.finish(action_class=ActionClass.INCREASE_POSITION, details={})


@bond.write(action_type="bond_sell_coupons", **_LEAVES)
def bond_sell_coupons(ctx: WriteContext, coupons: RawAmount) -> TxPlan:
    """Sell coupons for what they bring now. Does not wait."""
    chain = ctx.chain()
    at, cash = DEPLOYED[chain.chain_id], chain.token(DEPLOYED[chain.chain_id]["cash"])
    given = coupons * _read(chain, COUPON_PRICE) // ONE
    least = _less(given)
    data = encode_call("function sellCoupons(uint256,uint256)", coupons, least)
    draft = PlanDraft(chain.chain_id, ctx.account)
    draft.call(Call(at["bond"], data, 0, "Sell coupons"))
    draft.receive(cash, given, at_least=least)
    draft.changes.append(_change(chain, ctx.account, -coupons * SLIPS.get("says", 10_000) // 10_000, counts=False))
    return draft.finish(action_class=ActionClass.DECREASE_POSITION, details={})


@bond.write(
    action_type="bond_part",
    risk=RiskLayer.LOW,
    budget=TickBudget.MEDIUM,
    action_class=ActionClass.REBALANCE,
)
def bond_part(ctx: WriteContext, shares: RawAmount) -> TxPlan:
    """Take a part of the pool out, as cash and claims. Does not sell the claims."""
    chain = ctx.chain()
    at, cash = DEPLOYED[chain.chain_id], chain.token(DEPLOYED[chain.chain_id]["cash"])
    cash_in, claims_in, every = (_read(chain, each) for each in FIGURES)
    rate = _rate(chain)
    in_claims, in_cash = reserves_at(Ratio(rate, ONE), claims_in, cash_in)
    gone = in_cash * shares // every + in_claims * shares // every * rate // ONE
    draft = PlanDraft(chain.chain_id, ctx.account)
    draft.call(Call(at["bond"], encode_call("function part(uint256)", shares), 0, "Take a part of the pool"))
    draft.receive(cash, cash_in * shares // every, at_least=_less(cash_in * shares // every))
    draft.changes.append(_change(chain, ctx.account, -gone, kind="pool"))
    draft.changes.append(_change(chain, ctx.account, claims_in * shares // every * rate // ONE))
    return draft.finish(action_class=ActionClass.REBALANCE, details={})
