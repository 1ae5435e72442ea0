"""An owner approves one definition, by the hash they were shown, for golems of theirs; the version before it ends.

Locks the golems in order of id, then the approvals; appends DefinitionApproved to each golem's audit log. What was
previewed before loses its permit, because the policy hash covers definitions.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import transaction

from archetypes_app.errors import LiveToolsRefused
from archetypes_app.models import DefinitionApproval, Golem
from archetypes_app.ownership import list_owned_golems
from permits_app.actions.bring_definition import check_texts
from permits_app.errors import DefinitionNotShown
from tools_app.core import audit_log
from tools_app.core.json_types import JsonObject
from tools_app.core.transaction_retry import retry_aborted
from tools_app.models import ToolDefinition
from tools_app.sandbox.built_in_replacement import find_replaced
from tools_app.sandbox.definition import DefinitionRefused
from tools_app.sandbox.owner_tool import make_dry_tool
from tools_app.sandbox.stored_definition import check_stored

MOST_OWNER_TOOLS = 20


@retry_aborted
def approve_definition(
    *,
    definition: ToolDefinition,
    seen_hash: str,
    golem_ids: Iterable[UUID],
    owner: Any,  # Any: whoever is signed in, of the project's user model
    now: datetime,
) -> list[DefinitionApproval]:
    """The approvals, one for each golem. Raises DefinitionNotShown, DefinitionRefused, LiveToolsRefused.

    `seen_hash` is the hash on the page the owner agreed to: another one means that they agreed to something else.
    """
    checked = check_stored(definition.body)
    if seen_hash != definition.definition_hash or checked.hash != seen_hash:
        raise DefinitionNotShown("the definition is not the one that was shown; look at it again")
    # A built-in of that name may have come since it was uploaded.
    check_texts(checked)
    if definition.owner_id != owner.pk:
        raise DefinitionNotShown("only who brought a definition approves it")
    with transaction.atomic():
        rows = list_owned_golems(owner).filter(pk__in=list(golem_ids), owner_id=owner.pk)
        golems = list(rows.select_for_update(no_key=True, of=("self",)).order_by("pk"))
        approved = [_approve(definition, golem, owner, now) for golem in golems]
        # The heads of audit chains come behind the approvals in the order of locks, of all golems together.
        for approval, before in approved:
            if approval is not before:
                _tell(approval, before, owner, now)
    return [approval for approval, _ in approved]


def _approve(
    definition: ToolDefinition,
    golem: Golem,
    owner: Any,  # Any: whoever is signed in, of the project's user model
    now: datetime,
) -> tuple[DefinitionApproval, DefinitionApproval | None]:
    living = DefinitionApproval.objects.filter(golem=golem, revoked_at__isnull=True)
    before = living.filter(tool_name=definition.name).first()
    if before is not None and before.definition_hash == definition.definition_hash:
        return before, before
    if golem.is_live and "command" in definition.body:
        raise LiveToolsRefused(
            f"{golem} is live, and one owner alone gives it no program to run; press 'Back to rehearsal' on its page,"
            " approve it, and let its heartbeat act again, which is approved with a second factor"
        )
    if before is None and living.count() >= MOST_OWNER_TOOLS:
        raise DefinitionNotShown(f"{golem} has {MOST_OWNER_TOOLS} tools of its owner already; revoke one first")
    if before is not None:
        living.filter(pk=before.pk).update(revoked_at=now, revoked_reason=f"replaced by version {definition.version}")
    approval = DefinitionApproval.objects.create(
        golem=golem,
        definition=definition,
        tool_name=definition.name,
        definition_hash=definition.definition_hash,
        approved_by=owner,
        approved_at=now,
    )
    return approval, before


def _tell(
    approval: DefinitionApproval,
    before: DefinitionApproval | None,
    owner: Any,  # Any: whoever is signed in, of the project's user model
    now: datetime,
) -> None:
    audit_log.append(
        golem_id=approval.golem_id,
        event="DefinitionApproved",
        actor=f"owner:{owner.pk}",
        data={
            "tool": approval.tool_name,
            "version": str(approval.definition.version),
            "definition_hash": approval.definition_hash,
            "module": approval.definition.body.get("module"),
            "replaces": before.definition_hash if before is not None else None,
        },
        now=now,
    )


def compare_definitions(before: ToolDefinition | None, after: ToolDefinition) -> list[JsonObject]:
    """Every member that differs, as the owner is asked about it: where it stands, what it was, what it is."""
    return compare_bodies(before.body if before is not None else None, after.body)


def compare_with_replaced(after: ToolDefinition) -> list[JsonObject]:
    """What a model is told by a definition against the built-in in whose place it stands; nothing where there is none.

    Nothing either where the built-in takes more by now than the text does, which approving it refuses.
    """
    try:
        replaced = find_replaced(check_stored(after.body))
    except DefinitionRefused:
        replaced = None
    if replaced is None:
        return []
    return compare_bodies(replaced.definition_body, make_dry_tool(after).definition_body)


def compare_bodies(before: Mapping[str, object] | None, after: Mapping[str, object]) -> list[JsonObject]:
    """The same of two definitions as JSON; against None everything is new."""
    old, new = _flatten(before or {}), _flatten(after)
    return [
        {"where": where, "before": old.get(where), "after": new.get(where)}
        for where in sorted({*old, *new})
        if old.get(where) != new.get(where)
    ]


def _flatten(value: Any, path: str = "") -> dict[str, object]:  # Any: a value of JSON
    if isinstance(value, Mapping):
        flat: dict[str, object] = {}
        for name, member in value.items():
            flat.update(_flatten(member, f"{path}.{name}" if path else str(name)))
        return flat
    return {path: value} if path else {}
