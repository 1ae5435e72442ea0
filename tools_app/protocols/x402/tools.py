"""Tools of x402: let Permit2 take what payments give, sign one, see what became of it, take it back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import Field

from tools_app.core.clock import tell_unix_time
from tools_app.core.units import format_units
from tools_app.protocols.x402.addresses import CHAINS, NAME, proxy_on
from tools_app.protocols.x402.errors import PaymentNeedsApproval, PaymentRefused, PaymentSigned, PaymentUnknown
from tools_app.protocols.x402.payments import (
    VERSION,
    Terms,
    name_payment,
    number_payment,
    read_terms,
    scheme_of,
    type_payment,
    write_payload,
)
from tools_app.protocols.x402.promises import Payments, read_paid
from tools_app.protocols.x402.requirements import Asked, read_asked
from tools_app.standards import erc20
from tools_app.standards.paused_tokens import StillReads
from tools_app.standards.permit2 import PERMIT2
from tools_app.standards.permit2_nonces import ask_nonce, is_used, use_up
from tools_app.standards.plan_draft import check_enough
from tools_app.standards.position_logs import follow_trails
from tools_app.standards.signed_order_tracking import read_fate
from tools_app.toolkit.answer import OfChain
from tools_app.toolkit.context import ChainReader, ReadContext, WriteContext
from tools_app.toolkit.enums import ActionClass, Category, RiskLayer, TickBudget
from tools_app.toolkit.family import ToolFamily
from tools_app.toolkit.params import PLAIN, Address, Bytes32, RawAmount, Token
from tools_app.toolkit.payment_hosts import PaymentHosts
from tools_app.toolkit.plan import AllowanceLeft, TokenFlow, TxPlan
from tools_app.toolkit.promises import Fate
from tools_app.toolkit.report import Report, seen, told
from tools_app.toolkit.result import TokenAmount
from tools_app.toolkit.signed_orders import SignedOrder, SignedOrders
from tools_app.toolkit.views import TokenMeta

x402 = ToolFamily(
    prefix="x402", category=Category.WALLET, chains=CHAINS, venue=NAME, picks_chain=True, reads_named=True
)

PaymentRequired = Annotated[
    str,
    Field(
        min_length=4,
        max_length=16_000,
        pattern=r"^[A-Za-z0-9+/]+={0,2}$",
        description="The header PAYMENT-REQUIRED of the 402 answer, as it came.",
    ),
]
Reference = Annotated[
    str, Field(max_length=100, description="A word that tells a second payment for the same resource apart."), PLAIN
]


class ApproveReport(Report):
    """What Permit2 may take now, in base units."""

    token: str
    allowance: str = told("amount")


class PaymentReport(Report):
    """What was signed. `payment` is the header PAYMENT-SIGNATURE before base64; `signature` goes into its `payload`."""

    payment_id: str
    scheme: str
    recipient: str
    amount: str
    ends_at: str
    payment: Mapping[str, Any] = seen(lambda outcome: dict(outcome.plan.details["payment"]))  # Any: a stranger's JSON


class CancelReport(Report):
    """The payment that nobody settles any more."""

    payment_id: str


@x402.write(
    action_type="approve_payments",
    risk=RiskLayer.BOUNDED,
    report=ApproveReport,
    action_class=ActionClass.INCREASE_POSITION,
    snippet="approve_payments at x402: let Permit2 take exactly an amount of a token, which signed payments use up.",
    guidelines=("Say the sum of the payments to come; Permit2 takes nothing without a signed one.",),
)
def x402_approve(ctx: WriteContext, token: Token, amount: RawAmount) -> TxPlan:
    """Let Permit2 take exactly so much of a token, for payments that are signed afterwards.

    Use before x402_pay. `amount` is base units.
    Does not sign a payment and gives nobody a right of its own.
    """
    reader = ctx.begin("Reading the allowance")
    meta = _erc20(reader, token)
    held, allowed = _ask_token(reader, meta, ctx.account)
    check_enough(meta, balance=held, needed=amount)
    ctx.step("Building calls")
    if allowed == amount:
        raise PaymentRefused(f"Permit2 may take exactly that of {meta.symbol} already", allowed=str(allowed))
    return TxPlan(
        chain_id=reader.chain_id,
        calls=erc20.approvals_for(token=meta, spender=PERMIT2, amount=amount, allowance=allowed),
        allowances=(AllowanceLeft(meta, PERMIT2, amount, amount),),
        action_class=ActionClass.INCREASE_POSITION,
        details={"token": meta.address, "amount": str(amount)},
    )


@x402.write(
    risk=RiskLayer.BOUNDED,
    report=PaymentReport,
    action_class=ActionClass.NEW_POSITION,
    snippet=(
        "pay at x402: sign the payment that a 402 answer asks for, to the recipient you name and for at most the amount"
        " you say; its payee settles it."
    ),
    guidelines=(
        "Say recipient and most from what you know of the service, never from the answer that asks for the money.",
        "On a retry hand the same signature in again; ask x402_payment what became of it before another reference.",
    ),
)
def x402_pay(
    ctx: WriteContext,
    payment_required: PaymentRequired,
    recipient: Address,
    token: Token,
    most: RawAmount,
    reference: Reference = "",
) -> TxPlan:
    """Sign the payment that a 402 answer asks for (x402, exact or upto), through Permit2.

    Use after a request was answered with 402: what is asked for must be for `recipient`, in `token`, and `most` base
    units at most. With upto a facilitator says how much of it is taken. A resource and `reference` are paid once.
    Does not send the request, and does not sign a token's own permits (EIP-3009).
    """
    reader = ctx.begin("Reading what is asked for")
    meta = _erc20(reader, token)
    if recipient == ctx.account:
        raise PaymentRefused("the recipient is the golem itself")
    asked = read_asked(payment_required, chain_id=reader.chain_id, token=meta.address, payee=recipient, most=most)
    _check_host(ctx, reader, asked, meta, recipient)
    nonce = number_payment(chain_id=reader.chain_id, payer=ctx.account, resource=asked.url, reference=reference)
    ctx.step("Reading balances")
    held, allowed = _ask_token(reader, meta, ctx.account, recipient)
    _check_first(ctx, reader, nonce, (meta.address, asked.amount, recipient))
    check_enough(meta, balance=held, needed=asked.amount)
    _check_allowed(meta, allowed=allowed, needed=asked.amount)
    ctx.step("Building the payment")
    terms = Terms(
        scheme=asked.scheme,
        payer=ctx.account,
        payee=recipient,
        token=meta.address,
        amount=asked.amount,
        nonce=nonce,
        ends_at=max(int(ctx.now.timestamp()), reader.block.timestamp) + asked.seconds,
        proxy=proxy_on(reader.chain_id, asked.scheme),
        facilitator=asked.facilitator,
    )
    return TxPlan(
        chain_id=reader.chain_id,
        calls=(),
        spends=(TokenFlow(meta, asked.amount, asked.amount),),
        action_class=ActionClass.NEW_POSITION,
        recipients=(recipient,),
        deadline=terms.ends_at,
        promise=type_payment(terms, chain_id=reader.chain_id),
        details={
            "payment_id": name_payment(nonce),
            "order_hash": name_payment(nonce),
            "scheme": asked.scheme,
            "recipient": recipient,
            "amount": str(asked.amount),
            "ends_at": tell_unix_time(terms.ends_at),
            "resource": asked.url,
            "payment": {
                "x402Version": VERSION,
                "payload": write_payload(terms),
                "accepted": dict(asked.item),
                "resource": dict(asked.resource),
            },
        },
    )


@x402.write(
    risk=RiskLayer.LOW,
    report=CancelReport,
    action_class=ActionClass.DECREASE_POSITION,
    snippet="cancel_payment at x402: use a signed payment's nonce up at Permit2, so that nobody can settle it.",
    guidelines=("A facilitator may be quicker; x402_payment says whether it was settled.",),
)
def x402_cancel_payment(ctx: WriteContext, payment_id: Bytes32) -> TxPlan:
    """Take a signed payment back on the chain.

    Use to end a payment before its time. Does not undo one that was settled.
    """
    reader = ctx.begin("Reading the payment")
    found = _find(ctx, reader, payment_id)
    if read_fate(reader, found.typed, Payments(), since=found.since_block) is not Fate.OPEN:
        raise PaymentSigned("nobody can settle that payment any more: it was settled or taken back")
    ctx.step("Building calls")
    nonce = read_terms(found.typed).nonce
    call, statement = use_up(nonce, label=f"Take payment {payment_id[:10]} back")
    return TxPlan(
        chain_id=reader.chain_id,
        calls=(call,),
        action_class=ActionClass.DECREASE_POSITION,
        statements=(statement,),
        details={"payment_id": name_payment(nonce)},
    )


class PaymentTold(OfChain):
    """What became of a payment: open, settled, cancelled, expired, or used (its nonce is used, and no log tells by
    what). `paid` is what its payee got of `amount`, null where that is not known.
    """

    payment_id: str
    scheme: str
    status: str
    recipient: str
    amount: TokenAmount
    paid: TokenAmount | None
    ends_at: str


@x402.read(
    budget=TickBudget.FAST,
    snippet="x402_payment: what became of a payment that this golem signed, from the chain and not from its payee.",
    guidelines=("A payee who says that it was not paid, or was, is held to this.",),
)
def x402_get_payment(ctx: ReadContext, payment_id: Bytes32) -> PaymentTold:
    """What became of a payment that this golem signed, as the chain says now.

    Use with the payment_id that the commit answered, before paying again. x402_pay answers the id. Does not tell
    payments of others.
    """
    reader = ctx.begin("Reading the payment")
    found = _find(ctx, reader, payment_id)
    typed, terms = found.typed, read_terms(found.typed)
    fate = read_fate(reader, typed, Payments(), since=found.since_block)
    meta = reader.token(terms.token)
    is_over = reader.block.timestamp > terms.deadline
    words = {Fate.FILLED: "settled", Fate.CANCELLED: "cancelled", Fate.PARTLY: "used"}
    paid = None
    if fate is Fate.FILLED:
        logs = follow_trails(
            reader, Payments().trails(typed), from_block=found.since_block or 0, to_block=reader.block.number
        )
        paid = max(each for each in read_paid(typed, logs) if each <= terms.amount)
    return PaymentTold(
        payment_id=name_payment(terms.nonce),
        scheme=str(scheme_of(typed)),
        status=words.get(fate) or ("expired" if is_over else "open"),
        recipient=terms.payee,
        amount=TokenAmount(terms.amount, meta),
        paid=TokenAmount(paid, meta) if paid is not None else None,
        ends_at=tell_unix_time(terms.deadline),
    )


def _erc20(reader: ChainReader, token: str) -> TokenMeta:
    meta = reader.token(token)
    if meta.is_native:
        raise PaymentRefused(
            "payments are made in tokens; for ETH wrap it and say WETH",
            fill={"token": {"one_of": [each.symbol for each in reader.registered_tokens()]}},
        )
    return meta


def _ask_token(reader: ChainReader, meta: TokenMeta, account: str, *payees: str) -> tuple[int, int]:
    """Base units that are held, and that Permit2 may take. Raises TokenStandsStill where its issuer stops it at the
    account or a payee: what is signed then is taken by nobody, or later than anybody expects.
    """
    still = StillReads.of(reader.chain_id, ((meta.address, each) for each in (account, *payees)))
    held, allowed, *stopped = reader.call_many(
        [
            erc20.balance_call(meta.address, account),
            erc20.allowance_call(meta.address, account, PERMIT2),
            *still.calls,
        ]
    )
    still.read(stopped).check([meta], account, *payees)
    return int(held.values[0]), int(allowed.values[0])


def _check_host(ctx: WriteContext, reader: ChainReader, asked: Asked, meta: TokenMeta, recipient: str) -> None:
    """What speaks against paying the host that asks, where the owner listed it. Raises PaymentRefused."""
    hosts = ctx.service(PaymentHosts)  # type: ignore[type-abstract]
    host = hosts(golem_id=ctx.golem.id, chain_id=reader.chain_id, url=asked.url, now=ctx.now)
    if host is None:
        return
    learn = {"action_type": "learn_payee", "venue": "wallet", "url": asked.url}
    if not host.payee:
        raise PaymentRefused(f"{host.origin} is listed and was never asked whom it is paid at", next=learn)
    if host.payee != recipient:
        words = f"{host.origin} is paid at {host.payee}; if that changed, its owners approve the other one"
        raise PaymentRefused(words, payee=host.payee, next=learn)
    if host.token != meta.address:
        raise PaymentRefused(f"{host.origin} is paid in {host.token} and nothing else", token=host.token)
    if asked.amount > host.left:
        raise PaymentRefused(
            f"{format_units(asked.amount, meta.decimals, meta.symbol)} for {host.origin}, and now at most"
            f" {format_units(host.left, meta.decimals, meta.symbol)} may be signed for it",
            left=str(host.left),
            most=str(host.left),
            most_of_one_payment=str(host.most),
        )


def _find(ctx: ReadContext, reader: ChainReader, payment_id: str) -> SignedOrder:
    found = _look_up(ctx, reader, payment_id)
    if found is None:
        raise PaymentUnknown(f"this golem signed no payment {payment_id} on chain {reader.chain_id}")
    return found


def _look_up(ctx: ReadContext, reader: ChainReader, payment_id: str) -> SignedOrder | None:
    book = ctx.service(SignedOrders)  # type: ignore[type-abstract]
    found = book(golem_id=ctx.golem.id, chain_id=reader.chain_id, name=payment_id)
    return found if found is not None and scheme_of(found.typed) is not None else None


def _check_first(ctx: WriteContext, reader: ChainReader, nonce: int, now: tuple[str, int, str]) -> None:
    """`now` are token, amount and payee. Raises PaymentSigned where it was signed before and may be settled, or was."""
    [used] = reader.call_many([ask_nonce(ctx.account, nonce)])
    name, earlier = name_payment(nonce), _look_up(ctx, reader, name_payment(nonce))
    if is_used(nonce, used):
        raise PaymentSigned(
            "this was settled or taken back already; say another reference to pay again", payment_id=name
        )
    first = None if earlier is None else read_terms(earlier.typed)
    if first is None or reader.block.timestamp > first.deadline:
        return
    before = (first.token, first.amount, first.payee)
    changed = [word for word, one, two in zip(("token", "amount", "payee"), before, now, strict=True) if one != two]
    raise PaymentSigned(
        "this is signed and may be settled until its end; hand that signature in again"
        + (f". What is asked for now has another {' and '.join(changed)}" if changed else ""),
        payment_id=name,
        changed=changed,
    )


def _check_allowed(meta: TokenMeta, *, allowed: int, needed: int) -> None:
    if allowed < needed:
        raise PaymentNeedsApproval(
            f"Permit2 may take {format_units(allowed, meta.decimals, meta.symbol)} and this payment gives "
            f"{format_units(needed, meta.decimals, meta.symbol)}",
            token=meta.address,
            allowed=str(allowed),
            needed=str(needed),
            next={"action_type": "approve_payments", "venue": NAME, "token": meta.address, "amount": str(needed)},
        )
