"""Says for terminals and pages what a golem looks like while a tool runs, and how long that takes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def word_start(payload: Mapping[str, Any]) -> str:  # Any: JSON, of any shape
    """Of a `tool:start`, as far as it says: "thinking, at most 5 s"; empty where it says neither."""
    sprite, budget_ms = payload.get("sprite_trigger"), payload.get("budget_ms")
    told = [str(sprite).lower()] if sprite else []
    told += [f"at most {int(budget_ms) / 1_000:g} s"] if budget_ms else []
    return ", ".join(told)
