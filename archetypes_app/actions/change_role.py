"""Write down a person's role in a golem, and revoke the keys of who may no longer make any. Appends RoleChanged."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.db import transaction

from archetypes_app.actions.revoke_api_key import end_key, record_end
from archetypes_app.errors import RoleNeedsApproval
from archetypes_app.models import ApiKey, Golem, GolemMember
from archetypes_app.owner_group import ensure_member_group, ensure_owner_group
from archetypes_app.ownership import find_role
from archetypes_app.roles import POWERS, Power, Role, holds_at_once
from tools_app.core import audit_log
from tools_app.core.transaction_retry import retry_aborted


@retry_aborted
def lower_role(
    *,
    golem: Golem,
    person: Any,  # Any: which model accounts have is a setting
    to: Role | None,
    by: Any,  # Any: which model accounts have is a setting
    now: datetime,
) -> int:
    """Take away a role, or a part of it, at once; how many keys were revoked. Raises RoleNeedsApproval for what its
    owners decide.
    """
    with transaction.atomic():
        locked = Golem.objects.select_for_update(no_key=True).get(pk=golem.pk)
        if not holds_at_once(find_role(locked, person), to):
            raise RoleNeedsApproval("only taking a role away that decides nothing holds at once")
        return write_role(golem=locked, person=person, to=to, actor=f"owner:{by.pk}", reason="", now=now)


def write_role(
    *,
    golem: Golem,
    person: Any,  # Any: which model accounts have is a setting
    to: Role | None,
    actor: str,
    reason: str,
    now: datetime,
) -> int:
    """One person's role, as `write_roles`."""
    return write_roles(golem=golem, roles={person: to}, actor=actor, reason=reason, now=now)


def write_roles(
    *,
    golem: Golem,
    roles: Mapping[Any, Role | None],  # Any: which model accounts have is a setting
    actor: str,
    reason: str,
    now: datetime,
) -> int:
    """Set them by person, whatever they were; how many keys were revoked. None takes every role away.

    Joins the caller's transaction, with `golem` locked. Who made a key saw its token, and would go on with it.
    """
    before = {person: find_role(golem, person) for person in roles}
    leaving = [person.pk for person, to in roles.items() if to is None or Power.OPERATE not in POWERS[to]]
    rows = ApiKey.objects.filter(golem=golem, created_by__in=leaving).order_by("pk")
    keys = [key for key in rows if end_key(key=key, now=now)]
    for person, to in roles.items():
        golem.co_owners.remove(person)
        GolemMember.objects.filter(golem=golem, person=person).delete()
        if to is Role.ADMINISTRATOR:
            golem.co_owners.add(person)
            person.groups.add(ensure_owner_group())
        elif to is not None:
            GolemMember.objects.create(golem=golem, person=person, role=to.value, since=now)
            person.groups.add(ensure_member_group())
    for key in keys:
        record_end(key=key, actor=actor, now=now)
    for person, to in roles.items():
        data = {
            "person": str(person.pk),
            "from": _spell(before[person]),
            "to": _spell(to),
            "reason": reason,
        }
        audit_log.append(golem_id=golem.pk, event="RoleChanged", actor=actor, data=data, now=now)
    return len(keys)


def _spell(role: Role | None) -> str:
    return role.value if role else "none"
