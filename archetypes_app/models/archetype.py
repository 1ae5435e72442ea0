"""Archetype: the kind of agent a golem is."""

from __future__ import annotations

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models

from archetypes_app.models.profile import CATEGORY_CHOICES
from tools_app.core.models import TimeStamped
from tools_app.core.visible_text_columns import PlainTextColumn


class ArchetypeCategory(models.TextChoices):
    EXECUTION = "execution", "Execution"
    RESEARCH = "research", "Research"
    STRATEGY = "strategy", "Strategy"
    DEVELOPMENT = "development", "Development"
    INFRASTRUCTURE = "infrastructure", "Infrastructure"
    AGENT_CAPITAL_MARKETS = "agent-capital-markets", "Agent capital markets"
    REAL_TIME_MONITORING = "real-time-monitoring", "Real-time monitoring"
    VAULT = "vault", "Vault"
    GOLEM = "golem", "Golem"
    OBSERVER = "observer", "Observer"


class InferenceTier(models.TextChoices):
    T0 = "T0", "no model: rules alone"
    T1 = "T1", "small model: single questions"
    T2 = "T2", "large model: several steps"


class Archetype(TimeStamped):
    """Tools, delegates and prompt of one kind of agent. Built-ins are copied, not edited, by owners."""

    name = models.SlugField(unique=True)
    description = PlainTextColumn(blank=True)
    category = models.CharField(max_length=32, choices=ArchetypeCategory.choices)
    inference_tier = models.CharField(max_length=2, choices=InferenceTier.choices, default=InferenceTier.T1)
    tool_categories = ArrayField(models.CharField(max_length=32, choices=CATEGORY_CHOICES), default=list, blank=True)
    profiles = models.ManyToManyField("archetypes_app.ToolProfile", blank=True, related_name="archetypes")
    delegates_to = models.ManyToManyField("self", symmetrical=False, blank=True, related_name="delegated_from")
    is_terminal_node = models.BooleanField(default=False, help_text="Never delegates")
    is_read_only = models.BooleanField(
        default=False,
        help_text="Keeps reads only, whatever categories and profiles hold; an include still wins",
    )
    keeps_local_writes = models.BooleanField(
        default=False, help_text="Although read-only, writes that are no transaction (memory, alerts) stay"
    )
    role = PlainTextColumn(blank=True)
    expertise = ArrayField(PlainTextColumn(), default=list, blank=True)
    safety_rules = ArrayField(PlainTextColumn(), default=list, blank=True)
    workflow = PlainTextColumn(blank=True)
    output_format = PlainTextColumn(blank=True)
    is_builtin = models.BooleanField(default=False, editable=False)
    builtin_digest = models.CharField(
        max_length=66, blank=True, editable=False, help_text="Digest of what sync_builtins last wrote here"
    )
    version = models.PositiveIntegerField(default=1, editable=False, help_text="Rises with every edit")
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.CASCADE, related_name="archetypes"
    )

    class Meta:
        ordering = ["name"]
        constraints = [
            models.CheckConstraint(
                condition=models.Q(is_builtin=False) | models.Q(owner__isnull=True), name="archetype_builtin_unowned"
            ),
            models.CheckConstraint(
                condition=models.Q(keeps_local_writes=False) | models.Q(is_read_only=True),
                name="archetype_local_writes_of_read_only",
            ),
        ]

    def __str__(self) -> str:
        return self.name
