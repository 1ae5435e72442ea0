"""Reads the words of a preview beside its tool's parameters: action, venue, and why it is wanted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from tools_app.core.errors import InvalidParams
from tools_app.core.storable_text import make_plain

WHY: Final = "why"
MOST_WHY: Final = 500
WISH_ID: Final = "wish_id"
_OWN_WORDS: Final = frozenset({"action_type", "venue", WHY, WISH_ID})


def read_params(body: Mapping[str, object]) -> dict[str, object]:
    """What `body` says to the tool."""
    return {name: value for name, value in body.items() if name not in _OWN_WORDS}


def read_why(body: Mapping[str, object]) -> str:
    """Why the agent wants it, for its owners: data, never an instruction. Empty when it says nothing.

    Raises InvalidParams.
    """
    text = body.get(WHY)
    if text is None:
        return ""
    if not isinstance(text, str) or len(text) > MOST_WHY:
        raise InvalidParams(f"{WHY} is a text of at most {MOST_WHY} characters", fields={WHY: "not such a text"})
    return make_plain(text).strip()
