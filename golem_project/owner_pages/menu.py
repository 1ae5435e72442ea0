"""The sidebar's groups and the lists behind it, as the theme's settings name them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from django.http import HttpRequest

from golem_project.settings.admin_theme import MACHINERY, UNFOLD
from tools_app.core.stored_json import read_stored


@dataclass(frozen=True, slots=True)
class MenuItem:
    """One page; `link` becomes text once addresses are known, and without `permission` everybody may see it."""

    title: str
    link: object
    icon: str = ""
    permission: Callable[[HttpRequest], bool] | None = None

    def is_seen(self, request: HttpRequest) -> bool:
        """Whether this person may see it."""
        return self.permission is None or self.permission(request)


@dataclass(frozen=True, slots=True)
class MenuGroup:
    """Pages under one title; the sidebar's first group has none."""

    items: tuple[MenuItem, ...]
    title: str = ""


@dataclass(frozen=True, slots=True)
class Sidebar:
    """What the theme calls its sidebar."""

    navigation: tuple[MenuGroup, ...]


@dataclass(frozen=True, slots=True)
class Theme:
    """The theme's settings, as far as they are a menu; the name is the theme's."""

    SIDEBAR: Sidebar


def list_sidebar() -> tuple[MenuGroup, ...]:
    """What stands in the sidebar."""
    return read_stored(Theme, UNFOLD).SIDEBAR.navigation


def list_machinery() -> tuple[MenuGroup, ...]:
    """The lists that the sidebar leaves out."""
    return tuple(read_stored(MenuGroup, group) for group in MACHINERY)


def read_items(items: Iterable[object]) -> tuple[MenuItem, ...]:
    """Pages as the theme's settings write them."""
    return tuple(read_stored(MenuItem, each) for each in items)
