"""Makes callers take turns, so that what was counted for one still holds when its row is written."""

from __future__ import annotations

from django.db import connection


def take_turn(name: str) -> None:
    """Wait until no other transaction holds the turn `name`; it ends with the caller's transaction."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", [f"a2a:{name}"])
