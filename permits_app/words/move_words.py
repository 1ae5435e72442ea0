"""Says in one line what an action moves, from the bounds of its plan."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tools_app.core.units import format_units


def describe_move(action_type: str, bounds: Mapping[str, Any]) -> str:
    """`Swap 500 USDC for WETH`, from the bounds of a plan."""
    words = action_type.replace("_", " ").capitalize()
    spent = bounds.get("spends", [])
    parts = [format_units(int(f["expected"]), int(f["token"]["decimals"]), f["token"]["symbol"]) for f in spent[:2]]
    gets = [str(flow["token"]["symbol"]) for flow in bounds.get("receives", [])[:2]]
    text = f"{words} {' and '.join(parts)}".strip()
    return f"{text} for {' and '.join(gets)}" if parts and gets else text
