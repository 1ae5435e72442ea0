"""Reads of golems, scoped by owner."""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet

from archetypes_app.models import Golem


def list_golems(*, owner: Any) -> QuerySet[Golem]:  # Any: which model accounts have is a setting
    """The golems `owner` may see: their own, or all for an operator."""
    golems = Golem.objects.select_related("archetype", "owner")
    return golems if owner.is_superuser else golems.filter(owner=owner)
