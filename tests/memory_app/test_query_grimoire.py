"""query_grimoire: what an agent is told, what it is not, and that being remembered strengthens."""

from __future__ import annotations

import json
import threading
from datetime import timedelta
from typing import Any

import pytest
from django.db import connections

from memory_app import embedding
from memory_app.actions.forget import archive_forgotten_episodes
from memory_app.actions.keep_or_archive import Keeping, keep_memory
from memory_app.actions.query_grimoire import query_grimoire, reinforce_episodes
from memory_app.errors import EmbeddingUnavailable
from memory_app.models import Episode
from tests.memory_app.factories import NOW, make_golem, remember
from tools_app.core.errors import InvalidParams
from tools_app.core.models import AuditEntry

pytestmark = pytest.mark.django_db


def ask(golem: Any, query: str = "swap of USDC", **given: Any) -> dict[str, Any]:
    return query_grimoire(golem_id=golem.pk, query=query, now=given.pop("now", NOW), **given)


def test_an_answer_is_json_with_scores_retention_and_text_marked_as_data() -> None:
    golem = make_golem()
    episode = remember(golem, "Swapped 500 USDC for 0.162 WETH")
    answer = ask(golem, now=NOW + timedelta(days=7))
    assert json.loads(json.dumps(answer)) == answer
    assert (answer["mode"], answer["mode_reason"], answer["episodes_searched"]) == ("hybrid", None, 1)
    [told] = answer["episodes"]
    assert told["id"] == str(episode.pk)
    assert told["untrusted"] is True
    assert told["content"] == "Swapped 500 USDC for 0.162 WETH"
    assert told["retention"] == "0.367879"
    assert 0 < float(told["score"]) <= float(told["score_parts"]["fused"]) <= 1
    assert told["provenance"]["trust"] == "VERIFIED"


def test_being_remembered_makes_a_memory_last_half_as_long_again() -> None:
    golem = make_golem()
    episode = remember(golem, "Swapped 500 USDC")
    later = NOW + timedelta(days=3)
    ask(golem, now=later)
    ask(golem, now=later)
    episode.refresh_from_db()
    assert episode.stability_days == 7 * 1.5 * 1.5
    assert (episode.access_count, episode.last_accessed_at) == (2, later)


def test_stability_stops_at_a_year() -> None:
    golem = make_golem()
    episode = remember(golem, "Swapped 500 USDC", importance="emergency")
    for _ in range(4):
        ask(golem)
    episode.refresh_from_db()
    assert episode.stability_days == 365


def test_only_what_was_answered_is_strengthened() -> None:
    golem = make_golem()
    close = remember(golem, "Swapped USDC for WETH")
    far = remember(golem, "The keystore was backed up")
    ask(golem, "swap of USDC to WETH", limit=1)
    close.refresh_from_db()
    far.refresh_from_db()
    assert (close.access_count, far.access_count) == (1, 0)


def test_who_does_not_say_how_many_is_answered_with_ten() -> None:
    golem = make_golem()
    for number in range(11):
        remember(golem, f"Swap {number} of USDC for WETH")
    assert (len(ask(golem)["episodes"]), len(ask(golem, limit=11)["episodes"])) == (10, 11)


@pytest.mark.django_db(transaction=True)
def test_answers_that_share_episodes_do_not_block_each_other() -> None:
    golem = make_golem()
    ids = [remember(golem, f"Swap {number}").pk for number in range(6)]
    barrier = threading.Barrier(4)
    failures: list[BaseException] = []

    def strengthen(order: list[Any]) -> None:
        barrier.wait(timeout=30)
        try:
            for _ in range(5):
                reinforce_episodes(golem_id=golem.pk, episode_ids=order, now=NOW)
        except Exception as error:
            failures.append(error)
        finally:
            connections.close_all()

    threads = [threading.Thread(target=strengthen, args=(order,)) for order in (ids, ids[::-1], ids[3:], ids[:3])]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)
    assert failures == []
    assert set(Episode.objects.filter(golem=golem).values_list("access_count", flat=True)) == {15}


def test_without_the_model_words_alone_answer_and_the_answer_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    golem = make_golem()
    remember(golem, "Swapped 500 USDC for 0.162 WETH")

    def fail(_texts: Any) -> Any:
        raise EmbeddingUnavailable("the model is away")

    monkeypatch.setattr(embedding, "embed", fail)
    answer = ask(golem)
    assert (answer["mode"], answer["mode_reason"]) == ("text_only", "the model is away")
    assert len(answer["episodes"]) == 1


@pytest.mark.parametrize("store", ["insights", "heuristics"])
def test_stores_that_nothing_writes_yet_are_empty_and_say_why(store: str) -> None:
    answer = ask(make_golem(), store=store)
    assert answer[store] == []
    assert "no " in answer[f"{store}_note"]
    assert "episodes" not in answer


@pytest.mark.parametrize("store", ["all", "both"])
def test_all_stores_are_answered_together(store: str) -> None:
    answer = ask(make_golem(), store=store)
    assert (answer["episodes"], answer["insights"], answer["heuristics"]) == ([], [], [])


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"query": ""}, "query"),
        ({"query": "x" * 2_001}, "query"),
        ({"query": "\x00"}, "query"),
        ({"store": "dreams"}, "store"),
        ({"limit": 0}, "limit"),
        ({"limit": 51}, "limit"),
        ({"limit": True}, "limit"),
        ({"filters": {"golem_id": "another"}}, "filters.golem_id"),
        ({"filters": {"include_quarantined": True}}, "filters.include_quarantined"),
        ({"filters": {"chain_id": "1"}}, "filters.chain_id"),
        ({"filters": {"tokens": [], "token_pair": "A/B"}}, "filters.token_pair"),
        ({"filters": {"tokens": [1]}}, "filters.tokens"),
        ({"filters": {"importance": "huge"}}, "filters.importance"),
        ({"filters": {"since": "yesterday"}}, "filters.since"),
        ({"filters": {"since": "2026-11-21T06:00:00"}}, "filters.since"),
        ({"filters": {"include_archived": "yes"}}, "filters.include_archived"),
        ({"filters": {"tool": ""}}, "filters.tool"),
    ],
)
def test_a_malformed_question_names_its_bad_field(given: dict[str, Any], field: str) -> None:
    with pytest.raises(InvalidParams) as caught:
        ask(make_golem(), **given)
    assert field in caught.value.data["fields"]


def test_an_agent_cannot_ask_for_quarantined_memories() -> None:
    golem = make_golem()
    remember(golem, "Swap without limits", provenance={"written_by": "agent", "trust": "untrusted"})
    assert ask(golem, "swap without limits", filters={"include_archived": True})["episodes"] == []


@pytest.mark.parametrize("text", ["'; DROP TABLE x; --", "a & b | !c <-> (", "%s %(x)s", "\\", "🦊 ' \"", "the and of"])
def test_no_question_breaks_the_text_search(text: str) -> None:
    golem = make_golem()
    remember(golem, "Swapped 500 USDC")
    assert len(ask(golem, text)["episodes"]) == 1


def test_faded_episodes_are_archived_not_deleted_and_can_be_restored() -> None:
    golem = make_golem()
    faded = remember(golem, "A base memory")
    pinned = remember(golem, "A pinned memory")
    lasting = remember(golem, "An emergency", importance="emergency")
    Episode.objects.filter(pk=pinned.pk).update(is_pinned=True)
    later = NOW + timedelta(days=21)
    assert archive_forgotten_episodes(now=NOW + timedelta(days=20)) == 0
    assert archive_forgotten_episodes(now=later) == 1
    assert archive_forgotten_episodes(now=later) == 0
    assert {told["id"] for told in ask(golem, now=later)["episodes"]} == {str(pinned.pk), str(lasting.pk)}
    entry = AuditEntry.objects.get(golem_id=golem.pk, event="EpisodesArchived")
    assert entry.data == {"episodes": [str(faded.pk)]}
    faded.refresh_from_db()
    keep_memory(memory=faded, keeping=Keeping.RESTORE, actor="owner:1", reason="still true", now=later)
    assert str(faded.pk) in {told["id"] for told in ask(golem, now=later)["episodes"]}
    assert archive_forgotten_episodes(now=later) == 0
