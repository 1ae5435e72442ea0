"""Invite a person to look at a golem: a link for one person and a week. A higher role is asked for afterwards.

Only the hash of the link is kept. Appends PersonInvited, InvitationTakenBack and PersonJoined.
"""

from __future__ import annotations

import hashlib
import secrets
from datetime import datetime, timedelta
from typing import Any, Final

from django.db import transaction
from django.db.models import QuerySet

from archetypes_app.errors import InvitationOver, TooManyInvitations
from archetypes_app.models import Golem, GolemMember, Invitation
from archetypes_app.ownership import find_role, has_power
from archetypes_app.roles import Power, Role
from tools_app.core import audit_log
from tools_app.core.taint import Secret, Tainted, TaintLabel
from tools_app.core.transaction_retry import retry_aborted

LIVES: Final = timedelta(days=7)
MOST_OPEN: Final = 20


def list_open(golem: Golem, *, now: datetime) -> QuerySet[Invitation]:
    """Invitations of `golem` that can still be used, the newest first."""
    rows = Invitation.objects.filter(golem=golem, accepted_at__isnull=True, revoked_at__isnull=True, expires_at__gt=now)
    return rows.select_related("invited_by").order_by("-created_at")


@retry_aborted
def invite_person(
    *,
    golem: Golem,
    label: str,
    invited_by: Any,  # Any: which model accounts have is a setting
    now: datetime,
) -> tuple[Invitation, Secret]:
    """An invitation and its secret, which exists only here. Raises TooManyInvitations."""
    secret = secrets.token_urlsafe(32)
    with transaction.atomic():
        Golem.objects.select_for_update(no_key=True).get(pk=golem.pk)
        if list_open(golem, now=now).count() >= MOST_OPEN:
            raise TooManyInvitations(f"{MOST_OPEN} invitations of {golem.name} are open", limit=MOST_OPEN)
        invitation = Invitation.objects.create(
            golem=golem,
            label=label,
            token_hash=hash_secret(secret),
            invited_by=invited_by,
            created_at=now,
            expires_at=now + LIVES,
        )
        _tell(invitation, "PersonInvited", invited_by, now)
    return invitation, Secret(secret)


@retry_aborted
def take_back(*, invitation: Invitation, by: object, now: datetime) -> None:
    """Make a link useless; does nothing where it is over already."""
    with transaction.atomic():
        changed = list_open(invitation.golem, now=now).filter(pk=invitation.pk).update(revoked_at=now)
        if changed:
            _tell(invitation, "InvitationTakenBack", by, now)


def find_invitation(secret: str, *, now: datetime) -> Invitation:
    """The open invitation of a link, by somebody who may still invite. Raises InvitationOver."""
    rows = Invitation.objects.select_related("golem", "invited_by").filter(token_hash=hash_secret(secret))
    found = rows.filter(accepted_at__isnull=True, revoked_at__isnull=True, expires_at__gt=now).first()
    if found is None or not _may_invite(found):
        raise InvitationOver("it was used, taken back or is more than a week old; ask for another one")
    return found


@retry_aborted
def join_golem(*, secret: str, person: Any, now: datetime) -> Golem:  # Any: which model accounts have is a setting
    """Make `person` a viewer of the golem the link is for; who has a role in it keeps that. Raises InvitationOver."""
    with transaction.atomic():
        found = find_invitation(secret, now=now)
        golem: Golem = Golem.objects.select_for_update(no_key=True).get(pk=found.golem_id)
        taken = list_open(golem, now=now).filter(pk=found.pk).update(accepted_by=person, accepted_at=now)
        if not taken:
            raise InvitationOver("it was used or taken back at this moment; ask for another one")
        if find_role(golem, person) is None:
            GolemMember.objects.create(golem=golem, person=person, role=Role.VIEWER.value, since=now)
        _tell(found, "PersonJoined", person, now)
    return golem


def _may_invite(invitation: Invitation) -> bool:
    """Whether who made it could make it today; an operator of the server can."""
    by = invitation.invited_by
    return bool(by.is_active and by.is_superuser) or has_power(invitation.golem, by, Power.ADMINISTER)


def hash_secret(secret: str) -> str:
    """What is kept of a link."""
    return hashlib.sha256(secret.encode()).hexdigest()


def _tell(
    invitation: Invitation,
    event: str,
    actor: Any,  # Any: which model accounts have is a setting
    now: datetime,
) -> None:
    # Whom a link is for is in its inviter's words, mostly a name.
    label = Tainted(invitation.label, TaintLabel.USER_PII)
    data = {"invitation_id": str(invitation.pk), "label": label}
    audit_log.append(golem_id=invitation.golem_id, event=event, actor=f"owner:{actor.pk}", data=data, now=now)
