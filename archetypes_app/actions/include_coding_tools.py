"""Give a golem one preset of coding tools, each by its name. Appends AdminEdit."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from django.db import transaction

from archetypes_app.errors import LiveToolsRefused
from archetypes_app.models import Golem, ToolOverride
from archetypes_app.models.override import OverrideMode
from tools_app.core import audit_log
from tools_app.core.transaction_retry import retry_aborted
from tools_app.subsystems.coding.presets import PRESETS, Preset


@retry_aborted
def include_coding_tools(*, golem_id: UUID, preset: Preset, actor: str, now: datetime) -> tuple[str, ...]:
    """The names of the tools it has from now on; coding tools outside the preset are taken away.

    Raises LiveToolsRefused for a live golem, whose tools its owners decide together on its own page.
    """
    chosen = PRESETS[preset]
    with transaction.atomic():
        golem = Golem.objects.select_for_update(no_key=True).get(pk=golem_id)
        if golem.is_live:
            raise LiveToolsRefused("this golem is live; include the tools on its own page, where its owners decide")
        overrides = ToolOverride.objects.filter(golem=golem, tool_name__in=PRESETS[Preset.ALL])
        overrides.exclude(tool_name__in=chosen).delete()
        for name in chosen:
            ToolOverride.objects.update_or_create(golem=golem, tool_name=name, defaults={"mode": OverrideMode.INCLUDE})
        data = {"row": "coding tools", "name": golem.name, "did": "changed", "fields": {"preset": {"to": str(preset)}}}
        audit_log.append(golem_id=golem.pk, event="AdminEdit", actor=actor, data=data, now=now)
    return chosen
