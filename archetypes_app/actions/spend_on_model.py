"""Reserve what a request to a language model may cost, settle what it did cost; never above the day's cap.

One conditional UPDATE each, so two workers cannot both get the last cent. No network.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from django.db.models import F
from django.db.models.functions import Least

from archetypes_app.errors import ModelBudgetSpent
from archetypes_app.models import ModelSpendDay
from tools_app.core.units import format_micro_usd


@dataclass(frozen=True, slots=True)
class ModelReservation:
    """A part of one day's cap that a request under way holds."""

    row_id: int
    micro_usd: int


def reserve_model_cost(*, golem_id: UUID, most_micro_usd: int, cap_micro_usd: int, now: datetime) -> ModelReservation:
    """Hold `most_micro_usd` of today's cap. Raises ModelBudgetSpent when today's cap has not that much left."""
    row, _ = ModelSpendDay.objects.get_or_create(
        golem_id=golem_id, day=now.date(), defaults={"cap_micro_usd": cap_micro_usd}
    )
    fits = ModelSpendDay.objects.filter(
        pk=row.pk, spent_micro_usd__lte=cap_micro_usd - most_micro_usd - F("reserved_micro_usd")
    )
    reserved = fits.update(
        cap_micro_usd=cap_micro_usd,
        reserved_micro_usd=F("reserved_micro_usd") + most_micro_usd,
        requests=F("requests") + 1,
    )
    if reserved:
        return ModelReservation(row_id=row.pk, micro_usd=most_micro_usd)
    ModelSpendDay.objects.filter(pk=row.pk).update(refused=F("refused") + 1)
    row.refresh_from_db()
    left = max(0, cap_micro_usd - row.spent_micro_usd - row.reserved_micro_usd)
    raise ModelBudgetSpent(
        f"the next request may cost {format_micro_usd(most_micro_usd)}, and of {format_micro_usd(cap_micro_usd)} a day"
        f" {format_micro_usd(left)} are left",
        needed_micro_usd=str(most_micro_usd),
        left_micro_usd=str(left),
        cap_micro_usd=str(cap_micro_usd),
        resets_at=_end_of_day(now).isoformat(),
    )


def _end_of_day(now: datetime) -> datetime:
    """When the next cap begins: midnight of the day that `now` is in."""
    return now.replace(hour=0, minute=0, second=0, microsecond=0) + timedelta(days=1)


def settle_model_cost(*, reservation: ModelReservation, cost_micro_usd: int) -> None:
    """Put the real cost in the reservation's place. A bill above it fills the day's cap and ends thinking."""
    others = F("reserved_micro_usd") - reservation.micro_usd
    ModelSpendDay.objects.filter(pk=reservation.row_id).update(
        reserved_micro_usd=others,
        spent_micro_usd=Least(F("spent_micro_usd") + max(0, cost_micro_usd), F("cap_micro_usd") - others),
    )
