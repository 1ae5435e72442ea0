"""The OpenAPI document in parts small enough to review: one for each endpoint, one for the bodies of each protocol."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from golem_project.pi.openapi_tools import name_body
from tools_app.toolkit.registry import REGISTRY
from tools_app.toolkit.tooldef import ToolDef

DOCUMENT: Final = "document"
"""What is of no endpoint and no protocol: the title, how callers say who they are, schemas that several share."""
OF_GOLEM: Final = "golem"
"""What a golem asks about itself."""


def split_document(document: Mapping[str, Any], home_of: Callable[[ToolDef], str]) -> dict[str, dict[str, Any]]:
    """Part by name, `endpoints/preview_action` or `bodies/lending`; together they are the document again."""
    parts: dict[str, dict[str, Any]] = {DOCUMENT: {}}
    homes = _list_homes(home_of)
    for path, item in document["paths"].items():
        _put(parts, f"endpoints/{_name_endpoint(path)}", ("paths", path), item)
    for name, schema in document["components"]["schemas"].items():
        _put(parts, _find_home(name, homes), ("components", "schemas", name), schema)
    for kind, entries in document["components"].items():
        if kind != "schemas":
            _put(parts, DOCUMENT, ("components", kind), entries)
    for name, content in document.items():
        if name not in ("paths", "components"):
            _put(parts, DOCUMENT, (name,), content)
    return parts


def _put(parts: dict[str, dict[str, Any]], name: str, place: tuple[str, ...], content: Any) -> None:
    inner = parts.setdefault(name, {})
    for step in place[:-1]:
        inner = inner.setdefault(step, {})
    inner[place[-1]] = content


def _name_endpoint(path: str) -> str:
    """`permits` for the list of permits and for one of them."""
    return [step for step in path.split("/") if step and not step.startswith("{")][-1]


def _list_homes(home_of: Callable[[ToolDef], str]) -> list[tuple[str, str]]:
    """How the names of a part's schemas begin, the longest first."""
    homes = [(name_body(tool.name), f"bodies/{home_of(tool)}") for tool in REGISTRY]
    return sorted([*homes, ("Own", f"bodies/{OF_GOLEM}")], key=lambda each: -len(each[0]))


def _find_home(schema: str, homes: list[tuple[str, str]]) -> str:
    return next((home for begin, home in homes if schema.startswith(begin)), DOCUMENT)
