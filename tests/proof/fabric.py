"""Processes that die anywhere between emit and delivery: no event is lost, repeated or out of order for a reader.

A round forks writers that end themselves at a random step: before the commit, after it, after the log and before the
ring. A reader that loses its place and its ring at random reads along. The seed is the round's number.
"""

from __future__ import annotations

import json
import os
import random
from typing import Any
from uuid import UUID, uuid4

from django.db import transaction

from tests.proof.registry import Progress, proof
from tools_app.core import clock, event_bus, event_log, event_publisher
from tools_app.core.event_log import EventFilter
from tools_app.core.events import Event, EventType
from tools_app.core.models import OutboxEvent

_WRITERS = 6
_PER_WRITER = 5
_STEPS = ("before the commit", "after the commit", "while publishing", "after the log", "nowhere")


@proof(id="fabric", what="writers killed between emit and ring, a reader that resumes at random", rounds=60)
def prove_fabric(progress: Progress) -> None:
    """Every committed event is read once, in the order of its golem."""
    for number in progress.remaining():
        chance = random.Random(number)
        golems = [uuid4(), uuid4()]
        start = event_log.read_head().position
        for _ in range(_WRITERS):
            _run_writer(chance.choice(golems), chance.choice(_STEPS), chance.randint(1, _PER_WRITER))
        event_publisher.publish_pending(now=clock.now())
        for golem_id in golems:
            problem = _check(golem_id, start, chance)
            if problem:
                progress.findings.append(f"round {number}: {problem}")


def _run_writer(golem_id: UUID, step: str, count: int) -> None:
    """Fork a writer that dies at `step`, and wait for it."""
    child = os.fork()
    if child:
        os.waitpid(child, 0)
        return
    try:
        _write(golem_id, step, count)
    finally:
        os._exit(0)


def _write(golem_id: UUID, step: str, count: int) -> None:
    events = [
        Event(EventType.TOOL_END, {"tool_name": "proof", "success": True, "duration_ms": number})
        for number in range(count)
    ]
    if step == "after the commit":
        vars(event_bus)["_after_commit"] = _die
    elif step == "after the log":
        vars(event_publisher)["_copy_to_ring"] = _die
    with transaction.atomic():
        event_bus.emit_all(golem_id=golem_id, events=events, now=clock.now())
        if step == "before the commit":
            _die()
    if step != "while publishing":
        event_publisher.PUBLISHER.leave()


def _die(*_: Any, **__: Any) -> None:
    os._exit(9)


def _check(golem_id: UUID, start: int, chance: random.Random) -> str:
    """What a reader that resumes at random places sees against the rows; empty when all is well."""
    committed = list(OutboxEvent.objects.filter(golem_id=golem_id).order_by("sequence").values_list("id", flat=True))
    wanted, position, seen = EventFilter(golem_ids=frozenset({str(golem_id)})), start, []
    while True:
        head = event_log.read_head()
        page = event_log.read_after(position, head=head, wanted=wanted, limit=chance.randint(1, 4))
        kept = page.events[: chance.randint(0, len(page.events))]
        seen += kept
        # A connection that is lost after `kept` resumes behind the last event it was given.
        position = page.reached if len(kept) == len(page.events) else (kept[-1].position if kept else position)
        if position >= head.position:
            break
    ids = [UUID(json.loads(event.body)["event_id"]) for event in seen]
    if ids != committed:
        return f"{len(committed)} were committed, a reader saw {len(ids)}, {len(set(ids))} of them different"
    sequences = [json.loads(event.body)["sequence"] for event in seen]
    return "" if sequences == list(range(1, len(sequences) + 1)) else f"the sequence is {sequences}"
