"""Celery entry points of memory: load, one call, answer as data. Every one is safe to run twice.

CELERY_TASK_ROUTES sends them to the queue `memory`, whose worker alone loads the embedding model.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime
from typing import Final
from uuid import UUID

from celery import current_app, shared_task
from celery.concurrency.prefork import TaskPool as ForkingPool
from celery.signals import worker_ready
from django.db import InterfaceError, OperationalError

from memory_app import embedding
from memory_app.actions.consolidate import consolidate, list_golems_to_consolidate
from memory_app.actions.embed_missing import embed_missing_episodes, embed_missing_insights, embed_missing_situations
from memory_app.actions.forget import (
    archive_doubted_insights,
    archive_forgotten_episodes,
    archive_over_cap,
    list_golems_over_cap,
)
from memory_app.actions.query_grimoire import query_grimoire
from memory_app.actions.scan_poison import scan_for_poison
from memory_app.actions.store_episode import store_episode
from memory_app.dreams.run_dream import dream, list_golems_to_dream
from memory_app.errors import EmbeddingUnavailable
from tools_app.core import clock
from tools_app.core.errors import BrokerUnavailable, GolemError
from tools_app.core.isolated_sweeps import one_by_one
from tools_app.core.json_types import JsonObject
from tools_app.core.resource_errors import name_database_failure
from tools_app.core.worker_dispatch import enqueue

logger = logging.getLogger(__name__)

QUEUE = "memory"
EMBEDDED_AT_ONCE: Final = 16
"""Of each kind; a text takes some milliseconds of the one thread that embeds."""


@shared_task
def store_episode_task(
    *,
    golem_id: str,
    permit_id: str | None,
    tool_name: str,
    action_type: str,
    venue: str,
    chain_id: int | None,
    tokens: list[str],
    prediction: dict[str, object],
    outcome: dict[str, object],
    summary: str,
    importance: str,
    provenance: dict[str, object],
    occurred_at: str,
    **_: object,
) -> JsonObject:
    """Store one episode that happened at `occurred_at` (RFC 3339); answers its id."""
    return _answer(
        lambda: {
            "episode_id": str(
                store_episode(
                    golem_id=UUID(golem_id),
                    permit_id=UUID(permit_id) if permit_id else None,
                    tool_name=tool_name,
                    action_type=action_type,
                    venue=venue,
                    chain_id=chain_id,
                    tokens=tokens,
                    prediction=prediction,
                    outcome=outcome,
                    summary=summary,
                    importance=importance,
                    provenance=provenance,
                    now=datetime.fromisoformat(occurred_at),
                ).pk
            )
        }
    )


@shared_task(acks_late=False)
def query_grimoire_task(
    *,
    golem_id: str,
    query: str,
    store: str,
    limit: int,
    filters: dict[str, object],
    apply_decay: bool = True,
    min_percent: int = 0,
    reinforce: bool = True,
    **_: object,
) -> JsonObject:
    """Embed a question and answer it. Not repeated when its worker dies: nobody waits for it any more."""
    return _answer(
        lambda: query_grimoire(
            golem_id=UUID(golem_id),
            query=query,
            store=store,
            limit=limit,
            filters=filters,
            apply_decay=apply_decay,
            min_percent=min_percent,
            reinforce=reinforce,
            now=clock.now(),
        )
    )


@shared_task(ignore_result=True)
def embed_episodes_task(**_: object) -> int:
    """Add the vectors that were missed while the model was away, few at a time: what agents ask of their memory waits
    in the same queue, and comes before the next few.
    """
    try:
        done = (
            embed_missing_episodes(limit=EMBEDDED_AT_ONCE),
            embed_missing_insights(limit=EMBEDDED_AT_ONCE),
            embed_missing_situations(now=clock.now(), limit=EMBEDDED_AT_ONCE),
        )
        if EMBEDDED_AT_ONCE in done:
            with suppress(BrokerUnavailable):
                enqueue(embed_episodes_task)
        return sum(done)
    except EmbeddingUnavailable as error:
        logger.warning("vectors are still missing: %s", error.detail)
        return 0


@shared_task(ignore_result=True)
def forget_episodes_task(**_: object) -> int:
    """Archive what has faded."""
    return archive_forgotten_episodes(now=clock.now())


@shared_task(ignore_result=True)
def consolidate_memory_task(**_: object) -> int:
    """One cycle for every golem with enough new episodes, each in its own transaction. Returns how many golems."""
    now = clock.now()
    golems = list_golems_to_consolidate(now=now)
    return len(list(one_by_one(golems, lambda pk: consolidate(golem_id=pk, now=now), what="the memory of golem")))


@shared_task(ignore_result=True)
def scan_memory_task(**_: object) -> int:
    """Search what was not searched yet for poison, and keep every golem under its cap. Returns what was put aside."""
    now = clock.now()
    full = list_golems_over_cap()
    list(one_by_one(full, lambda pk: archive_over_cap(golem_id=pk, now=now), what="the memory of golem"))
    archive_doubted_insights(now=now)
    return scan_for_poison(now=now).quarantined


@shared_task(ignore_result=True)
def dream_golems_task(**_: object) -> int:
    """Let every golem dream that was surprised lately, each in a task of its own. Returns how many."""
    golems = list_golems_to_dream(now=clock.now())
    for golem_id in golems:
        dream_task.delay(golem_id=str(golem_id))
    return len(golems)


@shared_task(ignore_result=True, acks_late=False)
def dream_task(*, golem_id: str, trigger: str = "schedule", **_: object) -> str | None:
    """One dream; not repeated when its worker stops, because the next one takes up what it left."""
    found = dream(golem_id=UUID(golem_id), clock_now=clock.now, trigger=trigger)
    return str(found.dream_id) if found else None


@worker_ready.connect
def warm_embedding(sender: object = None, **_: object) -> None:
    """Load the model where memory tasks run, beside the first tasks, so that a slow disk delays no start.

    A forking pool would load it in the parent, whose threads its children lose; those load it when they need it.
    """
    forks = isinstance(getattr(sender, "pool", None), ForkingPool)
    if QUEUE in current_app.amqp.queues.consume_from and not forks:
        threading.Thread(target=embedding.warm, name="warm-embedding", daemon=True).start()


def _answer(call: Callable[[], dict[str, object]]) -> JsonObject:
    try:
        return {"ok": call()}
    except GolemError as error:
        return {"problem": error.as_problem()}
    except (OperationalError, InterfaceError) as error:
        logger.exception("the database failed a memory task")
        return {"problem": name_database_failure(error).as_problem()}
