"""Synthetic tools: as many as wanted, of every category and kind, that never run."""

from __future__ import annotations

from typing import Any

from tools_app.toolkit.enums import (
    ActionClass,
    CapabilityTier,
    Category,
    PiTool,
    Requirement,
    RiskLayer,
    SpriteTrigger,
    TickBudget,
)
from tools_app.toolkit.schema import ToolParams
from tools_app.toolkit.tooldef import LocalWriteTool, PrivilegedTool, ReadTool, ToolDef, WriteTool

KINDS = {"read": ReadTool, "write": WriteTool, "local": LocalWriteTool, "privileged": PrivilegedTool}


def make_tool(
    name: str,
    category: Category = Category.TRADING,
    kind: str = "read",
    *,
    venue: str = "uniswap",
    risk: RiskLayer = RiskLayer.LOW,
    requires: frozenset[Requirement] = frozenset(),
) -> ToolDef:
    """One tool that only the resolution ever looks at."""
    extra: dict[str, Any] = {}
    if kind in ("write", "privileged"):
        extra = {"action_class": ActionClass.NEW_POSITION, "report": lambda outcome: None}
    elif kind == "local":
        extra = {"action_class": None, "preview": lambda ctx: None}
    tiers = {"read": CapabilityTier.READ, "privileged": CapabilityTier.PRIVILEGED}
    return KINDS[kind](
        name=name,
        prefix=name.split("_")[0],
        venue=venue,
        category=category,
        capability=tiers.get(kind, CapabilityTier.WRITE),
        risk_layer=risk,
        tick_budget=TickBudget.FAST,
        summary="",
        description="",
        snippet="",
        guidelines=(),
        named_steps=(),
        sprite_trigger=SpriteTrigger.THINKING,
        requires=requires,
        supported_chains=None,
        schema_version=1,
        pi_tool=PiTool.QUERY_STATE if kind == "read" else PiTool.PREVIEW_ACTION,
        key=name,
        aliases=(),
        params_model=ToolParams,
        handler=lambda ctx: None,
        source=f"{name}.py:1",
        **extra,
    )


def make_catalogue(kinds: tuple[str, ...] = ("read", "write", "local", "privileged")) -> tuple[ToolDef, ...]:
    """One tool of every kind in every category: `trading_write`, `memory_local`, …"""
    return tuple(make_tool(f"{category.value}_{kind}", category, kind) for category in Category for kind in kinds)
