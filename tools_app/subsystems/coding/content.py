"""Defines a coding tool's answer: blocks of text, images, resources and errors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from tools_app.core.json_types import JsonObject
from tools_app.core.storable_text import make_plain_value
from tools_app.core.taint import DataSink, Tainted, TaintLabel, clean_for
from tools_app.toolkit.result import FailedAnswer


class ResultShape(StrEnum):
    """How an answer is built: of blocks, or as the older one text with a status."""

    BLOCKS = "blocks"
    LEGACY = "legacy"


class ContentKind(StrEnum):
    """What a block is."""

    TEXT = "text"
    IMAGE = "image"
    RESOURCE = "resource"
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class ContentBlock:
    """One block. `data` is base64 of an image; `uri` and `size` (bytes) name a resource that is not shown."""

    kind: ContentKind
    text: str = ""
    mime_type: str = ""
    data: str = ""
    err_code: str = ""
    uri: str = ""
    size: int | None = None

    def as_dict(self) -> JsonObject:
        """JSON-ready; what is empty is left out."""
        members = {
            "kind": str(self.kind),
            "text": self.text,
            "mime_type": self.mime_type,
            "data": self.data,
            "err_code": self.err_code,
            "uri": self.uri,
            "size": self.size,
        }
        return {name: value for name, value in members.items() if value not in ("", None)}


def text_block(text: str) -> ContentBlock:
    """Text."""
    return ContentBlock(ContentKind.TEXT, text=text)


def image_block(mime_type: str, data: str) -> ContentBlock:
    """An image as base64."""
    return ContentBlock(ContentKind.IMAGE, mime_type=mime_type, data=data)


def resource_block(uri: str, mime_type: str, size: int) -> ContentBlock:
    """Something that is there and is not shown."""
    return ContentBlock(ContentKind.RESOURCE, uri=uri, mime_type=mime_type, size=size)


def error_block(code: str, message: str) -> ContentBlock:
    """What went wrong, for a program and for a reader."""
    return ContentBlock(ContentKind.ERROR, text=message, err_code=code)


@dataclass(frozen=True, slots=True)
class ToolOutput:
    """Blocks, how long it took, and the exit code of a command. `continue_at` is the offset that goes on."""

    content: tuple[ContentBlock, ...]
    elapsed_ms: int = 0
    exit_code: int | None = None
    continue_at: int | None = None

    def as_dict(self) -> JsonObject:
        """JSON-ready."""
        extra = {"exit_code": self.exit_code, "continue_at": self.continue_at}
        return {
            "content": [block.as_dict() for block in self.content],
            "elapsed_ms": self.elapsed_ms,
            **{name: value for name, value in extra.items() if value is not None},
        }

    def as_untrusted(self, *, tool: str, shape: str) -> Mapping[str, object]:
        """As a model may have it: inside an object that says it is foreign, plain, and without known secrets.

        `tool` is how the older shape names what answered; `shape` is a value of ResultShape.
        """
        told_as = as_legacy_result(self, tool=tool) if shape == ResultShape.LEGACY else self.as_dict()
        plain = make_plain_value(told_as)
        told: Mapping[str, object] = clean_for(DataSink.MODEL, Tainted(plain, TaintLabel.UNTRUSTED_EXTERNAL))
        return FailedAnswer(told) if self._is_error(shape) else told

    def _is_error(self, shape: str) -> bool:
        """An error block is an error; the older shape has one status for that and for a command that failed."""
        has_block = any(block.kind is ContentKind.ERROR for block in self.content)
        return has_block or (shape == ResultShape.LEGACY and self.exit_code not in (None, 0))


def as_legacy_result(output: ToolOutput, *, tool: str) -> dict[str, object]:
    """The older shape: `tool`, `status`, `result`, and with an error block `error` and `error_type`.

    An image or a resource is named, where the older shape lost it; a command that failed is an error there too.
    """
    errors = [block for block in output.content if block.kind is ContentKind.ERROR]
    failed = bool(errors) or output.exit_code not in (None, 0)
    lines = [_spell(block) for block in output.content if block.kind is not ContentKind.ERROR]
    told = "\n".join(lines) or "; ".join(block.text for block in errors)
    legacy: dict[str, object] = {"tool": tool, "status": "error" if failed else "success", "result": told}
    if errors:
        legacy |= {"error": "; ".join(block.text for block in errors), "error_type": errors[0].err_code}
    elif failed:
        legacy |= {"error": f"exit code {output.exit_code}", "error_type": "exit_code"}
    return legacy


def _spell(block: ContentBlock) -> str:
    if block.kind is ContentKind.TEXT:
        return block.text
    return f"[{block.kind} {block.uri} {block.mime_type}]".replace("  ", " ")
