"""What is at stake where a change opens the way to everything: the golem's holdings as they were last measured."""

from __future__ import annotations

from archetypes_app.models import Golem
from permits_app.models import NavSnapshot


def read_stake(golem: Golem) -> int:
    """Micro-USD of the newest snapshot; 0 where nothing was measured, or more is owed than held."""
    newest = NavSnapshot.objects.filter(golem=golem).order_by("-at").values_list("value_micro_usd", flat=True).first()
    return max(0, newest or 0)
