"""The family of the `data_*` tools. They read Uniswap V2 and V3 pools, so their venue is `uniswap`."""

from __future__ import annotations

from tools_app.protocols.uniswap.addresses import CHAINS
from tools_app.toolkit.enums import Category
from tools_app.toolkit.family import ToolFamily

data = ToolFamily(prefix="data", category=Category.DATA, chains=CHAINS, venue="uniswap")
