"""The family of the `data_*` tools. They read the markets of the shelf; their venue is the name they always had."""

from __future__ import annotations

from tools_app.portfolio.markets import market_chains
from tools_app.protocols import load_protocols
from tools_app.toolkit.enums import Category
from tools_app.toolkit.family import ToolFamily

load_protocols()
data = ToolFamily(prefix="data", category=Category.DATA, chains=market_chains(), venue="uniswap", picks_chain=True)
