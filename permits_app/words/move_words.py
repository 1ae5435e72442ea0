"""Says in one line what an action moves, from the bounds of its plan."""

from __future__ import annotations

from collections.abc import Mapping

from permits_app.permits.kept_bounds import KeptFlow, read_bounds
from tools_app.core.units import format_units


def describe_move(action_type: str, bounds: Mapping[str, object]) -> str:
    """`Swap 500 USDC for WETH`, from the bounds of a plan; `Borrow 300 USDC` where nothing leaves the account."""
    words, kept = action_type.replace("_", " ").capitalize(), read_bounds(bounds)
    spends, receives = kept.spends[:2], kept.receives[:2]
    parts = [_say_flow(flow) for flow in spends or receives]
    gets = [flow.token.symbol for flow in receives]
    text = f"{words} {' and '.join(parts)}".strip()
    return f"{text} for {' and '.join(gets)}" if spends and gets else text


def _say_flow(flow: KeptFlow) -> str:
    return format_units(flow.expected, flow.token.decimals, flow.token.symbol)
