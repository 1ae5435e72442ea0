"""Text as PostgreSQL can keep it: without U+0000 and without half surrogate pairs.

Names come from chains, and a name must not undo the row that tells of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def make_storable(value: Any) -> Any:
    """`value` (JSON-ready) with U+FFFD where PostgreSQL keeps no character; anything else is as it was."""
    if isinstance(value, str):
        if "\x00" not in value and (value.isascii() or not any("\ud800" <= one <= "\udfff" for one in value)):
            return value
        return "".join("\ufffd" if one == "\x00" or "\ud800" <= one <= "\udfff" else one for one in value)
    if isinstance(value, Mapping):
        return {make_storable(name): make_storable(member) for name, member in value.items()}
    return [make_storable(member) for member in value] if isinstance(value, list | tuple) else value
