"""The candidates of a question, made inside the database in two statements: one that sizes it up, one that finds.

A row is worth what the question's words that it holds are worth, and a word the more the fewer rows hold it. Where a
golem has many rows, how common a word is comes from the planner's own statistics, and only the rarest words bring
rows: to rank the half of all episodes that hold "swap" costs a hundred times more and changes nothing at the top.
Nearest vectors come through an index of half-precision vectors and are put in order by their exact distances.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from django.conf import settings
from django.db import connection
from django.db.models import QuerySet

from memory_app.glossary import MARK
from memory_app.models import Episode

CONCEPT_WEIGHT = 0.07
WORD_WEIGHT = 0.03
"""What the points of a concept and of a word count beside a similarity of 0 to 1. Chosen on labelled questions."""
_MOST_WORDS = 24
_EPISODE = Episode._meta.db_table
_VECTOR = "memory_app_episodevector"
_HALF = f"halfvec({settings.GOLEM_EMBEDDING_DIMENSIONS})"

_SIZE_UP = """
WITH size AS MATERIALIZED (
    SELECT count(*) AS searched FROM (SELECT 1 FROM {episode} WHERE {where} LIMIT %s) AS counted
),
stats AS MATERIALIZED (
    SELECT unnest(most_common_elems::text::text[]) AS lexeme, unnest(most_common_elem_freqs) AS share
    FROM pg_stats
    WHERE schemaname = ANY (current_schemas(false)) AND tablename = '{episode}' AND attname = 'search'
        AND (SELECT searched FROM size) > %s
),
words AS MATERIALIZED (
    SELECT asked.lexeme, stats.share FROM unnest(to_tsvector('english', %s)) AS asked LEFT JOIN stats USING (lexeme)
)
SELECT (SELECT searched FROM size),
    (SELECT greatest(reltuples, 1) FROM pg_class WHERE oid = '{episode}'::regclass),
    (SELECT min(share) FROM stats WHERE lexeme IS NOT NULL),
    ARRAY(SELECT lexeme FROM words ORDER BY lexeme),
    ARRAY(SELECT share FROM words ORDER BY lexeme){tuning}
"""

_BY_WORDS = """
asked AS MATERIALIZED (
    SELECT wanted::tsquery AS wanted, place, known, weight
    FROM unnest(%s::text[], %s::float8[], %s::float8[]) WITH ORDINALITY AS each(wanted, known, weight, place)
),
found AS MATERIALIZED (
    SELECT DISTINCT ON (id) id, occurred_at, search
    FROM ({holders}) AS holders
),
held AS MATERIALIZED (
    SELECT found.id, asked.place, asked.known, asked.weight FROM found JOIN asked ON found.search @@ asked.wanted
),
worth AS MATERIALIZED (
    SELECT place, weight * ln(1 + (greatest(%s - holders, 0) + 0.5) / (holders + 0.5)) AS points
    FROM (SELECT place, weight, coalesce(max(known), count(*)) AS holders FROM held GROUP BY place, weight) AS words
),
pointed AS MATERIALIZED (
    SELECT id, sum(points) AS points, min(length(search)) AS length, min(occurred_at) AS occurred_at
    FROM held JOIN worth USING (place) JOIN found USING (id) GROUP BY id
),
by_words AS MATERIALIZED (
    SELECT id, row_number() OVER (ORDER BY round(points::numeric, 6) DESC, length, occurred_at DESC, id) AS rank
    FROM pointed ORDER BY rank LIMIT %s
)
"""

_HOLDERS = """
(SELECT id, occurred_at, search FROM {episode}
 WHERE {where} AND search @@ %s::tsquery ORDER BY occurred_at DESC LIMIT %s)
"""

_BY_VECTOR = """
by_vector AS MATERIALIZED (
    SELECT {vector}.episode_id AS id, {vector}.embedding <=> %s::vector AS distance
    FROM {vector} JOIN {episode} ON {episode}.id = {vector}.episode_id
    WHERE {vector}.golem_id = %s AND {where}
    ORDER BY {order} LIMIT %s
)
"""

_NEAREST = "WITH {by_vector} SELECT id, distance FROM by_vector ORDER BY distance, id"
_NO_WORDS = (
    "pointed AS (SELECT NULL::uuid AS id, NULL::float8 AS points WHERE false), "
    "by_words AS (SELECT NULL::uuid AS id, NULL::bigint AS rank WHERE false)"
)
_NO_VECTOR = "by_vector AS (SELECT NULL::uuid AS id, NULL::float8 AS distance WHERE false)"

_JOIN = """
WITH {by_words}, {by_vector}
SELECT {episode}.id, last_accessed_at, stability_days, {episode}.occurred_at, rank, distance,
    coalesce(pointed.points, 0), {away}, {episode}.tool_name
FROM by_words FULL JOIN by_vector USING (id) JOIN {episode} USING (id) LEFT JOIN pointed USING (id)
    LEFT JOIN {vector} ON {vector}.episode_id = {episode}.id
WHERE {episode}.golem_id = %s
"""
_AWAY = "coalesce(distance, {vector}.embedding <=> %s::vector)"


class EpisodeCandidate(NamedTuple):
    """What ranking needs of an episode; whole rows are read for the best alone. None: the list did not hold it."""

    pk: UUID
    last_accessed_at: datetime
    stability_days: float
    occurred_at: datetime
    text_rank: int | None
    distance: float | None
    points: float = 0.0
    """What the question's words that it holds are worth together."""
    away: float | None = None
    """Its distance in meaning, also where it is not among the nearest."""
    tool_name: str = ""


@dataclass(frozen=True, slots=True)
class EpisodeScope:
    """The rows of one golem that pass a question's filters, as a condition."""

    golem_id: UUID
    where: str
    parameters: tuple[Any, ...]  # Any: a column's value, of any type

    @classmethod
    def of(cls, golem_id: UUID, matching: QuerySet[Episode]) -> EpisodeScope:
        """The condition of `matching`, which has been made by `select_episodes`."""
        sql, parameters = matching.query.get_compiler(connection=connection).compile(matching.query.where)
        return cls(golem_id, sql, tuple(parameters))


@dataclass(frozen=True, slots=True)
class Word:
    """One word of a question as the index knows it; `holders` rows of the table hold it, None when nobody knows."""

    lexeme: str
    holders: float | None

    @property
    def weight(self) -> float:
        """What a word of the trade's concepts counts, and what any other."""
        return CONCEPT_WEIGHT if self.lexeme.startswith(MARK) else WORD_WEIGHT

    @property
    def as_query(self) -> str:
        """As text that is cast to a tsquery."""
        escaped = self.lexeme.replace("\\", "\\\\").replace("'", "''")
        return f"'{escaped}'"


@dataclass(frozen=True, slots=True)
class QuestionSize:
    """How many rows match, counted to one past the exact-scan limit, and the question's words, rarest first.

    `rows` is what `holders` are counted in: the table's where its statistics speak, else those that match.
    """

    searched: int
    rows: float
    words: tuple[Word, ...]

    @property
    def is_large(self) -> bool:
        """Whether the golem's rows go through the approximate index."""
        return self.searched > settings.GOLEM_MEMORY_EXACT_SCAN_ROWS


def size_up(scope: EpisodeScope, query: str) -> QuestionSize:
    """Count what there is and look the words up; sets what the index scan needs for the rest of the transaction."""
    most = settings.GOLEM_MEMORY_EXACT_SCAN_ROWS
    tuning = {
        "hnsw.iterative_scan": "strict_order",
        "hnsw.ef_search": str(settings.GOLEM_MEMORY_ANN_EF_SEARCH),
        "hnsw.max_scan_tuples": str(settings.GOLEM_MEMORY_ANN_MAX_SCAN_TUPLES),
    }
    sql = _SIZE_UP.format(episode=_EPISODE, where=scope.where, tuning=", set_config(%s, %s, true)" * len(tuning))
    with connection.cursor() as cursor:
        cursor.execute(
            sql, [*scope.parameters, most + 1, most, query, *(part for pair in tuning.items() for part in pair)]
        )
        searched, rows, least_share, lexemes, shares = cursor.fetchone()[:5]
    if least_share is None:
        return QuestionSize(searched, float(searched), tuple(Word(lexeme, None) for lexeme in lexemes[:_MOST_WORDS]))
    # What the statistics do not list is rarer than the rarest they list.
    words = [
        Word(lexeme, rows * (share if share is not None else least_share / 2))
        for lexeme, share in zip(lexemes, shares, strict=True)
    ]
    words.sort(key=lambda word: (word.holders, word.lexeme))
    return QuestionSize(searched, rows, tuple(words[:_MOST_WORDS]))


def find_candidates(
    *, scope: EpisodeScope, size: QuestionSize, query_vector: Sequence[float] | None, wanted: int, use_index: bool
) -> list[EpisodeCandidate]:
    """The `wanted` best by words and the `wanted` nearest, unordered; runs after `size_up` in its transaction."""
    by_words, word_values = _word_part(scope, size, wanted) if size.words else (_NO_WORDS, [])
    by_vector, vector_values = _NO_VECTOR, list[Any]()  # Any: a column's value, of any type
    if query_vector is not None:
        by_vector, vector_values = _vector_part(scope, query_vector, wanted, use_index=use_index)
    away = "NULL::float8" if query_vector is None else _AWAY.format(vector=_VECTOR)
    sql = _JOIN.format(by_words=by_words, by_vector=by_vector, episode=_EPISODE, vector=_VECTOR, away=away)
    meant = [] if query_vector is None else [_write_vector(query_vector)]
    with connection.cursor() as cursor:
        cursor.execute(sql, [*word_values, *vector_values, *meant, scope.golem_id])
        return [EpisodeCandidate._make(row) for row in cursor.fetchall()]


def find_nearest(
    *, scope: EpisodeScope, query_vector: Sequence[float], wanted: int, use_index: bool
) -> list[tuple[UUID, float]]:
    """The `wanted` nearest with their cosine distances, nearest first; runs after `size_up` in its transaction."""
    part, values = _vector_part(scope, query_vector, wanted, use_index=use_index)
    with connection.cursor() as cursor:
        cursor.execute(_NEAREST.format(by_vector=part), values)
        rows: list[tuple[UUID, float]] = cursor.fetchall()
    return rows


def _word_part(
    scope: EpisodeScope,
    size: QuestionSize,
    wanted: int,
) -> tuple[str, list[Any]]:  # Any: a column's value, of any type
    most = settings.GOLEM_MEMORY_TEXT_SCAN_ROWS
    chosen, brought = _choose_words(size, most)
    queries = [" | ".join(chosen)]
    if brought > most:
        # Only the newest are ranked then; rows with every word are looked for apart, because a common word among the
        # others would crowd out an old row that matches best.
        queries.append(" & ".join(word.as_query for word in size.words))
    values: list[object] = [
        [word.as_query for word in size.words],
        [word.holders for word in size.words],
        [word.weight for word in size.words],
    ]
    for query in queries:
        values += [*scope.parameters, query, most]
    holders = "UNION ALL".join([_HOLDERS.format(episode=_EPISODE, where=scope.where)] * len(queries))
    return _BY_WORDS.format(holders=holders), [*values, size.rows, wanted]


def _choose_words(size: QuestionSize, most: int) -> tuple[list[str], float]:
    """The rarest words, as many as bring `most` rows together but one at least, and how many rows they bring.

    All of them where nobody knows how common they are.
    """
    chosen: list[str] = []
    brought = 0.0
    for word in size.words:
        if word.holders is not None and chosen and brought + word.holders > most:
            break
        brought += word.holders or 0.0
        chosen.append(word.as_query)
    return chosen, brought or float(size.searched)


def _vector_part(
    scope: EpisodeScope, query_vector: Sequence[float], wanted: int, *, use_index: bool
) -> tuple[str, list[Any]]:  # Any: a column's value, of any type
    text = _write_vector(query_vector)
    order = f"({_VECTOR}.embedding::{_HALF}) <=> %s::{_HALF}" if use_index else "distance"
    sql = _BY_VECTOR.format(episode=_EPISODE, vector=_VECTOR, where=scope.where, order=order)
    return sql, [text, scope.golem_id, *scope.parameters, *([text] if use_index else []), wanted]


def _write_vector(numbers: Sequence[float]) -> str:
    return f"[{','.join(map(str, numbers))}]"
