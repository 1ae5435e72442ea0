"""Vectors of episodes are bent to the trade, and what reads them as the model wrote them has them straight again."""

from __future__ import annotations

import importlib
import uuid
from pathlib import Path

import pytest
from django.apps import apps
from django.db import connection

from memory_app import bend_embeddings, embedding
from memory_app.actions.query_grimoire import embed_question, query_grimoire
from memory_app.errors import EmbeddingUnavailable
from memory_app.models import EpisodeVector
from memory_app.near_duplicates import measure_cosine
from tests.memory_app.factories import NOW, make_golem, remember

SAID = ("we had to wait in line until the vault paid out", "Redemption joined a queue behind larger holders")
ORDINARY = "Supplied 4,000 USDC to the vault on a Sunday"


def test_what_says_the_same_in_other_words_comes_before_what_shares_a_word_after_bending() -> None:
    written = embedding.embed([*SAID, ORDINARY])
    asked, meant, ordinary = written
    assert measure_cosine(asked, ordinary) > measure_cosine(asked, meant)
    asked, meant, ordinary = bend_embeddings.bend(written)
    assert measure_cosine(asked, meant) > measure_cosine(asked, ordinary)


def test_a_bent_vector_has_length_one_and_is_straightened_to_what_the_model_wrote() -> None:
    [written] = embedding.embed(SAID[:1])
    [bent] = bend_embeddings.bend([written])
    assert sum(part * part for part in bent) == pytest.approx(1)
    assert bend_embeddings.straighten(bent) == pytest.approx(written, abs=1e-6)
    assert bend_embeddings.bend([]) == [] and bend_embeddings.bend([[0.0] * 384]) == [[0.0] * 384]


@pytest.mark.django_db
def test_an_episode_keeps_its_vector_bent_and_an_old_one_is_bent_by_the_migration() -> None:
    row = remember(make_golem(), SAID[1], permit_id=uuid.uuid4(), outcome={})
    [written] = embedding.embed([row.summary])
    [bent] = bend_embeddings.bend([written])

    def read() -> list[float]:
        return [float(part) for part in EpisodeVector.objects.get(episode=row).embedding]

    assert read() == pytest.approx(bent, abs=1e-5)
    migration = importlib.import_module("memory_app.migrations.0019_vectors_bent_to_the_trade")
    with connection.schema_editor() as editor:
        migration.straighten_vectors(apps, editor)
        assert read() == pytest.approx(written, abs=1e-3)
        migration.bend_vectors(apps, editor)
    assert read() == pytest.approx(bent, abs=1e-3)


@pytest.mark.django_db
def test_without_its_matrix_memory_answers_by_words_and_loses_no_outcome(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    spoilt = tmp_path / "bend_embeddings.f16"
    spoilt.write_bytes(b"another file")
    monkeypatch.setattr(bend_embeddings, "FILE", spoilt)
    bend_embeddings._read.cache_clear()
    try:
        with pytest.raises(EmbeddingUnavailable, match="not the file"):
            bend_embeddings.bend([[1.0] * 384])
        golem = make_golem()
        row = remember(golem, SAID[1], permit_id=uuid.uuid4(), outcome={})
        assert not EpisodeVector.objects.filter(episode=row).exists()
        vector, bent, reason = embed_question("waiting for a redemption")
        assert vector is None and bent is None and "bend_embeddings.f16" in reason
        answer = query_grimoire(golem_id=golem.pk, query="redemption queue", limit=1, now=NOW)
        assert answer["mode"] == "text_only" and answer["episodes"][0]["content"] == SAID[1]
    finally:
        bend_embeddings._read.cache_clear()
