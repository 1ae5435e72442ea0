"""Says what each key, the heartbeat and each listed host of payments may still take of a golem today, by its own limit.

A few questions to the database, however many there are; no node is asked.
"""

from __future__ import annotations

from datetime import datetime
from typing import Final

from django.db.models import OuterRef, Subquery, Sum
from django.db.models.functions import Coalesce

from archetypes_app.models import ApiKey, Golem
from archetypes_app.models.api_key import Scope
from permits_app.limits.payment_hosts import sum_signed
from permits_app.models import SpendEntry, SpendingLimits
from permits_app.models.payment_host import list_hosts
from permits_app.models.spending import KeySpend, SpendState
from tools_app.wording.address_names import format_token_amount
from tools_app.wording.formats import format_usd

MOST_KEYS: Final = 4
"""So many keys are named, those first that were made last."""
MOST_HOSTS: Final = 3


def say_keys(golem: Golem, limits: SpendingLimits, *, day_left: int, now: datetime) -> tuple[str, ...]:
    """One line for each key that may commit: what it may still spend in 24 hours, and what its session leaves."""
    spent = (
        # By their keys alone, of which there are few: a golem's entries are as many as it lived long.
        SpendEntry.objects.filter(api_key__session_id=OuterRef("session_id"), is_in_key_sum=False)
        .exclude(state=SpendState.RELEASED)
        .values("api_key__session_id")
        .annotate(total=Sum(Coalesce("settled_micro_usd", "reserved_micro_usd")))
        .values("total")
    )
    # What its keys spent long ago is counted by their sums.
    summed = (
        KeySpend.objects.filter(golem=golem, api_key__session_id=OuterRef("session_id"))
        .values("api_key__session_id")
        .annotate(total=Sum("micro_usd"))
        .values("total")
    )
    live = ApiKey.objects.filter(
        golem=golem, revoked_at__isnull=True, expires_at__gt=now, scopes__contains=[Scope.COMMIT]
    )
    used = Coalesce(Subquery(spent), 0) + Coalesce(Subquery(summed), 0)
    rows = list(live.annotate(used=used).order_by("-created_at", "pk")[: MOST_KEYS + 1])
    told = tuple(_say_key(each, each.used, limits, day_left) for each in rows[:MOST_KEYS])
    return (*told, "Further API keys, each within its own session") if len(rows) > MOST_KEYS else told


def say_heartbeat(limits: SpendingLimits, *, used_micro_usd: int, day_left: int) -> str:
    """The same of a heartbeat, whose session is seven days."""
    left = max(0, limits.per_session_micro_usd - used_micro_usd)
    return (
        f"Its heartbeat: {format_usd(min(day_left, left))} more; {format_usd(left)} of"
        f" {format_usd(limits.per_session_micro_usd)} in seven days"
    )


def say_hosts(golem: Golem, *, now: datetime) -> tuple[str, ...]:
    """One line for each host that its owners let it pay by x402: what its own cap leaves of 24 hours."""
    return tuple(
        f"Payments to {each.origin}: {format_token_amount(int(each.chain_id), each.token, left)} more"
        for each in list_hosts(golem.pk).order_by("origin", "pk")[:MOST_HOSTS]
        for left in [max(0, int(each.most_a_day_raw) - sum_signed(each, now=now))]
    )


def _say_key(key: ApiKey, used: int, limits: SpendingLimits, day_left: int) -> str:
    left = max(0, limits.per_session_micro_usd - used)
    label = f" ({key.label})" if key.label else ""
    return (
        f"API key {key}{label}: {format_usd(min(day_left, left))} more; its session has {format_usd(left)} of"
        f" {format_usd(limits.per_session_micro_usd)} left"
    )
