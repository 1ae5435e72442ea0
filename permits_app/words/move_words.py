"""Says in one line what an action moves, from the bounds of its plan."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tools_app.core.units import format_units


def describe_move(action_type: str, bounds: Mapping[str, Any]) -> str:
    """`Swap 500 USDC for WETH`, from the bounds of a plan; `Borrow 300 USDC` where nothing leaves the account."""
    words = action_type.replace("_", " ").capitalize()
    spends, receives = bounds.get("spends", [])[:2], bounds.get("receives", [])[:2]
    parts = [_say_flow(flow) for flow in spends or receives]
    gets = [str(flow["token"]["symbol"]) for flow in receives]
    text = f"{words} {' and '.join(parts)}".strip()
    return f"{text} for {' and '.join(gets)}" if spends and gets else text


def _say_flow(flow: Mapping[str, Any]) -> str:
    return format_units(int(flow["expected"]), int(flow["token"]["decimals"]), flow["token"]["symbol"])
