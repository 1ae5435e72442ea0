"""Sets how long an owner keeps the chain logs that their golems followed."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Any, Final
from uuid import UUID

from django.conf import settings
from django.db.models import Q

from archetypes_app.models import Golem
from tools_app.core.errors import InvalidParams
from tools_app.models import OwnerHistory

_UUID: Final = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def set_log_days(
    *,
    person: Any,  # Any: which model accounts have is a setting
    days: int | None,
) -> OwnerHistory | None:
    """Keep logs for so many days; None is as long as this server keeps anybody's. Raises InvalidParams.

    What was let go does not come back when the days become more.
    """
    if days is None:
        OwnerHistory.objects.filter(person=person).delete()
        return None
    if not 1 <= days <= settings.GOLEM_HISTORY_LOG_DAYS:
        raise InvalidParams(f"from 1 to {settings.GOLEM_HISTORY_LOG_DAYS} days")
    kept, _ = OwnerHistory.objects.update_or_create(person=person, defaults={"log_days": days})
    return kept


def find_log_days(person: Any) -> int | None:  # Any: which model accounts have is a setting
    """The days that a person set; None where nothing was."""
    return OwnerHistory.objects.filter(person=person).values_list("log_days", flat=True).first()


def list_log_days(wanted_by: Collection[str]) -> Mapping[str, int]:
    """Days by golem id and by account, of those whose owner set some."""
    accounts = [each for each in wanted_by if each.startswith("0x")]
    golems = [UUID(each) for each in wanted_by if _UUID.fullmatch(each)]
    days: dict[str, int] = {}
    found = Golem.objects.filter(Q(pk__in=golems) | Q(address__in=accounts), owner__kept_history__isnull=False)
    for golem_id, address, kept in found.values_list("pk", "address", "owner__kept_history__log_days"):
        for who in (str(golem_id), address):
            if who in wanted_by:
                days[who] = max(days.get(who, 0), kept)
    return days
