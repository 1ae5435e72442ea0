"""The family of the `stream_*` tools: live data of Uniswap pools, positions and wallets, delivered as events."""

from __future__ import annotations

from tools_app.protocols.uniswap.addresses import CHAINS
from tools_app.toolkit.enums import Category
from tools_app.toolkit.family import ToolFamily

stream = ToolFamily(prefix="stream", category=Category.STREAMING, chains=CHAINS, venue="stream")
