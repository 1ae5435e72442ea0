"""Write down which tools this code has, as those that every process of this deployment serves; safe to repeat."""

from __future__ import annotations

from datetime import datetime

from tools_app.models import FrozenRegistry
from tools_app.toolkit.registry import REGISTRY


def freeze_registry(*, now: datetime) -> None:
    """Over what was written down before: who sets up anew says what is served from now on."""
    definitions = {tool.name: tool.definition_hash for tool in REGISTRY}
    FrozenRegistry.objects.update_or_create(
        id=FrozenRegistry.ONLY, defaults={"definitions": definitions, "frozen_at": now}
    )
