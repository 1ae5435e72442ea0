"""DefinitionApproval: an owner's word that one golem has one definition of a tool, as shown, until taken back."""

from __future__ import annotations

from django.conf import settings
from django.db import models


class DefinitionApproval(models.Model):
    """`definition_hash` is what the owner saw. One living approval per golem and name; a new version replaces it."""

    golem = models.ForeignKey("archetypes_app.Golem", on_delete=models.CASCADE, related_name="definition_approvals")
    definition = models.ForeignKey("tools_app.ToolDefinition", on_delete=models.PROTECT, related_name="approvals")
    tool_name = models.CharField(max_length=64)
    definition_hash = models.CharField(max_length=66)
    approved_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    approved_at = models.DateTimeField()
    revoked_at = models.DateTimeField(null=True, blank=True)
    revoked_reason = models.TextField(blank=True)

    class Meta:
        verbose_name = "approved definition"
        ordering = ["-approved_at"]
        constraints = [
            models.UniqueConstraint(
                fields=["golem", "tool_name"],
                condition=models.Q(revoked_at__isnull=True),
                name="definition_approved_once",
            ),
            models.CheckConstraint(
                condition=models.Q(revoked_at__isnull=True) | ~models.Q(revoked_reason=""),
                name="definition_revoked_for_a_reason",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.tool_name} for {self.golem}"
