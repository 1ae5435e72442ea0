"""Hook 7: what goes back to an agent is capped, free of secrets and of characters that hide text.

It never refuses: it changes answers, not actions.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, Final

from permits_app.safety.hook import Allow, HookCall, Verdict
from tools_app.core.json_types import JsonObject
from tools_app.core.storable_text import make_plain
from tools_app.core.taint import (
    REMOVED,
    DataSink,
    Secret,
    Tainted,
    clean_for,
    holds_no_secret,
    is_secret_key,
    redact_text,
)

MOST_CHARACTERS: Final = 100_000
"""About 25,000 tokens of JSON."""

_CUT: Final = "… [cut]"
# The name of a member that is not null, in JSON without a backslash: there every quote begins or ends a text.
_MEMBER: Final = re.compile(r'"([^"]*)":(?!null)')


class ResultFilter:
    """The last hook. `check` agrees to every action; `filter_result` is what works on answers."""

    name = "result_filter"

    def check(self, call: HookCall) -> Verdict:
        """Allow."""
        return Allow(note="filters what goes back")


def filter_result(
    value: Any,  # Any: a value of JSON
    *,
    cursor: str | None = None,
    most_characters: int = MOST_CHARACTERS,
) -> Any:  # Any: a value of JSON
    """`value` (JSON-ready) without secrets and hidden characters, at most `most_characters` of JSON long.

    An object that is too long keeps as much of its longest list as fits and gains `next_cursor` (give it back as
    `cursor` for the rest) and `truncated` {list, shown, total}. A list at the top becomes {items, …} then. What
    cannot be cut by a list has its longest texts cut.
    """
    start, told = _parse_cursor(cursor), _write_out(value)
    if start == 0 and told is not None and len(told) <= most_characters and _is_clean(told):
        return value
    cleaned = _clean(value)
    if start == 0 and _length(cleaned) <= most_characters:
        return cleaned
    if isinstance(cleaned, list):
        cleaned = {"items": cleaned}
    if isinstance(cleaned, dict):
        found = _longest_list(cleaned)
        if found is not None:
            cleaned = _page(cleaned, found, start, most_characters)
    return cleaned if _length(cleaned) <= most_characters else _cut_texts(cleaned, most_characters)


def _write_out(value: Any) -> str | None:  # Any: a value of JSON
    """`value` as JSON; None where JSON has no word for something in it, such as a Secret."""
    try:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    except (TypeError, ValueError):
        return None


def _is_clean(told: str) -> bool:
    """Whether nothing would be changed in the value that `told` is written out from: nearly every answer.

    Looked through at once. A text with quotes or lines in it is written otherwise than it is, so it is no such answer.
    """
    return (
        "\\" not in told
        and told.isprintable()
        and holds_no_secret(told)
        and not any(map(is_secret_key, set(_MEMBER.findall(told))))
    )


def clean_text(text: str) -> str:
    """`text` without known secrets and without hidden characters."""
    return redact_text(make_plain(text), sink=DataSink.MODEL)


def _clean(value: Any) -> Any:  # Any: a value of JSON
    if isinstance(value, str):
        return clean_text(value)
    if isinstance(value, Secret | Tainted):
        return _clean(clean_for(DataSink.MODEL, value))
    if isinstance(value, Mapping):
        return {
            clean_text(str(key)): REMOVED if is_secret_key(str(key)) and member is not None else _clean(member)
            for key, member in value.items()
        }
    if isinstance(value, list | tuple):
        return [_clean(item) for item in value]
    return value


def _length(value: Any) -> int:  # Any: a value of JSON
    return len(json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str))


def _longest_list(members: dict[str, object], path: tuple[str, ...] = ()) -> tuple[str, ...] | None:
    """Path of the list that holds the most text, through objects only."""
    found: list[tuple[int, tuple[str, ...]]] = []
    for key, member in members.items():
        if isinstance(member, list) and len(member) > 1:
            found.append((_length(member), (*path, key)))
        elif isinstance(member, dict):
            inner = _longest_list(member, (*path, key))
            if inner is not None:
                found.append((_length(_at(members, inner[len(path) :])), inner))
    return max(found)[1] if found else None


def _page(members: dict[str, object], path: tuple[str, ...], start: int, most: int) -> dict[str, object]:
    items = _at(members, path)
    named = ".".join(path)
    # What the rest of the object and the three members added below take up.
    room = most - _length(_with(members, path, [])) - len(named) - 160
    shown: list[Any] = []  # Any: a value of JSON
    for item in items[start:]:
        room -= _length(item) + 1
        if room < 0 and shown:
            break
        shown.append(item)
    end = start + len(shown)
    return {
        **_with(members, path, shown),
        "truncated": {"list": named, "shown": len(shown), "from": start, "total": len(items)},
        "next_cursor": str(end) if end < len(items) else None,
    }


def _at(members: JsonObject, path: tuple[str, ...]) -> Any:  # Any: a value of JSON
    value: Any = members  # Any: as above
    for key in path:
        value = value[key]
    return value


def _with(members: JsonObject, path: tuple[str, ...], value: object) -> JsonObject:
    head, rest = path[0], path[1:]
    return {**members, head: _with(members[head], rest, value) if rest else value}


def _cut_texts(value: Any, most: int) -> Any:  # Any: a value of JSON
    limit = 8_000
    while limit >= 125:
        value = _shorten(value, limit)
        if _length(value) <= most:
            return value
        limit //= 2
    return {"truncated": {"reason": f"the answer is longer than {most} characters; ask for less"}}


def _shorten(value: Any, limit: int) -> Any:  # Any: a value of JSON
    if isinstance(value, str):
        return value if len(value) <= limit else value[: limit - len(_CUT)] + _CUT
    if isinstance(value, dict):
        return {key: _shorten(member, limit) for key, member in value.items()}
    if isinstance(value, list):
        return [_shorten(item, limit) for item in value]
    return value


def _parse_cursor(cursor: str | None) -> int:
    return int(cursor) if cursor is not None and cursor.isdecimal() and len(cursor) <= 9 else 0
