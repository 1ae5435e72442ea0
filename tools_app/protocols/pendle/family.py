"""The family of the `pendle_*` tools."""

from __future__ import annotations

from typing import Final

from tools_app.protocols.pendle.addresses import CHAINS, NAME
from tools_app.toolkit.enums import Category
from tools_app.toolkit.family import ToolFamily

pendle: Final = ToolFamily(
    prefix="pendle", category=Category.YIELD, chains=CHAINS, venue=NAME, picks_chain=True, reads_named=True
)
