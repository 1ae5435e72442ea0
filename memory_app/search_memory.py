"""A golem's own memory for whoever below asks through wiring: found, and not strengthened by being found."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from memory_app.ask_memory_worker import request_query_grimoire
from memory_app.found_memories import read_answer, read_found
from tools_app.core.json_types import JsonObject


def search_memory(*, golem_id: UUID, query: str, limit: int, now: datetime, wait_seconds: float) -> list[JsonObject]:
    """Episodes like the question, the best first: content, when, and the score as text. Raises InvalidParams."""
    answer = read_answer(
        request_query_grimoire(
            golem_id=golem_id, query=query, limit=limit, now=now, wait_seconds=wait_seconds, reinforce=False
        )
    )
    return [
        {"id": found.id, "content": found.content, "score": found.score, "untrusted": True}
        for found in map(read_found, answer.episodes)
    ]
