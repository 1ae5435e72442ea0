"""Decides which tools of a golem one API key is shown, and answers calls of those it is not shown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Final

from archetypes_app.actions.load_tools import load_tools, note_tool_use
from archetypes_app.browse_and_load_tools import TIER_KEYS, answer_tier_query
from archetypes_app.catalogue_lines import describe_call
from archetypes_app.models import ApiKey, Golem
from archetypes_app.tool_loadout import MOST_TOOLS, Loading, Loadout, find_served, make_loadout
from archetypes_app.toolset import resolve_toolset
from golem_project.pi import recent_toolsets
from golem_project.pi.definitions import define_tools
from golem_project.pi.manifest import describe_route
from golem_project.pi.token_count import cost_little
from permits_app.actions.query import OWN_QUERIES
from tools_app.core.errors import GolemError
from tools_app.select_tool_for_venue import DefinitionNotSeen, UnknownAction, UnknownVenue, list_keys, resolve_action
from tools_app.toolkit.enums import Category, PiTool
from tools_app.toolkit.golem_toolset import Toolset
from tools_app.toolkit.registry import REGISTRY
from tools_app.toolkit.result import ToolResult
from tools_app.toolkit.tooldef import ToolDef

_OWN_WORDS: Final = TIER_KEYS.union(query.key for query in OWN_QUERIES)


class KeyShelf:
    """One key's view of one golem's tools, read once in a request."""

    def __init__(self, *, golem: Golem, key: ApiKey) -> None:
        self.golem = golem
        self.key = key
        self.unseen: ToolDef | None = None
        """The tool of the golem's that was called in this request though its key's model was not shown it."""

    @cached_property
    def toolset(self) -> Toolset:
        """Everything the golem has."""
        return resolve_toolset(self.golem)

    @cached_property
    def loadout(self) -> Loadout:
        """Which of it is loaded."""
        return self._read(self.key)

    @cached_property
    def shown(self) -> Toolset:
        """What of it is loaded, as a toolset."""
        return self.loadout.cut(self.toolset)

    def list_words(self, pi_tool: PiTool) -> list[str]:
        """The action types or queries that the key may say to `pi_tool`, in the alphabet's order."""
        own = _OWN_WORDS if pi_tool is PiTool.QUERY_STATE else frozenset()
        return sorted({*own, *list_keys(toolset=self.shown, pi_tool=pi_tool)})

    def check(self, *, pi_tool: PiTool, key: str, venue: str | None) -> ToolDef | None:
        """The golem's tool that serves this, noted as used; None where every tool is loaded or nothing serves it.

        One that is not loaded is served all the same, and `unseen` from then on. Raises VenueRequired where several
        venues serve it: several of those loaded, or of all where none is.
        """
        if self.key.most_tools is None:
            return None
        tool = self._recall(pi_tool=pi_tool, key=key, venue=venue)
        if tool is None:
            recent_toolsets.remember(self.key, self.shown)
            try:
                tool = find_served(
                    toolset=self.toolset, shown=self.shown, pi_tool=pi_tool, key=key, venue=venue, known=()
                )
            except (UnknownAction, UnknownVenue, DefinitionNotSeen):
                # Said of the whole toolset, with what is missing, by whoever carries it out.
                return None
            if not self.loadout.shows(tool.name):
                self.unseen = tool
        note_tool_use(key=self.key, name=tool.name)
        return tool

    def describe_unseen(self) -> dict[str, object] | None:
        """How the tool that was called and is not loaded is called, with its schema; None where none was."""
        if self.unseen is None:
            return None
        return {**describe_call(self.unseen, beside=self.toolset), "parameters": self.unseen.schema}

    def _recall(self, *, pi_tool: PiTool, key: str, venue: str | None) -> ToolDef | None:
        shown = recent_toolsets.recall(self.key)
        if shown is None:
            return None
        try:
            return resolve_action(pi_tool=pi_tool, key=key, venue=venue, toolset=shown, known=())
        except GolemError:
            # Said of a moment ago it may be wrong by now.
            return None

    def answer(self, *, key: str, params: Mapping[str, object]) -> dict[str, object]:
        """The ToolResult of browse_tools, load_tools or describe_tool."""
        data = answer_tier_query(
            key=key,
            params=params,
            toolset=self.toolset,
            loadout=self.loadout,
            load=self._load,
            describe=describe_route,
        )
        return ToolResult(data=data).as_dict()

    def _load(self, names: Sequence[str]) -> Loading:
        return load_tools(key_id=self.key.pk, names=names, read=self._read, fits=self._fits)

    def _fits(self, loadout: Loadout) -> bool:
        if loadout.most is None or loadout.most > MOST_TOOLS:
            return True
        shown = define_tools(
            toolset=loadout.cut(self.toolset),
            permit_ttl_seconds=self.golem.permit_ttl_seconds,
            has_memory=True,
            has_writes=self.toolset.has_writes,
            has_more=True,
        )
        return cost_little(shown, are_ours=all(tool.name in REGISTRY for tool in loadout.cut(self.toolset)))

    def _read(self, key: ApiKey) -> Loadout:
        first = [Category(category) for category in self.golem.archetype.tool_categories]
        return make_loadout(toolset=self.toolset, first=first, loaded=key.loaded_tools, most=key.most_tools)
