"""Switches services outside on and off for a person's golems, and seals their keys.

A key is typed once and read back by the door alone, when it asks.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final
from uuid import UUID

from django.db import IntegrityError, transaction

from archetypes_app.models import Golem, ServiceAccess
from archetypes_app.models.service_access import MOST_QUESTIONS_AN_HOUR
from golem_project.stream import sealed_secrets
from tools_app.core.errors import GolemError, Recovery
from tools_app.core.taint import Secret, TaintLabel
from tools_app.core.transaction_retry import retry_aborted
from tools_app.toolkit.outside_services import SERVICES, OutsideService

_KEY: Final = re.compile(r"[\x21-\x7e]{8,500}")
_HOUR: Final = timedelta(hours=1)


class ServiceAccessRefused(
    GolemError, status=422, recovery=Recovery.FIX_PARAMS, title="This service cannot be switched on like this"
):
    """A service cannot be switched on like this."""


@dataclass(frozen=True, slots=True)
class ServiceLine:
    """A service as its owner sees it. `access` None: it is off. `asked` counts the present clock hour."""

    service: OutsideService
    access: ServiceAccess | None
    asked: int = 0
    answer_age_seconds: int | None = None


@retry_aborted
def switch_on(
    *,
    person: Any,  # Any: which model accounts have is a setting
    name: str,
    key: str,
    questions_an_hour: int | None,
    now: datetime,
) -> ServiceAccess:
    """Let the golems of `person` ask a service; a new key takes the old one's place. Raises ServiceAccessRefused.

    Where the service is on already, an empty key leaves the one it has.
    """
    service = SERVICES.get(name)
    if service is None:
        raise ServiceAccessRefused(f"there is no service {name[:40]!r}", services=sorted(SERVICES))
    most = service.questions_an_hour if questions_an_hour is None else questions_an_hour
    if not 1 <= most <= MOST_QUESTIONS_AN_HOUR:
        raise ServiceAccessRefused(
            f"from 1 to {MOST_QUESTIONS_AN_HOUR} questions an hour", limit=MOST_QUESTIONS_AN_HOUR
        )
    if key and not service.needs_key:
        raise ServiceAccessRefused(f"{service.label} takes no key; leave it empty")
    if key and not _KEY.fullmatch(key):
        raise ServiceAccessRefused("a key has 8 to 500 letters, digits and signs, and no space")
    with transaction.atomic():
        access = ServiceAccess.objects.select_for_update(no_key=True).filter(person=person, service=name).first()
        if access is None:
            access = ServiceAccess(person=person, service=name, created_at=now)
        if service.needs_key and not key and not access.sealed_key:
            raise ServiceAccessRefused(f"{service.label} wants a key; there is one at {service.get_key_at}")
        if key:
            access.sealed_key = sealed_secrets.seal(key.encode(), bound_to=access.pk.bytes)
            access.last_error, access.last_error_at = "", None
        # A smaller quota counts what was asked in this hour as all of it.
        access.questions_an_hour, access.asked = most, min(access.asked, most)
        try:
            with transaction.atomic():
                access.save()
        except IntegrityError:
            raise ServiceAccessRefused(
                f"{service.label} was switched on at the same moment elsewhere; look at the page again"
            ) from None
    return access


def switch_off(*, person: Any, name: str) -> bool:  # Any: which model accounts have is a setting
    """Forget the key and what was kept; whether there was anything."""
    return ServiceAccess.objects.filter(person=person, service=name).delete()[0] > 0


def list_services(
    *,
    person: Any,  # Any: which model accounts have is a setting
    now: datetime,
) -> Sequence[ServiceLine]:
    """Every service by its label, with what this person gave and what came of it."""
    on = {access.service: access for access in ServiceAccess.objects.filter(person=person)}
    lines = []
    for service in sorted(SERVICES.values(), key=lambda each: each.label):
        access = on.get(service.name)
        if access is None:
            lines.append(ServiceLine(service, None))
            continue
        age = None if access.last_answer_at is None else max(0, int((now - access.last_answer_at).total_seconds()))
        lines.append(ServiceLine(service, access, access.asked if access.hour == start_hour(now) else 0, age))
    return lines


def find_access(golem_id: UUID, service: OutsideService) -> ServiceAccess | None:
    """What the golem's owner gave for it, while their account is active."""
    owners = Golem.objects.filter(pk=golem_id, owner__is_active=True).values("owner")
    return ServiceAccess.objects.filter(person__in=owners, service=service.name).first()


def open_key(access: ServiceAccess) -> Secret | None:
    """The key; None where the service takes none. Raises SealBroken."""
    if not access.sealed_key:
        return None
    return Secret(
        sealed_secrets.unseal(bytes(access.sealed_key), bound_to=access.pk.bytes).decode(),
        label=TaintLabel.OWNER_SECRET,
    )


def start_hour(now: datetime) -> datetime:
    """The clock hour of `now`, by which questions are counted."""
    return now.replace(minute=0, second=0, microsecond=0)


def seconds_to_next_hour(now: datetime) -> int:
    """Until questions are counted anew."""
    return int((start_hour(now) + _HOUR - now).total_seconds()) + 1
