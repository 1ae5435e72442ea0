"""Memory at 100,000 episodes: time and recall of retrieval, time of storing, duplicates caught, and the labelled set.

Bulk vectors lie around 2,163 real ones (cosine 0.77 to 0.96 to their base); every question and every stored text is
embedded for real. The index of an empty database is built after the bulk load, as a restore would.
"""

from __future__ import annotations

import json
import random
import uuid
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
from django.conf import settings
from django.contrib.auth import get_user_model
from django.db import connection, transaction

from archetypes_app.models import Archetype, Golem
from archetypes_app.models.golem import Maker
from memory_app import bend_embeddings, embedding
from memory_app.actions.store_episode import Duplicate, remember_episode
from memory_app.filters import EpisodeFilters
from memory_app.models import Episode, EpisodeVector
from memory_app.retrieval import Retrieval, rank_by_vector, retrieve_episodes
from tests.bench.figures import Figure, measure, percentile, time_calls
from tests.bench.labelled_set import Topic, measure_recall, read_labelled_set
from tools_app.core import clock

EPISODES = 100_000
SEED = 7
RARE_TOOL = "curve_exchange"
_HNSW = "episode_vector_hnsw"
_DETAILS = (
    "",
    "500 USDC",
    "on chain 8453",
    "after two hours",
    "12 bps",
    "at venue uniswap",
    "0.4 WETH",
)
_EPISODE_COLUMNS = (
    "id",
    "golem_id",
    "permit_id",
    "chain_id",
    "tool_name",
    "action_type",
    "venue",
    "tokens",
    "token_keys",
    "params",
    "calls",
    "summary",
    "prediction",
    "outcome",
    "reflection",
    "importance",
    "stability_days",
    "last_accessed_at",
    "access_count",
    "dream_tag",
    "is_pinned",
    "is_quarantined",
    "quarantine_reason",
    "occurred_at",
    "source",
    "trust",
    "recorded_by",
    "recorded_tool",
    "block_hash",
    "content_hash",
    "near_keys",
    "search_text",
    "created_at",
    "updated_at",
)


@dataclass(frozen=True, slots=True)
class _Bulk:
    golem: Golem
    ids: list[uuid.UUID]
    vectors: Any
    is_rare: Any


@measure("memory")
def measure_memory() -> Iterator[Figure]:
    """Every figure of memory, in the order of cost."""
    embedding.warm()
    topics, held_out = _load_topics("retrieval.txt"), _load_topics("heldout.txt")
    questions = [question for topic in topics for question in topic.questions]
    asked = bend_embeddings.bend(embedding.embed(questions))
    yield from _measure_labelled("labelled", "a labelled set that chose nothing", held_out)
    yield from _measure_labelled("first_set", "the labelled set its weight was chosen on", topics)
    yield from _measure_duplicates(topics)
    small = _make_golem("small")
    stores_small = _time_stores(small, already=100)
    bulk = _load_bulk(topics)
    yield from _measure_retrieval(bulk, questions)
    yield from _measure_recall(bulk, asked)
    yield from _compare_stores(stores_small, _time_stores(bulk.golem, already=0))


def _load_topics(name: str) -> list[Topic]:
    path = settings.BASE_DIR / "tests" / "memory_app" / "labelled" / name
    return read_labelled_set(path.read_text(encoding="utf-8"))


def _make_golem(name: str) -> Golem:
    owner, _ = get_user_model().objects.get_or_create(username="bench-memory")
    archetype, _ = Archetype.objects.get_or_create(name="bench-memory", defaults={"category": "golem"})
    return Golem.objects.create(
        name=f"bench {name} {uuid.uuid4().hex[:8]}", owner=owner, archetype=archetype, made_by=Maker.MEASUREMENT
    )


def _remember(golem: Golem, tool: str, tokens: Sequence[str], text: str, **given: Any) -> tuple[Episode, Duplicate]:
    stored = remember_episode(
        golem_id=golem.pk,
        tool_name=tool,
        action_type="",
        venue=tool.partition("_")[0],
        chain_id=31337,
        tokens=list(tokens),
        prediction={},
        outcome={},
        summary=text,
        importance="base",
        provenance={"written_by": "owner"},
        now=clock.now(),
        permit_id=given.pop("permit_id", None),
        **given,
    )
    return stored.episode, stored.duplicate


def _teach(topics: Sequence[Topic]) -> tuple[Golem, dict[str, list[str]], dict[str, list[float]]]:
    """A golem that remembers a labelled set, the episodes of each topic, and the vectors of the questions."""
    golem = _make_golem("labelled")
    wanted = {
        topic.name: [str(_remember(golem, *episode, permit_id=uuid.uuid4())[0].pk) for episode in topic.episodes]
        for topic in topics
    }
    questions = [question for topic in topics for question in topic.questions]
    return golem, wanted, dict(zip(questions, bend_embeddings.bend(embedding.embed(questions)), strict=True))


def _measure_labelled(name: str, words: str, topics: Sequence[Topic]) -> Iterator[Figure]:
    golem, wanted, vectors = _teach(topics)
    asks: dict[str, Callable[[str], list[str]]] = {
        "hybrid": lambda question: _ask(golem, question, vectors[question]),
        "text": lambda question: _ask(golem, question, None),
        "vector": lambda question: _ask_vector(golem, vectors[question]),
    }
    recall = {}
    for way, ask in asks.items():
        parts = [
            measure_recall(ask(question), wanted[topic.name], at=5) for topic in topics for question in topic.questions
        ]
        recall[way] = round(sum(parts) / len(parts), 4)
    count = sum(len(topic.episodes) for topic in topics)
    said = f"text only {recall['text']}, vector only {recall['vector']}; {count} episodes, {len(vectors)} questions"
    yield Figure(
        f"memory.{name}.hybrid",
        f"recall@5 of hybrid retrieval on {words}",
        recall["hybrid"],
        "",
        target=max(recall["text"], recall["vector"]) + 0.0001,
        reference=said,
        at_least=True,
    )
    yield Figure(f"memory.{name}.text", "the same, by words alone", recall["text"], "")
    yield Figure(f"memory.{name}.vector", "the same, by vectors alone", recall["vector"], "")


def _find(golem: Golem, question: str, vector: list[float] | None, *, limit: int) -> Retrieval:
    return retrieve_episodes(
        golem_id=golem.pk, query=question, query_vector=vector, filters=EpisodeFilters(), limit=limit, now=clock.now()
    )


def _ask(golem: Golem, question: str, vector: list[float] | None) -> list[str]:
    found = _find(golem, question, vector, limit=5)
    # Without a vector the list is filled up with the newest; only what words found counts.
    return [str(hit.episode.pk) for hit in found.hits if vector is not None or hit.text_rank is not None]


def _ask_vector(golem: Golem, vector: list[float]) -> list[str]:
    with transaction.atomic():
        rows = rank_by_vector(golem.pk, EpisodeFilters(), vector, 5, use_index=False)
    return [str(pk) for pk, _ in rows]


_SYNONYMS = {
    "because": "since",
    "transaction": "tx",
    "swap": "trade",
    "bought": "purchased",
    "sold": "disposed of",
    "price": "quote",
    "pool": "market",
    "wallet": "account",
    "fees": "charges",
    "loan": "debt",
    "cost": "price",
    "deposit": "supply",
    "blocks": "stops",
    "large": "big",
    "small": "little",
    "again": "once more",
}


def reword(text: str, chance: random.Random) -> str:
    """`text` said in almost the same words, one of seven ways; numbers and negations stay."""
    words = text.split()
    plain = [at for at, word in enumerate(words) if word.isalpha() and word.islower() and len(word) > 3]
    way = chance.randrange(7)
    if way == 0 and plain:
        words.pop(chance.choice(plain))
    elif way == 1 and len(words) > 5:
        words = [*words[3:], *words[:3]]
    elif way == 2:
        words = ["Note", "that", *words]
    elif way == 3 and plain:
        at = chance.choice(plain)
        words[at] = words[at][:-2] + words[at][-1] + words[at][-2]
    elif way == 4:
        words = [_SYNONYMS.get(word, word) for word in words] + ["today"]
    elif way == 5:
        words = [word.upper() if at % 3 == 0 else word for at, word in enumerate(words)] + ["as", "it", "seems"]
    else:
        words = [word.rstrip(".,:;") for word in words] + ["(see above)"]
    return " ".join(words)


def _measure_duplicates(topics: Sequence[Topic]) -> Iterator[Figure]:
    golem, chance = _make_golem("duplicates"), random.Random(SEED)
    episodes = [episode for topic in topics for episode in topic.episodes]
    taken = [_remember(golem, *episode) for episode in episodes]
    wrong = sum(duplicate is not Duplicate.NO for _, duplicate in taken)
    exact = sum(_remember(golem, *episode)[1] is Duplicate.EXACT for episode in episodes)
    near = 0
    for tool, tokens, text in episodes:
        near += _remember(golem, tool, tokens, reword(text, chance))[1] is not Duplicate.NO
    count = len(episodes)
    yield Figure(
        "memory.duplicates.exact",
        "exact duplicates caught",
        round(exact / count * 100, 2),
        "%",
        target=100,
        at_least=True,
        reference=f"{count} texts",
    )
    yield Figure(
        "memory.duplicates.near",
        "near duplicates caught",
        round(near / count * 100, 2),
        "%",
        target=80,
        at_least=True,
        reference=f"{count} texts, reworded one of seven ways",
    )
    yield Figure("memory.duplicates.wrong", "different texts taken for duplicates", float(wrong), "", target=0)


def _load_bulk(topics: Sequence[Topic]) -> _Bulk:
    golem, chance = _make_golem("bulk"), np.random.default_rng(SEED)
    episodes = [episode for topic in topics for episode in topic.episodes]
    episodes = [
        (tool, tokens, f"{text} ({detail})" if detail else text)
        for tool, tokens, text in episodes
        for detail in _DETAILS
    ]
    real = np.array(bend_embeddings.bend(embedding.embed([text for _, _, text in episodes])))
    picks = chance.integers(0, len(episodes), EPISODES)
    noise = chance.normal(size=(EPISODES, real.shape[1]))
    noise /= np.linalg.norm(noise, axis=1, keepdims=True)
    vectors = real[picks] + chance.uniform(0.3, 0.8, (EPISODES, 1)) * noise
    vectors = (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)
    is_rare = chance.random(EPISODES) < 0.01
    ids = [uuid.UUID(int=int(high) << 64 | int(low)) for high, low in chance.integers(0, 2**62, (EPISODES, 2))]
    _copy_bulk(golem, episodes, picks, vectors, is_rare, ids)
    return _Bulk(golem, ids, vectors, is_rare)


def _copy_bulk(
    golem: Golem, episodes: Sequence[Any], picks: Any, vectors: Any, is_rare: Any, ids: Sequence[uuid.UUID]
) -> None:
    is_empty = not EpisodeVector.objects.exclude(golem__owner__username="bench-memory").exists()
    start = datetime(2026, 1, 1, tzinfo=UTC)
    with connection.cursor() as cursor:
        if is_empty:
            cursor.execute(f"DROP INDEX IF EXISTS {_HNSW}")
        with cursor.copy(f"COPY memory_app_episode ({', '.join(_EPISODE_COLUMNS)}) FROM STDIN") as copy:
            for at in range(len(ids)):
                tool, tokens, text = episodes[int(picks[at])]
                when = start + timedelta(minutes=at)
                copy.write_row(
                    (
                        ids[at],
                        golem.pk,
                        uuid.uuid4(),
                        31337,
                        RARE_TOOL if is_rare[at] else f"{tool}_bulk",
                        "",
                        "bulk",
                        list(tokens),
                        [token.lower() for token in tokens],
                        "{}",
                        "[]",
                        f"{text} ({at})",
                        "{}",
                        "{}",
                        "{}",
                        "BASE",
                        30.0,
                        when,
                        0,
                        "",
                        False,
                        False,
                        "",
                        when,
                        "RUNTIME",
                        "VERIFIED",
                        "system:bench",
                        "",
                        "",
                        f"bench-{ids[at]}",
                        [],
                        tool.replace("_", " "),
                        when,
                        when,
                    )
                )
        with cursor.copy("COPY memory_app_episodevector (episode_id, golem_id, embedding) FROM STDIN") as copy:
            for at in range(len(ids)):
                copy.write_row((ids[at], golem.pk, json.dumps([round(float(x), 5) for x in vectors[at]])))
        if is_empty:
            cursor.execute("SET maintenance_work_mem = '600MB'")
            cursor.execute(
                f"CREATE INDEX {_HNSW} ON memory_app_episodevector USING hnsw"
                " ((embedding::halfvec(384)) halfvec_cosine_ops)"
                " WITH (m = 24, ef_construction = 128)"
            )
            cursor.execute("RESET maintenance_work_mem")
        cursor.execute("VACUUM ANALYZE memory_app_episode, memory_app_episodevector")


def _measure_retrieval(bulk: _Bulk, questions: Sequence[str]) -> Iterator[Figure]:
    waiting = iter(range(10**9))
    now = clock.now()

    def retrieve(vector: list[float], question: str, **filters: Any) -> None:
        retrieve_episodes(
            golem_id=bulk.golem.pk,
            query=question,
            query_vector=vector,
            filters=EpisodeFilters(**filters),
            limit=10,
            now=now,
        )

    def whole() -> None:
        question = questions[next(waiting) % len(questions)]
        retrieve(bend_embeddings.bend(embedding.embed([question]))[0], question)

    vectors = bend_embeddings.bend(embedding.embed(questions))

    def database(**filters: Any) -> Callable[[], None]:
        def ask() -> None:
            at = next(waiting) % len(questions)
            retrieve(vectors[at], questions[at], **filters)

        return ask

    times = time_calls(whole, count=200, warm_up=20)
    yield Figure(
        "memory.retrieve.p95",
        "hybrid retrieval at 100,000 episodes with the embedding, 95th percentile",
        percentile(times, 95),
        "ms",
        target=60,
        reference=f"median {percentile(times, 50)} ms",
    )
    times = time_calls(database(), count=200, warm_up=20)
    yield Figure(
        "memory.database.p95",
        "its database part",
        percentile(times, 95),
        "ms",
        target=25,
        reference=f"median {percentile(times, 50)} ms",
    )
    times = time_calls(database(tool_name=RARE_TOOL), count=100, warm_up=10)
    yield Figure(
        "memory.database_filtered.p95",
        "its database part under a filter that keeps 1%",
        percentile(times, 95),
        "ms",
        target=25,
        reference=f"median {percentile(times, 50)} ms",
    )


def _measure_recall(bulk: _Bulk, asked: Sequence[list[float]]) -> Iterator[Figure]:
    for name, filters, mask, use_index in (
        ("all", EpisodeFilters(), np.ones(EPISODES, dtype=bool), True),
        ("filtered", EpisodeFilters(tool_name=RARE_TOOL), bulk.is_rare, False),
        ("filtered_index", EpisodeFilters(tool_name=RARE_TOOL), bulk.is_rare, True),
    ):
        places = np.flatnonzero(mask)
        similarity = bulk.vectors[places] @ np.array(asked, dtype=np.float32).T
        parts = []
        for at, vector in enumerate(asked):
            best = places[np.argsort(-similarity[:, at])[:10]]
            with transaction.atomic():
                rows = rank_by_vector(bulk.golem.pk, filters, vector, 50, use_index=use_index)
            parts.append(measure_recall([str(pk) for pk, _ in rows], [str(bulk.ids[at]) for at in best], at=10))
        what = {
            "all": "recall@10 against exact search at 100,000",
            "filtered": f"the same under a filter that keeps {len(places)} rows, as it is answered (exact scan)",
            "filtered_index": "the same, forced through the index",
        }[name]
        yield Figure(f"memory.recall.{name}", what, round(sum(parts) / len(parts), 4), "", target=0.95, at_least=True)


def _time_stores(golem: Golem, *, already: int) -> list[float]:
    chance = random.Random(SEED)

    def store() -> None:
        text = f"Swapped {chance.randrange(10**6)} USDC for WETH at block {chance.randrange(10**9)}"
        _remember(golem, "uniswap_execute_swap", ("USDC", "WETH"), text, permit_id=uuid.uuid4())

    return time_calls(store, count=150, warm_up=max(10, already))


def _compare_stores(small: Sequence[float], large: Sequence[float]) -> Iterator[Figure]:
    before, after = percentile(small, 50), percentile(large, 50)
    yield Figure(
        "memory.store.ratio",
        "median time to store at 100,000 episodes over that at 100",
        round(after / before, 3),
        "x",
        target=2,
        reference=f"{before} ms and {after} ms",
    )
    yield Figure("memory.store.p95", "time to store at 100,000, 95th percentile", percentile(large, 95), "ms")
