"""Finds a golem's last measured holdings, for changes that open the way to all of them."""

from __future__ import annotations

from archetypes_app.models import Golem
from permits_app.models import NavSnapshot
from tools_app.toolkit.golem_chains import list_chains


def read_stake(golem: Golem) -> int:
    """Micro-USD of the newest snapshot of each chain; 0 where nothing was measured, or more is owed than held."""
    newest = NavSnapshot.objects.filter(golem=golem, chain_id__in=list_chains(golem))
    values = newest.order_by("chain_id", "-at").distinct("chain_id").values_list("value_micro_usd", flat=True)
    return max(0, sum(values))
