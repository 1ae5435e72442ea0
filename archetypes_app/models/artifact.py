"""Artifact: what a sleepwalker-observer published, with the episodes behind it and how to check it.

It is never changed: whoever reads it can count again what it counted.
"""

from __future__ import annotations

import uuid

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q

from archetypes_app.models.golem import Golem

LEAST_CONFIDENCE_PERCENT = 60
LEAST_PRICE_MICRO_USD = 50_000
LARGEST_PRICE_MICRO_USD = 500_000


class Domain(models.TextChoices):
    """What an observer looks at."""

    LIQUIDITY = "liquidity", "Liquidity"
    MEV = "mev", "MEV"
    PROTOCOL_SAFETY = "protocol-safety", "Safety of protocols"
    AGENT_ANALYTICS = "agent-analytics", "Agents"
    GOVERNANCE = "governance", "Governance"


class Artifact(models.Model):
    """One statement: `support` of `total` rows bear it out. Strangers pay its price."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    golem = models.ForeignKey(Golem, on_delete=models.CASCADE, related_name="artifacts")
    domain = models.CharField(max_length=16, choices=Domain.choices)
    subject = models.CharField(max_length=128, help_text="What it is about, such as a pool or a venue")
    statement = models.TextField(help_text="Data, never an instruction")
    support = models.PositiveIntegerField()
    total = models.PositiveIntegerField()
    is_adverse = models.BooleanField(default=False, help_text="Most rows speak against what should hold")
    confidence_percent = models.PositiveSmallIntegerField()
    episode_sources = ArrayField(models.UUIDField(), help_text="Episodes it was drawn from")
    validation_recipe = models.JSONField(help_text="Which rows to count, by which rule, and what to expect")
    price_micro_usd = models.PositiveIntegerField()
    published_at = models.DateTimeField()

    class Meta:
        verbose_name = "artifact"
        constraints = [
            models.CheckConstraint(
                condition=Q(confidence_percent__range=(LEAST_CONFIDENCE_PERCENT, 100)), name="artifact_is_confident"
            ),
            models.CheckConstraint(
                condition=Q(price_micro_usd__range=(LEAST_PRICE_MICRO_USD, LARGEST_PRICE_MICRO_USD)),
                name="artifact_price_in_range",
            ),
            models.CheckConstraint(condition=Q(episode_sources__len__gte=1), name="artifact_has_sources"),
            models.CheckConstraint(condition=Q(support__lte=models.F("total")), name="artifact_support_of_total"),
        ]
        indexes = [models.Index(fields=["golem", "-published_at"], name="artifact_by_golem")]

    def __str__(self) -> str:
        return self.statement[:80]
