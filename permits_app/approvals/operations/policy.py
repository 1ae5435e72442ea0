"""`policy`: loosen limits, cage or allowlist, or put an older version back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from archetypes_app.models import Golem
from permits_app.approval_errors import ChangeStale, ChangeUnchanged
from permits_app.approvals.operations.base import BeforeAndAfter, Proposal
from permits_app.approvals.policy_state import (
    apply_differences,
    diff_policy,
    find_moved,
    highest_tier,
    longest_wait,
    read_policy_changes,
    read_policy_state,
)
from permits_app.approvals.write_policy import write_policy
from tools_app.core.stored_json import read_stored


@dataclass(frozen=True, slots=True)
class _PolicyWish:
    """What an owner asks for, and what is kept of it: changes as `read_policy_changes` reads them."""

    changes: tuple[dict[str, object], ...]
    title: str = ""


class ChangePolicy:
    """`arguments`: `changes`, a list of `row`, `name`, `after`."""

    name = "policy"

    def propose(self, golem: Golem, arguments: Mapping[str, object]) -> Proposal:
        """The differences to the policy as it is now."""
        asked = read_stored(_PolicyWish, arguments)
        before = read_policy_state(golem)
        found = diff_policy(before, apply_differences(before, asked.changes))
        if not found:
            raise ChangeUnchanged("the policy is so already")
        lines = tuple(
            BeforeAndAfter(each.words, each.shown_before, each.shown_after, "loosens" if each.loosens else "tightens")
            for each in found
        )
        title = asked.title or f"Loosen {found[0].words.split(' (')[0].lower()}"
        if len(found) > 1 and not asked.title:
            title = f"{title} and {len(found) - 1} more"
        # At stake is what it adds; what could be lost before is no part of the decision.
        money = [each for each in found if each.name.endswith("_micro_usd") and each.loosens]
        value = max((int(each.after or 0) - int(each.before or 0) for each in money), default=0)
        return Proposal(
            title=title[:200],
            change={"changes": [each.as_dict() for each in found]},
            differences=lines,
            risk_tier=highest_tier(found),
            cooling_seconds=longest_wait(found),
            value_micro_usd=value,
        )

    def check_current(self, golem: Golem, change: Mapping[str, object]) -> None:
        """Every column still has the value the change starts from."""
        moved = find_moved(read_policy_state(golem), read_policy_changes(read_stored(_PolicyWish, change).changes))
        if moved is not None:
            raise ChangeStale(f"{moved.name} was changed since", field=moved.name)

    def apply(
        self, *, golem: Golem, change: Mapping[str, object], actor: str, reason: str, now: datetime
    ) -> dict[str, object]:
        """Write the rows and keep a version."""
        version = write_policy(
            golem=golem, changes=read_stored(_PolicyWish, change).changes, actor=actor, reason=reason, now=now
        )
        return {"policy_version": str(version.number)}
