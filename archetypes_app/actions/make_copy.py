"""An owner's own copy of a built-in or shared archetype or tool profile; the original stays as it is."""

from __future__ import annotations

from typing import Any

from django.db import models, transaction

from archetypes_app.models import Archetype, ToolOverride, ToolProfile
from tools_app.core.transaction_retry import retry_aborted

_NAME_LENGTH = 50


@retry_aborted
def copy_archetype(*, archetype: Archetype, owner: Any) -> Archetype:  # Any: which model accounts have is a setting
    """A copy that `owner` may edit, with the same profiles, delegates and overrides."""
    with transaction.atomic():
        copy = Archetype.objects.create(
            name=_free_name(Archetype, archetype.name, owner),
            description=archetype.description,
            category=archetype.category,
            inference_tier=archetype.inference_tier,
            tool_categories=list(archetype.tool_categories),
            is_terminal_node=archetype.is_terminal_node,
            is_read_only=archetype.is_read_only,
            keeps_local_writes=archetype.keeps_local_writes,
            expertise=list(archetype.expertise),
            role=archetype.role,
            safety_rules=list(archetype.safety_rules),
            workflow=archetype.workflow,
            output_format=archetype.output_format,
            owner=owner,
        )
        copy.profiles.set(archetype.profiles.all())
        copy.delegates_to.set(archetype.delegates_to.all())
        ToolOverride.objects.bulk_create(
            ToolOverride(archetype=copy, tool_name=override.tool_name, mode=override.mode)
            for override in archetype.tool_overrides.all()
        )
    return copy


@retry_aborted
def copy_tool_profile(
    *,
    profile: ToolProfile,
    owner: Any,  # Any: which model accounts have is a setting
) -> ToolProfile:
    """A copy that `owner` may edit."""
    with transaction.atomic():
        return ToolProfile.objects.create(
            name=_free_name(ToolProfile, profile.name, owner),
            description=profile.description,
            categories=list(profile.categories),
            is_read_only=profile.is_read_only,
            is_conservative=profile.is_conservative,
            owner=owner,
        )


def _free_name(model: type[models.Model], name: str, owner: Any) -> str:  # Any: which model accounts have is a setting
    """`trader-ana`, `trader-ana-2`, …: the first that nobody has. A race on it fails on the unique column."""
    suffix = "".join(letter for letter in owner.get_username().lower() if letter.isalnum() or letter in "-_") or "copy"
    stem = f"{name}-{suffix}"[: _NAME_LENGTH - 4]
    taken = set(model._default_manager.filter(name__startswith=stem).values_list("name", flat=True))
    return next(
        candidate
        for candidate in (stem, *(f"{stem}-{number}" for number in range(2, len(taken) + 3)))
        if candidate not in taken
    )
