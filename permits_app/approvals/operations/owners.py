"""`owners`: who co-owns a golem, and so who decides with its owner."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.contrib.auth import get_user_model

from archetypes_app.actions.change_role import write_roles
from archetypes_app.models import Golem
from archetypes_app.roles import Role
from permits_app.approval_errors import ChangeStale, ChangeUnchanged
from permits_app.approvals.approval_rules import COOLING_LARGE_SECONDS
from permits_app.approvals.holdings_at_stake import read_stake
from permits_app.approvals.operations.base import BeforeAndAfter, Proposal
from tools_app.core import audit_log
from tools_app.core.errors import InvalidParams
from tools_app.core.stored_json import read_stored
from tools_app.toolkit.enums import RiskTier


@dataclass(frozen=True, slots=True)
class _OwnersArguments:
    """User names of those who shall co-own it."""

    co_owners: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _OwnersChange:
    """What was asked for, as its request keeps it: user names, in order."""

    before: list[str]
    after: list[str]


class ChangeOwners:
    """`arguments`: `co_owners`, user names of living staff accounts."""

    name = "owners"

    def propose(self, golem: Golem, arguments: Mapping[str, object]) -> Proposal:
        """From the co-owners it has to those asked for."""
        before = _list_names(golem)
        after = sorted(set(read_stored(_OwnersArguments, arguments).co_owners))
        known = _find_people(after)
        unknown = [name for name in after if name not in known or name == golem.owner.get_username()]
        if unknown:
            raise InvalidParams(f"no other owner's account is called {unknown[0]!r}", fields={"co_owners": "unknown"})
        if before == after:
            raise ChangeUnchanged("these are its co-owners already")
        line = BeforeAndAfter(
            "Co-owners",
            ", ".join(before) or "none",
            ", ".join(after) or "none",
            "they see and decide what the owner does",
        )
        return Proposal(
            "Change who co-owns it",
            {"before": before, "after": after},
            (line,),
            RiskTier.CRITICAL,
            cooling_seconds=COOLING_LARGE_SECONDS,
            value_micro_usd=read_stake(golem),
        )

    def check_current(self, golem: Golem, change: Mapping[str, object]) -> None:
        """They are still who they were."""
        if _list_names(golem) != read_stored(_OwnersChange, change).before:
            raise ChangeStale("its co-owners changed since")

    def apply(
        self, *, golem: Golem, change: Mapping[str, object], actor: str, reason: str, now: datetime
    ) -> dict[str, object]:
        """Set them; appends OwnersChanged. Who co-owns it no longer has no other role in it either."""
        kept = read_stored(_OwnersChange, change)
        people = _find_people(kept.after)
        leaving = [person for person in golem.co_owners.all() if person.get_username() not in people]
        coming = [person for name, person in people.items() if name not in kept.before]
        roles = {**dict.fromkeys(leaving, None), **dict.fromkeys(coming, Role.ADMINISTRATOR)}
        write_roles(golem=golem, roles=roles, actor=actor, reason=reason, now=now)
        facts = {"from": kept.before, "to": sorted(people), "reason": reason}
        audit_log.append(golem_id=golem.pk, event="OwnersChanged", actor=actor, data=facts, now=now)
        return {"co_owners": sorted(people)}


def _list_names(golem: Golem) -> list[str]:
    return sorted(person.get_username() for person in golem.co_owners.all())


def _find_people(names: list[str]) -> dict[str, Any]:  # Any: accounts, whose model is a setting of Django's
    found = get_user_model()._default_manager.filter(username__in=names, is_active=True, is_staff=True)
    return {person.get_username(): person for person in found}
