"""`role`: another role of a person in a golem. What takes away and decides nothing needs no request (`lower_role`)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.contrib.auth import get_user_model

from archetypes_app.actions.change_role import write_role
from archetypes_app.models import Golem
from archetypes_app.ownership import find_role
from archetypes_app.roles import ROLE_WORDS, Role, counts_for_decisions
from permits_app.approval_errors import ChangeStale, ChangeUnchanged
from permits_app.approvals.approval_rules import COOLING_LARGE_SECONDS, COOLING_SMALL_SECONDS
from permits_app.approvals.holdings_at_stake import read_stake
from permits_app.approvals.operations.base import BeforeAndAfter, Proposal
from tools_app.core.errors import InvalidParams
from tools_app.core.stored_json import read_stored
from tools_app.toolkit.enums import RiskTier

NO_ROLE = "NONE"


@dataclass(frozen=True, slots=True)
class _RoleArguments:
    """Whose role, and which one."""

    person: str
    role: str


@dataclass(frozen=True, slots=True)
class _RoleChange:
    """What was asked for, as its request keeps it: the account's id, and both roles."""

    person: str
    before: str
    after: str


class ChangeRole:
    """`arguments`: `person`, a user name with a role in the golem; `role`, one of `Role` or NONE."""

    name = "role"

    def propose(self, golem: Golem, arguments: Mapping[str, object]) -> Proposal:
        """From the role they have. Raises InvalidParams, ChangeUnchanged."""
        asked = read_stored(_RoleArguments, arguments)
        person = _find_person(golem, asked.person)
        after, before = _read_role(asked.role), find_role(golem, person)
        if before is after:
            raise ChangeUnchanged(f"{person} has this role already")
        decides = counts_for_decisions(before) or counts_for_decisions(after)
        line = BeforeAndAfter(
            f"Role of {person}", _spell(before), _spell(after), ROLE_WORDS[after] if after else "sees nothing any more"
        )
        return Proposal(
            f"Make {person} {_spell(after)}" if after else f"Take the role of {person} away",
            {"person": str(person.pk), "before": _write(before), "after": _write(after)},
            (line,),
            RiskTier.CRITICAL if decides else RiskTier.HIGH,
            cooling_seconds=COOLING_LARGE_SECONDS if decides else COOLING_SMALL_SECONDS,
            value_micro_usd=read_stake(golem) if decides else 0,
        )

    def check_current(self, golem: Golem, change: Mapping[str, object]) -> None:
        """The person still has the role it starts from."""
        kept = read_stored(_RoleChange, change)
        person = get_user_model()._default_manager.filter(pk=kept.person, is_active=True).first()
        if person is None or _write(find_role(golem, person)) != kept.before:
            raise ChangeStale("the person's role changed since")

    def apply(
        self, *, golem: Golem, change: Mapping[str, object], actor: str, reason: str, now: datetime
    ) -> dict[str, object]:
        """Set it; appends RoleChanged."""
        kept = read_stored(_RoleChange, change)
        person = get_user_model()._default_manager.get(pk=kept.person)
        write_role(golem=golem, person=person, to=_read_role(kept.after), actor=actor, reason=reason, now=now)
        return {"role": kept.after}


def _find_person(golem: Golem, name: str) -> Any:  # Any: an account, whose model is a setting of Django's
    person = get_user_model()._default_manager.filter(username=name, is_active=True, is_staff=True).first()
    if person is None or find_role(golem, person) is None:
        raise InvalidParams(f"nobody called {name!r} has a role here; invite them first", fields={"person": "unknown"})
    if person.pk == golem.owner_id:
        raise InvalidParams("its owner stays its owner", fields={"person": "is the owner"})
    return person


def _read_role(text: str) -> Role | None:
    if text == NO_ROLE:
        return None
    try:
        return Role(text)
    except ValueError:
        raise InvalidParams(f"{text!r} is no role", fields={"role": "unknown"}) from None


def _write(role: Role | None) -> str:
    return role.value if role else NO_ROLE


def _spell(role: Role | None) -> str:
    return role.value.lower() if role else "nobody"
