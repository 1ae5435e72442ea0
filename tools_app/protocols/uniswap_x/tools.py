"""Tools of UniswapX: approve what orders may take, sign one, see what became of it, take it back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Final, Literal

from pydantic import AfterValidator, BeforeValidator, Field

from tools_app.core.errors import InvalidParams
from tools_app.core.units import format_units
from tools_app.protocols.uniswap_x.addresses import (
    CHAINS,
    DUTCH_V2,
    DUTCH_V3,
    LIMIT,
    NAME,
    PRIORITY,
    deployments,
    reactor_on,
)
from tools_app.protocols.uniswap_x.errors import (
    OrderDeskMissing,
    OrderIsOver,
    OrderNeedsApproval,
    OrderRefused,
    OrderUnknown,
)
from tools_app.protocols.uniswap_x.orders import KINDS, ZERO, hash_order, kind_of, open_order, type_order
from tools_app.protocols.uniswap_x.promises import UniswapXPromises
from tools_app.standards import erc20
from tools_app.standards.paused_tokens import StillReads
from tools_app.standards.permit2 import PERMIT2
from tools_app.standards.permit2_nonces import ask_nonce, is_used, use_up
from tools_app.standards.plan_draft import check_enough
from tools_app.standards.signed_order_tracking import read_fate, read_permit
from tools_app.toolkit.answer import Told
from tools_app.toolkit.context import ChainReader, ReadContext, WriteContext
from tools_app.toolkit.enums import ActionClass, Category, RiskLayer, TickBudget
from tools_app.toolkit.family import ToolFamily
from tools_app.toolkit.order_desks import OrderDesk, OrderDesks
from tools_app.toolkit.params import RawAmount, RawAmountOrZero, SlippageBps, Token, check_whole
from tools_app.toolkit.plan import AllowanceLeft, TokenFlow, TxPlan
from tools_app.toolkit.promises import Fate
from tools_app.toolkit.report import Report, told
from tools_app.toolkit.result import TokenAmount
from tools_app.toolkit.signed_orders import SignedOrder, SignedOrders
from tools_app.toolkit.views import TokenMeta

BPS: Final = 10_000
AFTER_DECAY_SECONDS: Final = 60
"""An auction's last price stands for so long."""
_PREFERRED: Final = (DUTCH_V2, PRIORITY, DUTCH_V3)
_BLOCKS_LOOKED_AT: Final = 100
_MOST_CURVE_BLOCKS: Final = 2**16 - 1

OrderKind = Annotated[
    Literal["auto", "dutch_v2", "dutch_v3", "priority", "limit"],
    Field(description="auto takes the chain's own auction; limit stands at one price until its time is over."),
]
DecayStart = Annotated[
    int,
    Field(ge=0, le=600, description="Seconds from now at which the price begins to fall."),
    BeforeValidator(check_whole),
]
DecayEnd = Annotated[
    int,
    Field(ge=1, le=3_600, description="Seconds from now at which it reaches its worst."),
    BeforeValidator(check_whole),
]
LastsSeconds = Annotated[
    int,
    Field(ge=60, le=604_000, description="For a limit order: seconds it stands, up to about a week."),
    BeforeValidator(check_whole),
]
OrderHash = Annotated[
    str,
    Field(pattern=r"^0x[0-9a-fA-F]{64}$", description="The order's hash or EIP-712 digest, as the commit answered."),
    AfterValidator(str.lower),
]
OrderNonce = Annotated[
    str,
    Field(pattern=r"^(0|[1-9][0-9]{0,77})$", description="The order's nonce at Permit2, which uniswapx_order tells."),
]

uniswap_x = ToolFamily(prefix="uniswap", category=Category.TRADING, chains=CHAINS, venue=NAME, picks_chain=True)


class ApproveReport(Report):
    """What Permit2 may take now, in base units."""

    token: str
    allowance: str = told("amount")


class OrderReport(Report):
    """What was signed. `start_amount` and `end_amount` are base units of what it brings, at first and at worst."""

    order_hash: str
    order_type: str
    status: str
    deadline: int
    start_amount: str
    end_amount: str


class CancelReport(Report):
    """The nonce that is used up."""

    nonce: str


@uniswap_x.write(
    action_type="approve_order_token",
    risk=RiskLayer.BOUNDED,
    report=ApproveReport,
    action_class=ActionClass.INCREASE_POSITION,
    aliases=("uniswap_approve_token",),
    snippet="approve_order_token at uniswap_x: let Permit2 take exactly an amount of a token, which orders then spend.",
    guidelines=("It lasts until orders used it up or it is taken back; Permit2 takes nothing without a signed order.",),
)
def uniswap_approve_uniswapx(ctx: WriteContext, token: Token, amount: RawAmount) -> TxPlan:
    """Let Permit2 take exactly so much of a token, for orders that are signed afterwards.

    Use before uniswap_submit_uniswapx_order. Does not sign an order and gives nobody a right of its own.
    """
    reader = ctx.begin("Reading the allowance")
    meta = _erc20(reader, token)
    held, allowed = reader.call_many(
        [erc20.balance_call(meta.address, ctx.account), erc20.allowance_call(meta.address, ctx.account, PERMIT2)]
    )
    check_enough(meta, balance=int(held.values[0]), needed=amount)
    ctx.step("Building calls")
    now = int(allowed.values[0])
    if now == amount:
        raise OrderRefused(f"Permit2 may take exactly that of {meta.symbol} already; sign the order", allowed=str(now))
    return TxPlan(
        chain_id=reader.chain_id,
        calls=erc20.approvals_for(token=meta, spender=PERMIT2, amount=amount, allowance=now),
        allowances=(AllowanceLeft(meta, PERMIT2, amount, amount),),
        action_class=ActionClass.INCREASE_POSITION,
        details={"token": meta.address, "amount": str(amount)},
    )


@uniswap_x.write(
    action_type="submit_order",
    risk=RiskLayer.BOUNDED,
    report=OrderReport,
    action_class=ActionClass.INCREASE_POSITION,
    aliases=("uniswap_api_submit_order",),
    snippet=(
        "submit_order at uniswap_x: sign a gasless order that fillers carry out; its price falls from the feeds' to the"
        " worst that is said, or stands (limit). Needs approve_order_token first."
    ),
    guidelines=(
        "The worst that is said counts until the order ends: it is reserved, and may be filled any moment.",
        "Taking the approval back ends no order; cancel it with uniswap_cancel_uniswapx_order.",
    ),
)
def uniswap_submit_uniswapx_order(
    ctx: WriteContext,
    token_in: Token,
    token_out: Token,
    amount: RawAmount,
    decay_start_time: DecayStart = 10,
    decay_end_time: DecayEnd = 120,
    slippage_bps: SlippageBps = 50,
    order_type: OrderKind = "auto",
    limit_amount_out: RawAmountOrZero = 0,
    lasts_seconds: LastsSeconds = 86_400,
) -> TxPlan:
    """Sign an order that gives `amount` of one token for another; fillers carry it out, or nobody does.

    An auction begins at the price of the feeds and ends `slippage_bps` below it. A limit order brings
    `limit_amount_out` or nothing. Use where gas is dear, or the price may be waited for.
    The product follows it to its end, and a halt cancels it. It is handed in at the desk that the operator set, such as
    the Trading API's; its terms are this server's, and nobody's quote is signed.
    Does not send a transaction, and does not promise that anybody fills it.
    """
    reader = ctx.begin("Reading prices")
    sold, bought = _erc20(reader, token_in), _erc20(reader, token_out)
    if sold.address == bought.address:
        raise OrderRefused("an order gives one token for another; both are the same")
    key = _choose(reader.chain_id, order_type)
    kind, is_limit = KINDS[key], key == LIMIT
    if is_limit == (limit_amount_out == 0):
        raise OrderRefused("limit_amount_out is what a limit order brings, and said for a limit order alone")
    if not is_limit and decay_end_time <= decay_start_time:
        raise OrderRefused("decay_end_time has to be after decay_start_time")
    fair = 0 if is_limit else _fair(reader, sold, bought, amount)
    start = limit_amount_out if is_limit else fair
    end = limit_amount_out if is_limit else fair * (BPS - slippage_bps) // BPS
    if end <= 0:
        raise OrderRefused(f"that is worth less than one base unit of {bought.symbol}")
    ctx.step("Reading balances")
    still = StillReads.of(reader.chain_id, ((each.address, ctx.account) for each in (sold, bought)))
    held, allowed, *stopped = reader.call_many(
        [
            erc20.balance_call(sold.address, ctx.account),
            erc20.allowance_call(sold.address, ctx.account, PERMIT2),
            *still.calls,
        ]
    )
    still.read(stopped).check((sold, bought), ctx.account)
    check_enough(sold, balance=int(held.values[0]), needed=amount)
    _check_allowed(sold, allowed=int(allowed.values[0]), needed=amount)
    ctx.step("Building the order")
    now = max(int(ctx.now.timestamp()), reader.block.timestamp)
    deadline = now + (lasts_seconds if is_limit else decay_end_time + AFTER_DECAY_SECONDS)
    info = {
        "reactor": reactor_on(reader.chain_id, key),
        "swapper": ctx.account,
        "nonce": int(ctx.now.timestamp() * 10**6),
        "deadline": deadline,
        "additionalValidationContract": ZERO,
        "additionalValidationData": "0x",
    }
    desk = _find_desk(ctx, reader.chain_id) if kind.is_cosigned else None
    terms = _Terms(sold, bought, amount, start, end, ctx.account, now, decay_start_time, decay_end_time, deadline)
    order = _write_order(reader, key, info, terms, desk.cosigner if desk is not None else "")
    typed = type_order(kind, order, chain_id=reader.chain_id)
    # A priority order has no start: what fillers pay for the block comes on top of its least.
    begins = end if key == PRIORITY else start
    return TxPlan(
        chain_id=reader.chain_id,
        calls=(),
        spends=(TokenFlow(sold, amount, amount),),
        receives=(TokenFlow(bought, begins, end),),
        action_class=ActionClass.INCREASE_POSITION,
        recipients=(ctx.account,),
        slippage_bps=None if is_limit else slippage_bps,
        deadline=deadline,
        promise=typed,
        details={
            "order_hash": hash_order(typed),
            "order_type": kind.wire,
            "status": "open",
            "deadline": deadline,
            "start_amount": str(begins),
            "end_amount": str(end),
        },
    )


@uniswap_x.write(
    action_type="cancel_order",
    risk=RiskLayer.LOW,
    report=CancelReport,
    action_class=ActionClass.DECREASE_POSITION,
    schema_version=2,
    snippet="cancel_order at uniswap_x: use an order's nonce up at Permit2, so that nobody can fill it any more.",
    guidelines=("A filler may be quicker; only its end, as it is followed, says whether it was filled.",),
)
def uniswap_cancel_uniswapx_order(
    ctx: WriteContext, order_hash: OrderHash | None = None, nonce: OrderNonce | None = None
) -> TxPlan:
    """Take an order back by its hash, or by its nonce, which Permit2 then takes from nobody.

    Use to end an order before its time. Does not undo a fill and does not take the approval back.
    """
    if (order_hash is None) == (nonce is None):
        text = "one of the two is needed: order_hash, or the order's nonce"
        raise InvalidParams(text, fields={"order_hash": text, "nonce": text})
    reader = ctx.begin("Reading the order")
    named = nonce if order_hash is None else read_permit(_find_signed(ctx, reader, order_hash).typed).nonce
    number = int(named or 0)
    (told,) = reader.call_many([ask_nonce(ctx.account, number)])
    if is_used(number, told):
        raise OrderIsOver(f"the order of nonce {number} is over: it was filled or cancelled", nonce=str(number))
    ctx.step("Building calls")
    call, statement = use_up(number, label=f"Cancel the order of nonce {number}")
    return TxPlan(
        chain_id=reader.chain_id,
        calls=(call,),
        action_class=ActionClass.DECREASE_POSITION,
        statements=(statement,),
        details={"nonce": str(number)},
    )


class OrderStatus(Told):
    """What `uniswap_get_uniswapx_order_status` answers.

    `status` is pending (no desk took it yet), open, filled, cancelled, expired or used (its nonce is used, and no log
    tells by what).
    """

    order_hash: str
    order_type: str
    status: str
    deadline: int
    amount_in: TokenAmount
    least_amount_out: TokenAmount
    nonce: str
    handed_in: bool
    note: str | None


@uniswap_x.read(
    query="uniswapx_order",
    budget=TickBudget.FAST,
    snippet="uniswapx_order: what became of an order that this golem signed, from the chain.",
    guidelines=("An order whose approval was taken back is open still: given again, it can be filled.",),
)
def uniswap_get_uniswapx_order_status(ctx: ReadContext, order_hash: OrderHash) -> OrderStatus:
    """What became of an order that this golem signed: open, filled, cancelled or expired, as the chain says now.

    Use with the order_hash that the commit answered. uniswap_submit_uniswapx_order answers the hash. Does not tell
    orders of others, nor who may fill it.
    """
    reader = ctx.chain()
    found = _find_signed(ctx, reader, order_hash)
    kind = kind_of(found.typed)
    if kind is None:
        raise OrderUnknown(f"what this golem signed as {order_hash} is no order of UniswapX")
    typed = found.typed
    permit, sides = read_permit(typed), open_order(typed).sides
    fate = read_fate(reader, typed, UniswapXPromises(), since=found.since_block)
    is_over = reader.block.timestamp > permit.deadline
    words = {Fate.FILLED: "filled", Fate.CANCELLED: "cancelled", Fate.PARTLY: "used"}
    is_waiting = found.handed_in_at is None and bool(found.hand_in_error)
    status = words.get(fate) or ("expired" if is_over else "pending" if is_waiting else "open")
    brings = sides.brings[0].amount
    return OrderStatus(
        order_hash=hash_order(typed),
        order_type=kind.wire,
        status=status,
        deadline=permit.deadline,
        amount_in=TokenAmount(sides.gives.amount.most, reader.token(sides.gives.amount.token)),
        least_amount_out=TokenAmount(brings.least, reader.token(brings.token)),
        nonce=str(permit.nonce),
        handed_in=found.handed_in_at is not None,
        note=found.hand_in_error or None,
    )


def _find_signed(ctx: ReadContext | WriteContext, reader: ChainReader, order_hash: str) -> SignedOrder:
    """What the golem signed under this hash. Raises OrderUnknown."""
    found = ctx.service(SignedOrders)(  # type: ignore[type-abstract]
        golem_id=ctx.golem.id, chain_id=reader.chain_id, name=order_hash
    )
    if found is None or kind_of(found.typed) is None:
        raise OrderUnknown(
            f"this golem signed no order {order_hash} on chain {reader.chain_id}", next={"query": "promises"}
        )
    return found


@dataclass(frozen=True, slots=True)
class _Terms:
    """What an order says, in base units and Unix seconds."""

    sold: TokenMeta
    bought: TokenMeta
    amount: int
    start: int
    end: int
    account: str
    now: int
    decay_start: int
    decay_end: int
    deadline: int


def _write_order(
    reader: ChainReader, key: str, info: dict[str, object], terms: _Terms, cosigner: str
) -> dict[str, object]:
    output = {
        "token": terms.bought.address,
        "startAmount": terms.start,
        "endAmount": terms.end,
        "recipient": terms.account,
    }
    if key == LIMIT:
        return {
            "info": info,
            "decayStartTime": terms.now,
            "decayEndTime": terms.deadline,
            "exclusiveFiller": ZERO,
            "exclusivityOverrideBps": 0,
            "inputToken": terms.sold.address,
            "inputStartAmount": terms.amount,
            "inputEndAmount": terms.amount,
            "outputs": [output],
        }
    if key == DUTCH_V2:
        return {
            "info": info,
            "cosigner": cosigner,
            "baseInputToken": terms.sold.address,
            "baseInputStartAmount": terms.amount,
            "baseInputEndAmount": terms.amount,
            "baseOutputs": [output],
        }
    if key == PRIORITY:
        return {
            "info": info,
            "cosigner": cosigner,
            "auctionStartBlock": reader.block.number,
            "baselinePriorityFeeWei": 0,
            "input": {"token": terms.sold.address, "amount": terms.amount, "mpsPerPriorityFeeWei": 0},
            "outputs": [
                {
                    "token": terms.bought.address,
                    "amount": terms.end,
                    "mpsPerPriorityFeeWei": 1,
                    "recipient": terms.account,
                }
            ],
        }
    blocks = _count_blocks(reader, terms.decay_end - terms.decay_start)
    flat = {"relativeBlocks": 0, "relativeAmounts": []}
    falling = {"relativeBlocks": blocks, "relativeAmounts": [terms.start - terms.end]}
    return {
        "info": info,
        "cosigner": cosigner,
        "startingBaseFee": 0,
        "baseInput": {
            "token": terms.sold.address,
            "startAmount": terms.amount,
            "curve": flat,
            "maxAmount": terms.amount,
            "adjustmentPerGweiBaseFee": 0,
        },
        "baseOutputs": [
            {
                "token": terms.bought.address,
                "startAmount": terms.start,
                "curve": falling,
                "recipient": terms.account,
                "minAmount": terms.end,
                "adjustmentPerGweiBaseFee": 0,
            }
        ],
    }


def _count_blocks(reader: ChainReader, seconds: int) -> int:
    """How many blocks so many seconds are, as the last hundred went."""
    back = min(_BLOCKS_LOOKED_AT, reader.block.number)
    gone = reader.block.timestamp - reader.block_at(reader.block.number - back).timestamp if back else 0
    return max(1, min(_MOST_CURVE_BLOCKS, seconds * back // gone if gone > 0 else seconds))


def _choose(chain_id: int, wanted: str) -> str:
    known = deployments(chain_id) or {}
    if wanted != "auto":
        reactor_on(chain_id, wanted)
        return wanted
    return next((key for key in _PREFERRED if key in known), DUTCH_V2)


def _find_desk(ctx: WriteContext, chain_id: int) -> OrderDesk:
    desks = ctx.services.get(OrderDesks)
    desk = desks.find(NAME, chain_id) if isinstance(desks, OrderDesks) else None
    if desk is None or not desk.cosigner:
        raise OrderDeskMissing(
            f"nobody is set who co-signs auctions on chain {chain_id}; a limit order needs nobody", chain_id=chain_id
        )
    return desk


def _erc20(reader: ChainReader, ref: str) -> TokenMeta:
    meta = reader.token(ref)
    if meta.is_native:
        raise OrderRefused(f"orders give and bring ERC-20 tokens; wrap {meta.symbol} first", token=meta.symbol)
    return meta


def _fair(reader: ChainReader, sold: TokenMeta, bought: TokenMeta, amount: int) -> int:
    """Base units of `bought` that `amount` is worth at the feeds. Raises PriceUnavailable, PriceStale."""
    given, wanted = reader.price(sold), reader.price(bought)
    worth: int = amount * given.answer * 10 ** (bought.decimals + wanted.decimals)
    return worth // (wanted.answer * 10 ** (sold.decimals + given.decimals))


def _check_allowed(token: TokenMeta, *, allowed: int, needed: int) -> None:
    if allowed < needed:
        raise OrderNeedsApproval(
            f"Permit2 may take {format_units(allowed, token.decimals, token.symbol)} and the order gives "
            f"{format_units(needed, token.decimals, token.symbol)}",
            token=token.address,
            allowed=str(allowed),
            needed=str(needed),
            next={"action_type": "approve_order_token", "venue": NAME, "token": token.address, "amount": str(needed)},
        )
