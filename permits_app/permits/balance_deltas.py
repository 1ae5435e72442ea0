"""Defines rows of what an account gains or loses, the same in predictions and outcomes."""

from __future__ import annotations

from collections.abc import Mapping

from tools_app.core.units import format_units
from tools_app.toolkit.views import TokenMeta


def describe_deltas(deltas: Mapping[str, int], tokens: Mapping[str, TokenMeta]) -> list[dict[str, str]]:
    """Base units by token address, each with units beside; of a token nobody knows the base units stand there too."""
    rows = []
    for address, delta in deltas.items():
        token = tokens.get(address)
        units = str(delta) if token is None else format_units(delta, token.decimals, token.symbol)
        symbol = "" if token is None else token.symbol
        rows.append({"token": address, "symbol": symbol, "raw": str(delta), "units": units})
    return rows
