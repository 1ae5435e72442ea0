"""The family of the `uniswap_*` tools."""

from __future__ import annotations

from tools_app.protocols.uniswap.addresses import CHAINS
from tools_app.toolkit.enums import Category
from tools_app.toolkit.family import ToolFamily

uniswap = ToolFamily(prefix="uniswap", category=Category.TRADING, chains=CHAINS)

EXPLORERS = {
    1: "https://etherscan.io/tx/",
    8453: "https://basescan.org/tx/",
    130: "https://uniscan.xyz/tx/",
    42161: "https://arbiscan.io/tx/",
    10: "https://optimistic.etherscan.io/tx/",
    137: "https://polygonscan.com/tx/",
    56: "https://bscscan.com/tx/",
    43114: "https://snowtrace.io/tx/",
}


def explorer_url(chain_id: int, tx_hash: str) -> str | None:
    """The page of a transaction on the chain's public explorer; None on the local chain, which has none."""
    base = EXPLORERS.get(chain_id)
    return f"{base}{tx_hash}" if base else None
