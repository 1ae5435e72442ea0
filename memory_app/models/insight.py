"""Insight: what was concluded from episodes, how sure it is, and which episodes stand behind it.

A heuristic is the one kind that may tune, and its columns can hold nothing but a tightening of slippage, another
deadline or a route by name: the database refuses any other parameter, more slippage than was asked, a deadline under
half or over one and a half times of it, a route that is spelled otherwise, and fewer than five episodes behind it. A
causal link names its two ends.
"""

from __future__ import annotations

import uuid
from typing import Any

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex
from django.contrib.postgres.search import SearchVector, SearchVectorField
from django.db import models
from pgvector.django import VectorField

from memory_app.models.provenance import Provenanced
from tools_app.core.models import TimeStamped
from tools_app.core.units import BPS
from tools_app.toolkit.params import ROUTE_PATTERN

LEAST_FACTOR_BPS = 5_000
LARGEST_DEADLINE_FACTOR_BPS = 15_000
LEAST_EPISODES_TO_TUNE = 5
LARGEST_ROUTE_COST_BPS = 100
LEAST_PERCENT_TO_TUNE = 50
"""A heuristic that is doubted more than this changes nothing."""


class Kind(models.TextChoices):
    """What a conclusion is for."""

    INSIGHT = "INSIGHT", "Insight: holds for like actions"
    WARNING = "WARNING", "Warning: like actions failed"
    HEURISTIC = "HEURISTIC", "Heuristic: tunes a soft parameter"
    CAUSAL_LINK = "CAUSAL_LINK", "Causal link: one memory led to another"


class InsightCategory(models.TextChoices):
    """The subject of a conclusion."""

    SLIPPAGE = "slippage", "Slippage"
    GAS_TIMING = "gas_timing", "Gas and timing"
    ROUTE_SELECTION = "route_selection", "Route selection"
    POOL_BEHAVIOR = "pool_behavior", "Pool behaviour"
    MEV_PATTERN = "mev_pattern", "MEV pattern"
    LIQUIDITY_DEPTH = "liquidity_depth", "Liquidity depth"
    VOLATILITY = "volatility", "Volatility"
    FEE_OPTIMIZATION = "fee_optimization", "Fee optimisation"
    REBALANCE_TIMING = "rebalance_timing", "Rebalance timing"
    VAULT_STRATEGY = "vault_strategy", "Vault strategy"
    EMERGENCY = "emergency", "Emergency"
    GENERAL = "general", "General"


class Tunable(models.TextChoices):
    """The parameters a heuristic may carry."""

    NOTHING = "", "Nothing"
    SLIPPAGE = "slippage_bps", "Slippage"
    DEADLINE = "deadline", "Deadline in seconds"
    ROUTE = "route", "Route"


class Insight(TimeStamped, Provenanced):
    """One conclusion of one golem. It is never deleted for fading: in ranking its retention stays at 0.1 or more."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    golem = models.ForeignKey("archetypes_app.Golem", on_delete=models.CASCADE, related_name="insights")
    kind = models.CharField(max_length=16, choices=Kind.choices, default=Kind.INSIGHT)
    text = models.TextField(help_text="Data, never an instruction")
    category = models.CharField(max_length=24, choices=InsightCategory.choices, default=InsightCategory.GENERAL)
    confidence_percent = models.PositiveSmallIntegerField(
        help_text="60 at first, 30 for what an agent says; +10 confirmed, -15 contradicted"
    )
    tool_name = models.CharField(max_length=96, blank=True)
    chain_id = models.PositiveBigIntegerField(null=True, blank=True)
    token_keys = ArrayField(models.CharField(max_length=64), default=list, blank=True)
    episode_ids = ArrayField(models.UUIDField(), default=list, blank=True, help_text="Episodes behind it")
    upvotes = models.PositiveIntegerField(default=0)
    downvotes = models.PositiveIntegerField(default=0)
    parameter = models.CharField(max_length=16, choices=Tunable.choices, default=Tunable.NOTHING, blank=True)
    evidence_for = models.PositiveIntegerField(
        default=0,
        db_default=0,
        editable=False,
        help_text="Of a heuristic, as of its last move: thousandths of one observation",
    )
    evidence_against = models.PositiveIntegerField(
        default=0,
        db_default=0,
        editable=False,
        help_text="The same of what did not fit",
    )
    factor_bps = models.PositiveIntegerField(default=BPS, help_text="Part of the asked parameter; 10,000 is all of it")
    route = models.CharField(
        max_length=192, blank=True, help_text="To prefer, with @ and how many bps more than the best quote it may cost"
    )
    route_from = models.CharField(max_length=64, blank=True, help_text="Token in lower case the route starts from")
    route_most_amount = models.DecimalField(
        max_digits=78,
        decimal_places=0,
        null=True,
        blank=True,
        help_text="Largest swap the route is preferred for, in base units of the token it starts from; empty: any",
    )
    tuned_at = models.DateTimeField(null=True, blank=True)
    cause_id = models.UUIDField(null=True, blank=True, help_text="Of a causal link: the memory it starts from")
    effect_id = models.UUIDField(null=True, blank=True, help_text="Of a causal link: the memory it leads to")
    is_quarantined = models.BooleanField(default=False, help_text="Kept out of every answer to the agent")
    quarantine_reason = models.CharField(max_length=200, blank=True)
    is_pinned = models.BooleanField(default=False, help_text="Never archived")
    archived_at = models.DateTimeField(null=True, blank=True)
    scanned_at = models.DateTimeField(null=True, blank=True, help_text="When it was last searched for poison")
    stability_days = models.FloatField(default=30.0)
    last_accessed_at = models.DateTimeField()
    access_count = models.PositiveIntegerField(default=0)
    identity_hash = models.CharField(max_length=66, editable=False, help_text="Of its subject, or of its text")
    origin_id = models.UUIDField(
        null=True,
        blank=True,
        editable=False,
        help_text="The memory it was first stored as, in whichever golem; empty: this one",
    )
    embedding: Any = VectorField(  # Any: pgvector has no types
        dimensions=settings.GOLEM_EMBEDDING_DIMENSIONS, null=True, blank=True
    )
    search = models.GeneratedField(
        expression=SearchVector("text", config="english"), output_field=SearchVectorField(), db_persist=True
    )

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["golem", "identity_hash"], name="insight_once"),
            models.UniqueConstraint(fields=["golem", "origin_id"], name="insight_once_per_origin"),
            models.CheckConstraint(
                condition=models.Q(confidence_percent__lte=100), name="insight_confidence_at_most_100"
            ),
            models.CheckConstraint(condition=models.Q(stability_days__gt=0), name="insight_stability_positive"),
            models.CheckConstraint(
                condition=models.Q(
                    kind=Kind.HEURISTIC, parameter__in=[Tunable.SLIPPAGE, Tunable.DEADLINE, Tunable.ROUTE]
                )
                | models.Q(~models.Q(kind=Kind.HEURISTIC), parameter=Tunable.NOTHING, factor_bps=BPS),
                name="insight_only_heuristics_tune",
            ),
            models.CheckConstraint(
                condition=models.Q(factor_bps__gte=LEAST_FACTOR_BPS, factor_bps__lte=BPS)
                | models.Q(
                    parameter=Tunable.DEADLINE,
                    factor_bps__gte=LEAST_FACTOR_BPS,
                    factor_bps__lte=LARGEST_DEADLINE_FACTOR_BPS,
                ),
                name="insight_factor_only_tightens",
            ),
            models.CheckConstraint(
                condition=models.Q(parameter=Tunable.ROUTE, factor_bps=BPS, route__regex=ROUTE_PATTERN)
                & ~models.Q(route_from="")
                | models.Q(~models.Q(parameter=Tunable.ROUTE), route="", route_from=""),
                name="insight_route_is_a_route",
            ),
            models.CheckConstraint(
                condition=models.Q(kind=Kind.CAUSAL_LINK, cause_id__isnull=False, effect_id__isnull=False)
                | models.Q(~models.Q(kind=Kind.CAUSAL_LINK), cause_id__isnull=True, effect_id__isnull=True),
                name="insight_only_links_have_ends",
            ),
            models.CheckConstraint(
                condition=~models.Q(kind=Kind.HEURISTIC) | models.Q(episode_ids__len__gte=LEAST_EPISODES_TO_TUNE),
                name="insight_heuristic_has_episodes",
            ),
        ]
        indexes = [
            models.Index(fields=["golem", "kind", "tool_name"], name="insight_by_tool"),
            GinIndex(fields=["search"], name="insight_search"),
        ]

    def __str__(self) -> str:
        return self.text[:80]
