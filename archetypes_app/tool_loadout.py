"""Loadout: which tools of a toolset an agent is shown: a core that stays, and what was loaded.

Loading only decides what a model reads; what a golem may do, and what it may call, is its toolset's. Pure values.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Final

from tools_app.select_tool_for_venue import UnknownAction, UnknownVenue, resolve_action
from tools_app.toolkit.enums import Category, PiTool
from tools_app.toolkit.golem_toolset import Toolset
from tools_app.toolkit.tooldef import ReadTool, ToolDef

MOST_TOOLS: Final = 12
"""Tools loaded at once, the core among them, unless the owner says otherwise."""
MOST_CORE: Final = 5
MOST_TOKENS: Final = 2_500
"""What the definitions over up to twelve tools may cost a model; an owner who shows more at once chose to pay more."""

# Words agents use, so that no venue is named: what a golem of this category does first. The more special a category
# is, the earlier it stands: who has it was made for it.
_CORE_KEYS: Final[Mapping[Category, tuple[str, ...]]] = {
    Category.VAULT: ("deposit", "withdraw"),
    Category.LENDING: ("health_dashboard", "compare_rates"),
    Category.STAKING: ("staking_position", "staking_rates"),
    Category.LP: ("positions", "add_liquidity"),
    Category.TRADING: ("swap", "quote"),
    Category.DATA: ("token_price",),
    Category.WALLET: ("wallet_status",),
}
_GENERAL: Final = (Category.TRADING, Category.DATA, Category.LP)
"""What a golem that is made for everything begins with."""
_MOST_SPECIAL: Final = 4
_ELSEWHERE: Final[Mapping[str, Category]] = {"positions": Category.DATA}
"""Keys whose tools are filed under another category than the one they serve first."""


@dataclass(frozen=True, slots=True)
class Loadout:
    """Names of shown tools. `most` None: everything of the toolset is shown, and nothing is ever dropped."""

    core: tuple[str, ...] = ()
    loaded: tuple[str, ...] = ()
    most: int | None = MOST_TOOLS

    @property
    def names(self) -> tuple[str, ...]:
        """The core first, then what was loaded, least recently used first."""
        return (*self.core, *self.loaded)

    @property
    def room(self) -> int:
        """How many tools beside the core may be loaded at once."""
        return 0 if self.most is None else max(0, self.most - len(self.core))

    def shows(self, name: str) -> bool:
        """Whether the tool of this name is shown."""
        return self.most is None or name in self.core or name in self.loaded

    def cut(self, toolset: Toolset) -> Toolset:
        """What of `toolset` is shown."""
        if self.most is None:
            return toolset
        hidden = (tool.name for tool in toolset if not self.shows(tool.name))
        return toolset.without(hidden, reason="not loaded; load_tools loads it")

    def use(self, name: str) -> Loadout:
        """The same with `name` as the most recently used, where it is loaded."""
        if name not in self.loaded or self.loaded[-1] == name:
            return self
        return replace(self, loaded=(*(each for each in self.loaded if each != name), name))

    def load(self, names: Iterable[str], *, fits: Fits | None = None) -> Loading:
        """`names` loaded in their order; the least recently used others give way to each, as few as must.

        So they do to the count of tools, and while `fits` says that what is shown costs too much. One for which there
        would be no place beside what else was asked for finds no room, and nothing gives way to it.
        """
        wanted = list(dict.fromkeys(names))
        already = tuple(name for name in wanted if self.shows(name))
        kept = tuple(name for name in already if name in self.loaded)
        others = tuple(name for name in self.loaded if name not in kept)
        staying = others
        added: tuple[str, ...] = ()
        no_room: tuple[str, ...] = ()
        for name in wanted:
            if name in already:
                continue
            beside = self._make_place(staying, (*kept, *added, name), fits=fits)
            if beside is None:
                no_room = (*no_room, name)
            else:
                staying, added = beside, (*added, name)
        return Loading(
            self if self.most is None else replace(self, loaded=(*staying, *kept, *added)),
            added=added,
            already=already,
            dropped=others[: len(others) - len(staying)],
            no_room=no_room,
        )

    def _make_place(
        self, others: tuple[str, ...], asked: tuple[str, ...], *, fits: Fits | None
    ) -> tuple[str, ...] | None:
        """The most recently used of `others` that stay beside `asked`; None where `asked` alone is too much."""
        room = self.room - len(asked)
        staying = others[max(0, len(others) - room) :]
        if room < 0:
            return None
        if fits is None or fits(replace(self, loaded=(*staying, *asked))):
            return staying
        if not fits(replace(self, loaded=asked)):
            return None
        while not fits(replace(self, loaded=(*staying, *asked))):
            staying = staying[1:]
        return staying


Fits = Callable[[Loadout], bool]
"""Whether the definitions over what a loadout shows cost a model no more than they may."""


@dataclass(frozen=True, slots=True)
class Loading:
    """What came of loading: the new loadout, and what was added, was there, gave way and found no room."""

    loadout: Loadout
    added: tuple[str, ...]
    already: tuple[str, ...]
    dropped: tuple[str, ...]
    no_room: tuple[str, ...]


def make_loadout(
    *, toolset: Toolset, first: Iterable[Category], loaded: Iterable[str] = (), most: int | None = MOST_TOOLS
) -> Loadout:
    """The loadout over `toolset` of a golem whose archetype is about the categories `first`.

    Names in `loaded` that are no longer in the toolset are left out; a `most` below the core cuts the core.
    """
    if most is None:
        return Loadout(most=None)
    core = choose_core(toolset=toolset, first=first)[:most]
    names = [name for name in dict.fromkeys(loaded) if name in toolset and name not in core]
    return Loadout(core=core, loaded=tuple(names[max(0, len(names) - (most - len(core))) :]), most=most)


def choose_core(*, toolset: Toolset, first: Iterable[Category]) -> tuple[str, ...]:
    """At most five names: the first words of the categories the golem is about.

    It is about its archetype's categories; about all it has where the archetype names none of them.
    """
    by_key: dict[tuple[Category, str], str] = {}
    for tool in toolset:
        by_key.setdefault((tool.category, tool.key), tool.name)
    present = {category for category, _ in by_key}
    own = present & frozenset(first)
    categories = [c for c in _CORE_KEYS if c in own] or [c for c in _CORE_KEYS if c in present]
    if len(categories) > _MOST_SPECIAL:
        categories = [category for category in _GENERAL if category in present]
    chosen: list[str] = []
    for category in categories:
        for key in _CORE_KEYS[category]:
            name = by_key.get((category, key)) or by_key.get((_ELSEWHERE.get(key, category), key))
            if name is not None and name not in chosen:
                chosen.append(name)
    return tuple(chosen[:MOST_CORE])


def find_served(
    *, toolset: Toolset, shown: Toolset, pi_tool: PiTool, key: str, venue: str | None, known: Iterable[ToolDef]
) -> ToolDef:
    """The tool that serves this word: of those `shown`, else of the whole `toolset`.

    What is loaded is what a model reads; what may be called is the toolset's. Raises what resolving there raises.
    """
    try:
        return resolve_action(pi_tool=pi_tool, key=key, venue=venue, toolset=shown, known=())
    except (UnknownAction, UnknownVenue):
        return resolve_action(pi_tool=pi_tool, key=key, venue=venue, toolset=toolset, known=known)


def order_by_need(tools: Iterable[ToolDef]) -> list[ToolDef]:
    """The tools of one category in the order in which they are loaded where not all of them fit.

    First the words a golem of the category begins with, then each word once before any at a second venue, those that
    several venues serve before others; reads and writes by turns, so that whoever sees a part can look and act.
    """
    listed = list(tools)
    venues = Counter((tool.pi_tool, tool.key) for tool in listed)
    seen: Counter[tuple[PiTool, str]] = Counter()
    turns: Counter[tuple[int, bool, bool]] = Counter()
    places: dict[str, tuple[int, int, bool, int, bool]] = {}
    for tool in sorted(listed, key=lambda each: -venues[each.pi_tool, each.key]):
        word, is_read = (tool.pi_tool, tool.key), isinstance(tool, ReadTool)
        again, is_rare = seen[word], venues[word] == 1
        seen[word] += 1
        turns[again, is_rare, is_read] += 1
        first = _CORE_KEYS.get(tool.category, ())
        place = first.index(tool.key) if tool.key in first and again == 0 else len(first)
        places[tool.name] = (again, place, is_rare, turns[again, is_rare, is_read], is_read)
    return sorted(listed, key=lambda tool: places[tool.name])
