"""ToolFamily: the tools of one prefix, declared by decorating functions whose name is the tool's name.

    market = ToolFamily(prefix="market", category=Category.TRADING, chains=addresses.CHAINS)

    @market.read(query="quote", budget=TickBudget.MEDIUM)
    def market_get_quote(ctx: ReadContext, token_in: Token, ...) -> Quote: ...

The docstring's first line is the summary; the whole of it is what a model reads.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from datetime import date
from functools import wraps
from typing import Any, TypeVar

from tools_app.toolkit.answer import with_place
from tools_app.toolkit.context import ReadContext
from tools_app.toolkit.deprecated_params import OldShape
from tools_app.toolkit.enums import (
    ActionClass,
    CapabilityTier,
    Category,
    Need,
    PiTool,
    Requirement,
    RiskLayer,
    SpriteTrigger,
    TickBudget,
)
from tools_app.toolkit.plan import LocalEffect, PlanOutcome
from tools_app.toolkit.report import Report
from tools_app.toolkit.schema import build_params_model, with_chain
from tools_app.toolkit.tooldef import LocalWriteTool, PrivilegedTool, ReadTool, ToolDef, WriteTool

F = TypeVar("F", bound=Callable[..., Any])  # Any: a handler of any parameters


@dataclass
class ToolFamily:
    """Declares the tools of one prefix. `chains` None means every configured chain; `venue` defaults to the prefix.

    An agent's word for a tool (`query`, `action_type`) is its name without the prefix and without `get`, and its budget
    is MEDIUM, where it says no other; with `reads_named` the word of a read keeps the prefix. Its steps are those that
    its function says, and those that it has others say; `steps` names them where they cannot be found so.

    With `picks_chain` every tool takes an optional `chain_id` that its function need not name: `ctx.chain()` is that
    chain, or the golem's home. A function that names the parameter itself gets it as it declares it.
    """

    prefix: str
    category: Category
    chains: frozenset[int] | None = None
    venue: str = ""
    picks_chain: bool = False
    reads_named: bool = False
    requires: frozenset[Need] = frozenset()
    tools: list[ToolDef] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.venue = self.venue or self.prefix
        FAMILIES.append(self)

    def read(
        self,
        *,
        query: str = "",
        budget: TickBudget = TickBudget.MEDIUM,
        steps: Iterable[str] = (),
        snippet: str = "",
        guidelines: Iterable[str] = (),
        pi: PiTool = PiTool.QUERY_STATE,
        category: Category | None = None,
        requires: Iterable[Need] = (),
        aliases: Iterable[str] = (),
        chains: frozenset[int] | None = None,
        schema_version: int = 1,
        keeps_checkpoint: bool = False,
    ) -> Callable[[F], F]:
        """Declare a tool that reads. `query` is the word an agent asks with.

        With `keeps_checkpoint` a call that overruns its budget leaves what it said to `ctx.checkpoint`.
        """

        def declare(handler: F) -> F:
            shared = self._shared(
                handler,
                category=category,
                budget=budget,
                steps=steps,
                snippet=snippet,
                guidelines=guidelines,
                requires=requires,
                aliases=aliases,
                chains=chains,
                schema_version=schema_version,
                tells_place=True,
            )
            self.tools.append(
                ReadTool(
                    **shared,
                    capability=CapabilityTier.READ,
                    risk_layer=RiskLayer.LOW,
                    sprite_trigger=SpriteTrigger.THINKING,
                    pi_tool=pi,
                    key=query or self._word_of(handler, keeps_prefix=self.reads_named),
                    keeps_checkpoint=keeps_checkpoint,
                )
            )
            return handler

        return declare

    def write(
        self,
        *,
        action_type: str = "",
        risk: RiskLayer,
        budget: TickBudget = TickBudget.MEDIUM,
        action_class: ActionClass | None = None,
        report: type[Report] | Callable[[PlanOutcome], Any] | None = None,  # Any: a handler of any parameters
        steps: Iterable[str] = (),
        snippet: str = "",
        guidelines: Iterable[str] = (),
        category: Category | None = None,
        requires: Iterable[Need] = (),
        aliases: Iterable[str] = (),
        chains: frozenset[int] | None = None,
        schema_version: int = 1,
        privileged: bool = False,
        is_rescue: bool = False,
    ) -> Callable[[F], F]:
        """Declare a tool that returns a TxPlan. Without an `action_class` its plan computes it. Without a `report` of
        its own it tells its transactions and what moved.

        `is_rescue`: it only lowers a debt, and is allowed in every phase.
        """

        def declare(handler: F) -> F:
            shared = self._shared(
                handler,
                category=category,
                budget=budget,
                steps=steps,
                snippet=snippet,
                guidelines=guidelines,
                requires={*requires, Requirement.WALLET},
                aliases=aliases,
                chains=chains,
                schema_version=schema_version,
            )
            kind = PrivilegedTool if privileged else WriteTool
            self.tools.append(
                kind(
                    **shared,
                    capability=CapabilityTier.PRIVILEGED if privileged else CapabilityTier.WRITE,
                    risk_layer=risk,
                    sprite_trigger=SpriteTrigger.EXECUTING,
                    pi_tool=PiTool.PREVIEW_ACTION,
                    key=action_type or self._word_of(handler),
                    action_class=action_class,
                    report=_read_by(report),
                    is_rescue=is_rescue,
                )
            )
            return handler

        return declare

    def local_write(
        self,
        *,
        action_type: str = "",
        budget: TickBudget = TickBudget.MEDIUM,
        preview: Callable[..., LocalEffect],
        action_class: ActionClass | None = None,
        risk: RiskLayer = RiskLayer.LOW,
        steps: Iterable[str] = (),
        snippet: str = "",
        guidelines: Iterable[str] = (),
        category: Category | None = None,
        requires: Iterable[Need] = (),
        aliases: Iterable[str] = (),
        chains: frozenset[int] | None = None,
        schema_version: int = 1,
        privileged: bool = False,
        in_database: bool = False,
        write_ms: int = 0,
    ) -> Callable[[F], F]:
        """Declare a write that is no transaction; its handler takes `capability` and consumes it.

        `in_database`: it writes rows of ours alone; with the end of its permit it is one transaction.
        `write_ms`: the write runs in its worker for as long as this, beyond the budget, and its lease is held so long.
        A privileged one asks the golem's owners: what its preview names is done once they approved.
        """

        def declare(handler: F) -> F:
            shared = self._shared(
                handler,
                category=category,
                budget=budget,
                steps=steps,
                snippet=snippet,
                guidelines=guidelines,
                requires=requires,
                aliases=aliases,
                chains=chains,
                schema_version=schema_version,
            )
            self.tools.append(
                LocalWriteTool(
                    **shared,
                    capability=CapabilityTier.PRIVILEGED if privileged else CapabilityTier.WRITE,
                    risk_layer=risk,
                    sprite_trigger=SpriteTrigger.EXECUTING,
                    pi_tool=PiTool.PREVIEW_ACTION,
                    key=action_type or self._word_of(handler),
                    action_class=action_class,
                    preview=on_chosen_chain(preview) if shared["handler"] is not handler else preview,
                    is_in_database=in_database,
                    write_ms=write_ms,
                )
            )
            return handler

        return declare

    def used_to_take(self, *, of: str, schema_version: int, replaced_on: date) -> Callable[[F], F]:
        """Declare what the tool `of` took before a breaking change: a function with those parameters that returns the
        present ones. It is served for ninety days from `replaced_on`.

        Raises TypeError at import for a tool that is not declared above, or a version that is not an earlier one.
        """

        def declare(renew: F) -> F:
            tool = next((tool for tool in self.tools if tool.name == of), None)
            if tool is None or schema_version >= tool.schema_version:
                raise TypeError(f"{of} is no tool of this family with a version above {schema_version}")
            shape = OldShape(schema_version, replaced_on, build_params_model(renew), renew)
            self.tools[self.tools.index(tool)] = replace(tool, old_shapes=(*tool.old_shapes, shape))
            return renew

        return declare

    def _word_of(self, handler: Callable[..., object], *, keeps_prefix: bool = False) -> str:
        word = handler.__name__.removeprefix(f"{self.prefix}_").removeprefix("get_")
        return f"{self.prefix}_{word}" if keeps_prefix else word

    def _shared(
        self,
        handler: Callable[..., object],
        *,
        category: Category | None,
        budget: TickBudget,
        steps: Iterable[str],
        snippet: str,
        guidelines: Iterable[str],
        requires: Iterable[Need],
        aliases: Iterable[str],
        chains: frozenset[int] | None,
        schema_version: int,
        tells_place: bool = False,
    ) -> dict[str, Any]:  # Any: a handler of any parameters
        name = handler.__name__
        if not name.startswith(f"{self.prefix}_"):
            raise TypeError(f"{name} does not start with the prefix {self.prefix!r} of its family")
        description = inspect.getdoc(handler) or ""
        if not description:
            raise TypeError(f"{name} has no docstring; it is what the model reads")
        summary = description.splitlines()[0]
        code, params_model = handler.__code__, build_params_model(handler)
        if tells_place:
            handler = with_place(handler)
        if self.picks_chain and "chain_id" not in params_model.model_fields:
            params_model, handler = with_chain(params_model), on_chosen_chain(handler)
        return {
            "name": name,
            "prefix": self.prefix,
            "venue": self.venue,
            "category": category or self.category,
            "tick_budget": budget,
            "summary": summary,
            "description": description,
            "snippet": snippet or summary,
            "guidelines": tuple(guidelines),
            "named_steps": tuple(steps),
            "requires": frozenset(requires) | self.requires,
            "supported_chains": chains if chains is not None else self.chains,
            "schema_version": schema_version,
            "aliases": tuple(aliases),
            "params_model": params_model,
            "handler": handler,
            "source": f"{code.co_filename}:{code.co_firstlineno}",
        }


def _read_by(
    report: type[Report] | Callable[[PlanOutcome], object] | None,
) -> Callable[[PlanOutcome], Any] | None:  # Any: a handler of any parameters
    return report.read if isinstance(report, type) and issubclass(report, Report) else report


def on_chosen_chain(handler: Callable[..., object]) -> Callable[..., Any]:  # Any: a handler of any parameters
    """The same function for a context whose chain is the one that was asked for."""

    @wraps(handler)
    def call(
        ctx: ReadContext,
        *,
        chain_id: int | None = None,
        **params: Any,  # Any: a handler of any parameters
    ) -> Any:  # Any: a handler of any parameters
        return handler(ctx if chain_id is None else replace(ctx, chosen_chain_id=chain_id), **params)

    return call


FAMILIES: list[ToolFamily] = []
"""Every family declared so far, in import order; the registry reads it once at start-up and freezes."""
