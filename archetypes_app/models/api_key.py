"""ApiKey: the bearer token by which an agent acts as one golem."""

from __future__ import annotations

import uuid

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models

from archetypes_app.tool_loadout import MOST_TOOLS
from tools_app.core.visible_text_columns import PlainCharField


class Scope(models.TextChoices):
    READ = "read", "read: query state and context"
    PREVIEW = "preview", "preview: ask for permits"
    COMMIT = "commit", "commit: use permits"
    DIRECTIVE = "directive", "directive: write to the playbook"
    HALT = "halt", "halt: stop the golem"
    EVENTS = "events", "events: follow the event stream"


class ApiKey(models.Model):
    """A hashed bearer token. The text is shown once and never stored; `prefix` names it in lists and audit entries."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    golem = models.ForeignKey("archetypes_app.Golem", on_delete=models.CASCADE, related_name="api_keys")
    label = PlainCharField(max_length=64, blank=True)
    prefix = models.CharField(max_length=16, unique=True, editable=False)
    digest = models.CharField(max_length=64, unique=True, editable=False, help_text="SHA-256 of the token")
    session_id = models.UUIDField(
        default=uuid.uuid4, editable=False, db_index=True, help_text="Keys with the same one share a session limit"
    )
    scopes = ArrayField(models.CharField(max_length=16, choices=Scope.choices), default=list)
    most_tools = models.PositiveSmallIntegerField(
        default=MOST_TOOLS,
        null=True,
        blank=True,
        help_text="Tools its model is shown at once; empty: every tool the golem has",
    )
    loaded_tools = ArrayField(
        models.CharField(max_length=128),
        default=list,
        blank=True,
        editable=False,
        help_text="What its agent loaded beside the core, least recently used first",
    )
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+", editable=False
    )
    created_at = models.DateTimeField(editable=False)
    expires_at = models.DateTimeField()
    last_used_at = models.DateTimeField(null=True, blank=True, editable=False)
    revoked_at = models.DateTimeField(null=True, blank=True, editable=False)
    replaced_by = models.ForeignKey(
        "self", null=True, blank=True, on_delete=models.SET_NULL, related_name="replaces", editable=False
    )

    class Meta:
        verbose_name = "API key"
        ordering = ["-created_at"]
        constraints = [
            models.CheckConstraint(
                condition=models.Q(expires_at__gt=models.F("created_at")), name="api_key_expires_later"
            ),
            models.CheckConstraint(
                condition=models.Q(most_tools__isnull=True) | models.Q(loaded_tools__len__lte=models.F("most_tools")),
                name="api_key_loads_at_most_its_tools",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.prefix}…"
