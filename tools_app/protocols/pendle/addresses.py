"""Where Pendle V2 is on the local chain, and its one market there, as data.

No public chain is served yet: anybody may make a market that Pendle's factories call valid, over a yield of anybody's,
so a market is used only where it is known here, and no package lists any. Market, claims and yield tokens lie where
their factories' CREATE2 puts them, the rest follows from the account that deploys it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from tools_app.chain.networks import ChainNotSupported

NAME: Final = "pendle"
LOCAL_CHAIN_ID: Final = 31_337
ROUTER: Final = "router"
ORACLE: Final = "oracle"
MARKET: Final = "market_dai"
SY: Final = "sy_dai"
PT: Final = "pt_dai"
YT: Final = "yt_dai"

_DEPLOYMENTS: Final[Mapping[int, Mapping[str, str]]] = MappingProxyType(
    {LOCAL_CHAIN_ID: MappingProxyType({ROUTER: "", ORACLE: "", MARKET: "", SY: "", PT: "", YT: ""})}
)
CHAINS: Final = frozenset(_DEPLOYMENTS)
