"""Toolset: the immutable set of tools a golem has, with the reason for each one that is in or out.

Filters are small functions on the same value; the absence of a tool is in the value, not in a flag.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from tools_app.toolkit.enums import CapabilityTier, Need
from tools_app.toolkit.tooldef import ToolDef


@dataclass(frozen=True, slots=True)
class Toolset:
    """Tools in registry order, reasons for every known tool, and those dropped for a missing requirement.

    `unseen` are those dropped because they read otherwise than the golem's owner saw.
    `cancels_announced`: it may stop what other golems of its owner announced, whatever tools it has.
    """

    tools: Mapping[str, ToolDef]
    reasons: Mapping[str, str]
    missing: Mapping[str, Need]
    cancels_announced: bool = False
    unseen: frozenset[str] = frozenset()

    @classmethod
    def of(cls, tools: Iterable[ToolDef], reason: str) -> Toolset:
        kept = {tool.name: tool for tool in tools}
        return cls(tools=kept, reasons=dict.fromkeys(kept, reason), missing={})

    def without(self, names: Iterable[str], *, reason: str) -> Toolset:
        """Drop tools by name."""
        gone = frozenset(names) & self.tools.keys()
        return replace(
            self,
            tools={name: tool for name, tool in self.tools.items() if name not in gone},
            reasons={**self.reasons, **dict.fromkeys(gone, reason)},
        )

    def with_tools(self, tools: Iterable[ToolDef], *, reason: str) -> Toolset:
        """Add tools; one that is already in is not repeated."""
        added = {tool.name: tool for tool in tools if tool.name not in self.tools}
        return replace(self, tools={**self.tools, **added}, reasons={**self.reasons, **dict.fromkeys(added, reason)})

    @property
    def has_writes(self) -> bool:
        return any(tool.capability is not CapabilityTier.READ for tool in self.tools.values())

    def names(self) -> tuple[str, ...]:
        return tuple(sorted(self.tools))

    def __iter__(self) -> Iterator[ToolDef]:
        return iter(self.tools.values())

    def __len__(self) -> int:
        return len(self.tools)

    def __contains__(self, name: object) -> bool:
        return name in self.tools


def venues_choose(tools: Iterable[ToolDef]) -> bool:
    """Whether a key alone does not name one of `tools`, which share one word: several venues serve it."""
    keys = [tool.key for tool in tools]
    return len(keys) > len(set(keys))
