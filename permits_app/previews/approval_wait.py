"""Computes how long a call waits for owners and the Warden, and plans with a deadline that outlives it."""

from __future__ import annotations

from typing import Final

from django.conf import settings

from permits_app.approvals.approval_rules import NEEDS_OWNER
from permits_app.approvals.warden_announcements import delay_of, expected_wait_of, expects_warden
from permits_app.models import ActionPermit
from permits_app.models.permit import PermitStatus
from permits_app.safety.hook import HookCall
from permits_app.safety.risk_tier_of_call import classify_call
from tools_app.core.json_types import JsonObject
from tools_app.toolkit.enums import RiskTier

_DEADLINE: Final = "deadline"
_HOUR_SECONDS: Final = 3_600


def needs_owners(*, tier: RiskTier, call: HookCall) -> bool:
    """Whether owners have to agree first: to what is risky, and to every plan of a Safe that wants their signatures."""
    return tier in NEEDS_OWNER or (call.plan is not None and call.sent_by.waits_for_owners)


def list_missing(permit: ActionPermit) -> list[str]:
    """What a new permit still needs before it is executed: an owner's approval, the Warden's delay."""
    approval = ["approval"] if permit.status == PermitStatus.AWAITING_APPROVAL else []
    is_announced = expects_warden(permit.golem) and delay_of(permit)
    return [*approval, "delay"] if is_announced else approval


def find_wait(call: HookCall) -> int:
    """Seconds a call may wait for owners and the Warden before it is sent, where it has a deadline that has to cover
    them; 0 where it waits for nobody.
    """
    if call.plan is None or call.plan.deadline is None or not isinstance(call.params.get(_DEADLINE), int):
        return 0
    tier = classify_call(call)
    approval = settings.GOLEM_APPROVAL_HOURS * _HOUR_SECONDS if needs_owners(tier=tier, call=call) else 0
    delay = expected_wait_of(golem=call.golem, tier=tier)
    return approval + delay + settings.GOLEM_WARDEN_WINDOW_SECONDS if approval or delay else 0


def cover_wait(params: JsonObject, wait_seconds: int) -> dict[str, object]:
    """The parameters with a deadline on chain that counts from the moment the wait is over."""
    return {**params, _DEADLINE: params[_DEADLINE] + wait_seconds}
