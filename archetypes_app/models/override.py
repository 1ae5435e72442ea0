"""ToolOverride: one tool put in or taken out for an archetype or a golem."""

from __future__ import annotations

from django.db import models

from tools_app.core.models import TimeStamped


class OverrideMode(models.TextChoices):
    INCLUDE = "INCLUDE", "Include"
    EXCLUDE = "EXCLUDE", "Exclude"


class ToolOverride(TimeStamped):
    """Include wins over the profile, exclude wins over include. Belongs to exactly one archetype or golem."""

    archetype = models.ForeignKey(
        "archetypes_app.Archetype", null=True, blank=True, on_delete=models.CASCADE, related_name="tool_overrides"
    )
    golem = models.ForeignKey(
        "archetypes_app.Golem", null=True, blank=True, on_delete=models.CASCADE, related_name="tool_overrides"
    )
    tool_name = models.CharField(max_length=96)
    mode = models.CharField(max_length=8, choices=OverrideMode.choices)

    class Meta:
        verbose_name = "tool override"
        ordering = ["tool_name"]
        constraints = [
            models.CheckConstraint(
                condition=models.Q(archetype__isnull=True) ^ models.Q(golem__isnull=True),
                name="tool_override_one_subject",
            ),
            models.UniqueConstraint(
                fields=["archetype", "golem", "tool_name"], name="tool_override_once", nulls_distinct=False
            ),
        ]

    def __str__(self) -> str:
        return f"{self.mode.lower()} {self.tool_name}"
