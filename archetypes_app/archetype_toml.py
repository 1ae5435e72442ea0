"""One archetype as a TOML document and back. Pure text in, plain values out; the database is not asked.

Nothing here trusts its input: size is checked before parsing, a depth the parser cannot take is refused, every key
must be known.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Annotated, Final, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from archetypes_app.errors import InvalidToml, UnknownCategory
from tools_app.core.bounded_parsing import Bound, OutsideTextRefused, read_toml
from tools_app.toolkit.enums import Category

MOST_BYTES: Final = 64 * 1024
MOST_NAME: Final = 50
MOST_DOTS: Final = 200
"""Parts of one dotted key; the parser's time grows with their square, and thousands of them would hold it for long."""

_NOT_OF_A_KEY: Final = re.compile(r"[^\w.\-\"' \t]+")
_WORDS: Final = {
    "extra_forbidden": "there is no key of that name",
    "string_pattern_mismatch": f"small letters, digits, - and _, at most {MOST_NAME}",
}
"""Mistakes of which the library's words leave out what would be right."""
_MOST_TOLD: Final = 3
"""Mistakes of a file that are told at once."""


def _without_nul(text: str) -> str:
    if "\x00" in text:
        raise ValueError("no database keeps the character of number zero")
    return text


_Text = Annotated[str, AfterValidator(_without_nul)]


class _TableShape(BaseModel):
    """A table of the file: every key is known, and no value is taken for one of another type."""

    model_config = ConfigDict(extra="forbid", strict=True, hide_input_in_errors=True)


class _Prompt(_TableShape):
    role: _Text = ""
    expertise: list[_Text] = []
    safety_rules: list[_Text] = []
    workflow: _Text = ""
    output_format: _Text = ""


class _Overrides(_TableShape):
    include: list[_Text] = []
    exclude: list[_Text] = []


class _Tools(_TableShape):
    profile: _Text = ""
    enable: list[_Text] = []
    disable: list[_Text] = []


class _File(_TableShape):
    name: str = Field(pattern=rf"^[a-z0-9_-]{{1,{MOST_NAME}}}$")
    category: _Text
    description: _Text = ""
    default_tier: Literal["T0", "T1", "T2"] = "T1"
    tool_categories: list[_Text] = []
    profile: _Text = ""
    delegates_to: list[_Text] = []
    terminal: bool = False
    read_only: bool = False
    keeps_local_writes: bool = False
    system_prompt: _Prompt = _Prompt()
    tool_overrides: _Overrides = _Overrides()
    tools: _Tools = _Tools()


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
    try:
        file = _File.model_validate(_parse(raw, source))
    except ValidationError as error:
        raise _refuse(error, source) from None
    if file.category not in categories:
        raise UnknownCategory(f"{source}: {file.category[:80]!r} is no archetype category", known=list(categories))
    prompt, overrides, tools = file.system_prompt, file.tool_overrides, file.tools
    return ArchetypeFile(
        name=file.name,
        category=file.category,
        description=file.description,
        default_tier=file.default_tier,
        tool_categories=_check_categories(file.tool_categories, source),
        profiles=tuple(dict.fromkeys((*_split(file.profile), *_split(tools.profile)))),
        delegates_to=tuple(file.delegates_to),
        is_terminal=file.terminal,
        is_read_only=file.read_only or file.keeps_local_writes,
        keeps_local_writes=file.keeps_local_writes,
        role=prompt.role,
        expertise=tuple(prompt.expertise),
        safety_rules=tuple(prompt.safety_rules),
        workflow=prompt.workflow,
        output_format=prompt.output_format,
        includes=tuple(dict.fromkeys((*overrides.include, *tools.enable))),
        excludes=tuple(dict.fromkeys((*overrides.exclude, *tools.disable))),
    )


def _refuse(error: ValidationError, source: str) -> InvalidToml:
    """What is wrong, by the keys' names; of a value that was written nothing is repeated."""
    found = [
        (".".join(str(part)[:80] for part in each["loc"]), _WORDS.get(each["type"], each["msg"]))
        for each in error.errors(include_url=False, include_input=False, include_context=False)
    ]
    told = "; ".join(f"{place}: {words}" for place, words in found[:_MOST_TOLD])
    return InvalidToml(f"{source}: {told}", source=source, keys=[place for place, _ in found[:10]])


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


def _parse(raw: bytes, source: str) -> dict[str, object]:
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
