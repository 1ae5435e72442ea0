"""An owner pins a golem to the built-in tools as they read now: what reads otherwise later is left out until seen.

Locks the golem; appends DefinitionsPinned or DefinitionsUnpinned.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.db import transaction

from archetypes_app.models import Golem
from tools_app.core import audit_log
from tools_app.core.hashing import hash_canonical
from tools_app.core.whole import whole
from tools_app.toolkit.registry import REGISTRY


@whole
def pin_definitions(*, golem: Golem, is_pinned: bool, owner: Any, now: datetime) -> None:
    """Remember every built-in definition as it is today, or stop asking."""
    seen = {tool.name: tool.definition_hash for tool in REGISTRY} if is_pinned else None
    with transaction.atomic():
        row = Golem.objects.select_for_update(no_key=True).get(pk=golem.pk)
        row.seen_definitions = seen
        row.save(update_fields=["seen_definitions", "updated_at"])
        audit_log.append(
            golem_id=golem.pk,
            event="DefinitionsPinned" if is_pinned else "DefinitionsUnpinned",
            actor=f"owner:{owner.pk}",
            data={"tools": str(len(seen or {})), "digest": hash_canonical(seen) if seen else None},
            now=now,
        )
    golem.seen_definitions = seen


def list_unseen(golem: Golem) -> list[str]:
    """Built-in tools that read otherwise than when the golem's owner pinned them, or are new; none when not pinned."""
    seen = golem.seen_definitions
    if seen is None:
        return []
    return sorted(tool.name for tool in REGISTRY if seen.get(tool.name) != tool.definition_hash)
