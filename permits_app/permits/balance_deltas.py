"""Defines rows of what an account gains or loses, the same in predictions and outcomes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tools_app.core.stored_json import IntText, read_stored
from tools_app.core.units import format_units
from tools_app.toolkit.views import TokenMeta
from tools_app.wording.address_names import name_address


def describe_deltas(
    deltas: Mapping[str, int], tokens: Mapping[str, TokenMeta], *, chain_id: int
) -> list[dict[str, str]]:
    """Base units by token address, each with units beside; of what is no known token, such as a position's NFT, how
    many of which contract.
    """
    rows = []
    for address, delta in deltas.items():
        token = tokens.get(address)
        if token is None:
            units = f"{delta} of {name_address(chain_id, address) or address}"
        else:
            units = format_units(delta, token.decimals, token.symbol)
        symbol = "" if token is None else token.symbol
        rows.append({"token": address, "symbol": symbol, "raw": str(delta), "units": units})
    return rows


@dataclass(frozen=True, slots=True)
class ToldDelta:
    """One of those rows: base units of a token address, and the same in units."""

    token: str
    raw: IntText
    symbol: str = ""
    units: str = ""


def read_deltas(told: Mapping[str, object]) -> tuple[ToldDelta, ...]:
    """The rows of a prediction or an outcome. Raises ValueError for what is none."""
    return read_stored(_WithDeltas, told).balance_deltas


@dataclass(frozen=True, slots=True)
class _WithDeltas:
    balance_deltas: tuple[ToldDelta, ...] = ()
