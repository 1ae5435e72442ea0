"""Retire a golem: halted, its keys revoked, its heartbeat off, out of the lists; its history stays, as its money does.

Bringing one back leaves it halted: its owners resume it as after any halt. Appends GolemRetired, GolemBroughtBack.
"""

from __future__ import annotations

from datetime import datetime

from django.db import transaction

from archetypes_app.actions.revoke_api_key import revoke_as
from archetypes_app.models import ApiKey, Golem, Heartbeat
from permits_app.actions.halt import halt_golem
from permits_app.halts.deaths import DEATH_ACTOR, end_open_death, is_ending
from tools_app.core import audit_log
from tools_app.core.transaction_retry import retry_aborted


def retire_golem(*, golem: Golem, reason: str, actor: str, now: datetime) -> None:
    """Stop it for good. Safe to run twice: what was done before is done already."""
    if actor == DEATH_ACTOR and not is_ending(golem.pk):
        # An owner stopped the end meanwhile.
        return
    halt_golem(golem=golem, reason=f"retired: {reason}", actor=actor, now=now, unless_halted=True)
    for key in ApiKey.objects.filter(golem=golem, revoked_at__isnull=True):
        revoke_as(key=key, actor=actor, now=now)
    _note(golem, retired_at=now, event="GolemRetired", actor=actor, reason=reason, now=now)


def bring_back(*, golem: Golem, reason: str, actor: str, now: datetime) -> None:
    """Into the lists again, still halted."""
    _note(golem, retired_at=None, event="GolemBroughtBack", actor=actor, reason=reason, now=now)


@retry_aborted
def _note(golem: Golem, *, retired_at: datetime | None, event: str, actor: str, reason: str, now: datetime) -> None:
    with transaction.atomic():
        locked = Golem.objects.select_for_update(no_key=True).get(pk=golem.pk)
        if (locked.retired_at is None) == (retired_at is None):
            return
        if actor == DEATH_ACTOR and not is_ending(golem.pk):
            return
        Golem.objects.filter(pk=golem.pk).update(retired_at=retired_at, is_live=False)
        Heartbeat.objects.filter(golem=golem).update(is_on=False)
        if actor != DEATH_ACTOR:
            # Whoever retires it as it is wants nothing more taken out.
            end_open_death(golem_id=golem.pk, reason=f"its owner decided otherwise: {reason}", actor=actor, now=now)
        audit_log.append(golem_id=golem.pk, event=event, actor=actor, data={"reason": reason}, now=now)
