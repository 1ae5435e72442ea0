"""PolicyVersion: a golem's limits, cage and allowlist as they were, so that they can be compared and put back."""

from __future__ import annotations

from django.db import models


class PolicyVersion(models.Model):
    """One state of a golem's policy. Append-only; integers inside `policy` are decimal strings."""

    golem = models.ForeignKey("archetypes_app.Golem", on_delete=models.CASCADE, related_name="policy_versions")
    number = models.PositiveIntegerField()
    policy = models.JSONField()
    policy_hash = models.CharField(max_length=66, help_text="Of limits, cage and allowlist alone")
    actor = models.CharField(max_length=128)
    reason = models.TextField(blank=True)
    created_at = models.DateTimeField()

    class Meta:
        verbose_name = "policy version"
        ordering = ["-number"]
        constraints = [models.UniqueConstraint(fields=["golem", "number"], name="policy_version_once")]

    def __str__(self) -> str:
        return f"policy v{self.number}"
