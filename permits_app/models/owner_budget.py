"""OwnerBudget: what all golems of one owner may spend together within 24 h."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q

from tools_app.core.models import TimeStamped


class OwnerBudget(TimeStamped):
    """One row a person; without a row each golem has its own limits alone. Its lock orders their reservations."""

    person = models.OneToOneField(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, primary_key=True, related_name="golem_budget"
    )
    per_day_micro_usd = models.BigIntegerField(help_text="Rolling 24 h, over all golems of the person")

    class Meta:
        verbose_name = "budget of an owner"
        constraints = [models.CheckConstraint(condition=Q(per_day_micro_usd__gte=0), name="owner_budget_not_negative")]

    def __str__(self) -> str:
        return f"{self.per_day_micro_usd} micro-USD a day"
