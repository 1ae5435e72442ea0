"""The OpenAPI document put together again from the parts in which it is stored."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from golem_project.management.commands import snapshots


def read_stored_document() -> dict[str, Any]:
    """The document as it is stored where the command writes it now. Raises ValueError where two parts tell the same."""
    paths = sorted((snapshots.FOLDER / snapshots.OPENAPI).glob("**/*.json"))
    return join_document(json.loads(path.read_text(encoding="utf-8")) for path in paths)


def join_document(parts: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """The whole of which `parts` are. Raises ValueError where two of them tell the same."""
    whole: dict[str, Any] = {}
    for part in parts:
        for place, content in _list_leaves(part):
            inner = whole
            for step in place[:-1]:
                inner = inner.setdefault(step, {})
            if place[-1] in inner:
                raise ValueError(f"{'.'.join(place)} is in two parts")
            inner[place[-1]] = content
    return whole


def _list_leaves(part: Mapping[str, Any]) -> Iterator[tuple[tuple[str, ...], Any]]:
    """What a part holds, by its place in the document."""
    for name, content in part.items():
        if name == "paths":
            yield from ((("paths", path), item) for path, item in content.items())
        elif name == "components":
            for kind, entries in content.items():
                yield from ((("components", kind, each), entry) for each, entry in entries.items())
        else:
            yield (name,), content
