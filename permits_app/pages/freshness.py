"""Says when golems were measured last, and whether an action ended since: what is shown of them is out of date then.

Reads rows only: an outcome that is newer than the newest kept value of its golem on its chain. The next look keeps one
(`record_nav`), and what cannot be valued stays out of date for as long as outcomes are looked at.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from django.db.models import Exists, Max, OuterRef, QuerySet, Subquery

from archetypes_app.models import Golem
from permits_app.models import NavSnapshot, OutcomeRecord

LOOK_BACK: Final = timedelta(hours=1)
"""An outcome that nobody could measure for so long is left to the looks that come anyway."""


@dataclass(frozen=True, slots=True)
class Freshness:
    """`measured_at` is None where none of them was measured; `is_behind` where an action of one ended since."""

    measured_at: datetime | None
    is_behind: bool

    @property
    def mark(self) -> str:
        """What an open page compares: it changes with each measurement."""
        return self.measured_at.isoformat() if self.measured_at is not None else ""


def read_freshness(golems: QuerySet[Golem], *, now: datetime) -> Freshness:
    """Of all of `golems` together, in two questions."""
    living = golems.filter(retired_at__isnull=True)
    since = NavSnapshot.objects.filter(
        golem=OuterRef("permit__golem"), chain_id=OuterRef("permit__chain_id"), at__gte=OuterRef("created_at")
    )
    behind = OutcomeRecord.live.filter(
        ~Exists(since), created_at__gt=now - LOOK_BACK, permit__golem__in=living.values("pk")
    )
    # The newest of each by its index: all that were ever kept would be read for the newest of all at once.
    kept = NavSnapshot.objects.filter(golem=OuterRef("pk")).order_by("-at").values("at")[:1]
    newest = living.annotate(measured_at=Subquery(kept)).aggregate(at=Max("measured_at"))["at"]
    return Freshness(newest, behind.exists())
