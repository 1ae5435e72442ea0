"""PolicyTrial: a draft of a golem's policy tried on its past decisions, and what came of it. Changes nothing else."""

from __future__ import annotations

import uuid

from django.db import models


class TrialState(models.TextChoices):
    RUNNING = "RUNNING", "Running"
    DONE = "DONE", "Done"
    FAILED = "FAILED", "Failed"


class PolicyTrial(models.Model):
    """One draft, given or to be found: the least one that had allowed the last `days`. `done` of `total` steps."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    golem = models.ForeignKey("archetypes_app.Golem", on_delete=models.CASCADE, related_name="policy_trials")
    asked_by = models.CharField(max_length=128)
    policy = models.JSONField(null=True, help_text="Limits, cage and allowlist of the draft; none while it is sought")
    last = models.PositiveIntegerField(help_text="How many decisions it is tried on at most")
    days = models.PositiveIntegerField(null=True, help_text="The period of which the least policy is sought")
    with_refused = models.BooleanField(default=False, help_text="The least policy allows what was refused as well")
    state = models.CharField(max_length=8, choices=TrialState.choices, default=TrialState.RUNNING)
    done = models.PositiveIntegerField(default=0)
    total = models.PositiveIntegerField(default=0)
    result = models.JSONField(default=dict)
    problem = models.JSONField(default=dict)
    created_at = models.DateTimeField()
    moved_at = models.DateTimeField(help_text="When it last made progress")

    class Meta:
        verbose_name = "policy trial"
        indexes = [models.Index(fields=["golem", "-created_at"], name="policy_trial_by_golem")]

    def __str__(self) -> str:
        return f"policy trial, {self.state.lower()}"
