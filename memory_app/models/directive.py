"""Directive: one version of a golem's PLAYBOOK, STRATEGY or HEURISTICS."""

from __future__ import annotations

import uuid

from django.db import models


class Document(models.TextChoices):
    """PLAYBOOK is the agent's own; STRATEGY is written by its owner; HEURISTICS shows what tunes, as TOML."""

    PLAYBOOK = "PLAYBOOK", "Playbook"
    STRATEGY = "STRATEGY", "Strategy"
    HEURISTICS = "HEURISTICS", "Heuristics"


class Directive(models.Model):
    """One version of a document: its whole text after the change, and the change as a unified diff."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    golem = models.ForeignKey("archetypes_app.Golem", on_delete=models.CASCADE, related_name="directives")
    document = models.CharField(max_length=16, choices=Document.choices, default=Document.PLAYBOOK)
    version = models.PositiveIntegerField()
    section = models.CharField(max_length=80, help_text="The section this version changed")
    text = models.TextField(help_text="Markdown with one `## ` heading per section; HEURISTICS is TOML")
    diff = models.TextField(help_text="Unified diff to the version before")
    reason = models.CharField(max_length=2_000)
    actor = models.CharField(max_length=128)
    created_at = models.DateTimeField()

    class Meta:
        verbose_name = "directive version"
        constraints = [
            models.UniqueConstraint(fields=["golem", "document", "version"], name="directive_one_per_version"),
            models.CheckConstraint(condition=models.Q(version__gte=1), name="directive_version_from_1"),
        ]

    def __str__(self) -> str:
        return f"{self.document} v{self.version}"
