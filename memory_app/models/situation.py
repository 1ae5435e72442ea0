"""SituationVector: the embedding of a situation in words, made by the memory worker for processes without the model."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.db import models
from pgvector.django import VectorField


class SituationVector(models.Model):
    """One situation that some golem was in. The words are coarse, so they come again; they name no golem and no amount.

    Rows without a vector are embedded within a minute; until then memory is asked by words alone.
    """

    text_hash = models.CharField(max_length=66, primary_key=True)
    text = models.TextField()
    embedding: Any = VectorField(  # Any: pgvector has no types
        dimensions=settings.GOLEM_EMBEDDING_DIMENSIONS, null=True, blank=True
    )
    created_at = models.DateTimeField()

    class Meta:
        verbose_name = "situation"
        indexes = [models.Index(fields=["created_at"], name="situation_by_age")]

    def __str__(self) -> str:
        return self.text[:80]
