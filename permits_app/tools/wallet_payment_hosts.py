"""`wallet_learn_payee` and `wallet_get_payment_hosts`: hosts that owners let a golem pay, and whom each is paid at."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Final, Literal

from django.db import transaction
from pydantic import Field

from permits_app.actions.carry_out_wish import carry_out_wish
from permits_app.actions.request_change import WISH
from permits_app.approvals.operations.payment_host import PAYEE
from permits_app.errors import PaymentHostCap, PaymentHostNotListed
from permits_app.limits.payment_hosts import sum_signed
from permits_app.models import ChangeRequest, PaymentHost
from permits_app.models.payment_host import HOST, find_host, list_hosts
from permits_app.tools.wallet import wallet
from tools_app.core import audit_log
from tools_app.core.clock import tell_time
from tools_app.core.errors import InvalidParams
from tools_app.core.stored_json import read_stored
from tools_app.standards.x402.host_asking import HostAsker
from tools_app.toolkit.capability import Capability
from tools_app.toolkit.context import ReadContext, WriteContext
from tools_app.toolkit.enums import ActionClass, RiskLayer, TickBudget
from tools_app.toolkit.params import PLAIN, ChainId
from tools_app.toolkit.payment_hosts import read_origin
from tools_app.toolkit.plan import LocalEffect
from tools_app.toolkit.result import TokenAmount

_MOST_TOLD: Final = 20
HostUrl = Annotated[
    str,
    Field(min_length=8, max_length=500, description="An address of the host that answers 402, as https://…"),
    PLAIN,
]
Method = Annotated[Literal["GET", "POST"], Field(description="How the address is asked.")]


@dataclass(frozen=True, slots=True)
class PayeeLearned:
    """Whom the host is paid at from now on."""

    host: str
    payee: str
    before: str | None


@dataclass(frozen=True, slots=True)
class _BoundPayee:
    """Of which host the preview saw which payee, in place of which."""

    host: int
    payee: str
    before: str


@dataclass(frozen=True, slots=True)
class HostTold:
    """One host: whom it is paid at (null while it was not asked), its caps, and what is left of 24 hours."""

    host: str
    chain_id: int
    token: str
    payee: str | None
    payee_since: str | None
    most: TokenAmount
    most_a_day: TokenAmount
    left: TokenAmount


@dataclass(frozen=True, slots=True)
class HostsTold:
    """Those that stand now, by their names."""

    hosts: tuple[HostTold, ...]


@wallet.read(
    budget=TickBudget.FAST,
    snippet="payment_hosts: which hosts your owners let you pay by x402, whom each is paid at, and what is left of it.",
    guidelines=("A host that is not here is paid only at an address of the allowlist.",),
)
def wallet_get_payment_hosts(ctx: ReadContext) -> HostsTold:
    """The hosts that this golem may pay, with their caps and whom they are paid at.

    Use before x402_pay. Does not ask the hosts, and lists none.
    """
    ctx.step("Reading the list")
    rows = list_hosts(ctx.golem.id).order_by("origin", "chain_id")[:_MOST_TOLD]
    return HostsTold(tuple(_tell(ctx, row) for row in rows))


def preview_learning(
    ctx: WriteContext, url: HostUrl, method: Method = "GET", chain_id: ChainId | None = None
) -> LocalEffect:
    """Whom the host says it is paid at; it is asked now. Raises PaymentHostNotListed, HostNotAsked, InvalidParams."""
    host = _find(ctx, url, chain_id)
    payee = ctx.service(HostAsker).ask_payee(url, method=method, chain_id=int(host.chain_id), token=host.token)
    if payee == ctx.golem.address:
        raise InvalidParams("the host says that it is paid at the golem's own account", fields={"url": "not another's"})
    if payee == host.payee:
        raise InvalidParams(f"{host.origin} is paid at {payee} already", fields={"url": "nothing to learn"})
    bound = {"host": host.pk, "payee": payee, "before": host.payee}
    if not host.payee:
        return LocalEffect(
            f"{host.origin} is paid at {payee}, as it answers itself, within its caps", bound, bound=bound
        )
    arguments = {"act": PAYEE, "chain_id": int(host.chain_id), "origin": host.origin, "payee": payee}
    return LocalEffect(
        f"asks the owners to have {host.origin} paid at {payee} instead of {host.payee}",
        {WISH: {"name": HOST, "arguments": arguments}},
        bound=bound,
        needs_owners=True,
    )


@wallet.local_write(
    budget=TickBudget.SLOW,
    in_database=True,
    risk=RiskLayer.BOUNDED,
    preview=preview_learning,
    action_class=ActionClass.READ_ONLY,
    snippet=(
        "learn_payee: have a host that your owners listed asked whom it is paid at; its first answer is kept, and"
        " another one later needs their approval."
    ),
    guidelines=("Once for each host; after that x402_pay takes that recipient for addresses of this host.",),
)
def wallet_learn_payee(
    ctx: WriteContext, capability: Capability, url: HostUrl, method: Method = "GET", chain_id: ChainId | None = None
) -> PayeeLearned:
    """Have a listed host asked whom it is paid at, and keep that.

    Use once before the first payment to a host, or where a payment was refused because its payee changed.
    Does not pay, does not list a host, and sends the host nothing but an empty request.
    """
    host = _find(ctx, url, chain_id)
    bound = read_stored(_BoundPayee, capability.bound)
    if (host.pk, host.payee) != (bound.host, bound.before):
        raise PaymentHostCap("the host's payee or its listing changed since the preview", origin=host.origin)
    ctx.step("Keeping the payee")
    with transaction.atomic():
        request = ChangeRequest.objects.filter(permit_id=capability.permit_id).first()
        if request is not None:
            carry_out_wish(request=request, now=ctx.now)
        elif not host.payee:
            PaymentHost.objects.filter(pk=host.pk, payee="").update(payee=bound.payee, payee_since=ctx.now)
        facts = {"host": host.origin, "chain_id": int(host.chain_id), "payee": bound.payee, "before": host.payee}
        audit_log.append(
            golem_id=ctx.golem.id, event="PayeeLearned", actor=f"golem:{ctx.golem.id}", data=facts, now=ctx.now
        )
    return PayeeLearned(host.origin, bound.payee, host.payee or None)


def _find(ctx: ReadContext, url: str, chain_id: int | None) -> PaymentHost:
    origin, chain = read_origin(url), chain_id or ctx.golem.home_chain_id
    host = find_host(ctx.golem.id, chain_id=chain, origin=origin)
    if host is None:
        raise PaymentHostNotListed(f"{origin or 'that'} is no host that this golem may pay on chain {chain}")
    return host


def _tell(ctx: ReadContext, row: PaymentHost) -> HostTold:
    meta = ctx.chain(int(row.chain_id)).token(row.token)
    left = max(0, int(row.most_a_day_raw) - sum_signed(row, now=ctx.now))
    return HostTold(
        host=row.origin,
        chain_id=int(row.chain_id),
        token=row.token,
        payee=row.payee or None,
        payee_since=tell_time(row.payee_since),
        most=TokenAmount(int(row.most_raw), meta),
        most_a_day=TokenAmount(int(row.most_a_day_raw), meta),
        left=TokenAmount(left, meta),
    )
