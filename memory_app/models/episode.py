"""Episode: one thing that happened to a golem, what it had predicted, and what it makes of the difference.

The vector has a table of its own: being remembered changes an episode's row, and a row that carried the
vector would enter the HNSW index anew each time.
"""

from __future__ import annotations

import uuid
from typing import Any

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex, OpClass
from django.contrib.postgres.search import SearchVector, SearchVectorField
from django.core.validators import MinValueValidator
from django.db import models
from django.db.models.functions import Cast
from pgvector.django import HalfVectorField, HnswIndex, VectorField

from memory_app.decay import Importance
from memory_app.models.provenance import Source, Trust
from tools_app.core.models import TimeStamped

_HALF: Any = HalfVectorField(dimensions=settings.GOLEM_EMBEDDING_DIMENSIONS)  # Any: pgvector has no types
IMPORTANCE_CHOICES = [(importance.value, importance.value.capitalize()) for importance in Importance]


class Episode(TimeStamped):
    """One experience. `permit_id` names the permit it came from; a golem has at most one episode of a permit."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    golem = models.ForeignKey("archetypes_app.Golem", on_delete=models.CASCADE, related_name="episodes")
    permit_id = models.UUIDField(null=True, blank=True)
    chain_id = models.PositiveBigIntegerField(null=True, blank=True)
    tool_name = models.CharField(max_length=96)
    action_type = models.CharField(max_length=64, blank=True)
    venue = models.CharField(max_length=64, blank=True)
    tokens = ArrayField(
        models.CharField(max_length=64), default=list, blank=True, help_text="Symbols or addresses, as they were given"
    )
    token_keys = ArrayField(
        models.CharField(max_length=64), default=list, blank=True, editable=False, help_text="Tokens in lower case"
    )
    params = models.JSONField(default=dict, blank=True, help_text="What the tool was asked, for counterfactuals")
    calls = models.JSONField(default=list, blank=True, help_text="to, data, value and sender of each call that ran")
    summary = models.TextField(help_text="The text that is embedded; data, never an instruction")
    prediction = models.JSONField(default=dict, blank=True, help_text="What the permit expected")
    outcome = models.JSONField(default=dict, blank=True, help_text="What the receipt showed")
    reflection = models.JSONField(default=dict, blank=True, help_text="Expected, happened, why, next time")
    prediction_error_bps = models.PositiveIntegerField(
        null=True, blank=True, help_text="Largest difference to the prediction; empty: nothing to compare"
    )

    importance = models.CharField(max_length=16, choices=IMPORTANCE_CHOICES, default=Importance.BASE.value)
    stability_days = models.FloatField(
        validators=[MinValueValidator(0.01)], help_text="Days until retention has fallen to 37%"
    )
    last_accessed_at = models.DateTimeField()
    access_count = models.PositiveIntegerField(default=0)
    dream_tag = models.CharField(max_length=64, blank=True, help_text="A word that dreams group by")
    is_pinned = models.BooleanField(default=False, help_text="Never archived")
    is_quarantined = models.BooleanField(default=False, help_text="Kept out of every answer to the agent")
    quarantine_reason = models.CharField(max_length=200, blank=True)
    archived_at = models.DateTimeField(null=True, blank=True)
    consolidated_at = models.DateTimeField(null=True, blank=True, help_text="When insights were drawn from it")

    occurred_at = models.DateTimeField()
    source = models.CharField(max_length=16, choices=Source.choices, default=Source.RUNTIME)
    trust = models.CharField(max_length=16, choices=Trust.choices, default=Trust.VERIFIED)
    recorded_by = models.CharField(max_length=128, help_text="key:<prefix>, owner:<id> or system:<part>")
    recorded_tool = models.CharField(max_length=96, blank=True, help_text="Empty: written by the runtime")
    recorded_permit_id = models.UUIDField(null=True, blank=True, help_text="The permit it was written under")
    block_number = models.PositiveBigIntegerField(null=True, blank=True)
    block_hash = models.CharField(max_length=66, blank=True)
    content_hash = models.CharField(max_length=66, editable=False)
    origin_id = models.UUIDField(
        null=True,
        blank=True,
        editable=False,
        help_text="The memory it was first stored as, in whichever golem; empty: this one",
    )
    near_keys = ArrayField(
        models.BigIntegerField(), default=list, blank=True, editable=False, help_text="Bands that near duplicates share"
    )
    scanned_at = models.DateTimeField(null=True, blank=True, help_text="When it was last searched for poison")
    dreamt_at = models.DateTimeField(null=True, blank=True, help_text="When it was last replayed in a dream")

    search_text = models.TextField(
        editable=False, help_text="Tool, venue, tokens and lesson, searched beside the summary"
    )
    search = models.GeneratedField(
        expression=SearchVector("summary", weight="A", config="english")
        + SearchVector("search_text", weight="B", config="english"),
        output_field=SearchVectorField(),
        db_persist=True,
    )

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["golem", "permit_id"], name="episode_once_per_permit"),
            models.UniqueConstraint(fields=["golem", "content_hash"], name="episode_once_per_content"),
            models.UniqueConstraint(fields=["golem", "origin_id"], name="episode_once_per_origin"),
            models.CheckConstraint(condition=models.Q(stability_days__gt=0), name="episode_stability_positive"),
            models.CheckConstraint(
                condition=models.Q(is_quarantined=True) | ~models.Q(trust=Trust.UNTRUSTED),
                name="episode_untrusted_is_quarantined",
            ),
        ]
        indexes = [
            models.Index(fields=["golem", "-occurred_at"], name="episode_by_golem"),
            models.Index(fields=["-occurred_at", "-id"], name="episode_newest"),
            models.Index(fields=["golem", "tool_name", "-occurred_at"], name="episode_by_tool"),
            models.Index(fields=["golem", "chain_id", "-occurred_at"], name="episode_by_chain"),
            models.Index(fields=["golem", "importance", "-occurred_at"], name="episode_by_importance"),
            models.Index(
                # Counts how much there is to search without touching the rows.
                fields=["golem"],
                include=["id"],
                condition=models.Q(archived_at__isnull=True, is_quarantined=False),
                name="episode_live",
            ),
            GinIndex(fields=["token_keys"], name="episode_tokens"),
            GinIndex(fields=["search"], name="episode_search"),
            GinIndex(fields=["near_keys"], name="episode_near"),
        ]

    def __str__(self) -> str:
        return self.summary[:80]


class EpisodeVector(models.Model):
    """The embedding of an episode's summary. An episode without one is still found by its words."""

    episode = models.OneToOneField(Episode, on_delete=models.CASCADE, primary_key=True, related_name="vector")
    golem = models.ForeignKey("archetypes_app.Golem", on_delete=models.CASCADE, related_name="+")
    embedding: Any = VectorField(dimensions=settings.GOLEM_EMBEDDING_DIMENSIONS)  # Any: pgvector has no types

    class Meta:
        verbose_name = "episode vector"
        indexes = [
            HnswIndex(
                # Half precision halves what a search reads; what it finds is put in order by the exact distances.
                OpClass(Cast("embedding", _HALF), name="halfvec_cosine_ops"),
                name="episode_vector_hnsw",
                # Episodes come in tight clusters of near-equal sentences; a sparser graph leaves some out of reach.
                m=24,
                ef_construction=128,
            )
        ]

    def __str__(self) -> str:
        return f"vector of {self.episode_id}"
