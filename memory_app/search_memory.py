"""A golem's own memory for whoever below asks through wiring: found, and not strengthened by being found."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID

from memory_app.ask_memory_worker import request_query_grimoire


def search_memory(
    *, golem_id: UUID, query: str, limit: int, now: datetime, wait_seconds: float
) -> list[dict[str, Any]]:  # Any: JSON, as agents see it
    """Episodes like the question, the best first: content, when, and the score as text. Raises InvalidParams."""
    answer = request_query_grimoire(
        golem_id=golem_id, query=query, limit=limit, now=now, wait_seconds=wait_seconds, reinforce=False
    )
    return [
        {"id": str(found["id"]), "content": str(found["content"]), "score": str(found["score"]), "untrusted": True}
        for found in answer.get("episodes", [])
    ]
