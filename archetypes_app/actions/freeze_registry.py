"""Write down which tools this code has, as those that every process of this deployment serves; safe to repeat."""

from __future__ import annotations

from datetime import datetime

from django.db import transaction

from tools_app.core.transaction_retry import retry_aborted
from tools_app.models import FrozenRegistry
from tools_app.toolkit.registry import REGISTRY


@retry_aborted
def freeze_registry(*, now: datetime) -> None:
    """Over what was written down before: who sets up anew says what is served from now on.

    The version before stays known while it is followed: its processes may start again until the last one is replaced.
    """
    definitions = {tool.name: tool.definition_hash for tool in REGISTRY}
    with transaction.atomic():
        frozen = FrozenRegistry.objects.select_for_update().filter(id=FrozenRegistry.ONLY).first()
        if frozen is not None and frozen.definitions == definitions:
            return
        previous = frozen.definitions if frozen is not None else {}
        FrozenRegistry.objects.update_or_create(
            id=FrozenRegistry.ONLY, defaults={"definitions": definitions, "previous": previous, "frozen_at": now}
        )
