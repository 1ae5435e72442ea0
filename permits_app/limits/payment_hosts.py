"""What a golem may sign for hosts that its owners listed: to whom, in what token, and up to which caps.

A host is no recipient of the allowlist: its payee may be paid by a promise for that host, within its caps, and by no
transfer. The day's cap is judged where the promise is stored, under the golem's lock, so that two never share it.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from permits_app.errors import PaymentHostCap
from permits_app.limits.policy import Policy
from permits_app.models import PaymentHost, SignedPromise
from permits_app.models.allowlist import AllowlistKind
from permits_app.models.payment_host import find_host
from permits_app.models.signed_promise import PromiseState
from tools_app.toolkit.payment_hosts import HostTerms, read_origin
from tools_app.toolkit.plan import TxPlan

RESOURCE: Final = "resource"
"""Where the details of a plan name what its promise pays for."""
_DAY: Final = timedelta(hours=24)


def tell_terms(*, golem_id: UUID, chain_id: int, url: str, now: datetime) -> HostTerms | None:
    """What the owners allowed of a host, for tools that sign for it."""
    host = find_host(golem_id, chain_id=chain_id, origin=read_origin(url))
    if host is None:
        return None
    most, left = int(host.most_raw), max(0, int(host.most_a_day_raw) - sum_signed(host, now=now))
    return HostTerms(host.origin, host.token, host.payee, most, min(most, left))


def find_paid_host(golem_id: UUID, plan: TxPlan) -> PaymentHost | None:
    """The listed host that what `plan` promises pays for; None where it pays for none."""
    if plan.promise is None or RESOURCE not in plan.details:
        return None
    return find_host(golem_id, chain_id=plan.chain_id, origin=read_origin(str(plan.details[RESOURCE])))


def list_allowed(policy: Policy, *, golem_id: UUID, plan: TxPlan | None) -> frozenset[tuple[str, str]]:
    """The golem's allowlist on the plan's chain, with the payee of the host where the plan pays no more than that."""
    if plan is None:
        return frozenset()
    listed = policy.allowlist_on(plan.chain_id)
    host = find_paid_host(golem_id, plan)
    if host is None or not host.payee or _find_fault(host, plan):
        return listed
    return listed | {(str(AllowlistKind.RECIPIENT), host.payee)}


def hold_to_host(row: SignedPromise, plan: TxPlan, *, now: datetime) -> None:
    """Under the golem's lock, before `row` is stored: within the caps of the host it pays for, which it then names.

    Raises PaymentHostCap.
    """
    host = find_paid_host(row.golem_id, plan)
    if host is None:
        return
    fault = _find_fault(host, plan)
    if fault:
        raise PaymentHostCap(fault, origin=host.origin)
    amount, left = plan.spends[0].bound, int(host.most_a_day_raw) - sum_signed(host, now=now)
    if amount > left:
        raise PaymentHostCap(
            f"{amount} base units, and {max(0, left)} of {host.most_a_day_raw} are left of what may be signed for"
            f" {host.origin} in 24 hours",
            origin=host.origin,
            left=str(max(0, left)),
        )
    row.payment_host = host


def sum_signed(host: PaymentHost, *, now: datetime) -> int:
    """Base units of what was signed for the host within 24 hours and was not taken back or let end."""
    counted = SignedPromise.objects.filter(
        payment_host=host, state__in=(PromiseState.OPEN, PromiseState.FILLED), created_at__gt=now - _DAY
    )
    return sum(int(each["raw"]) for gives in counted.values_list("gives", flat=True) for each in gives)


def _find_fault(host: PaymentHost, plan: TxPlan) -> str:
    """Why this is no payment as the owners listed the host for; empty where it is."""
    if len(plan.spends) != 1 or plan.spends[0].token.address != host.token:
        return f"{host.origin} is paid in {host.token} and nothing else"
    if host.payee and plan.recipients != (host.payee,):
        return f"{host.origin} is paid at {host.payee}"
    if plan.spends[0].bound > host.most_raw:
        return f"{plan.spends[0].bound} base units, more than the {host.most_raw} of one payment for {host.origin}"
    return ""
