"""Computes how much of a portfolio moves with each asset, as the cage's rule counts.

The chain's coin and its wrapped form are one asset.
"""

from __future__ import annotations

from permits_app.permits.kept_holdings import KeptShare
from tools_app.portfolio.holdings import Holdings, Worth
from tools_app.toolkit.views import NATIVE


def tell_shares(held: Holdings) -> list[KeptShare]:
    """The share of each asset with a price, the largest first."""
    parts = [*held.list_parts(), *(part for each in held.positions for part in each.exposure)]
    coin = next((part.token for part in parts if part.token.address == NATIVE), None)
    wrapped = f"W{coin.symbol}" if coin is not None else ""
    # A priced token is a registered one, so its symbol is the registry's.
    home = next((part.token.address for part in parts if part.token.symbol == wrapped and part.price), NATIVE)
    sums: dict[str, int] = {}
    names: dict[str, str] = {}
    for part in parts:
        _add(part, home if part.token.address == NATIVE else part.token.address, sums, names)
    told = [KeptShare(names[key], key, abs(sums[key])) for key in sums if sums[key]]
    return sorted(told, key=lambda each: -each.micro_usd)


def _add(part: Worth, key: str, sums: dict[str, int], names: dict[str, str]) -> None:
    if part.micro_usd is None:
        return
    sums[key] = sums.get(key, 0) + part.micro_usd
    names[key] = part.token.symbol
