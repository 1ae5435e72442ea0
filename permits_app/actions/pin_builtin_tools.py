"""An owner pins a golem to the built-in tools as they read now: what reads otherwise later is refused until seen.

Keeps what was seen, so that the owner is shown what changed. Locks the golem; appends DefinitionsPinned,
DefinitionsUnpinned or DefinitionsSeen.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import transaction

from archetypes_app.models import Golem, SeenDefinition
from permits_app.actions.approve_definition import compare_bodies
from permits_app.errors import DefinitionNotShown
from tools_app.core import audit_log
from tools_app.core.hashing import hash_canonical
from tools_app.core.transaction_retry import retry_aborted
from tools_app.toolkit.registry import REGISTRY
from tools_app.toolkit.tooldef import ToolDef


@dataclass(frozen=True, slots=True)
class UnseenTool:
    """A tool that is refused until its owner agrees: its present definition, and the differences from the one they
    saw.
    """

    name: str
    definition_hash: str
    is_new: bool
    changes: tuple[Mapping[str, object], ...]


@retry_aborted
def pin_definitions(
    *,
    golem: Golem,
    is_pinned: bool,
    owner: Any,  # Any: whoever is signed in, of the project's user model
    now: datetime,
) -> None:
    """Remember every built-in definition as it is today, or stop asking."""
    seen = {tool.name: tool.definition_hash for tool in REGISTRY} if is_pinned else None
    if is_pinned:
        _keep(REGISTRY)
    with transaction.atomic():
        row = Golem.objects.select_for_update(no_key=True).get(pk=golem.pk)
        _save(row, seen)
        audit_log.append(
            golem_id=golem.pk,
            event="DefinitionsPinned" if is_pinned else "DefinitionsUnpinned",
            actor=f"owner:{owner.pk}",
            data={"tools": str(len(seen or {})), "digest": hash_canonical(seen) if seen else None},
            now=now,
        )
    golem.seen_definitions = seen


@retry_aborted
def see_definitions(
    *,
    golem: Golem,
    shown: Mapping[str, str],
    owner: Any,  # Any: whoever is signed in, of the project's user model
    now: datetime,
) -> None:
    """Agree to tools as they were shown, by name and hash. Raises DefinitionNotShown for one that is another by now."""
    registered = {tool.name: tool for tool in REGISTRY}
    differing = sorted(
        name for name in shown if name not in registered or registered[name].definition_hash != shown[name]
    )
    if differing or not shown:
        raise DefinitionNotShown(f"not as they were shown: {', '.join(differing) or 'none was chosen'}; look again")
    _keep(registered[name] for name in shown)
    with transaction.atomic():
        row = Golem.objects.select_for_update(no_key=True).get(pk=golem.pk)
        if row.seen_definitions is None:
            raise DefinitionNotShown("this golem is not pinned; it has every tool as it is")
        _save(row, {**row.seen_definitions, **shown})
        audit_log.append(
            golem_id=golem.pk,
            event="DefinitionsSeen",
            actor=f"owner:{owner.pk}",
            data={"definitions": dict(shown)},
            now=now,
        )
    golem.seen_definitions = row.seen_definitions


def _keep(tools: Iterable[ToolDef]) -> None:
    SeenDefinition.objects.bulk_create(
        [SeenDefinition(definition_hash=tool.definition_hash, body=tool.definition_body) for tool in tools],
        ignore_conflicts=True,
    )


def _save(row: Golem, seen: dict[str, str] | None) -> None:
    row.seen_definitions = seen
    row.save(update_fields=["seen_definitions", "updated_at"])


def list_unseen(golem: Golem) -> list[UnseenTool]:
    """Built-in tools that read otherwise than when the golem's owner pinned them, or are new; none when not pinned."""
    seen = golem.seen_definitions
    if seen is None:
        return []
    tools = [tool for tool in REGISTRY if seen.get(tool.name) != tool.definition_hash]
    kept = SeenDefinition.objects.in_bulk([seen[tool.name] for tool in tools if tool.name in seen])
    unseen = [_compare(tool, kept.get(seen.get(tool.name, "")), is_new=tool.name not in seen) for tool in tools]
    return sorted(unseen, key=lambda tool: tool.name)


def _compare(tool: ToolDef, before: SeenDefinition | None, *, is_new: bool) -> UnseenTool:
    changes = compare_bodies(before.body if before is not None else None, tool.definition_body)
    return UnseenTool(tool.name, tool.definition_hash, is_new, tuple(changes))
