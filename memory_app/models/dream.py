"""DreamJournal: one phase of one dream, what it looked at and what it made of it."""

from __future__ import annotations

import uuid

from django.db import models


class DreamPhase(models.TextChoices):
    """The phases of a dream, in their order."""

    NREM = "NREM", "NREM: replay of the largest prediction errors"
    REM = "REM", "REM: counterfactuals on the local engine"
    INTEGRATION = "INTEGRATION", "Integration: heuristics written or revised"


class DreamState(models.TextChoices):
    """How a phase went."""

    RUNNING = "RUNNING", "Running"
    DONE = "DONE", "Done"
    INTERRUPTED = "INTERRUPTED", "Interrupted"
    FAILED = "FAILED", "Failed"


class DreamJournal(models.Model):
    """One phase. `entries` are JSON-ready, one for each episode looked at; amounts in base units as text."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    golem = models.ForeignKey("archetypes_app.Golem", on_delete=models.CASCADE, related_name="dreams")
    dream_id = models.UUIDField(help_text="The phases of one dream share it")
    phase = models.CharField(max_length=16, choices=DreamPhase.choices)
    state = models.CharField(max_length=16, choices=DreamState.choices, default=DreamState.RUNNING)
    trigger = models.CharField(max_length=64)
    entries = models.JSONField(default=list)
    note = models.TextField(blank=True)
    wants_stop = models.BooleanField(default=False, help_text="An owner asked the dream to end after this entry")
    started_at = models.DateTimeField()
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        verbose_name = "dream journal"
        constraints = [models.UniqueConstraint(fields=["dream_id", "phase"], name="dream_journal_once_per_phase")]
        indexes = [models.Index(fields=["golem", "-started_at"], name="dream_by_golem")]

    def __str__(self) -> str:
        return f"{self.phase} of {self.started_at:%Y-%m-%d %H:%M}"
