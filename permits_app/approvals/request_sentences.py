"""Says in one line what a request asks for, and why an announced action will be refused."""

from __future__ import annotations

from archetypes_app.phases import is_allowed
from archetypes_app.toolset import resolve_toolset
from permits_app.approvals.operations.base import read_shown
from permits_app.limits.policy import read_policy
from permits_app.models import ActionPermit, ChangeRequest, SpendingLimits
from tools_app.toolkit.enums import LEAVING, ActionClass, Phase
from tools_app.wording.address_names import name_addresses
from tools_app.wording.formats import format_usd

_LONGEST = 180


def describe_asked(request: ChangeRequest) -> str:
    """Its title, and what becomes of what: `Loosen per 24 h: $2,000.00 becomes $25,000.00`; addresses by name."""
    lines = read_shown(request.shown).differences
    if not lines:
        return str(request.title)
    first = lines[0]
    told = f"{request.title}: {first.before or 'nothing'} becomes {first.after or 'nothing'}"
    named = " ".join(name_addresses(told, request.golem.home_chain_id).split())
    return named if len(named) <= _LONGEST else f"{named[: _LONGEST - 1]}…"


def foresee_refusal(permit: ActionPermit) -> str:
    """Why an announced permit will be refused when it is due, as far as rows tell; empty where nothing speaks against
    it. It is judged anew then in any case.
    """
    golem = permit.golem
    limits = SpendingLimits.objects.filter(golem=golem).first() or SpendingLimits(golem=golem)
    if golem.is_halted:
        return "the golem is halted"
    if permit.value_micro_usd > limits.per_transaction_micro_usd:
        return f"it moves more than {format_usd(limits.per_transaction_micro_usd)}, the limit of one transaction now"
    if permit.value_micro_usd > limits.per_day_micro_usd:
        return f"it moves more than {format_usd(limits.per_day_micro_usd)}, the limit of a day now"
    kind = ActionClass(permit.action_class) if permit.action_class else None
    # Whether what leaves comes back to the golem is measured when it is due, and then no phase refuses it.
    if kind is not None and kind not in LEAVING and not is_allowed(Phase(golem.phase), kind):
        return f"phase {golem.phase.lower()} does not allow it"
    if permit.policy_hash and read_policy(golem=golem, toolset=resolve_toolset(golem)).hash != permit.policy_hash:
        return "rules changed since it was announced; it is judged by the new ones and may be refused"
    return ""
