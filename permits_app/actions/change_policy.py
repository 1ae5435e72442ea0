"""change_policy: what an owner wants of limits, cage or allowlist. Tightening holds at once; loosening asks owners."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import transaction

from archetypes_app.models import Golem
from permits_app.actions.request_change import request_operation
from permits_app.approval_errors import ChangeUnchanged
from permits_app.approvals.golem_setup import is_in_setup
from permits_app.approvals.operations.cage import find_mirror, write_rule
from permits_app.approvals.policy_state import PolicyDifference, apply_differences, diff_policy, read_policy_state
from permits_app.approvals.write_policy import write_policy
from permits_app.models import ChangeRequest, PolicyVersion
from permits_app.models.approval import LIVE_STATES
from permits_app.permits.row_locks import lock_settings
from permits_app.policy_cage.contract import Limit, limit_rule
from permits_app.policy_cage.mirror import COLUMNS, MIRRORED
from tools_app.core.transaction_retry import retry_aborted

_FLAGS = ("True", "False")


@dataclass(frozen=True, slots=True)
class PolicyOutcome:
    """What took effect at once, and the request that was opened for the rest."""

    applied: tuple[PolicyDifference, ...]
    request: ChangeRequest | None


def compare_policy(*, golem: Golem, changes: Sequence[Mapping[str, object]]) -> tuple[PolicyDifference, ...]:
    """What `changes` (`row`, `name`, `after`) would change now; in a golem's set-up nothing loosens."""
    before = read_policy_state(golem)
    return diff_policy(before, apply_differences(before, changes))


def change_policy(
    *,
    golem: Golem,
    changes: Sequence[Mapping[str, object]],
    owner: Any,  # Any: whoever is signed in, of the project's user model
    reason: str,
    now: datetime,
    title: str = "",
) -> PolicyOutcome:
    """Apply what tightens, or everything while the golem is set up; open one request for what loosens.

    What follows a contract, looser or tighter, is asked of the owners of its Safe, and what loosens here with it. No
    transaction may be open. Raises ChangeUnchanged, NotAnOwner, ReasonNeeded, CageHasNoSafe, and what a node raises.
    """
    found = compare_policy(golem=golem, changes=changes)
    if not found:
        raise ChangeUnchanged("the policy is so already")
    on_chain = list_mirrored(golem, found)
    free = is_in_setup(golem)
    at_once = tuple(each for each in found if each not in on_chain and (free or not each.loosens))
    waiting = [each.as_dict() for each in found if each not in at_once and each not in on_chain]
    if on_chain:
        if at_once:
            # First, or it would make the request stale.
            write_policy(
                golem=golem,
                changes=[each.as_dict() for each in at_once],
                actor=f"owner:{owner.pk}",
                reason=reason,
                now=now,
            )
        arguments = {
            "act": "propose",
            "rules": [_as_rule(each) for each in on_chain],
            "policy": waiting,
            "title": title,
        }
        asked = request_operation(golem=golem, name="cage", arguments=arguments, owner=owner, reason=reason, now=now)
        return PolicyOutcome(at_once, asked)
    return _write_and_ask(golem, at_once, waiting, title, owner, reason, now)


@retry_aborted
def _write_and_ask(
    golem: Golem,
    at_once: Sequence[PolicyDifference],
    waiting: Sequence[Mapping[str, object]],
    title: str,
    owner: Any,  # Any: whoever is signed in, of the project's user model
    reason: str,
    now: datetime,
) -> PolicyOutcome:
    with transaction.atomic():
        lock_settings(golem.pk)
        # An equal request that waits is counted on, after what is written at once was told.
        list(
            ChangeRequest.objects.select_for_update(no_key=True, of=("self",))
            .filter(golem=golem, state__in=LIVE_STATES)
            .order_by("pk")
            .values_list("pk")
        )
        if at_once:
            write_policy(
                golem=golem,
                changes=[each.as_dict() for each in at_once],
                actor=f"owner:{owner.pk}",
                reason=reason,
                now=now,
            )
        request: ChangeRequest | None = None
        if waiting:
            request = request_operation(
                golem=golem,
                name="policy",
                arguments={"changes": list(waiting), "title": title},
                owner=owner,
                reason=reason,
                now=now,
            )
    return PolicyOutcome(tuple(at_once), request)


def list_mirrored(golem: Golem, found: Sequence[PolicyDifference]) -> list[PolicyDifference]:
    """Those of `found` that change in the contract behind the golem's cage; none without one."""
    if find_mirror(golem) is None:
        return []
    return [each for each in found if each.row == "cage" and each.name in MIRRORED]


def _as_rule(each: PolicyDifference) -> dict[str, str]:
    limit = COLUMNS.get(each.name, Limit.ALLOWS_ARBITRARY_CALLS)
    return write_rule(limit_rule(limit, int(each.after == "True" if each.after in _FLAGS else each.after or 0)))


def roll_back_policy(
    *,
    golem: Golem,
    version: PolicyVersion,
    owner: Any,  # Any: whoever is signed in, of the project's user model
    reason: str,
    now: datetime,
) -> PolicyOutcome:
    """Put an older version back, as any change: what loosens waits for the owners. Raises as change_policy."""
    found = diff_policy(read_policy_state(golem), version.policy)
    return change_policy(
        golem=golem,
        changes=[each.as_dict() for each in found],
        owner=owner,
        reason=reason,
        now=now,
        title=f"Put policy version {version.number} back",
    )
