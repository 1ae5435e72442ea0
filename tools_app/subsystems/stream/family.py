"""The family of the `stream_*` tools: live data of pools, positions and wallets, delivered as events."""

from __future__ import annotations

from tools_app.portfolio.markets import market_chains
from tools_app.protocols import load_protocols
from tools_app.toolkit.enums import Category
from tools_app.toolkit.family import ToolFamily

load_protocols()
stream = ToolFamily(prefix="stream", category=Category.STREAMING, chains=market_chains(), venue="stream")
