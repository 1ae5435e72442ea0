"""An account that is deactivated: what was theirs stops, stays stopped when they are back, and is told.

Every door asks for active people itself, at once. Here it is made to last: their golems are halted where nobody else
with an active account owns them, their API keys are revoked, their approvals end, and their webhooks, alerts and
sign-ins are off. Appends AccountStopped, AccountBack; emits account:stopped, account:back. Decision 0376.
"""

from __future__ import annotations

import logging
from datetime import datetime
from typing import Any, Final

from django.contrib.auth import get_user_model
from django.contrib.sessions.models import Session
from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.db.models.signals import post_save, pre_delete

from archetypes_app.actions.revoke_api_key import revoke_as
from archetypes_app.models import ApiKey, Golem, GolemMember, Heartbeat, ServiceAccess, SignIn, StoppedAccount
from archetypes_app.ownership import match_owned
from golem_project.alerts.models import AlertChannel
from golem_project.stream.models import WebhookEndpoint
from golem_project.stream.webhooks import disable_endpoint
from permits_app.actions.halt import halt_golem
from permits_app.approvals.votes import end_lost_approvals
from permits_app.models import OwnerApproval
from tools_app.core import audit_log, clock, event_bus
from tools_app.core.events import Event, EventType
from tools_app.core.isolated_sweeps import one_by_one
from tools_app.core.transaction_retry import retry_aborted

logger = logging.getLogger(__name__)

ACTOR: Final = "system:people"
_BATCH: Final = 50
_HALTED: Final = (
    "nobody with an active account owns it. An owner whose account is active again asks to resume it, makes new API"
    " keys and turns its heartbeat on"
)
_GOES_ON: Final = "another owner keeps it running; the API keys that this account made are revoked, new ones are needed"
_STAYS_HALTED: Final = "it stays halted until its owners resume it; then make API keys and turn the heartbeat on"
_UNCHANGED: Final = (
    "what this account had running stays off: make API keys, and turn webhooks and alerts on, where needed"
)


def stop_accounts(*, now: datetime) -> int:
    """Stop accounts that are not active, halt golems that nobody owns, tell of who is back. How many."""
    people = get_user_model()._default_manager
    known = StoppedAccount.objects.filter(person_id=OuterRef("pk"))
    gone = people.filter(Exists(_parts()) | _owns(), ~Exists(known), is_active=False).order_by("pk")[:_BATCH]
    stopped = one_by_one(gone, lambda person: stop_account(person=person, now=now), what="the account")
    orphans = _list_orphans(Golem.objects.all())[:_BATCH]
    one_by_one_done = list(one_by_one(orphans, lambda golem: _halt(golem, now), what="the golem of nobody"))
    back = StoppedAccount.objects.filter(person__is_active=True).select_related("person")[:_BATCH]
    told = list(one_by_one(back, lambda row: _tell_back(row, now), what="the account that is back"))
    return len(list(stopped)) + len(one_by_one_done) + len(told)


def stop_account(*, person: Any, now: datetime) -> None:  # Any: which model accounts have is a setting
    """Stop what is theirs, money first; safe to run again after it was cut off anywhere."""
    golems = list(_list_golems(person))
    for golem in _list_orphans(Golem.objects.filter(pk__in=[golem.pk for golem in golems])):
        _halt(golem, now)
    revoke_keys_of(person=person, now=now)
    _end_approvals(person, now)
    for endpoint in WebhookEndpoint.objects.filter(owner=person, disabled_at__isnull=True):
        disable_endpoint(endpoint=endpoint, reason="the account of its owner is not active", now=now)
    AlertChannel.objects.filter(person=person, disabled_at__isnull=True).update(
        disabled_at=now, last_error="its account was not active; add it anew"
    )
    ServiceAccess.objects.filter(person=person).delete()
    keys = SignIn.objects.filter(person=person).values_list("session_key", flat=True)
    Session.objects.filter(session_key__in=list(keys)).delete()
    _tell_stopped(person, golems, now)


def revoke_keys_of(*, person: Any, now: datetime) -> int:  # Any: which model accounts have is a setting
    """Revoke every key `person` made: who made one saw its token. How many."""
    keys = list(ApiKey.objects.filter(created_by=person, revoked_at__isnull=True).order_by("pk"))
    for key in keys:
        revoke_as(key=key, actor=ACTOR, now=now)
    return len(keys)


def listen() -> None:
    """Have an account that is saved as not active stopped at once, and the keys of one that is deleted revoked."""
    user = get_user_model()
    post_save.connect(_note_saved, sender=user, dispatch_uid="golem_project.people.deactivated_accounts.saved")
    pre_delete.connect(_note_deleted, sender=user, dispatch_uid="golem_project.people.deactivated_accounts.deleted")


def _note_saved(sender: object, *, instance: Any, **given: Any) -> None:  # Any: what Django's signal hands on
    if not instance.is_active and not given.get("raw"):
        # What fails here is done by the next sweep; the account is saved in any case.
        transaction.on_commit(lambda: stop_account(person=instance, now=clock.now()), robust=True)


def _note_deleted(sender: object, *, instance: object, **given: object) -> None:
    revoke_keys_of(person=instance, now=clock.now())


def _parts() -> QuerySet[GolemMember]:
    return GolemMember.objects.filter(person_id=OuterRef("pk"))


def _owns() -> Q:
    """Accounts that own or co-own a golem, or made something that goes on without them."""
    owned = Golem.objects.filter(owner_id=OuterRef("pk"))
    shared = Golem.co_owners.through.objects.filter(user_id=OuterRef("pk"))
    keys = ApiKey.objects.filter(created_by_id=OuterRef("pk"), revoked_at__isnull=True)
    return Q(Exists(owned)) | Q(Exists(shared)) | Q(Exists(keys))


def _list_golems(person: Any) -> QuerySet[Golem]:  # Any: which model accounts have is a setting
    """Those `person` has a part in, whether active or not."""
    shared = Golem.co_owners.through.objects.filter(user_id=person.pk).values("golem_id")
    member = GolemMember.objects.filter(person_id=person.pk).values("golem_id")
    return Golem.objects.filter(Q(owner_id=person.pk) | Q(pk__in=shared) | Q(pk__in=member)).order_by("pk")


def _list_orphans(golems: QuerySet[Golem]) -> QuerySet[Golem]:
    """Those that nobody with an active account owns and that are not halted, or whose heart still beats."""
    beating = Heartbeat.objects.filter(golem_id=OuterRef("pk"), is_on=True)
    acting = Q(halted_at__isnull=True) | Q(Exists(beating))
    return golems.exclude(match_owned()).filter(acting, retired_at__isnull=True).order_by("pk")


def _halt(golem: Golem, now: datetime) -> None:
    halt_golem(golem=golem, reason=_HALTED, actor=ACTOR, now=now, unless_halted=True)
    Heartbeat.objects.filter(golem=golem).update(is_on=False)


@retry_aborted
def _end_approvals(person: Any, now: datetime) -> None:  # Any: which model accounts have is a setting
    with transaction.atomic():
        end_lost_approvals(OwnerApproval.objects.filter(owner=person), now=now)


@retry_aborted
def _tell_stopped(
    person: Any,  # Any: which model accounts have is a setting
    golems: list[Golem],
    now: datetime,
) -> None:
    with transaction.atomic():
        _, is_new = StoppedAccount.objects.get_or_create(person=person, defaults={"stopped_at": now})
        if not is_new:
            return
        _tell(person, golems, EventType.ACCOUNT_STOPPED, "AccountStopped", now)


@retry_aborted
def _tell_back(row: StoppedAccount, now: datetime) -> None:
    with transaction.atomic():
        if StoppedAccount.objects.filter(pk=row.pk).delete()[0]:
            _tell(row.person, list(_list_golems(row.person)), EventType.ACCOUNT_BACK, "AccountBack", now)


def _tell(
    person: Any,  # Any: which model accounts have is a setting
    golems: list[Golem],
    event: EventType,
    audit: str,
    now: datetime,
) -> None:
    is_gone = event is EventType.ACCOUNT_STOPPED
    owned = set(Golem.objects.filter(match_owned(), pk__in=[golem.pk for golem in golems]).values_list("pk", flat=True))
    halted = set(
        Golem.objects.filter(pk__in=[golem.pk for golem in golems], halted_at__isnull=False).values_list(
            "pk", flat=True
        )
    )
    for golem in golems:
        if is_gone:
            outcome = _GOES_ON if golem.pk in owned else f"it is halted, since {_HALTED}"
        else:
            outcome = _STAYS_HALTED if golem.pk in halted else _UNCHANGED
        facts = {"person": str(person.pk), "outcome": outcome}
        event_bus.emit(golem_id=golem.pk, event=Event(event, facts), now=now)
        audit_log.append(golem_id=golem.pk, event=audit, actor=ACTOR, data=facts, now=now)
