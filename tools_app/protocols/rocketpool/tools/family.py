"""The family of the `rocketpool_*` tools, and the words all of them answer with."""

from __future__ import annotations

from tools_app.core.units import format_units
from tools_app.protocols.rocketpool.addresses import CHAINS
from tools_app.toolkit.enums import Category
from tools_app.toolkit.family import ToolFamily

rocketpool = ToolFamily(prefix="rocketpool", category=Category.STAKING, chains=CHAINS, picks_chain=True)


def rate_text(rate: int | None) -> str | None:
    """Wei of a whole rETH as decimal text of ETH."""
    return None if rate is None else format_units(rate, 18)


def share_text(share: int) -> str:
    """A share of 1e18 in percent: 0.14e18 is `14`."""
    return format_units(share, 16)
