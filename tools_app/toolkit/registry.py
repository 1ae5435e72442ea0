"""The registry of every tool: filled once at start-up, then frozen.

Two tools of one name, or two of one (Pi tool, key, venue), stop the start and name both places.
An unknown name is answered with the nearest known ones.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator

from tools_app.core.errors import GolemError, Recovery
from tools_app.toolkit.enums import Category, PiTool
from tools_app.toolkit.refused_names import find_refused
from tools_app.toolkit.tooldef import ToolDef


class UnknownTool(GolemError, status=404, recovery=Recovery.FIX_PARAMS, title="There is no such tool here"):
    """No such tool in this golem's toolset."""


class NameRefused(UnknownTool, recovery=Recovery.GIVE_UP, title="No tool will ever answer by this name"):
    """A name that no tool will ever answer; `why` is the reason, and `use_instead` what tells what can be known."""


def refuse_for_good(word: str) -> None:
    """Raises NameRefused where `word` is the name or the key of what is refused for good; else does nothing."""
    refused = find_refused(word)
    if refused is not None:
        raise NameRefused(
            f"{refused.name} is refused for good: {refused.why}; {refused.instead_says}",
            name=refused.name,
            why=refused.why,
            use_instead=list(refused.instead),
            suggestions=list(refused.instead),
            next_call={"tool": str(PiTool.QUERY_STATE), "arguments": {"query": "browse_tools"}},
        )


class RegistryConflict(Exception):
    """Two declarations claim the same name or the same route."""


class ToolRegistry:
    """Every tool by name. Names and aliases share one space; listings show canonical names only."""

    def __init__(self) -> None:
        self._tools: dict[str, ToolDef] = {}
        self._aliases: dict[str, str] = {}
        self._frozen = False

    def add_all(self, tools: Iterable[ToolDef]) -> None:
        """Add tools. Raises RegistryConflict on a duplicate name, alias or route, and once frozen."""
        for tool in tools:
            self._add(tool)

    def freeze(self) -> None:
        """No tool can be added from here on."""
        self._check_routes()
        self._frozen = True

    @property
    def is_frozen(self) -> bool:
        return self._frozen

    def get(self, name: str) -> ToolDef:
        """The tool called `name` or one of its aliases. Raises NameRefused, or UnknownTool with suggestions."""
        tool = self._tools.get(self._aliases.get(name, name))
        if tool is None:
            refuse_for_good(name)
            near = difflib.get_close_matches(name, [*self._tools, *self._aliases], n=3)
            raise UnknownTool(f"no tool is called {name!r}", suggestions=near)
        return tool

    def by_category(self, category: Category) -> tuple[ToolDef, ...]:
        return tuple(tool for tool in self if tool.category is category)

    def __iter__(self) -> Iterator[ToolDef]:
        return iter(self._tools.values())

    def __len__(self) -> int:
        return len(self._tools)

    def __contains__(self, name: object) -> bool:
        return name in self._tools

    def _add(self, tool: ToolDef) -> None:
        if self._frozen:
            raise RegistryConflict(f"{tool.name} ({tool.source}) was declared after the registry was frozen")
        for name in (tool.name, *tool.aliases):
            owner = self._tools.get(self._aliases.get(name, name))
            if owner is not None:
                raise RegistryConflict(f"{name} is declared at {owner.source} and again at {tool.source}")
        self._tools[tool.name] = tool
        self._aliases.update(dict.fromkeys(tool.aliases, tool.name))

    def _check_routes(self) -> None:
        routes: dict[tuple[str, str, str], ToolDef] = {}
        for tool in self:
            route = (tool.pi_tool, tool.key, tool.venue)
            if route in routes:
                raise RegistryConflict(
                    f"{tool.pi_tool}:{tool.key}@{tool.venue} leads to {routes[route].name} ({routes[route].source})"
                    f" and to {tool.name} ({tool.source})"
                )
            routes[route] = tool


REGISTRY = ToolRegistry()
"""The one registry of this process; `tools_app/apps.py` fills and freezes it."""
