"""Finds the newest action of each of a golem's wishes, however many it had."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from uuid import UUID

from permits_app.models.action_record import ActionRecord, ActionState


def read_latest_actions(
    *, golem_id: UUID, keys: Iterable[str], states: Collection[ActionState]
) -> dict[str, ActionRecord]:
    """By the wish's key, the newest that is in one of `states`; nothing for a wish without one.

    One query: the index answers each key and state with one row, so what it costs does not grow with a golem's life.
    """
    rows = ActionRecord.objects.filter(golem_id=golem_id).order_by("-created_at")
    newest = [rows.filter(wish_key=key, state=state)[:1] for key in sorted(set(keys)) for state in states]
    if not newest:
        return {}
    found = newest[0].union(*newest[1:], all=True)
    return {row.wish_key: row for row in sorted(found, key=lambda row: row.created_at)}
