"""OutcomeRecord: what the permit predicted beside what the receipt shows."""

from __future__ import annotations

from typing import Any

from django.db import models

from tools_app.core.models import TimeStamped


class OutcomeRecord(TimeStamped):
    """One per permit that ran. Amounts are decimal strings in base units; gas in gas units."""

    permit: Any = models.OneToOneField("permits_app.ActionPermit", on_delete=models.PROTECT, related_name="outcome")
    is_verified = models.BooleanField(help_text="Every balance difference stayed inside the permit's bounds")
    expected = models.JSONField(default=dict)
    actual = models.JSONField(default=dict)
    divergence_bps = models.PositiveIntegerField(default=0, help_text="Largest difference to the prediction")
    gas_expected = models.PositiveBigIntegerField(default=0)
    gas_used = models.PositiveBigIntegerField(default=0)
    fee_wei = models.CharField(max_length=78, default="0")
    pnl_micro_usd = models.BigIntegerField(null=True, blank=True, help_text="Value received less value spent and gas")
    ground_truth_source = models.CharField(max_length=32)
    findings = models.JSONField(default=list, help_text="What did not match, in words")
    episode_id = models.UUIDField(null=True, blank=True)

    class Meta:
        verbose_name = "outcome"

    def __str__(self) -> str:
        return "verified" if self.is_verified else "diverged"
