"""One archetype as a TOML document and back. Pure text in, plain values out; the database is not asked.

Nothing here trusts its input: size is checked before parsing, a depth the parser cannot take is refused, every key
must be known.
Seed: facts 1.1 (definition format); 002, "Fine-grained overrides" (`[tools]`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from archetypes_app.errors import InvalidToml, UnknownCategory
from tools_app.core.outside_json import Bound, OutsideTextRefused, read_toml
from tools_app.toolkit.enums import Category

MOST_BYTES: Final = 64 * 1024
MOST_NAME: Final = 50
MOST_DOTS: Final = 200
"""Parts of one dotted key; the parser's time grows with their square, and thousands of them would hold it for long."""

_NOT_OF_A_KEY: Final = re.compile(r"[^\w.\-\"' \t]+")
_NAME_LETTERS: Final = frozenset("abcdefghijklmnopqrstuvwxyz0123456789-_")
_TIERS: Final = ("T0", "T1", "T2")
_LINE_KEYS: Final = frozenset(
    {
        "name",
        "description",
        "category",
        "default_tier",
        "tool_categories",
        "profile",
        "delegates_to",
        "terminal",
        "read_only",
        "keeps_local_writes",
        "system_prompt",
        "tool_overrides",
        "tools",
    }
)
_PROMPT_KEYS: Final = frozenset({"role", "expertise", "safety_rules", "workflow", "output_format"})
_OVERRIDE_KEYS: Final = frozenset({"include", "exclude"})
_TOOLS_KEYS: Final = frozenset({"profile", "enable", "disable"})


@dataclass(frozen=True, slots=True)
class ArchetypeFile:
    """What one file says. Profiles, delegates and tools are names, checked later against what exists."""

    name: str
    category: str
    description: str = ""
    default_tier: str = "T1"
    tool_categories: tuple[str, ...] = ()
    profiles: tuple[str, ...] = ()
    delegates_to: tuple[str, ...] = ()
    is_terminal: bool = False
    is_read_only: bool = False
    keeps_local_writes: bool = False
    role: str = ""
    expertise: tuple[str, ...] = ()
    safety_rules: tuple[str, ...] = ()
    workflow: str = ""
    output_format: str = ""
    includes: tuple[str, ...] = ()
    excludes: tuple[str, ...] = ()


def parse_archetype(raw: bytes, *, source: str, categories: Sequence[str]) -> ArchetypeFile:
    """The archetype in `raw`; `source` names it in errors, `categories` are the archetype categories there are.

    Raises InvalidToml (too large, too deep, not TOML, unknown or misshapen keys) and UnknownCategory.
    """
    table = _Table(_parse(raw, source), source)
    table.check_keys(_LINE_KEYS, "")
    prompt = table.table("system_prompt", _PROMPT_KEYS)
    overrides = table.table("tool_overrides", _OVERRIDE_KEYS)
    tools = table.table("tools", _TOOLS_KEYS)
    name = _check_name(table.text("name", required=True), source)
    category = table.text("category", required=True)
    if category not in categories:
        raise UnknownCategory(f"{source}: {category!r} is no archetype category", known=list(categories))
    tier = table.text("default_tier") or "T1"
    if tier not in _TIERS:
        raise InvalidToml(f"{source}: default_tier is one of {', '.join(_TIERS)}, not {tier!r}", source=source)
    keeps = table.flag("keeps_local_writes")
    return ArchetypeFile(
        name=name,
        category=category,
        description=table.text("description"),
        default_tier=tier,
        tool_categories=_check_categories(table.texts("tool_categories"), source),
        profiles=tuple(dict.fromkeys((*_split(table.text("profile")), *_split(tools.text("profile"))))),
        delegates_to=table.texts("delegates_to"),
        is_terminal=table.flag("terminal"),
        is_read_only=table.flag("read_only") or keeps,
        keeps_local_writes=keeps,
        role=prompt.text("role"),
        expertise=prompt.texts("expertise"),
        safety_rules=prompt.texts("safety_rules"),
        workflow=prompt.text("workflow"),
        output_format=prompt.text("output_format"),
        includes=tuple(dict.fromkeys((*overrides.texts("include"), *tools.texts("enable")))),
        excludes=tuple(dict.fromkeys((*overrides.texts("exclude"), *tools.texts("disable")))),
    )


def render_archetype(archetype: ArchetypeFile) -> str:
    """The document that `parse_archetype` reads back to the same value."""
    lines = [
        f"name = {_quote(archetype.name)}",
        f"description = {_quote(archetype.description)}",
        f"category = {_quote(archetype.category)}",
        f"default_tier = {_quote(archetype.default_tier)}",
        f"tool_categories = {_quote_all(archetype.tool_categories)}",
    ]
    if archetype.profiles:
        lines.append(f"profile = {_quote(','.join(archetype.profiles))}")
    lines += [
        f"delegates_to = {_quote_all(archetype.delegates_to)}",
        f"terminal = {_word(archetype.is_terminal)}",
        f"read_only = {_word(archetype.is_read_only)}",
        f"keeps_local_writes = {_word(archetype.keeps_local_writes)}",
        "",
        "[system_prompt]",
        f"role = {_quote(archetype.role)}",
        f"expertise = {_quote_all(archetype.expertise)}",
        f"safety_rules = {_quote_all(archetype.safety_rules)}",
        f"workflow = {_quote(archetype.workflow)}",
        f"output_format = {_quote(archetype.output_format)}",
        "",
        "[tool_overrides]",
        f"exclude = {_quote_all(archetype.excludes)}",
        f"include = {_quote_all(archetype.includes)}",
    ]
    return "\n".join(lines) + "\n"


class _Table:
    """One TOML table with readers that refuse a value of another shape."""

    def __init__(self, values: Mapping[str, Any], source: str, path: str = "") -> None:
        self._values = values
        self._source = source
        self._path = path

    def check_keys(self, known: frozenset[str], where: str) -> None:
        unknown = sorted(str(key)[:80] for key in set(self._values) - known)
        if unknown:
            raise InvalidToml(
                f"{self._source}: {where}there is no key {', '.join(map(repr, unknown[:10]))}",
                source=self._source,
                unknown_keys=unknown[:10],
                known_keys=sorted(known),
            )

    def text(self, key: str, *, required: bool = False) -> str:
        value = self._values.get(key, "")
        if not isinstance(value, str) or "\x00" in value or (required and not value.strip()):
            raise self._bad(key, "text")
        return value

    def flag(self, key: str) -> bool:
        value = self._values.get(key, False)
        if not isinstance(value, bool):
            raise self._bad(key, "true or false")
        return value

    def texts(self, key: str) -> tuple[str, ...]:
        value = self._values.get(key, [])
        if not isinstance(value, list) or not all(isinstance(item, str) and "\x00" not in item for item in value):
            raise self._bad(key, "a list of texts")
        return tuple(value)

    def table(self, key: str, known: frozenset[str]) -> _Table:
        value = self._values.get(key, {})
        if not isinstance(value, dict):
            raise self._bad(key, "a table")
        inner = _Table(value, self._source, f"{key}.")
        inner.check_keys(known, f"in [{key}] ")
        return inner

    def _bad(self, key: str, shape: str) -> InvalidToml:
        return InvalidToml(f"{self._source}: {self._path}{key} must be {shape}", source=self._source, key=key)


def _parse(raw: bytes, source: str) -> dict[str, Any]:
    if len(raw) > MOST_BYTES:
        raise InvalidToml(
            f"{source} is {len(raw)} bytes long; an archetype has at most {MOST_BYTES}", source=source, bytes=len(raw)
        )
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InvalidToml(f"{source} is not UTF-8 at byte {error.start}", source=source) from None
    if any(chunk.count(".") > MOST_DOTS for chunk in _NOT_OF_A_KEY.split(text)):
        raise InvalidToml(f"{source} is nested too deeply", source=source)
    try:
        return read_toml(text, most_bytes=MOST_BYTES)
    except OutsideTextRefused as refusal:
        if refusal.bound is Bound.DEPTH:
            raise InvalidToml(f"{source} is nested too deeply", source=source) from None
        raise InvalidToml(f"{source}: {refusal}", source=source) from None


def _check_name(name: str, source: str) -> str:
    if len(name) > MOST_NAME or not set(name) <= _NAME_LETTERS:
        raise InvalidToml(
            f"{source}: a name has at most {MOST_NAME} letters a to z, digits, - and _, unlike {name[:80]!r}",
            source=source,
        )
    return name


def _check_categories(names: Iterable[str], source: str) -> tuple[str, ...]:
    wanted = tuple(dict.fromkeys(names))
    unknown = [name[:80] for name in wanted if name not in set(Category)]
    if unknown:
        raise UnknownCategory(
            f"{source}: there is no tool category {', '.join(map(repr, unknown[:10]))}", known=sorted(Category)
        )
    return wanted


def _split(text: str) -> tuple[str, ...]:
    return tuple(part.strip().lower() for part in text.split(",") if part.strip())


def _quote(text: str) -> str:
    # JSON's escapes are TOML's, but for the one control character that JSON leaves as it is.
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _quote_all(texts: Iterable[str]) -> str:
    return f"[{', '.join(_quote(text) for text in texts)}]"


def _word(value: bool) -> str:
    return "true" if value else "false"
