"""OutcomeRecord: what the permit predicted beside what the receipt shows."""

from __future__ import annotations

from django.db import models

from tools_app.core.models import TimeStamped


class LiveOutcomes(models.Manager["OutcomeRecord"]):
    """Outcomes that no rollback of the chain took back: one per permit that ran."""

    def get_queryset(self) -> models.QuerySet[OutcomeRecord]:
        """Without what was taken back."""
        return super().get_queryset().filter(taken_back_at__isnull=True)


class OutcomeRecord(TimeStamped):
    """What was judged of a permit that ran. Amounts are decimal strings in base units; gas in gas units.

    What it says is never rewritten, a trigger holds that: after a rollback of the chain it is marked as taken back, and
    what is judged anew is another row.
    """

    objects = models.Manager()
    live = LiveOutcomes()

    permit = models.ForeignKey("permits_app.ActionPermit", on_delete=models.PROTECT, related_name="outcomes")
    is_verified = models.BooleanField(help_text="Balances show that it did what the permit promised, and nothing else")
    is_cancelled = models.BooleanField(
        default=False, help_text="A call never ran because something else took its nonce; it says nothing of the venue"
    )
    expected = models.JSONField(default=dict)
    actual = models.JSONField(default=dict)
    divergence_bps = models.PositiveIntegerField(default=0, help_text="Largest difference to the prediction")
    gas_expected = models.PositiveBigIntegerField(default=0)
    gas_used = models.PositiveBigIntegerField(default=0)
    fee_wei = models.CharField(max_length=78, default="0")
    pnl_micro_usd = models.BigIntegerField(
        null=True, blank=True, help_text="What it changed of the net asset value, gas included"
    )
    pnl_parts = models.JSONField(default=dict, blank=True, help_text="Micro-USD of gas, slippage, fees and interest")
    ground_truth_source = models.CharField(max_length=32)
    findings = models.JSONField(default=list, help_text="What did not match, in words")
    episode_id = models.UUIDField(null=True, blank=True)
    taken_back_at = models.DateTimeField(
        null=True, blank=True, help_text="When a rollback of the chain took back what it says"
    )

    class Meta:
        verbose_name = "outcome"
        constraints = [
            models.UniqueConstraint(
                fields=["permit"], condition=models.Q(taken_back_at__isnull=True), name="outcome_one_live_per_permit"
            )
        ]
        # Those of the last hour are asked for every quarter of a minute.
        indexes = [models.Index(fields=["created_at"], name="outcome_by_time")]

    def __str__(self) -> str:
        return "verified" if self.is_verified else "diverged"
