"""Golems and episodes for tests of memory, made through the same actions the product uses."""

from __future__ import annotations

import uuid
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from django.contrib.auth import get_user_model

from archetypes_app.models import Archetype, Golem
from memory_app.actions.store_episode import store_episode
from memory_app.models import Episode

NOW = datetime(2026, 11, 21, 6, 0, tzinfo=UTC)


def make_golem(name: str = "Atlas") -> Golem:
    owner, _ = get_user_model().objects.get_or_create(username="owner-of-memory")
    archetype, _ = Archetype.objects.get_or_create(name="memory-test", defaults={"category": "golem"})
    return Golem.objects.create(name=f"{name} {uuid.uuid4().hex[:8]}", owner=owner, archetype=archetype)


def remember(golem: Golem | UUID, summary: str, *, now: datetime = NOW, **given: Any) -> Episode:
    facts: dict[str, Any] = {
        "permit_id": None,
        "tool_name": "uniswap_execute_swap",
        "action_type": "swap",
        "venue": "uniswap",
        "chain_id": 31337,
        "tokens": ["USDC", "WETH"],
        "prediction": {},
        "outcome": {"succeeded": True},
        "importance": "base",
        "provenance": {"written_by": "runtime", "block_number": 7},
    }
    golem_id = golem.pk if isinstance(golem, Golem) else golem
    return store_episode(golem_id=golem_id, summary=summary, now=now, **(facts | given))
