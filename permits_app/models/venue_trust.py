"""VenueTrust: whether what a golem's simulations promised at a venue was what the chain then did."""

from __future__ import annotations

from django.db import models

from tools_app.core.models import TimeStamped


class VenueTrust(TimeStamped):
    """One per golem, chain and venue that once diverged. While trust is low a call there is one risk tier higher."""

    golem = models.ForeignKey("archetypes_app.Golem", on_delete=models.CASCADE, related_name="venue_trusts")
    chain_id = models.PositiveBigIntegerField()
    venue = models.CharField(max_length=64)
    is_low = models.BooleanField(default=True, help_text="On: calls at this venue are one risk tier higher")
    lowered_at = models.DateTimeField()
    permit = models.ForeignKey(
        "permits_app.ActionPermit", on_delete=models.PROTECT, related_name="+", help_text="Whose outcome lowered it"
    )
    divergence_bps = models.PositiveIntegerField(help_text="How far that outcome was from its simulation")
    clean_outcomes = models.PositiveIntegerField(default=0, help_text="Outcomes since then that were as predicted")
    restored_at = models.DateTimeField(null=True, blank=True)
    restored_by = models.CharField(max_length=128, blank=True)
    restored_reason = models.TextField(blank=True)

    class Meta:
        verbose_name = "trust in a venue"
        verbose_name_plural = "trust in venues"
        constraints = [
            models.UniqueConstraint(fields=["golem", "chain_id", "venue"], name="venue_trust_once"),
            models.CheckConstraint(
                condition=models.Q(is_low=True) | models.Q(restored_at__isnull=False), name="venue_trust_restored_when"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.venue} on chain {self.chain_id}"
