"""The wire form of an event as its subscribers read it (`events.encode_event` writes it)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

from tools_app.core.stored_json import read_stored


@dataclass(frozen=True, slots=True)
class EventBody:
    """One event; `occurred_at` is ISO 8601 text, `payload` is data of the type's own schema."""

    event_id: str
    type: str
    golem_id: str
    sequence: int
    occurred_at: str
    payload: Mapping[str, object]


def read_body(text: str) -> EventBody:
    """Read an event from its JSON. Raises ValueError naming the member that is none of its type."""
    return read_stored(EventBody, json.loads(text))
