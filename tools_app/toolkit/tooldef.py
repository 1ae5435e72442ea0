"""ToolDef: the frozen metadata of one tool, and its four kinds.

The kinds are different types, so code that may only read (speculation, queries) cannot be handed a
write.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from tools_app.core.hashing import hash_canonical
from tools_app.toolkit.deprecated_params import OldShape
from tools_app.toolkit.enums import (
    ActionClass,
    CapabilityTier,
    Category,
    Need,
    PiTool,
    RiskLayer,
    SpriteTrigger,
    TickBudget,
)
from tools_app.toolkit.plan import LocalEffect, PlanOutcome, TxPlan
from tools_app.toolkit.progress_steps import list_said_steps
from tools_app.toolkit.schema import ToolParams, json_schema


@dataclass(frozen=True, eq=False)
class ToolDef:
    """Everything about one tool but its state. `supported_chains` None means every chain that is configured.

    `key` is the word an agent uses (`action_type` of a write, `query` of a read); `venue` the protocol.
    """

    name: str
    prefix: str
    venue: str
    category: Category
    capability: CapabilityTier
    risk_layer: RiskLayer
    tick_budget: TickBudget
    summary: str
    description: str
    snippet: str
    guidelines: tuple[str, ...]
    named_steps: tuple[str, ...]
    sprite_trigger: SpriteTrigger
    requires: frozenset[Need]
    supported_chains: frozenset[int] | None
    schema_version: int
    pi_tool: PiTool
    key: str
    aliases: tuple[str, ...]
    params_model: type[ToolParams]
    handler: Callable[..., Any]  # Any: a handler of any parameters
    source: str
    keeps_checkpoint: bool = field(default=False, kw_only=True)
    old_shapes: tuple[OldShape, ...] = field(default=(), kw_only=True)

    @cached_property
    def progress_steps(self) -> tuple[str, ...]:
        """What it says of its work, in order: the steps that it names, else those that its function is found to say."""
        return self.named_steps or list_said_steps(self.handler)

    @cached_property
    def schema(self) -> dict[str, Any]:  # Any: a handler of any parameters
        """JSON Schema of the parameters."""
        return json_schema(self.params_model)

    @cached_property
    def definition_body(self) -> dict[str, object]:
        """What a model is told of it and what it may do, JSON-ready; `parameters` is JSON Schema."""
        return {
            "name": self.name,
            "pi_tool": str(self.pi_tool),
            "key": self.key,
            "venue": self.venue,
            "category": self.category.value,
            "capability": self.capability.value,
            "risk_layer": int(self.risk_layer),
            "tick_budget": int(self.tick_budget),
            "schema_version": self.schema_version,
            "requires": sorted(self.requires),
            "chains": None if self.supported_chains is None else sorted(self.supported_chains),
            "summary": self.summary,
            "description": self.description,
            "snippet": self.snippet,
            "guidelines": list(self.guidelines),
            "parameters": self.schema,
        }

    @cached_property
    def definition_hash(self) -> str:
        """All of `definition_body` as one hash: it moves whenever any of that does."""
        # A schema may hold fractions, which the canonical form has no place for.
        return hash_canonical({**self.definition_body, "parameters": json.dumps(self.schema, sort_keys=True)})

    def supports_chain(self, chain_id: int) -> bool:
        return self.supported_chains is None or chain_id in self.supported_chains

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name}>"


@dataclass(frozen=True, eq=False, repr=False)
class ReadTool(ToolDef):
    """Changes nothing; runs without a permit."""


@dataclass(frozen=True, eq=False, repr=False)
class ForeignReadTool(ReadTool):
    """A read whose code an owner brought: its answer is foreign, it may wish for actions, and nobody runs it ahead.

    `pinned_hash` is the definition an owner approved; the registry does not know such a tool, a toolset does.
    """

    pinned_hash: str


@dataclass(frozen=True, eq=False, repr=False)
class WriteTool(ToolDef):
    """Returns a TxPlan. `action_class` None means the plan computes it. `report` reads the outcome into data; None
    tells the transactions and what moved.

    `is_rescue`: it only lowers a debt, so no phase refuses it as long as the simulation measures that it leaves.
    """

    action_class: ActionClass | None
    report: Callable[[PlanOutcome], Any] | None  # Any: a handler of any parameters
    is_rescue: bool = field(default=False, kw_only=True)

    def build_plan(self, ctx: object, params: dict[str, object]) -> TxPlan:
        """The plan for validated `params`. Raises GolemError."""
        plan: TxPlan = self.handler(ctx, **params)
        return plan


@dataclass(frozen=True, eq=False, repr=False)
class PrivilegedTool(WriteTool):
    """Returns a TxPlan that no permit can carry without an owner's approval."""


@dataclass(frozen=True, eq=False, repr=False)
class LocalWriteTool(ToolDef):
    """A write that is no transaction: `preview` says its effect, the handler does it once with a capability.

    `is_in_database`: the effect is rows of ours alone, and holds together with the end of its permit or not at all.
    `write_ms` is how long the write itself may take where that is longer than the tool's budget, which its preview
    keeps all the same; 0 is the budget.
    """

    action_class: ActionClass | None
    preview: Callable[..., LocalEffect]
    is_in_database: bool = False
    write_ms: int = 0


@dataclass(frozen=True, eq=False, repr=False)
class ForeignCommandTool(LocalWriteTool):
    """A program an owner wrote down with its arguments: previewed, permitted and done once, like every local write.

    `pinned_hash` is the definition an owner approved; the registry does not know such a tool, a toolset does.
    """

    pinned_hash: str = field(kw_only=True)


ForeignTool = ForeignReadTool | ForeignCommandTool
"""What an owner brought."""


def is_rescue(tool: ToolDef) -> bool:
    """Whether a tool only lowers a debt, which no phase refuses and no profile leaves out."""
    return isinstance(tool, WriteTool) and tool.is_rescue
