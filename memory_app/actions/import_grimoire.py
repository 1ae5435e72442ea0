"""Take in a predecessor's archive: every row or none, at a confidence of 0.4, as reports and never as verified.

Nothing imported tunes: a heuristic comes in as an insight in words. Permits, votes and pins of the other golem do not
come along; who said it and which file it came from do.
"""

from __future__ import annotations

import math
import uuid
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from typing import Any
from uuid import UUID

from django.db import transaction
from django.utils.dateparse import parse_datetime

from archetypes_app.models import Golem
from memory_app.actions.manage_insight import hash_text
from memory_app.actions.store_strategy import check_strategy_name
from memory_app.archive_file import Archive, check_archive, read_rows
from memory_app.archive_rows import ArchivedEpisode, ArchivedInsight, ArchivedStrategy
from memory_app.decay import STABILITY_DAYS, Importance
from memory_app.errors import GrimoireFileRefused, MemoryOwnerUnknown
from memory_app.glossary import mark_concepts
from memory_app.insights import IMPORTED_PERCENT
from memory_app.models import Episode, Insight, Strategy
from memory_app.models.insight import InsightCategory, Kind
from memory_app.models.provenance import Source, Trust
from memory_app.poison import describe_poison, find_poison
from memory_app.text_cleaning import clean_text, clean_value
from tools_app.core import audit_log, event_bus
from tools_app.core.errors import InvalidParams
from tools_app.core.events import Event, EventType
from tools_app.core.hashing import hash_canonical
from tools_app.core.stored_json import read_stored
from tools_app.core.transaction_retry import retry_aborted

_CHUNK = 1_000
_LONGEST_SUMMARY = 2_000
_EPISODE, _INSIGHT, _STRATEGY = "episode", "insight", "strategy"
_KINDS = {Kind.INSIGHT.value, Kind.WARNING.value}


@dataclass(frozen=True, slots=True)
class Import:
    """Rows taken in, those known already, and those put into quarantine; nothing was kept when `dry_run`."""

    episodes: int
    insights: int
    strategies: int
    duplicates: int
    quarantined: int
    confidence_percent: int
    dry_run: bool


@dataclass(frozen=True, slots=True)
class ImportOrigin:
    """By which call of its new golem an archive was taken in."""

    recorded_tool: str
    recorded_permit_id: UUID | None
    source: Source = Source.IMPORT
    trust: Trust = Trust.REPORTED


@retry_aborted
def import_grimoire(
    *,
    golem_id: UUID,
    archive: Archive,
    now: datetime,
    actor: str,
    confidence_percent: int = IMPORTED_PERCENT,
    dry_run: bool = False,
    recorded_tool: str = "",
    recorded_permit_id: UUID | None = None,
    on_progress: Callable[[int], None] | None = None,
) -> Import:
    """Take in a checked archive in one transaction: all of it or nothing, whatever interrupts it.

    What the golem knows is left out: its own memories that come home, through whichever golems, what came in before,
    and what says exactly the same without an outcome of its own. Texts that try to steer come in quarantined. Raises
    GrimoireFileRefused for a row that is not what an archive holds, InvalidParams for a confidence above 0.4.
    """
    if not 0 <= confidence_percent <= IMPORTED_PERCENT:
        raise InvalidParams("imports start at 0.4 or less", fields={"import_confidence": "0 to 0.4"})
    check_archive(archive.path)
    taken: Counter[str] = Counter()
    quarantined = seen = 0
    origin = ImportOrigin(recorded_tool, recorded_permit_id)
    signer = f"import:{archive.public_key[:16]}:{archive.sha256[:16]}"
    with transaction.atomic():
        if not Golem.objects.select_for_update(no_key=True).filter(pk=golem_id).values_list("pk").first():
            raise MemoryOwnerUnknown(f"there is no golem {golem_id}")
        makers: dict[str, Callable[[Mapping[str, object]], _Made]] = {
            _EPISODE: lambda row: _make_episode(read_stored(ArchivedEpisode, row), golem_id, signer, origin, now),
            _INSIGHT: lambda row: _make_insight(
                read_stored(ArchivedInsight, row), golem_id, signer, origin, confidence_percent, now
            ),
            _STRATEGY: lambda row: _make_strategy(read_stored(ArchivedStrategy, row), golem_id, signer, origin, now),
        }
        for chunk in _chunks(read_rows(archive), _CHUNK):
            for kind, made in _make_rows(chunk, makers).items():
                fresh = _save(golem_id, kind, made)
                taken[kind] += len(fresh)
                quarantined += sum(row.is_quarantined for row in fresh)
            seen += len(chunk)
            if on_progress is not None:
                on_progress(seen)
        done = Import(
            episodes=taken[_EPISODE],
            insights=taken[_INSIGHT],
            strategies=taken[_STRATEGY],
            duplicates=seen - taken.total(),
            quarantined=quarantined,
            confidence_percent=confidence_percent,
            dry_run=dry_run,
        )
        if dry_run:
            transaction.set_rollback(True)
        else:
            _announce(golem_id, archive, done, actor, now)
    return done


@dataclass(frozen=True, slots=True)
class _Made:
    """A row that is not saved, and the hashes under which the golem knows it if it does."""

    row: Any  # Any: a row of any model
    hashes: frozenset[str] = frozenset()


def _make_rows(
    chunk: Iterable[Mapping[str, object]], makers: Mapping[str, Callable[[Mapping[str, object]], _Made]]
) -> dict[str, list[_Made]]:
    made: dict[str, list[_Made]] = {kind: [] for kind in makers}
    for row in chunk:
        kind = str(row.get("row"))
        if kind not in makers:
            raise GrimoireFileRefused(f"an archive holds no row of kind {kind[:40]!r}")
        try:
            made[kind].append(makers[kind](row))
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise GrimoireFileRefused(f"a row of kind {kind} is not what an archive holds") from error
    return made


def _make_episode(
    row: ArchivedEpisode,
    golem_id: UUID,
    signer: str,
    origin: ImportOrigin,
    now: datetime,
) -> _Made:
    summary = clean_text(row.summary).strip()[:_LONGEST_SUMMARY]
    if not summary:
        raise ValueError("an episode has a summary")
    signs = find_poison(f"{row.summary}\n{row.outcome}")
    importance = Importance(row.importance)
    tokens = [clean_text(_text(token), longest=64) for token in row.tokens][:16]
    tool = clean_text(row.tool_name, longest=96)
    # Not the hash itself: what others say must not take the place of what the golem will live through.
    own_hash = row.content_hash[:66]
    made = Episode(
        id=uuid.uuid4(),
        golem_id=golem_id,
        permit_id=None,
        chain_id=_chain(row.chain_id),
        tool_name=tool,
        action_type=clean_text(row.action_type or "", longest=64),
        venue=clean_text(row.venue or "", longest=64),
        tokens=tokens,
        token_keys=[token.lower() for token in tokens],
        summary=summary,
        prediction=_object(row.prediction),
        outcome=_object(row.outcome),
        reflection=_object(row.reflection),
        prediction_error_bps=_count(row.prediction_error_bps),
        importance=importance.value,
        stability_days=_stability(row.stability_days, importance),
        dream_tag=clean_text(row.dream_tag or "", longest=64),
        last_accessed_at=now,
        occurred_at=min(now, _time(row.occurred_at)),
        recorded_by=f"{signer}:{row.recorded_by}"[:128],
        block_number=_count(row.block_number),
        block_hash=(row.block_hash or "")[:66],
        content_hash=hash_canonical({"imported": own_hash}),
        origin_id=UUID(row.id),
        search_text=" ".join([tool.replace("_", " "), *tokens, mark_concepts(f"{tool} {summary}")]).rstrip(),
        is_quarantined=bool(signs),
        quarantine_reason=describe_poison(signs) if signs else "",
        source=origin.source,
        trust=origin.trust,
        recorded_tool=origin.recorded_tool,
        recorded_permit_id=origin.recorded_permit_id,
    )
    return _Made(made, frozenset({own_hash, made.content_hash}))


def _make_insight(
    row: ArchivedInsight,
    golem_id: UUID,
    signer: str,
    origin: ImportOrigin,
    percent: int,
    now: datetime,
) -> _Made:
    text = clean_text(row.text).strip()[:_LONGEST_SUMMARY]
    if not text:
        raise ValueError("an insight has a text")
    signs = find_poison(row.text)
    made = Insight(
        id=uuid.uuid4(),
        golem_id=golem_id,
        kind=row.kind if row.kind in _KINDS else Kind.INSIGHT,
        text=text,
        category=InsightCategory(row.category),
        confidence_percent=min(percent, row.confidence_percent),
        tool_name=clean_text(row.tool_name or "", longest=96),
        chain_id=_chain(row.chain_id),
        token_keys=[key.lower()[:64] for key in row.token_keys or []][:16],
        last_accessed_at=now,
        recorded_by=f"{signer}:{row.recorded_by}"[:128],
        identity_hash=hash_canonical({"imported": " ".join(text.split()).lower()}),
        origin_id=UUID(row.id),
        is_quarantined=bool(signs),
        quarantine_reason=describe_poison(signs) if signs else "",
        source=origin.source,
        trust=origin.trust,
        recorded_tool=origin.recorded_tool,
        recorded_permit_id=origin.recorded_permit_id,
    )
    return _Made(made, frozenset({hash_text(text), made.identity_hash}))


def _make_strategy(
    row: ArchivedStrategy,
    golem_id: UUID,
    signer: str,
    origin: ImportOrigin,
    now: datetime,
) -> _Made:
    check_strategy_name(row.name)
    description = clean_text(row.description).strip()[:4_000]
    signs = find_poison(f"{row.description}\n{row.parameters}")
    made = Strategy(
        golem_id=golem_id,
        name=row.name,
        version=row.version,
        parameters=_object(row.parameters),
        description=description,
        chains=list(row.chains or [])[:32],
        token_pairs=[clean_text(pair, longest=129) for pair in row.token_pairs or []][:32],
        created_at=now,
        recorded_by=f"{signer}:{row.recorded_by}"[:128],
        is_quarantined=bool(signs),
        quarantine_reason=describe_poison(signs) if signs else "",
        source=origin.source,
        trust=origin.trust,
        recorded_tool=origin.recorded_tool,
        recorded_permit_id=origin.recorded_permit_id,
    )
    return _Made(made)


def _save(
    golem_id: UUID,
    kind: str,
    made: list[_Made],
) -> list[Any]:  # Any: a line of an archive, checked member by member
    if not made:
        return []
    if kind == _STRATEGY:
        rows = [each.row for each in made]
        names = set(
            Strategy.objects.filter(golem_id=golem_id)
            .exclude(pk__in=[row.pk for row in rows])
            .values_list("name", "version")
        )
        fresh = [row for row in rows if (row.name, row.version) not in names]
        Strategy.objects.bulk_create(fresh)
        return fresh
    model, column = (Episode, "content_hash") if kind == _EPISODE else (Insight, "identity_hash")
    origins, hashes = {each.row.origin_id for each in made}, frozenset().union(*(each.hashes for each in made))
    known: set[object] = set()
    # Each by its own index.
    for name, wanted in (("pk", origins), ("origin_id", origins), (column, hashes)):
        known |= set(
            model.objects.filter(golem_id=golem_id, **{f"{name}__in": list(wanted)}).values_list(name, flat=True)
        )
    fresh = []
    for each in made:
        if each.row.origin_id in known or each.hashes & known:
            continue
        known |= {each.row.origin_id, getattr(each.row, column)}
        fresh.append(each.row)
    model.objects.bulk_create(fresh)
    return fresh


def _announce(golem_id: UUID, archive: Archive, done: Import, actor: str, now: datetime) -> None:
    counts = {"episodes": done.episodes, "insights": done.insights, "strategies": done.strategies}
    audit_log.append(
        golem_id=golem_id,
        event="GrimoireImported",
        actor=actor,
        now=now,
        data={
            "file": archive.path.name,
            "sha256": archive.sha256,
            "public_key": archive.public_key,
            "from_golem": str(archive.header.get("golem_id", ""))[:36],
            "quarantined": str(done.quarantined),
            **{name: str(count) for name, count in counts.items()},
        },
    )
    payload = {"change": "imported", "counts": counts, "content_hash": archive.sha256}
    event_bus.emit(golem_id=golem_id, event=Event(EventType.GRIMOIRE_PURGED, payload), now=now)


def _chunks(
    rows: Iterator[dict[str, object]],
    size: int,
) -> Iterator[list[dict[str, object]]]:
    while chunk := list(islice(rows, size)):
        yield chunk


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError("text is expected")
    return value


def _object(value: object) -> dict[str, object]:
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise TypeError("an object is expected")
    cleaned: dict[str, object] = clean_value(value)
    return cleaned


def _count(value: object) -> int | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 2**31:
        raise ValueError("a count is expected")
    return value


def _chain(value: object) -> int | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value < 2**53:
        raise ValueError("a chain id is expected")
    return value


def _stability(value: object, importance: Importance) -> float:
    if not isinstance(value, int | float) or isinstance(value, bool) or not math.isfinite(value) or value <= 0:
        return STABILITY_DAYS[importance]
    return min(STABILITY_DAYS[importance], float(value))


def _time(value: object) -> datetime:
    found = parse_datetime(_text(value))
    if found is None or found.tzinfo is None:
        raise ValueError("a time with its zone is expected")
    return found
