"""Tools of Pendle's limit orders: let them take what they give, sign one, see what became of it, take it back."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import Annotated, Final, Literal

from pydantic import AfterValidator, BeforeValidator, Field

from tools_app.chain.abi import encode_call
from tools_app.chain.typed_hash import hash_typed_data
from tools_app.core.json_types import JsonObject
from tools_app.core.units import format_units
from tools_app.protocols.pendle.addresses import NAME, Place, find_places
from tools_app.protocols.pendle.errors import OrderNeedsApproval, OrderNotSigned, OrderOver, OrderRefused
from tools_app.protocols.pendle.family import pendle
from tools_app.protocols.pendle.limit_orders import (
    FIELDS,
    ORDER,
    Side,
    Terms,
    fail_safe,
    least_out,
    order_values,
    price_at,
    read_order,
    to_ln_rate,
    type_order,
)
from tools_app.protocols.pendle.market_maths import WAD, yearly_rate
from tools_app.protocols.pendle.market_state import Standing
from tools_app.protocols.pendle.plan_parts import (
    check_held,
    check_price,
    claims_change,
    describe,
    of_yields,
    open_market,
    percent,
    solve,
    yields_change,
)
from tools_app.protocols.pendle.promises import NONCE, PendlePromises, read_rest
from tools_app.protocols.pendle.signatures import CANCEL_ORDER
from tools_app.standards import erc20
from tools_app.standards.plan_draft import check_enough
from tools_app.toolkit.answer import Told
from tools_app.toolkit.canonical_param_values import spell_decimal
from tools_app.toolkit.context import ChainReader, ReadCall, ReadContext, WriteContext
from tools_app.toolkit.enums import ActionClass, RiskLayer, TickBudget
from tools_app.toolkit.params import Bytes32, ContractAddress, RawAmount, SlippageBps, check_whole
from tools_app.toolkit.plan import AllowanceLeft, Call, Statement, TokenFlow, TxPlan
from tools_app.toolkit.positions import PositionChange
from tools_app.toolkit.report import Report, told
from tools_app.toolkit.result import TokenAmount
from tools_app.toolkit.signed_orders import SignedOrder, SignedOrders
from tools_app.toolkit.typed_data import TypedData
from tools_app.toolkit.views import TokenMeta

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
Given = Annotated[Literal["asset", "pt", "yt"], Field(description="What orders give: asset buys, pt and yt are sold.")]
Wish = Annotated[
    Literal["buy_pt", "sell_pt", "sell_yt"], Field(description="buy_pt gives the asset, sell_pt PT, sell_yt YT.")
]
CANCELLED: Final = "order taken back"


class Approved(Report):
    """What the limit router may take now, in base units."""

    token: str = told("asset")
    allowance: str = told("amount")


class Placed(Report):
    """What was signed. `amount_in` is base units of `token_in` that it gives, `least_out` those of `token_out` that a
    whole fill brings at least; `ends_at` is Unix seconds, and `price_now` what one PT or YT costs in it at once.
    """

    order_hash: str
    side: str
    token_in: str
    amount_in: str = told("amount")
    token_out: str
    least_out: str
    implied_apy: str = told("order_apy")
    price_now: str
    ends_at: int
    status: str = "open"


class Withdrawn(Report):
    """The order that nobody fills any more."""

    order_hash: str


@pendle.write(
    action_type="pendle_approve_limit_orders",
    schema_version=2,
    risk=RiskLayer.BOUNDED,
    report=Approved,
    action_class=ActionClass.INCREASE_POSITION,
    snippet="pendle_approve_limit_orders: let Pendle's limit router take exactly an amount of the asset, PT or YT.",
    guidelines=(
        "It stands until orders used it up; without a signed order nothing is taken. Say the sum of all orders.",
    ),
)
def pendle_approve_limit_orders(
    ctx: WriteContext, market: ContractAddress, amount: RawAmount, gives: Given = "asset"
) -> TxPlan:
    """Let Pendle's limit router take exactly so much of what orders give, before they are signed.

    Use before pendle_place_limit_order: the asset for orders that buy, PT or YT for those that sell. `amount` is base
    units of it.
    Does not sign an order, and gives nobody a right of its own.
    """
    reader = ctx.chain()
    place, _ = open_market(ctx, reader, market)
    meta = reader.token({"asset": place.asset, "pt": place.pt, "yt": place.yt}[gives])
    ctx.step("Reading the allowance")
    held, allowed = _ask_token(reader, ctx.account, meta.address, place)
    _check_there(place, meta, held=held, needed=amount)
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
    schema_version=2,
    risk=RiskLayer.BOUNDED,
    budget=TickBudget.SLOW,
    report=Placed,
    action_class=ActionClass.INCREASE_POSITION,
    snippet="pendle_place_limit_order: sign an order that buys PT, or sells PT or YT, at a yearly rate; not sent.",
    guidelines=(
        "It is filled whole, in parts or never; what it gives is reserved until it ends. Cancel it to be free of it.",
    ),
)
def pendle_place_limit_order(
    ctx: WriteContext,
    market: ContractAddress,
    amount: RawAmount,
    implied_apy: YearlyPercent,
    side: Wish = "buy_pt",
    lasts_seconds: LastsSeconds = 86_400,
    slippage_bps: SlippageBps = 100,
) -> TxPlan:
    """Sign a limit order that gives `amount` of the asset, PT or YT at `implied_apy` percent a year, such as 6.5.

    Use to wait for a better rate than the market's. Refused where it loses more than `slippage_bps` against the average
    of fifteen minutes; what is sold counts as if shares doubled in a year meanwhile and fell half a percent below now.
    Beyond that a fill brings less, as what it sells is worth less. The product follows it, and a halt cancels it.
    pendle_get_markets lists markets. Does not send a transaction, trade in the market, or promise that anybody fills
    it.
    """
    asked = _Asked(Side[side.upper()], market, amount, implied_apy, lasts_seconds, slippage_bps)
    return _plan_order(ctx, asked)


@pendle.write(
    action_type="pendle_place_yt_bid",
    risk=RiskLayer.UNBOUNDED,
    budget=TickBudget.SLOW,
    report=Placed,
    action_class=ActionClass.INCREASE_POSITION,
    snippet="pendle_place_yt_bid: sign a limit order that buys YT with the asset at a yearly rate; nothing is sent.",
    guidelines=("Yield tokens count as nothing: everything that the order gives counts as spent.",),
)
def pendle_place_yt_bid(
    ctx: WriteContext,
    market: ContractAddress,
    amount: RawAmount,
    implied_apy: YearlyPercent,
    lasts_seconds: LastsSeconds = 86_400,
    slippage_bps: SlippageBps = 100,
) -> TxPlan:
    """Sign a limit order that gives `amount` of the asset for yield tokens (YT) at `implied_apy` percent a year.

    Use to bet on a yield at a lower rate than the market's. Everything that it gives may be lost. The product follows
    it to its end, pendle_get_limit_order tells of it, and a halt cancels it.
    Does not send a transaction, or promise that anybody fills it.
    """
    return _plan_order(ctx, _Asked(Side.BUY_YT, market, amount, implied_apy, lasts_seconds, slippage_bps))


@pendle.write(
    action_type="pendle_cancel_limit_order",
    risk=RiskLayer.LOW,
    report=Withdrawn,
    action_class=ActionClass.DECREASE_POSITION,
    snippet="pendle_cancel_limit_order: take a limit order back on the chain; what was filled of it stays.",
    guidelines=("A filler may be quicker; pendle_get_limit_order says how much was filled.",),
)
def pendle_cancel_limit_order(ctx: WriteContext, order_hash: Bytes32) -> TxPlan:
    """Take back a limit order that this golem signed, so that nobody fills what is left of it.

    Use to end an order before its time. Does not undo a fill, nor take the approval back.
    """
    reader = ctx.begin("Reading the order")
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


class OrderTold(Told):
    """What became of an order. `side` is buy_pt, sell_pt, buy_yt or sell_yt, `status` open, partly_filled, filled,
    cancelled or expired; an order that ended after a part of it was filled is filled, and `filled` says how much.
    `handed_in` is whether its desk took it.
    """

    order_hash: str
    market: str
    side: str
    status: str
    amount_in: TokenAmount
    filled: TokenAmount
    left: TokenAmount
    implied_apy: str
    ends_at: int
    handed_in: bool
    note: str | None


@pendle.read(
    budget=TickBudget.FAST,
    snippet="pendle_get_limit_order: how much of a limit order that this golem signed was filled, from the chain.",
    guidelines=("What is left of an open order may be filled any moment.",),
)
def pendle_get_limit_order(ctx: ReadContext, order_hash: Bytes32) -> OrderTold:
    """What became of a limit order that this golem signed, as the chain says now.

    Use with the order_hash that the commit answered. pendle_place_limit_order answers the hash. Does not tell orders of
    others.
    """
    reader = ctx.begin("Reading the order")
    place, found = _find_order(ctx, reader, order_hash)
    order = read_order(found.typed)
    side = Side(order.order_type)
    meta = reader.token(side.gives(place))
    rest, filled, is_withdrawn = _look_at(reader, found.typed)
    is_over = reader.block.timestamp >= order.expiry
    can_fill = bool(rest) and not is_withdrawn and not is_over
    ended = "filled" if filled else "cancelled" if not rest or is_withdrawn else "expired"
    return OrderTold(
        order_hash=order_hash,
        market=place.market,
        side=side.name.lower(),
        status=("partly_filled" if filled else "open") if can_fill else ended,
        amount_in=TokenAmount(order.making_amount, meta),
        filled=TokenAmount(filled, meta),
        left=TokenAmount(rest if can_fill else 0, meta),
        implied_apy=percent(yearly_rate(order.ln_implied_rate), WAD),
        ends_at=order.expiry,
        handed_in=found.handed_in_at is not None,
        note=found.hand_in_error or None,
    )


def _find_order(ctx: ReadContext, reader: ChainReader, order_hash: str) -> tuple[Place, SignedOrder]:
    found = ctx.service(SignedOrders)(  # type: ignore[type-abstract]
        golem_id=ctx.golem.id, chain_id=reader.chain_id, name=order_hash
    )
    signed_for = None
    if found is not None and dict(found.typed.types) == {ORDER: FIELDS}:
        signed_for = (found.typed.contract, read_order(found.typed).yt)
    place = next((each for each in find_places(reader.chain_id) if (each.limit_router, each.yt) == signed_for), None)
    if found is None or place is None:
        raise OrderNotSigned(f"this golem signed no order {order_hash} for Pendle on chain {reader.chain_id}")
    return place, found


def _look_at(reader: ChainReader, typed: TypedData) -> tuple[int, int, bool]:
    return read_rest(typed, reader.call_many(PendlePromises().ask(typed)))


@dataclass(frozen=True, slots=True)
class _Asked:
    """An order as an agent wants it."""

    side: Side
    market: str
    amount: int
    implied_apy: str
    lasts_seconds: int
    slippage_bps: int


def _plan_order(ctx: WriteContext, asked: _Asked) -> TxPlan:
    reader, side, amount = ctx.chain(), asked.side, asked.amount
    place, standing = open_market(ctx, reader, asked.market)
    given = reader.token(side.gives(place))
    held, allowed = _ask_token(reader, ctx.account, given.address, place)
    _check_there(place, given, held=held, needed=amount)
    _check_allowed(place, given, allowed=allowed, needed=amount)
    [told] = reader.call_many([ReadCall(place.limit_router, NONCE, (ctx.account,))])
    ends_at = max(int(ctx.now.timestamp()), reader.block.timestamp) + asked.lasts_seconds
    _check_end(ends_at, asked, due_at=standing.market.expiry)
    rate = int(Decimal(asked.implied_apy) * WAD / 100)
    ln_rate = solve(lambda: to_ln_rate(rate))
    if ln_rate <= 0:
        raise OrderRefused(
            "a yearly rate has to be above nothing: 6.5 is six and a half percent",
            implied_apy=asked.implied_apy,
            fill={"implied_apy": {"least": "0.01", "unit": "percent a year"}},
        )
    ctx.step("Building the order")
    terms = Terms(
        side=side,
        asset=place.asset,
        yt=place.yt,
        maker=ctx.account,
        amount=amount,
        made_at=reader.block.timestamp,
        ends_at=ends_at,
        nonce=int(told.values[0]),
        number=int(ctx.now.timestamp() * 10**6),
        ln_rate=ln_rate,
        fail_safe=fail_safe(side, index=standing.market.index),
    )
    typed = type_order(terms, router=place.limit_router, chain_id=reader.chain_id)
    least = solve(lambda: least_out(read_order(typed), due_at=standing.market.expiry))
    _check_fair(place, standing, asked, least)
    flows, change, said = _describe_fill(reader, place, standing, asked, least)
    return TxPlan(
        chain_id=reader.chain_id,
        calls=(),
        action_class=ActionClass.INCREASE_POSITION,
        recipients=(ctx.account,),
        slippage_bps=asked.slippage_bps,
        deadline=ends_at,
        changes=(change,),
        statements=(said,),
        promise=typed,
        details={
            **describe(reader, place, standing),
            "side": side.name.lower(),
            "token_in": given.address,
            "amount": str(amount),
            "token_out": side.takes(place),
            "least_out": str(least),
            "order_hash": "0x" + hash_typed_data(typed).hex(),
            "order_apy": percent(rate, WAD),
            "price_now": format_units(price_at(side, ln_rate, standing.market.seconds_left), 18),
            "ends_at": ends_at,
        },
        **flows,
    )


def _check_end(ends_at: int, asked: _Asked, *, due_at: int) -> None:
    if ends_at >= due_at:
        left = due_at - (ends_at - asked.lasts_seconds)
        raise OrderRefused(
            f"the order would stand longer than its market, which is over in {left} seconds",
            most_seconds=max(0, left - 1),
            fill={"lasts_seconds": {"most": max(0, left - 1), "unit": "seconds"}},
        )


def _check_fair(place: Place, standing: Standing, asked: _Asked, least: int) -> None:
    """Raises WorseThanAverage where a fill loses more against the average than is accepted."""
    side, most = asked.side, asked.slippage_bps
    traded = least if side.buys else asked.amount
    worth = standing.worth_of_claims(place, traded) if side.is_of_claims else standing.market_of_yields(traded)
    paid, worth = (asked.amount, worth) if side.buys else (worth, least)
    check_price(place, paid=paid, worth=worth, most_bps=most if side.is_of_claims else of_yields(standing, most))


def _describe_fill(
    reader: ChainReader, place: Place, standing: Standing, asked: _Asked, least: int
) -> tuple[JsonObject, PositionChange, Statement]:
    """What a whole fill moves: flows of the asset, the change of the position, and the words that say how much."""
    side, asset = asked.side, reader.token(place.asset)
    traded = least if side.buys else -asked.amount
    if side.is_of_claims:
        change = claims_change(reader, place, standing, traded, least if side.buys else None)
    else:
        change = yields_change(reader, place, traded, traded)
    token, word = (side.takes(place), "least bought") if side.buys else (side.gives(place), "most sold")
    flows: dict[str, object] = (
        {"spends": (TokenFlow(asset, asked.amount, asked.amount),)}
        if side.buys
        else {"receives": (TokenFlow(asset, least, least),)}
    )
    return flows, change, Statement(place.limit_router, token, word, str(abs(traded)))


def _ask_token(reader: ChainReader, account: str, token: str, place: Place) -> tuple[int, int]:
    """Base units of it that are held, and that the limit router may take."""
    held, allowed = reader.call_many(
        [erc20.balance_call(token, account), erc20.allowance_call(token, account, place.limit_router)]
    )
    return int(held.values[0]), int(allowed.values[0])


def _check_there(place: Place, token: TokenMeta, *, held: int, needed: int) -> None:
    """Raises InsufficientBalance, and TooFewHeld for PT and YT."""
    if token.address == place.asset:
        check_enough(token, balance=held, needed=needed)
    else:
        check_held(place, held, needed, token.symbol)


def _check_allowed(place: Place, token: TokenMeta, *, allowed: int, needed: int) -> None:
    if allowed < needed:
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
                "gives": {place.pt: "pt", place.yt: "yt"}.get(token.address, "asset"),
                "amount": str(needed),
            },
        )
