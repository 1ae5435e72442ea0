"""Finds tool categories that are empty on this server, so that nobody is promised tools that are not there."""

from __future__ import annotations

from collections.abc import Iterable

from tools_app.toolkit.enums import Category
from tools_app.toolkit.registry import REGISTRY


def list_stocked() -> list[Category]:
    """The categories with at least one registered tool, in the order of the enum."""
    held = {tool.category for tool in REGISTRY}
    return [category for category in Category if category in held]


def tell_empty(categories: Iterable[str]) -> str:
    """In words, which of `categories` have no tool here yet; nothing where each has one."""
    stocked = {category.value for category in list_stocked()}
    empty = sorted(str(each) for each in categories if str(each) not in stocked)
    return f"no tools here yet: {', '.join(empty)}" if empty else ""
