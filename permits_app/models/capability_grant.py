"""CapabilityGrant: the database's half of the one-shot capability token."""

from __future__ import annotations

from django.db import models


class CapabilityGrant(models.Model):
    """At most one per permit; consumed by one conditional UPDATE, so a second process loses."""

    permit = models.OneToOneField("permits_app.ActionPermit", on_delete=models.PROTECT, related_name="grant")
    tool_name = models.CharField(max_length=96)
    plan_hash = models.CharField(max_length=66)
    policy_hash = models.CharField(max_length=66, blank=True, help_text="Empty for a halt's own permits")
    value_limit_micro_usd = models.BigIntegerField()
    minted_at = models.DateTimeField()
    expires_at = models.DateTimeField()
    expires_at_tick = models.PositiveBigIntegerField(
        default=0, help_text="The heartbeat tick from which it is worth nothing"
    )
    consumed_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        verbose_name = "capability grant"

    def __str__(self) -> str:
        return f"{self.tool_name} {'consumed' if self.consumed_at else 'open'}"
