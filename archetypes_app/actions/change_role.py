"""Write down a person's role in a golem. Appends RoleChanged."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.db import transaction

from archetypes_app.errors import RoleNeedsApproval
from archetypes_app.models import Golem, GolemMember
from archetypes_app.owner_group import ensure_member_group, ensure_owner_group
from archetypes_app.ownership import find_role
from archetypes_app.roles import Role, holds_at_once
from tools_app.core import audit_log
from tools_app.core.whole import whole


@whole
def lower_role(*, golem: Golem, person: Any, to: Role | None, by: Any, now: datetime) -> None:
    """Take away a role, or a part of it, at once. Raises RoleNeedsApproval for what its owners decide."""
    with transaction.atomic():
        locked = Golem.objects.select_for_update(no_key=True).get(pk=golem.pk)
        if not holds_at_once(find_role(locked, person), to):
            raise RoleNeedsApproval("only taking a role away that decides nothing holds at once")
        write_role(golem=locked, person=person, to=to, actor=f"owner:{by.pk}", reason="", now=now)


def write_role(*, golem: Golem, person: Any, to: Role | None, actor: str, reason: str, now: datetime) -> None:
    """Set it, whatever it was; joins the caller's transaction, with `golem` locked. None takes every role away."""
    before = find_role(golem, person)
    golem.co_owners.remove(person)
    GolemMember.objects.filter(golem=golem, person=person).delete()
    if to is Role.ADMINISTRATOR:
        golem.co_owners.add(person)
        person.groups.add(ensure_owner_group())
    elif to is not None:
        GolemMember.objects.create(golem=golem, person=person, role=to.value, since=now)
        person.groups.add(ensure_member_group())
    data = {
        "person": str(person.pk),
        "from": before.value if before else "none",
        "to": to.value if to else "none",
        "reason": reason,
    }
    audit_log.append(golem_id=golem.pk, event="RoleChanged", actor=actor, data=data, now=now)
