"""Toolset: the immutable set of tools a golem has, with the reason for each one that is in or out.

Filters are small functions on the same value; the absence of a tool is in the value, not in a flag.
Seed: 000, "Category-based filtering"; 001, "Tool resolution pipeline".
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from tools_app.toolkit.enums import CapabilityTier, Requirement
from tools_app.toolkit.tooldef import ToolDef


@dataclass(frozen=True, slots=True)
class Toolset:
    """Tools in registry order, reasons for every known tool, and those dropped for a missing requirement.

    `unseen` are those dropped because they read otherwise than the golem's owner saw.
    `cancels_announced`: it may stop what other golems of its owner announced, whatever tools it has.
    """

    tools: Mapping[str, ToolDef]
    reasons: Mapping[str, str]
    missing: Mapping[str, Requirement]
    cancels_announced: bool = False
    unseen: frozenset[str] = frozenset()

    @classmethod
    def of(cls, tools: Iterable[ToolDef], reason: str) -> Toolset:
        kept = {tool.name: tool for tool in tools}
        return cls(tools=kept, reasons=dict.fromkeys(kept, reason), missing={})

    def without(self, names: Iterable[str], *, reason: str) -> Toolset:
        """Drop tools by name."""
        gone = frozenset(names)
        return self._keep(lambda tool: tool.name not in gone, kept=None, dropped=reason)

    def with_tools(self, tools: Iterable[ToolDef], *, reason: str) -> Toolset:
        """Add tools; one that is already in is not repeated."""
        added = {tool.name: tool for tool in tools if tool.name not in self.tools}
        return Toolset(
            tools={**self.tools, **added},
            reasons={**self.reasons, **dict.fromkeys(added, reason)},
            missing=self.missing,
            unseen=self.unseen,
        )

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

    def _keep(self, test: Callable[[ToolDef], bool], *, kept: str | None, dropped: str) -> Toolset:
        tools = {name: tool for name, tool in self.tools.items() if test(tool)}
        reasons = dict(self.reasons)
        for name in self.tools:
            if name not in tools:
                reasons[name] = dropped
            elif kept is not None:
                reasons[name] = kept
        return Toolset(tools=tools, reasons=reasons, missing=self.missing, unseen=self.unseen)
