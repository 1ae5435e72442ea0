"""Approve or deny an agent that waits for an owner."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction

from archetypes_app.actions.ask_sign_in import MINUTES
from archetypes_app.errors import SignInOver, UnknownScope
from archetypes_app.models import AgentSignIn, Golem
from archetypes_app.models.agent_sign_in import SignInState
from tools_app.core import audit_log, clock
from tools_app.core.transaction_retry import retry_aborted


def find_waiting(code: str, *, now: datetime) -> AgentSignIn | None:
    """The agent that waits with the code as a person types it: small letters, spaces and no hyphen are understood."""
    letters = "".join(each for each in code.upper() if each.isalnum())
    rows = AgentSignIn.objects.filter(state=SignInState.WAITING, user_code=f"{letters[:4]}-{letters[4:]}")
    row = rows.first()
    return row if row is not None and not is_over(row, now) else None


def is_over(row: AgentSignIn, now: datetime) -> bool:
    """Whether nobody can decide or collect it any more; of a future that did not come nobody can."""
    return clock.is_over(row.ends_at, longest=timedelta(minutes=MINUTES), now=now)


@retry_aborted
def approve_sign_in(
    *,
    row: AgentSignIn,
    golem: Golem,
    scopes: Iterable[str],
    lifetime_days: int,
    decided_by: Any,  # Any: which model accounts have is a setting
    now: datetime,
) -> None:
    """Let it act for `golem` with some of the scopes it asked for. Writes the audit log. Raises SignInOver and
    UnknownScope.
    """
    given = sorted(set(scopes))
    if not given or not set(given) <= set(row.asked_scopes):
        raise UnknownScope("choose from what the agent asked for", known=row.asked_scopes)
    with transaction.atomic():
        _decide(
            row,
            now,
            state=SignInState.APPROVED,
            golem=golem,
            scopes=given,
            lifetime_days=lifetime_days,
            decided_by=decided_by,
        )
        audit_log.append(
            golem_id=golem.pk,
            event="AgentSignInApproved",
            actor=f"owner:{decided_by.pk}",
            data={"agent": row.agent, "scopes": given, "asked_from": row.asked_from, "lifetime_days": lifetime_days},
            now=now,
        )


@retry_aborted
def deny_sign_in(*, row: AgentSignIn, decided_by: object, now: datetime) -> None:
    """Tell it no. Raises SignInOver."""
    with transaction.atomic():
        _decide(row, now, state=SignInState.DENIED, decided_by=decided_by)


def _decide(row: AgentSignIn, now: datetime, **values: object) -> None:
    if is_over(row, now):
        raise SignInOver("its minutes are over; have the agent ask again")
    waiting = AgentSignIn.objects.filter(pk=row.pk, state=SignInState.WAITING)
    if not waiting.update(**values, decided_at=now):
        raise SignInOver("it was decided before; have the agent ask again")
