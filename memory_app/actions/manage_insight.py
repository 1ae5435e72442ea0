"""Add, confirm, contradict or reword an insight, as an agent or its owner asks.

What is added by hand is an insight, never a heuristic: words cannot tune.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from uuid import UUID

from django.db import transaction

from archetypes_app.models import Golem
from memory_app.decay import STABILITY_DAYS, Importance
from memory_app.errors import InsightNotFound, MemoryOwnerUnknown
from memory_app.insight_events import announce_insight
from memory_app.insights import confirm_row, contradict, first_percent, lock_insight
from memory_app.models import Insight
from memory_app.models.insight import InsightCategory, Kind
from memory_app.models.provenance import Source, Trust
from memory_app.poison import describe_poison, find_poison
from memory_app.provenance import Provenance
from memory_app.text_cleaning import clean_text
from tools_app.core import audit_log
from tools_app.core.errors import InvalidParams
from tools_app.core.hashing import hash_canonical
from tools_app.core.transaction_retry import retry_aborted


class Operation(StrEnum):
    """What may be done to an insight."""

    ADD = "ADD"
    UPVOTE = "UPVOTE"
    DOWNVOTE = "DOWNVOTE"
    EDIT = "EDIT"


OWN_WORDS = "nothing changed: an agent's own words are not confirmed by the agent; outcomes confirm what they show"
LAST_WORD = "nothing changed: what outcomes showed or an owner wrote is contradicted by outcomes or by an owner"
_WORDS = {
    Operation.ADD: "written",
    Operation.UPVOTE: "confirmed",
    Operation.DOWNVOTE: "contradicted",
    Operation.EDIT: "reworded",
}


@dataclass(frozen=True, slots=True)
class InsightChange:
    """Confidence in whole percent; `before` is None for a new insight."""

    insight_id: UUID
    operation: Operation
    before: int | None
    after: int
    note: str = ""
    """Why nothing moved, where nothing did."""


def check_change(*, operation: Operation, insight_id: UUID | None, content: str | None) -> None:
    """Raises InvalidParams when the operation lacks what it needs."""
    if operation is Operation.ADD and not _clean(content):
        raise InvalidParams("ADD needs content", fields={"content": "the text of the insight"})
    if operation is Operation.ADD and insight_id is not None:
        raise InvalidParams("ADD makes a new insight", fields={"insight_id": "leave it out"})
    if operation is not Operation.ADD and insight_id is None:
        raise InvalidParams(f"{operation} needs an insight_id", fields={"insight_id": "the insight to change"})


@retry_aborted
def manage_insight(
    *,
    golem_id: UUID,
    operation: Operation,
    insight_id: UUID | None,
    content: str | None,
    category: InsightCategory | None,
    chain_id: int | None,
    tokens: Sequence[str],
    reason: str,
    actor: str,
    now: datetime,
    source: Source = Source.AGENT,
    provenance: Provenance | None = None,
) -> InsightChange:
    """Apply one change in one transaction, with its audit entry. An equal text added twice is confirmed instead.

    Raises InvalidParams, InsightNotFound, MemoryOwnerUnknown.
    """
    check_change(operation=operation, insight_id=insight_id, content=content)
    reason = clean_text(reason, longest=500)
    with transaction.atomic():
        if not Golem.objects.select_for_update(no_key=True).filter(pk=golem_id).values_list("pk").first():
            raise MemoryOwnerUnknown(f"there is no golem {golem_id}")
        text = _clean(content)
        identity = hash_text(text) if text else ""
        if operation is Operation.ADD:
            row = lock_insight(golem_id=golem_id, identity_hash=identity)
        else:
            row = lock_insight(golem_id=golem_id, pk=insight_id, is_quarantined=False)
            if row is None:
                raise _unknown(insight_id)
        if row is None:
            row = Insight(
                golem_id=golem_id,
                text=text,
                category=category or InsightCategory.GENERAL,
                chain_id=chain_id,
                token_keys=[token.lower() for token in tokens],
                confidence_percent=first_percent(provenance.source if provenance else source),
                last_accessed_at=now,
                stability_days=STABILITY_DAYS[Importance.BASE],
                identity_hash=identity,
                scanned_at=now,
                **(provenance or Provenance(actor, source, Trust.REPORTED)).as_columns(),
            )
            before, note = None, ""
        else:
            before = row.confidence_percent
            by_agent = (provenance.source if provenance else source) is Source.AGENT
            note = _find_no_vote(row, operation) if by_agent else ""
            if not note:
                _change(row, operation, text, identity, category, by_agent=by_agent)
        signs = find_poison(content) if content and text else ()
        if signs:
            row.is_quarantined, row.quarantine_reason = True, describe_poison(signs)
        row.save()
        change = InsightChange(row.pk, operation, before, row.confidence_percent, note)
        if not note:
            announce_insight(row, change=_WORDS[operation], now=now, reason=reason)
        audit_log.append(
            golem_id=golem_id,
            event="InsightChanged",
            actor=actor,
            data={
                "insight_id": str(row.pk),
                "operation": operation.value,
                "confidence_percent": str(change.after),
                "text_hash": hash_text(row.text),
                "note": note,
                "reason": reason,
            },
            now=now,
        )
    return change


def find_insight(*, golem_id: UUID, insight_id: UUID | None) -> Insight:
    """The golem's insight; a quarantined one is unknown. Raises InsightNotFound."""
    known = Insight.objects.filter(golem_id=golem_id, is_quarantined=False)
    row = known.filter(pk=insight_id).first() if insight_id is not None else None
    if row is None:
        raise _unknown(insight_id)
    return row


def _unknown(insight_id: UUID | None) -> InsightNotFound:
    return InsightNotFound(f"this golem has no insight {insight_id}")


def hash_text(text: str) -> str:
    """The identity of a text: case and spaces do not tell texts apart."""
    return hash_canonical({"text": " ".join(text.split()).lower()})


def _find_no_vote(row: Insight, operation: Operation) -> str:
    """Why an agent's word does not move `row`; empty where it does. Outcomes and owners have the last word."""
    if operation in (Operation.ADD, Operation.UPVOTE):
        return "" if row.source != Source.AGENT else OWN_WORDS
    is_settled = row.trust == Trust.VERIFIED or row.source in (Source.OWNER, Source.RUNTIME)
    if operation is Operation.DOWNVOTE and is_settled:
        return LAST_WORD
    return ""


def _change(
    row: Insight,
    operation: Operation,
    text: str,
    identity: str,
    category: InsightCategory | None,
    *,
    by_agent: bool,
) -> None:
    if operation is Operation.DOWNVOTE:
        row.confidence_percent = contradict(row.confidence_percent)
        row.downvotes += 1
    elif operation is Operation.EDIT:
        _reword(row, text, identity, category)
    else:
        row.confidence_percent = confirm_row(row, by_agent=by_agent)
        row.upvotes += 1


def _reword(row: Insight, text: str, identity: str, category: InsightCategory | None) -> None:
    if row.kind != Kind.INSIGHT or row.source == Source.RUNTIME:
        raise InvalidParams("what was drawn from outcomes is voted on, not reworded", fields={"operation": "not EDIT"})
    if text and text != row.text:
        if Insight.objects.filter(golem_id=row.golem_id, identity_hash=identity).exclude(pk=row.pk).exists():
            raise InvalidParams("another insight says this already", fields={"content": "a different text"})
        row.text, row.identity_hash, row.embedding = text, identity, None
        # What was confirmed was the other text.
        row.confidence_percent = min(row.confidence_percent, first_percent(row.source))
    if category is not None:
        row.category = category


def _clean(content: str | None) -> str:
    return clean_text(content or "").strip()
