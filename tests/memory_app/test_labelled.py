"""Hybrid retrieval beats either of its halves, also on a labelled set that chose nothing; the numbers are printed."""

from __future__ import annotations

import uuid
from pathlib import Path

import pytest
from django.db import transaction

from memory_app import bend_embeddings, embedding
from memory_app.filters import EpisodeFilters
from memory_app.models import EpisodeVector
from memory_app.retrieval import rank_by_vector, retrieve_episodes
from tests.bench.labelled_set import measure_recall, read_labelled_set, read_sayings
from tests.memory_app.factories import NOW, make_golem, remember

FOLDER = Path(__file__).parent / "labelled"
SETS = ("retrieval.txt", "heldout.txt")


@pytest.mark.parametrize("name", SETS)
def test_a_set_has_three_hundred_episodes_and_a_hundred_questions_each_said_once(name: str) -> None:
    topics = read_labelled_set((FOLDER / name).read_text(encoding="utf-8"))
    texts = [text for topic in topics for _, _, text in topic.episodes]
    questions = [question for topic in topics for question in topic.questions]
    assert len(texts) >= 300 and len(set(texts)) == len(texts)
    assert len(questions) >= 100 and len(set(questions)) == len(questions)
    assert all(len(topic.episodes) == 3 and topic.questions for topic in topics)


def test_the_held_out_set_repeats_nothing_of_the_first() -> None:
    first, second = (read_labelled_set((FOLDER / name).read_text(encoding="utf-8")) for name in SETS)
    said = [{text for topic in topics for _, _, text in topic.episodes} for topics in (first, second)]
    asked = [{question for topic in topics for question in topic.questions} for topics in (first, second)]
    assert not said[0] & said[1] and not asked[0] & asked[1]


@pytest.mark.parametrize("name", ["blind.txt", "fresh.txt"])
def test_further_questions_are_a_hundred_of_their_own_to_topics_of_the_held_out_set(name: str) -> None:
    blind, held = (read_labelled_set((FOLDER / each).read_text(encoding="utf-8")) for each in (name, SETS[1]))
    asked = [question for topic in blind for question in topic.questions]
    assert {topic.name for topic in blind} == {topic.name for topic in held}
    assert len(asked) == len(set(asked)) >= 100 and not any(topic.episodes for topic in blind)
    said = {text for topic in held for text in (*topic.questions, *(each for _, _, each in topic.episodes))}
    assert not said & set(asked)


def test_a_thing_is_said_in_two_ways_at_least_and_nothing_held_out_is_among_them() -> None:
    things = read_sayings((FOLDER / "sayings.txt").read_text(encoding="utf-8"))
    said = {each for thing in things for each in thing}
    files = (SETS[1], "blind.txt", "fresh.txt")
    topics = [topic for name in files for topic in read_labelled_set((FOLDER / name).read_text(encoding="utf-8"))]
    kept = {text for topic in topics for text in (*topic.questions, *(each for _, _, each in topic.episodes))}
    assert len(things) >= 150 and not said & kept
    with pytest.raises(ValueError, match="two ways"):
        read_sayings("said once\n")


def test_a_line_that_is_none_is_refused() -> None:
    with pytest.raises(ValueError, match="line 2"):
        read_labelled_set("= a\nhello\n")


@pytest.mark.django_db
@pytest.mark.parametrize("name_of_set", SETS)
def test_hybrid_finds_more_than_words_alone_and_more_than_vectors_alone(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, name_of_set: str
) -> None:
    golem, topics = make_golem(), read_labelled_set((FOLDER / name_of_set).read_text(encoding="utf-8"))
    rows = [(topic.name, episode) for topic in topics for episode in topic.episodes]
    vectors = bend_embeddings.bend(embedding.embed([text for _, (_, _, text) in rows]))
    wanted: dict[str, list[str]] = {}
    with monkeypatch.context() as away:
        # One batch is embedded above; each episode takes its own vector.
        away.setattr(embedding, "embed", lambda texts: [[1.0] + [0.0] * 383 for _ in texts])
        for (name, (tool, tokens, text)), vector in zip(rows, vectors, strict=True):
            row = remember(golem, text, tool_name=tool, tokens=list(tokens), permit_id=uuid.uuid4(), outcome={})
            EpisodeVector.objects.filter(episode=row).update(embedding=vector)
            wanted.setdefault(name, []).append(str(row.pk))
    asked = [(topic.name, question) for topic in topics for question in topic.questions]
    meant = bend_embeddings.bend(embedding.embed([question for _, question in asked]))
    recall = {"hybrid": 0.0, "text": 0.0, "vector": 0.0}
    for (name, question), vector in zip(asked, meant, strict=True):
        for way, given in (("hybrid", vector), ("text", None)):
            hits = retrieve_episodes(
                golem_id=golem.pk, query=question, query_vector=given, filters=EpisodeFilters(), limit=5, now=NOW
            ).hits
            found = [str(hit.episode.pk) for hit in hits if given is not None or hit.text_rank is not None]
            recall[way] += measure_recall(found, wanted[name], at=5) / len(asked)
        with transaction.atomic():
            nearest = rank_by_vector(golem.pk, EpisodeFilters(), vector, 5, use_index=False)
        recall["vector"] += measure_recall([str(pk) for pk, _ in nearest], wanted[name], at=5) / len(asked)
    said = ", ".join(f"{way} {value:.4f}" for way, value in recall.items())
    with capsys.disabled():
        print(f"\nrecall@5 on {name_of_set}: {said}", end=" ")  # noqa: T201
    assert recall["hybrid"] > max(recall["text"], recall["vector"])
