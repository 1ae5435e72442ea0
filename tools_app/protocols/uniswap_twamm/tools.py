"""Tools of orders over time: submit one, see how far it is, close it."""

from __future__ import annotations

from typing import Annotated, Final, Literal

from pydantic import Field

from tools_app.chain.abi import encode_call
from tools_app.core.clock import tell_unix_time
from tools_app.core.errors import GolemError, Recovery
from tools_app.core.ratio import Ratio, ratio_text
from tools_app.core.units import BPS, format_units
from tools_app.portfolio.holdings import PriceBook
from tools_app.protocols.uniswap_twamm.addresses import CHAINS, NAME, contract_on
from tools_app.protocols.uniswap_twamm.positions import ref_of
from tools_app.protocols.uniswap_twamm.reads import SUBMITTED, OrderRead, make_order, order_call
from tools_app.standards import erc20
from tools_app.standards.plan_draft import PlanDraft, check_enough
from tools_app.standards.receipts import events_of
from tools_app.toolkit.answer import OfChain, Told
from tools_app.toolkit.context import ChainReader, ReadContext, WriteContext
from tools_app.toolkit.enums import ActionClass, Category, RiskLayer, TickBudget
from tools_app.toolkit.family import ToolFamily
from tools_app.toolkit.orders import OrderFate
from tools_app.toolkit.params import PositionId, RawAmount, SlippageBps, Token
from tools_app.toolkit.plan import Call, PlanOutcome, Statement, TxPlan
from tools_app.toolkit.positions import ORDER_KIND, PositionChange
from tools_app.toolkit.result import TokenAmount
from tools_app.toolkit.views import TokenMeta

twamm = ToolFamily(prefix="uniswap", category=Category.LP, chains=CHAINS, venue=NAME, picks_chain=True)

SUBMIT: Final = "function submit(address tokenIn, address tokenOut, uint256 amount, uint256 least, uint256 duration)"
CLOSE: Final = "function close(uint256 id)"
LENGTHS: Final = {"1h": 3_600, "4h": 14_400, "24h": 86_400, "7d": 604_800}
FILLED_MEANWHILE_SECONDS: Final = 600
"""What falls due within so long of a preview may be sold before the order is closed."""

OrderLength = Annotated[
    Literal["1h", "4h", "24h", "7d"], Field(description="Over how long it is sold: 1h, 4h, 24h or 7d.")
]
TwammOrderId = PositionId


class TwammOrderRefused(
    GolemError,
    code="TWAMM_TERMS_REFUSED",
    status=422,
    recovery=Recovery.FIX_PARAMS,
    title="The order's terms cannot stand",
    cleared_by="terms that its reason names",
):
    """The terms of an order over time make no sense together, or it is too small to be sold in parts."""


class TwammOrderUnknown(
    GolemError,
    status=404,
    recovery=Recovery.FIX_PARAMS,
    title="The golem has no such order over time",
    cleared_by="an order_id that submit_twamm_order answered",
):
    """No order over time has this number on this chain, or it is not the golem's, or it has ended."""


class Submitted(Told):
    """What was ordered; times are ISO 8601 in UTC."""

    order_id: str
    estimated_completion: str
    amount: TokenAmount
    least_amount_out: str
    least_amount_out_units: str


class TwammStatus(OfChain):
    """An order as it stands. `status` is open, executed, cancelled or expired.

    `average_price` is units of what is bought for one of what is sold; null before anything was sold.
    """

    order_id: str
    status: str
    percent_complete: str
    amount_filled: TokenAmount
    amount_bought: TokenAmount
    average_price: str | None
    remaining_amount: TokenAmount
    least_amount_out: TokenAmount
    estimated_completion: str


def report_submitted(outcome: PlanOutcome) -> Submitted:
    """The number from the contract's event."""
    plan = outcome.plan
    (event,) = events_of(outcome, SUBMITTED, contract=plan.calls[-1].to)
    sold = plan.spends[0].token
    return Submitted(
        order_id=str(event["id"]),
        estimated_completion=str(plan.details["estimated_completion"]),
        amount=TokenAmount(-outcome.deltas.get(sold.address, 0), sold),
        least_amount_out=str(plan.details["least"]),
        least_amount_out_units=str(plan.details["least_units"]),
    )


@twamm.write(
    action_type="submit_twamm_order",
    risk=RiskLayer.BOUNDED,
    report=report_submitted,
    action_class=ActionClass.NEW_POSITION,
    snippet="submit_twamm_order: sell a token for another in even parts over hours or days, never below a least price.",
    guidelines=(
        "It stands until it is sold, over or cancelled; what is not sold comes back, and a halt cancels it.",
        "A large amount moves a pool less in parts; a small one is swapped at once for less gas.",
    ),
)
def uniswap_lp_submit_twamm_order(
    ctx: WriteContext,
    token_in: Token,
    token_out: Token,
    amount: RawAmount,
    duration: OrderLength,
    slippage_bps: SlippageBps = 100,
) -> TxPlan:
    """Sell `amount` of one token for another in even parts over a length of time, through fillers.

    Use where one swap would move the price. No part is sold for less than the feeds' price now less `slippage_bps`;
    what that leaves unsold comes back when the order is closed.
    Does not follow the price: an order whose least price is not met sells nothing. Does not take the chain's coin.
    """
    reader = ctx.begin("Reading prices")
    contract = contract_on(reader.chain_id)
    sold, bought = _erc20(reader, token_in), _erc20(reader, token_out)
    if sold.address == bought.address:
        raise TwammOrderRefused("an order sells one token for another; both are the same")
    check_enough(sold, balance=erc20.balance_of(reader, sold, ctx.account), needed=amount)
    prices = PriceBook(reader)
    for each in (sold, bought):
        prices.learn(each)
    given, unit = prices.value_of(sold.address, amount), prices.value_of(bought.address, 10**bought.decimals)
    least = given * 10**bought.decimals // unit * (BPS - slippage_bps) // BPS
    if least <= 0:
        raise TwammOrderRefused(f"that is worth less than one base unit of {bought.symbol}")
    ctx.step("Building calls")
    seconds = LENGTHS[duration]
    draft = PlanDraft(reader.chain_id, ctx.account)
    draft.pay(reader, sold, amount, to=contract)
    shown = format_units(amount, sold.decimals, sold.symbol)
    data = encode_call(SUBMIT, sold.address, bought.address, amount, least, seconds)
    draft.call(Call(contract, data, 0, f"Sell {shown} for {bought.symbol} over {duration}"))
    draft.changes.append(PositionChange(NAME, ORDER_KIND, sold.address, amount, amount))
    return draft.finish(
        action_class=ActionClass.NEW_POSITION,
        slippage_bps=slippage_bps,
        statements=(Statement(contract, bought.address, "least bought", f"{least} in {seconds} s"),),
        details={
            "venue": NAME,
            "token_out": bought.address,
            "least": str(least),
            "least_units": format_units(least, bought.decimals, bought.symbol),
            "estimated_completion": tell_unix_time(reader.block.timestamp + seconds),
        },
    )


@twamm.write(
    action_type="cancel_twamm_order",
    risk=RiskLayer.LOW,
    action_class=ActionClass.CLOSE_POSITION,
    snippet="cancel_twamm_order: close an order over time; what is not sold and what was bought come back at once.",
    guidelines=("An order that is sold or over is closed the same way: what it bought is paid out then.",),
)
def uniswap_lp_cancel_twamm_order(ctx: WriteContext, order_id: TwammOrderId) -> TxPlan:
    """Close an order over time of the golem, at any time.

    Use to end it early, or to have what it bought paid out once it is sold or over. uniswap_lp_submit_twamm_order
    answers the id. Does not undo what was sold.
    """
    reader = ctx.begin("Reading the order")
    contract = contract_on(reader.chain_id)
    order = _read_order(reader, order_id, ctx.account)
    if order.fate is not OrderFate.OPEN:
        raise TwammOrderUnknown(f"order {order_id} has ended: {order.fate.value.lower()}", status=order.fate.value)
    ctx.step("Building calls")
    draft, ref = PlanDraft(reader.chain_id, ctx.account), ref_of(reader.chain_id, order.number)
    draft.call(Call(contract, encode_call(CLOSE, order.number), 0, f"Close order over time {order_id}"))
    # Until it runs somebody may buy what falls due: then less comes back, and more of what was bought.
    meanwhile = min(order.left, order.most_due(reader.block.timestamp + FILLED_MEANWHILE_SECONDS))
    paid = 2 * order.least * meanwhile // order.amount
    for token, raw, least, most in (
        (order.token_in, order.left, order.left - meanwhile, order.left),
        (order.token_out, order.bought, order.bought, order.bought + paid),
    ):
        if raw:
            draft.receive(reader.token(token), raw, at_least=least)
            draft.changes.append(PositionChange(NAME, ORDER_KIND, token, -raw, -most, ref=ref))
    return draft.finish(
        action_class=ActionClass.CLOSE_POSITION,
        details={"venue": NAME, "order_id": order_id},
    )


@twamm.read(
    query="twamm_order",
    budget=TickBudget.FAST,
    snippet="twamm_order: how far an order over time of the golem is, at what average price, and what is left of it.",
    guidelines=("An order that sells nothing has a least price nobody pays: cancel it, or wait until it is over.",),
)
def uniswap_lp_get_twamm_order_status(ctx: ReadContext, order_id: TwammOrderId) -> TwammStatus:
    """How far an order over time is: sold, bought, left, and at what average price.

    Use to decide whether to wait or to close it. uniswap_lp_submit_twamm_order answers the id. Does not tell orders of
    other accounts.
    """
    reader = ctx.begin("Reading the order")
    order = _read_order(reader, order_id, ctx.golem.address or "")
    sold, bought = reader.token(order.token_in), reader.token(order.token_out)
    paid = Ratio(order.bought, order.sold) if order.sold else None
    return TwammStatus(
        order_id=order_id,
        status=order.fate.value.lower(),
        percent_complete=format_units(order.sold * BPS // order.amount, 2),
        amount_filled=TokenAmount(order.sold, sold),
        amount_bought=TokenAmount(order.bought, bought),
        average_price=ratio_text(paid, base_decimals=sold.decimals, quote_decimals=bought.decimals) if paid else None,
        remaining_amount=TokenAmount(order.left, sold),
        least_amount_out=TokenAmount(order.least, bought),
        estimated_completion=tell_unix_time(order.until),
    )


# ---- below ----------------------------------------------------------------------------------------------------------


def _read_order(reader: ChainReader, order_id: str, account: str) -> OrderRead:
    number = int(order_id)
    (told,) = reader.call_many([order_call(contract_on(reader.chain_id), number)]) if number < 2**256 else (None,)
    order = make_order(number, told.values) if told is not None and told.ok else None
    if order is None or order.owner != account:
        raise TwammOrderUnknown(f"the golem has no order over time {order_id}", order_id=order_id)
    return order


def _erc20(reader: ChainReader, ref: str) -> TokenMeta:
    meta = reader.token(ref)
    if meta.is_native:
        raise TwammOrderRefused(f"orders over time sell and buy ERC-20 tokens; wrap {meta.symbol} first")
    return meta
