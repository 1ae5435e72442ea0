"""Sells a golem's publications one by one, each for its own price or for what its owner asks, whichever is more."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final
from uuid import UUID

from archetypes_app.models import Artifact, Golem

QUERY: Final = "sleepwalker_artifact"


def find_own_price(golem: Golem, *, query: str, params: Mapping[str, object]) -> int:
    """Millionths of a dollar; 0 where what is asked for has no price of its own."""
    if query != QUERY:
        return 0
    try:
        wanted = UUID(str(params.get("artifact_id")))
    except ValueError:
        return 0
    prices = Artifact.objects.filter(golem=golem, pk=wanted).values_list("price_micro_usd", flat=True)
    return prices.first() or 0
