"""Tools of Pendle's limit orders: let them take the asset, sign one that buys claims, see what became of it, take it
back.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import Annotated, Final

from pydantic import AfterValidator, BeforeValidator, Field

from tools_app.chain.abi import encode_call
from tools_app.chain.typed_hash import hash_typed_data
from tools_app.core.units import format_units
from tools_app.protocols.pendle.addresses import NAME, Place, find_places
from tools_app.protocols.pendle.calls import CANCEL_ORDER
from tools_app.protocols.pendle.drafting import check_price, claims_change, describe, open_market, percent, solve
from tools_app.protocols.pendle.errors import OrderNeedsApproval, OrderNotSigned, OrderOver, OrderRefused
from tools_app.protocols.pendle.family import pendle
from tools_app.protocols.pendle.limit_orders import (
    Terms,
    least_claims,
    least_shares,
    order_values,
    to_ln_rate,
    type_order,
)
from tools_app.protocols.pendle.market_maths import WAD, price_of_claim, yearly_rate
from tools_app.protocols.pendle.promises import NONCE, PendlePromises, read_rest
from tools_app.standards import erc20
from tools_app.standards.plan_draft import check_enough
from tools_app.toolkit.context import ChainReader, ReadCall, ReadContext, WriteContext
from tools_app.toolkit.enums import ActionClass, RiskLayer, TickBudget
from tools_app.toolkit.params import Bytes32, ContractAddress, RawAmount, SlippageBps, check_whole
from tools_app.toolkit.plan import AllowanceLeft, Call, PlanOutcome, Statement, TokenFlow, TxPlan
from tools_app.toolkit.result import TokenAmount
from tools_app.toolkit.signed_orders import SignedOrder, SignedOrders
from tools_app.toolkit.spelling import spell_decimal
from tools_app.toolkit.typed_data import TypedData

LastsSeconds = Annotated[
    int,
    Field(ge=60, le=604_000, description="Seconds the order stands, up to about a week."),
    BeforeValidator(check_whole),
]
YearlyPercent = Annotated[
    str,
    Field(pattern=r"^[0-9]{1,30}(\.[0-9]{1,30})?$", description="Percent a year, as text: 6.5 is 6.5%."),
    AfterValidator(spell_decimal),
]
CANCELLED: Final = "order taken back"


@dataclass(frozen=True, slots=True)
class Approved:
    """What the limit router may take now, in base units."""

    token: str
    allowance: str


@dataclass(frozen=True, slots=True)
class Placed:
    """What was signed. `least_pt` is base units of claims that a whole fill brings at least, `ends_at` Unix seconds,
    and `price_now` what the order would pay for a claim at once.
    """

    order_hash: str
    pt_address: str
    amount_in: str
    least_pt: str
    implied_apy: str
    price_now: str
    ends_at: int
    status: str


@dataclass(frozen=True, slots=True)
class Withdrawn:
    """The order that nobody fills any more."""

    order_hash: str


def report_approval(outcome: PlanOutcome) -> Approved:
    """As the plan approved it."""
    return Approved(str(outcome.plan.details["asset"]), str(outcome.plan.details["amount"]))


def report_placed(outcome: PlanOutcome) -> Placed:
    """As it was signed; nothing was sent, so no receipt says anything of it."""
    details = outcome.plan.details
    return Placed(
        order_hash=str(details["order_hash"]),
        pt_address=str(details["pt"]),
        amount_in=str(details["amount"]),
        least_pt=str(details["least_pt"]),
        implied_apy=str(details["order_apy"]),
        price_now=str(details["price_now"]),
        ends_at=int(details["ends_at"]),
        status="open",
    )


def report_withdrawn(outcome: PlanOutcome) -> Withdrawn:
    """The limit router's own event says no more."""
    return Withdrawn(str(outcome.plan.details["order_hash"]))


@pendle.write(
    action_type="pendle_approve_limit_orders",
    risk=RiskLayer.BOUNDED,
    budget=TickBudget.MEDIUM,
    report=report_approval,
    action_class=ActionClass.INCREASE_POSITION,
    steps=("Reading the market", "Reading the allowance", "Building calls"),
    snippet="pendle_approve_limit_orders: let Pendle's limit router take exactly an amount of a market's asset.",
    guidelines=(
        "It stands until orders used it up; without a signed order nothing is taken. Say the sum of all orders.",
    ),
)
def pendle_approve_limit_orders(ctx: WriteContext, market: ContractAddress, amount: RawAmount) -> TxPlan:
    """Let Pendle's limit router take exactly so much of a market's asset, for orders that are signed afterwards.

    Use before pendle_place_limit_order. `amount` is base units of the asset.
    Does not sign an order, and gives nobody a right of its own.
    """
    reader = ctx.chain()
    place, _ = open_market(ctx, reader, market)
    meta = reader.token(place.asset)
    ctx.step("Reading the allowance")
    held, allowed = _ask_asset(reader, ctx.account, place)
    check_enough(meta, balance=held, needed=amount)
    if allowed == amount:
        raise OrderRefused(f"orders may take exactly that of {meta.symbol} already; sign one", allowed=str(allowed))
    ctx.step("Building calls")
    return TxPlan(
        chain_id=reader.chain_id,
        calls=erc20.approvals_for(token=meta, spender=place.limit_router, amount=amount, allowance=allowed),
        allowances=(AllowanceLeft(meta, place.limit_router, amount, amount),),
        action_class=ActionClass.INCREASE_POSITION,
        details={"asset": meta.address, "amount": str(amount)},
    )


@pendle.write(
    action_type="pendle_place_limit_order",
    risk=RiskLayer.BOUNDED,
    budget=TickBudget.SLOW,
    report=report_placed,
    action_class=ActionClass.INCREASE_POSITION,
    steps=("Reading the market", "Building the order"),
    snippet="pendle_place_limit_order: sign an order that buys PT at a yearly rate; nothing is sent.",
    guidelines=(
        "It is filled whole, in parts or never; what it gives is reserved until it ends. Cancel it to be free of it.",
    ),
)
def pendle_place_limit_order(
    ctx: WriteContext,
    market: ContractAddress,
    amount: RawAmount,
    implied_apy: YearlyPercent,
    lasts_seconds: LastsSeconds = 86_400,
    slippage_bps: SlippageBps = 100,
) -> TxPlan:
    """Sign a limit order that gives `amount` of the asset for PT at `implied_apy` percent a year, such as 6.5.

    Use to wait for a better rate than the market's. Refused where it pays more than `slippage_bps` above the average of
    fifteen minutes. The product follows it to its end, and a halt cancels it.
    Does not send a transaction, trade in the market, or promise that anybody fills it.
    """
    reader = ctx.chain()
    place, standing = open_market(ctx, reader, market)
    meta = reader.token(place.asset)
    held, allowed = _ask_asset(reader, ctx.account, place)
    check_enough(meta, balance=held, needed=amount)
    _check_allowed(place, reader, allowed=allowed, needed=amount)
    [told] = reader.call_many([ReadCall(place.limit_router, NONCE, (ctx.account,))])
    now = max(int(ctx.now.timestamp()), reader.block.timestamp)
    ends_at, due_at = now + lasts_seconds, standing.market.expiry
    if ends_at >= due_at:
        raise OrderRefused(
            f"the order would stand longer than its market, which is over in {due_at - now} seconds",
            most_seconds=max(0, due_at - now - 1),
        )
    rate = int(Decimal(implied_apy) * WAD / 100)
    ln_rate = solve(lambda: to_ln_rate(rate))
    if ln_rate <= 0:
        raise OrderRefused(
            "a yearly rate has to be above nothing: 6.5 is six and a half percent", implied_apy=implied_apy
        )
    ctx.step("Building the order")
    terms = Terms(
        asset=place.asset,
        yt=place.yt,
        maker=ctx.account,
        amount=amount,
        ends_at=ends_at,
        nonce=int(told.values[0]),
        number=int(ctx.now.timestamp() * 10**6),
        ln_rate=ln_rate,
        fail_safe=least_shares(standing.market.index),
    )
    typed = type_order(terms, router=place.limit_router, chain_id=reader.chain_id)
    least = solve(lambda: least_claims(typed.message, due_at=due_at))
    check_price(place, paid=amount, worth=standing.worth_of_claims(place, least), most_bps=slippage_bps)
    order_hash = "0x" + hash_typed_data(typed).hex()
    return TxPlan(
        chain_id=reader.chain_id,
        calls=(),
        spends=(TokenFlow(meta, amount, amount),),
        action_class=ActionClass.INCREASE_POSITION,
        recipients=(ctx.account,),
        slippage_bps=slippage_bps,
        deadline=ends_at,
        changes=(claims_change(reader, place, standing, least, least),),
        statements=(Statement(place.limit_router, place.pt, "least bought", str(least)),),
        promise=typed,
        details={
            **describe(reader, place, standing),
            "amount": str(amount),
            "order_hash": order_hash,
            "order_apy": percent(rate, WAD),
            "least_pt": str(least),
            "price_now": format_units(price_of_claim(ln_rate, standing.market.seconds_left), 18),
            "ends_at": ends_at,
        },
    )


@pendle.write(
    action_type="pendle_cancel_limit_order",
    risk=RiskLayer.LOW,
    budget=TickBudget.MEDIUM,
    report=report_withdrawn,
    action_class=ActionClass.DECREASE_POSITION,
    steps=("Reading the order", "Building calls"),
    snippet="pendle_cancel_limit_order: take a limit order back on the chain; what was filled of it stays.",
    guidelines=("A filler may be quicker; pendle_get_limit_order says how much was filled.",),
)
def pendle_cancel_limit_order(ctx: WriteContext, order_hash: Bytes32) -> TxPlan:
    """Take back a limit order that this golem signed, so that nobody fills what is left of it.

    Use to end an order before its time. Does not undo a fill, nor take the approval back.
    """
    reader = ctx.chain()
    ctx.step("Reading the order")
    place, found = _find_order(ctx, reader, order_hash)
    rest, filled, is_withdrawn = _look_at(reader, found.typed)
    if not rest or is_withdrawn:
        raise OrderOver(f"nobody fills that order any more; {filled} base units of it were filled", filled=str(filled))
    ctx.step("Building calls")
    data = encode_call(CANCEL_ORDER, order_values(found.typed.message))
    return TxPlan(
        chain_id=reader.chain_id,
        calls=(Call(place.limit_router, data, 0, f"Take limit order {order_hash[:10]} back"),),
        action_class=ActionClass.DECREASE_POSITION,
        statements=(Statement(place.limit_router, order_hash, CANCELLED, place.yt),),
        details={"order_hash": order_hash},
    )


@dataclass(frozen=True, slots=True)
class OrderTold:
    """What became of an order. `status` is open, partly_filled, filled, cancelled or expired; an order that ended after
    a part of it was filled is filled, and `filled` says how much. `handed_in` is whether its desk took it.
    """

    order_hash: str
    market: str
    status: str
    amount_in: TokenAmount
    filled: TokenAmount
    left: TokenAmount
    implied_apy: str
    ends_at: int
    handed_in: bool
    note: str | None


@pendle.read(
    query="pendle_limit_order",
    budget=TickBudget.FAST,
    steps=("Reading the order",),
    snippet="pendle_get_limit_order: how much of a limit order that this golem signed was filled, from the chain.",
    guidelines=("What is left of an open order may be filled any moment.",),
)
def pendle_get_limit_order(ctx: ReadContext, order_hash: Bytes32) -> OrderTold:
    """What became of a limit order that this golem signed, as the chain says now.

    Use with the order_hash that the commit answered. Does not tell orders of others.
    """
    reader = ctx.chain()
    ctx.step("Reading the order")
    place, found = _find_order(ctx, reader, order_hash)
    message, meta = found.typed.message, reader.token(place.asset)
    rest, filled, is_withdrawn = _look_at(reader, found.typed)
    is_over = reader.block.timestamp >= message["expiry"]
    can_fill = bool(rest) and not is_withdrawn and not is_over
    ended = "filled" if filled else "cancelled" if not rest or is_withdrawn else "expired"
    return OrderTold(
        order_hash=order_hash,
        market=place.market,
        status=("partly_filled" if filled else "open") if can_fill else ended,
        amount_in=TokenAmount(message["makingAmount"], meta),
        filled=TokenAmount(filled, meta),
        left=TokenAmount(rest if can_fill else 0, meta),
        implied_apy=percent(yearly_rate(message["lnImpliedRate"]), WAD),
        ends_at=message["expiry"],
        handed_in=found.handed_in_at is not None,
        note=found.hand_in_error or None,
    )


def _find_order(ctx: ReadContext, reader: ChainReader, order_hash: str) -> tuple[Place, SignedOrder]:
    found = ctx.service(SignedOrders)(  # type: ignore[type-abstract]
        golem_id=ctx.golem.id, chain_id=reader.chain_id, name=order_hash
    )
    places = {each.limit_router: each for each in find_places(reader.chain_id)}
    place = places.get(found.typed.contract) if found is not None else None
    if found is None or place is None:
        raise OrderNotSigned(f"this golem signed no order {order_hash} for Pendle on chain {reader.chain_id}")
    return next(each for each in places.values() if each.yt == found.typed.message["YT"]), found


def _look_at(reader: ChainReader, typed: TypedData) -> tuple[int, int, bool]:
    return read_rest(typed, reader.call_many(PendlePromises().ask(typed)))


def _ask_asset(reader: ChainReader, account: str, place: Place) -> tuple[int, int]:
    """Base units of the asset that are held, and that the limit router may take."""
    held, allowed = reader.call_many(
        [erc20.balance_call(place.asset, account), erc20.allowance_call(place.asset, account, place.limit_router)]
    )
    return int(held.values[0]), int(allowed.values[0])


def _check_allowed(place: Place, reader: ChainReader, *, allowed: int, needed: int) -> None:
    if allowed < needed:
        token = reader.token(place.asset)
        raise OrderNeedsApproval(
            f"orders may take {format_units(allowed, token.decimals, token.symbol)} and this one gives "
            f"{format_units(needed, token.decimals, token.symbol)}",
            token=token.address,
            allowed=str(allowed),
            needed=str(needed),
            next={
                "action_type": "pendle_approve_limit_orders",
                "venue": NAME,
                "market": place.market,
                "amount": str(needed),
            },
        )
