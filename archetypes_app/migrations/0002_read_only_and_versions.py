"""Read-only archetypes, conservative profiles, digests of built-ins and versions of edited rows."""

from __future__ import annotations

from typing import Any

import django.contrib.postgres.fields
from django.db import migrations, models

_LOCAL_WRITERS = ("memory-consolidator",)


def mark_builtins(apps: Any, schema_editor: Any) -> None:
    """Rows an earlier version created: terminals keep reads only, and `conservative` is conservative by its flag."""
    archetypes = apps.get_model("archetypes_app", "Archetype").objects.filter(is_builtin=True)
    archetypes.filter(is_terminal_node=True).update(is_read_only=True)
    archetypes.filter(name__in=_LOCAL_WRITERS, is_terminal_node=True).update(keeps_local_writes=True)
    profiles = apps.get_model("archetypes_app", "ToolProfile").objects
    profiles.filter(name="conservative", is_builtin=True).update(is_conservative=True)


_VERSION = models.PositiveIntegerField(default=1, editable=False, help_text="Rises with every edit")
_DIGEST = models.CharField(
    blank=True, editable=False, help_text="Digest of what sync_builtins last wrote here", max_length=66
)


class Migration(migrations.Migration):
    dependencies = [("archetypes_app", "0001_initial")]

    operations = [
        migrations.AddField(
            "archetype",
            "is_read_only",
            models.BooleanField(
                default=False,
                help_text=("Keeps reads only, whatever categories and profiles hold; an include still wins"),
            ),
        ),
        migrations.AddField(
            "archetype",
            "keeps_local_writes",
            models.BooleanField(
                default=False,
                help_text="Although read-only, writes that are no transaction (memory, alerts) stay",
            ),
        ),
        migrations.AddField(
            "archetype",
            "expertise",
            django.contrib.postgres.fields.ArrayField(
                base_field=models.TextField(), blank=True, default=list, size=None
            ),
        ),
        migrations.AddField("archetype", "builtin_digest", _DIGEST.clone()),
        migrations.AddField("archetype", "version", _VERSION.clone()),
        migrations.AddConstraint(
            "archetype",
            models.CheckConstraint(
                condition=models.Q(("keeps_local_writes", False), ("is_read_only", True), _connector="OR"),
                name="archetype_local_writes_of_read_only",
            ),
        ),
        migrations.AddField(
            "toolprofile",
            "is_conservative",
            models.BooleanField(
                default=False,
                help_text=(
                    "Keeps only plain writes of trading, liquidity, vaults and safety: no leverage, flash loans,"
                    " bridges, swaps through several pools or ranges under 50 ticks; at most 10 writes an hour"
                ),
            ),
        ),
        migrations.AddField("toolprofile", "builtin_digest", _DIGEST.clone()),
        migrations.AddField("toolprofile", "version", _VERSION.clone()),
        migrations.AddField("golem", "version", _VERSION.clone()),
        migrations.RunPython(mark_builtins, migrations.RunPython.noop),
    ]
