"""Text on its way into memory: without secrets, control and invisible characters, and cut to a length. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tools_app.core.storable_text import make_plain
from tools_app.core.taint import DataSink, redact_text


def clean_text(text: str, *, longest: int | None = None) -> str:
    """`text` without what looks like a secret and without characters nobody sees; every script is kept.

    What nobody sees is dropped, since instructions hide in it (`tools_app/core/invisible_text.py` says what that is).
    At most `longest` characters.
    """
    cleaned = redact_text(make_plain(text), sink=DataSink.MEMORY)
    return cleaned if longest is None else cleaned[:longest]


def clean_value(value: object) -> Any:  # Any: JSON, as agents see it
    """JSON-ready `value` with every string in it cleaned, names of members too. Floats become decimal text."""
    if isinstance(value, str):
        return clean_text(value)
    if isinstance(value, float):
        return repr(value)
    if isinstance(value, Mapping):
        return {clean_text(str(name)): clean_value(member) for name, member in value.items()}
    if isinstance(value, list | tuple):
        return [clean_value(member) for member in value]
    return value
