"""Give vectors to what was stored while the model was away, and to situations that golems meet."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final

from django.db import transaction

from memory_app import bend_embeddings, embedding
from memory_app.models import Episode, EpisodeVector, Insight, SituationVector
from memory_app.models.provenance import Trust
from tools_app.core.transaction_retry import retry_aborted

KEPT_FOR: Final = timedelta(days=30)


def embed_missing_episodes(*, limit: int = 200) -> int:
    """Embed up to `limit` episodes without a vector, oldest first; returns how many. Raises EmbeddingUnavailable.

    The model runs outside any transaction; a vector that another worker wrote meanwhile stands.
    """
    missing = list(
        Episode.objects.filter(vector__isnull=True)
        .order_by("occurred_at", "pk")
        .values_list("pk", "golem_id", "summary")[:limit]
    )
    vectors = bend_embeddings.bend(embedding.embed([summary for _, _, summary in missing]))
    rows = [
        EpisodeVector(episode_id=pk, golem_id=golem_id, embedding=vector)
        for (pk, golem_id, _), vector in zip(missing, vectors, strict=True)
    ]
    _keep(rows)
    return len(rows)


@retry_aborted
def _keep(rows: Sequence[EpisodeVector]) -> None:
    with transaction.atomic():
        EpisodeVector.objects.bulk_create(rows, ignore_conflicts=True)
        # What was only said is held against texts that steer by its meaning too, which the next scan can see now.
        said = Episode.objects.filter(pk__in=[row.episode_id for row in rows]).exclude(trust=Trust.VERIFIED)
        said.update(scanned_at=None)


def embed_missing_insights(*, limit: int = 200) -> int:
    """Embed up to `limit` insights that are new or were reworded; returns how many. Raises EmbeddingUnavailable.

    A text that changed while the model ran keeps no vector and is embedded next time.
    """
    missing = list(Insight.objects.filter(embedding__isnull=True).order_by("pk").values_list("pk", "text")[:limit])
    vectors = embedding.embed([text for _, text in missing])
    for (pk, text), vector in zip(missing, vectors, strict=True):
        Insight.objects.filter(pk=pk, text=text, embedding__isnull=True).update(embedding=vector, scanned_at=None)
    return len(missing)


def embed_missing_situations(*, now: datetime, limit: int = 200) -> int:
    """Embed up to `limit` situations; returns how many. Those of before a month go, and come again when they are met.

    Raises EmbeddingUnavailable.
    """
    SituationVector.objects.filter(created_at__lt=now - KEPT_FOR).delete()
    rows = SituationVector.objects.filter(embedding__isnull=True).order_by("created_at", "pk")
    missing = list(rows.values_list("pk", "text")[:limit])
    vectors = embedding.embed([text for _, text in missing])
    for (pk, _), vector in zip(missing, vectors, strict=True):
        SituationVector.objects.filter(pk=pk).update(embedding=vector)
    return len(missing)
