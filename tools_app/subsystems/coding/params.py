"""The types of the coding tools' parameters."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, BeforeValidator, Field

from tools_app.core.storable_text import make_plain, make_storable
from tools_app.subsystems.coding.limits import LIMITS
from tools_app.toolkit.canonical_param_values import Meaning
from tools_app.toolkit.params import check_whole


def _check_storable(text: str) -> str:
    if make_storable(text) != text:
        raise ValueError("no null characters and no lone surrogates")
    return text


def _check_visible(text: str) -> str:
    if make_plain(text) != text or not text.strip():
        raise ValueError("characters that nobody sees are refused, and so is an empty text")
    return text


Shape = Annotated[
    Literal["blocks", "legacy"],
    Field(description="blocks, or legacy: one text with a status, in which images and resources are only named."),
]
FilePath = Annotated[
    str,
    Field(min_length=1, max_length=1_000, description="Path below the folder, such as src/main.py."),
    Meaning.PATH,
]
FileText = Annotated[
    str,
    Field(max_length=LIMITS.write_bytes, description="The whole text of the file; empty makes an empty file."),
    AfterValidator(_check_storable),
]
OldText = Annotated[
    str,
    Field(
        min_length=1,
        max_length=LIMITS.write_bytes,
        description="Text that is in the file exactly once, whitespace included.",
    ),
    AfterValidator(_check_storable),
]
NewText = Annotated[
    str,
    Field(max_length=LIMITS.write_bytes, description="What takes its place; empty deletes it."),
    AfterValidator(_check_storable),
]
ShellCommand = Annotated[
    str,
    Field(min_length=1, max_length=8_000, description="What bash runs in the folder."),
    AfterValidator(_check_visible),
]
TimeoutMs = Annotated[
    int,
    Field(
        ge=100,
        le=LIMITS.longest_bash_ms,
        description=f"Milliseconds until it is killed with all it started, at most {LIMITS.longest_bash_ms}.",
    ),
    BeforeValidator(check_whole),
]
LineOffset = Annotated[
    int,
    Field(ge=1, le=10_000_000, description="First line to show, counted from 1."),
    BeforeValidator(check_whole),
]
LineLimit = Annotated[
    int,
    Field(ge=1, le=LIMITS.read_lines, description=f"Most lines to show, at most {LIMITS.read_lines}."),
    BeforeValidator(check_whole),
]
LinePattern = Annotated[
    str,
    Field(min_length=1, max_length=1_000, description="Regular expression (grep) or shell pattern of names (find)."),
    AfterValidator(_check_storable),
]
NamePattern = Annotated[
    str,
    Field(min_length=1, max_length=255, description="Only files whose name matches this shell pattern, such as *.py."),
]
EntryType = Annotated[
    Literal["f", "d"],
    Field(description="f finds files only, d folders only."),
]
