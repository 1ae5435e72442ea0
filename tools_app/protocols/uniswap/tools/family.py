"""The family of the `uniswap_*` tools, and the few words all of them answer with."""

from __future__ import annotations

from tools_app.protocols.uniswap.addresses import CHAINS
from tools_app.toolkit.context import ChainReader, ReadContext
from tools_app.toolkit.enums import Category
from tools_app.toolkit.family import ToolFamily

uniswap = ToolFamily(prefix="uniswap", category=Category.TRADING, chains=CHAINS, picks_chain=True)


def deadline_after(ctx: ReadContext, reader: ChainReader, seconds: int) -> int:
    """Unix seconds `seconds` from now, by our clock or the chain's, whichever is ahead."""
    return max(int(ctx.now.timestamp()), reader.block.timestamp) + seconds
