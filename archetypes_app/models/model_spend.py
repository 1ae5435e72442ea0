"""ModelSpendDay: what one golem's thinking costs on one UTC day, under a cap the database itself holds."""

from __future__ import annotations

from django.db import models
from django.db.models import F, Q

from archetypes_app.models.golem import Golem


class ModelSpendDay(models.Model):
    """Reserved before a request to a language model, settled after it; never above the day's cap together.

    What a dead worker reserved stays reserved until the day ends: an unknown bill counts as paid.
    """

    golem = models.ForeignKey(Golem, on_delete=models.CASCADE, related_name="model_spend_days")
    day = models.DateField(help_text="UTC")
    cap_micro_usd = models.PositiveBigIntegerField(help_text="Micro-USD; the cap in force at the last reservation")
    reserved_micro_usd = models.PositiveBigIntegerField(default=0, help_text="Micro-USD of requests under way")
    spent_micro_usd = models.PositiveBigIntegerField(default=0, help_text="Micro-USD")
    requests = models.PositiveIntegerField(default=0)
    refused = models.PositiveIntegerField(default=0, help_text="Requests the cap kept from being made")

    class Meta:
        verbose_name = "model spend of a day"
        verbose_name_plural = "model spend by day"
        constraints = [
            models.UniqueConstraint(fields=["golem", "day"], name="model_spend_once_per_day"),
            models.CheckConstraint(
                condition=Q(cap_micro_usd__gte=F("reserved_micro_usd") + F("spent_micro_usd")),
                name="model_spend_within_the_cap",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.day}: {self.spent_micro_usd} of {self.cap_micro_usd} micro-USD"
