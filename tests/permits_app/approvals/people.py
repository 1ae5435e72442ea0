"""Owners with a second factor, for tests: codes are made from the device's own key, each used once."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from django_otp.oath import TOTP
from django_otp.plugins.otp_totp.models import TOTPDevice

from archetypes_app.models import Golem
from permits_app.actions.execute_change import execute_change
from permits_app.doors.decide_change import decide_change
from permits_app.models import ChangeRequest
from permits_app.models.approval import Verdict
from tests import factories
from tests.passing_time import let_pass_until
from tools_app.core import clock

if TYPE_CHECKING:
    from tests.evm.world import World


def make_owner_with_device(*, name: str) -> Any:
    """An owner's account with a confirmed second factor."""
    owner = factories.make_owner(name=name)
    give_device(owner)
    return owner


def give_device(owner: Any) -> TOTPDevice:
    """A confirmed device for `owner`."""
    device: TOTPDevice = TOTPDevice.objects.create(user=owner, name="approvals", confirmed=True)
    return device


def next_code(owner: Any) -> str:
    """What the owner's authenticator shows now; the device forgets that it saw one in this half minute before."""
    TOTPDevice.objects.filter(user=owner).update(last_t=-1, drift=0, throttling_failure_count=0)
    return current_code(owner)


def current_code(owner: Any) -> str:
    """What the owner's authenticator shows now: it goes by the machine's time, and so does what reads its codes."""
    device = TOTPDevice.objects.get(user=owner, confirmed=True)
    totp = TOTP(device.bin_key, device.step, device.t0, device.digits)
    totp.time = time.time()
    return f"{totp.token():06d}"


def later_code(owner: Any) -> str:
    """What the authenticator shows next; accepted already, for a person who used this half minute's code."""
    device = TOTPDevice.objects.get(user=owner, confirmed=True)
    totp = TOTP(device.bin_key, device.step, device.t0, device.digits)
    totp.time = time.time() + device.step
    return f"{totp.token():06d}"


def share(golem: Golem, *people: Any) -> Golem:
    """Make `people` co-owners."""
    golem.co_owners.add(*people)
    return golem


def approve(request: ChangeRequest, owner: Any, **changes: Any) -> ChangeRequest:
    """`owner` approves what they see, with a fresh code."""
    given: dict[str, Any] = {"reason": "", "seen_digest": request.digest, "now": clock.now(), **changes}
    if "code" not in given:
        has_device = TOTPDevice.objects.filter(user=owner, confirmed=True).exists()
        given["code"] = next_code(owner) if has_device else ""
    return decide_change(request_id=request.pk, owner=owner, verdict=Verdict.APPROVE, **given)


def carry_out(request: ChangeRequest, *, chain: World | None = None) -> ChangeRequest:
    """What was approved has waited for as long as it must, and a worker carries it out."""
    request.refresh_from_db()
    execute_change(request_id=request.pk, now=let_pass_until(request.executes_at, chain=chain))
    return ChangeRequest.objects.select_related("permit", "golem").get(pk=request.pk)


def reject(request: ChangeRequest, owner: Any, reason: str = "not now") -> ChangeRequest:
    """`owner` rejects."""
    return decide_change(
        request_id=request.pk,
        owner=owner,
        verdict=Verdict.REJECT,
        reason=reason,
        code="",
        seen_digest=request.digest,
        now=clock.now(),
    )
