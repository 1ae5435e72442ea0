"""Finds what archetypes ask for and this server has no tool for, so that nobody is promised what is not there."""

from __future__ import annotations

from collections.abc import Iterable

from archetypes_app.builtin_archetypes import BUILTIN_ARCHETYPES
from tools_app.toolkit.enums import Category
from tools_app.toolkit.registry import REGISTRY, UnknownTool


def list_stocked() -> list[Category]:
    """The categories with at least one registered tool, in the order of the enum."""
    held = {tool.category for tool in REGISTRY}
    return [category for category in Category if category in held]


def tell_empty(categories: Iterable[str]) -> str:
    """In words, which of `categories` have no tool here yet; nothing where each has one."""
    stocked = {category.value for category in list_stocked()}
    empty = sorted(str(each) for each in categories if str(each) not in stocked)
    return f"no tools here yet: {', '.join(empty)}" if empty else ""


def tell_unmet(archetype: str) -> str:
    """In words, what the role of the built-in `archetype` asks for and no tool does here; nothing where all is there.

    It is read from the registry, so the words go with the tools that come.
    """
    known = next((each for each in BUILTIN_ARCHETYPES if each.name == archetype), None)
    if known is None:
        return ""
    unmet = [words for words, names in known.stands_on if not all(map(_has_tool, names))]
    return f"no tool here yet to {', or to '.join(unmet)}" if unmet else ""


def _has_tool(name: str) -> bool:
    try:
        REGISTRY.get(name)
    except UnknownTool:
        return False
    return True
