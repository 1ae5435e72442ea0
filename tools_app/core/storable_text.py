"""Text as it may be kept and shown: storable in PostgreSQL, and without characters that nobody sees.

Names come from chains and words from models, and neither must undo the row that tells of it, reorder what a page says
or hide an instruction.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tools_app.core.invisible_text import drop_invisible


def make_plain(text: str) -> str:
    """`text` without characters that nobody sees (`invisible_text` says which).

    Line feeds, tabs and every script are kept. The one rule for free text of owners, agents and models.
    """
    return drop_invisible(text)


def make_plain_value(value: Any) -> Any:  # Any: a value of any type is walked
    """`value` (JSON-ready) with every text in it storable and plain, names of members too; the rest is as it was."""
    if isinstance(value, str):
        return make_plain(make_storable(value))
    if isinstance(value, Mapping):
        return {make_plain_value(name): make_plain_value(member) for name, member in value.items()}
    return [make_plain_value(member) for member in value] if isinstance(value, list | tuple) else value


def make_storable(value: object) -> Any:  # Any: a value of any type is walked
    """`value` (JSON-ready) with U+FFFD where PostgreSQL keeps no character; anything else is as it was."""
    if isinstance(value, str):
        if "\x00" not in value and (value.isascii() or not any("\ud800" <= one <= "\udfff" for one in value)):
            return value
        return "".join("\ufffd" if one == "\x00" or "\ud800" <= one <= "\udfff" else one for one in value)
    if isinstance(value, Mapping):
        return {make_storable(name): make_storable(member) for name, member in value.items()}
    return [make_storable(member) for member in value] if isinstance(value, list | tuple) else value
