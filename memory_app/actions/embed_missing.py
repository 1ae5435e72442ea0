"""Give vectors to episodes that were stored while the model was away."""

from __future__ import annotations

from django.db import transaction

from memory_app import embedding
from memory_app.models import Episode, EpisodeVector


def embed_missing_episodes(*, limit: int = 200) -> int:
    """Embed up to `limit` episodes without a vector, oldest first; returns how many. Raises EmbeddingUnavailable.

    The model runs outside any transaction; a vector that another worker wrote meanwhile stands.
    """
    missing = list(
        Episode.objects.filter(vector__isnull=True)
        .order_by("occurred_at", "pk")
        .values_list("pk", "golem_id", "summary")[:limit]
    )
    vectors = embedding.embed([summary for _, _, summary in missing])
    rows = [
        EpisodeVector(episode_id=pk, golem_id=golem_id, embedding=vector)
        for (pk, golem_id, _), vector in zip(missing, vectors, strict=True)
    ]
    with transaction.atomic():
        EpisodeVector.objects.bulk_create(rows, ignore_conflicts=True)
    return len(rows)
