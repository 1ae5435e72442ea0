"""ToolProfile: a named bundle of tool categories."""

from __future__ import annotations

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models

from tools_app.core.models import TimeStamped
from tools_app.core.visible_text_columns import PlainTextColumn
from tools_app.toolkit.enums import Category

CATEGORY_CHOICES = [(category.value, category.value) for category in Category]


class ToolProfile(TimeStamped):
    """A bundle an archetype or golem names. Built-in rows are data of this product; an owner edits a copy."""

    name = models.SlugField(unique=True)
    description = PlainTextColumn(blank=True)
    categories = ArrayField(models.CharField(max_length=32, choices=CATEGORY_CHOICES), default=list, blank=True)
    is_read_only = models.BooleanField(default=False, help_text="Keeps reads only, whatever the categories hold")
    is_conservative = models.BooleanField(
        default=False,
        help_text=(
            "Keeps only plain writes of trading, liquidity, vaults and safety: no leverage, flash loans, bridges, swaps"
            " through several pools or ranges under 50 ticks; at most 10 writes an hour"
        ),
    )
    is_builtin = models.BooleanField(default=False, editable=False)
    builtin_digest = models.CharField(
        max_length=66, blank=True, editable=False, help_text="Digest of what sync_builtins last wrote here"
    )
    version = models.PositiveIntegerField(default=1, editable=False, help_text="Rises with every edit")
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.CASCADE, related_name="tool_profiles"
    )

    class Meta:
        verbose_name = "tool profile"
        ordering = ["name"]
        constraints = [
            models.CheckConstraint(
                condition=models.Q(is_builtin=False) | models.Q(owner__isnull=True), name="tool_profile_builtin_unowned"
            )
        ]

    def __str__(self) -> str:
        return self.name
