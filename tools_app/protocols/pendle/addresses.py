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

from tools_app.chain.deployments import load_deployment
from tools_app.chain.networks import KNOWN_NETWORKS, ChainNotSupported

NAME: Final = "pendle"
LOCAL_CHAIN_ID: Final = 31_337
ROUTER: Final = "router"
LIMIT_ROUTER: Final = "limit_router"
ORACLE: Final = "oracle"
MARKET: Final = "market_dai"
SY: Final = "sy_dai"
PT: Final = "pt_dai"
YT: Final = "yt_dai"
YIELD_FACTORY: Final = "yield_factory"
MARKET_FACTORY: Final = "market_factory"
GAUGES: Final = "gauges"
REWARD: Final = "pendle"

_DEPLOYMENTS: Final[Mapping[int, Mapping[str, str]]] = MappingProxyType(
    {
        LOCAL_CHAIN_ID: MappingProxyType(
            {
                ROUTER: "0x93402C5643c126e6A051bF4725bb1D2C09303d21",
                LIMIT_ROUTER: "0x4cbf625d15dE4d36F7133c62866d5BB641BCe879",
                ORACLE: "0xb383D8651C30CA1DCEF5c887587D1C5eAd0694b8",
                MARKET: "0x0E14e3e07B07BCE3BDcDd43f90CfDBA7F86aD03b",
                SY: "0x4539171427b6d00EC97B96A43d5c0a2102B93f36",
                PT: "0xef2900c06Ad3C4b03F72835b21Ff9881c1c7D0bb",
                YT: "0x5186F19870ab30A5d1B575457259dBAb44ACBCf4",
                YIELD_FACTORY: "0x16bD99c57731d649D51e6c1ab4474A750d51c68A",
                MARKET_FACTORY: "0x404Ee54257A4C5134ECadeef03c49b445d41106e",
                GAUGES: "0xfcb3FEB2E3Fd2821aCa91A932b48Aaf35F480643",
                REWARD: "0x4f60c1432f629a92e0C19a8Da25c9D219E0cEdCD",
            }
        )
    }
)
CHAINS: Final = frozenset(_DEPLOYMENTS)
_ASSET: Final = "DAI"


@dataclass(frozen=True, slots=True)
class Symbols:
    """What Pendle calls a market's tokens."""

    pt: str
    yt: str
    lp: str
    sy: str


@dataclass(frozen=True, slots=True)
class Place:
    """A market, which is the LP token too. A claim is due in `asset`, whose `decimals` claims and yield tokens have."""

    market: str
    sy: str
    pt: str
    yt: str
    asset: str
    decimals: int
    router: str
    limit_router: str
    oracle: str
    yield_factory: str
    reward: str
    symbols: Symbols

    @property
    def tokens(self) -> frozenset[str]:
        """Those that stand for what is held here."""
        return frozenset({self.market, self.sy, self.pt, self.yt})


def deployments(chain_id: int) -> Mapping[str, str] | None:
    """The contracts by key, checksummed; None where there are none."""
    return _DEPLOYMENTS.get(chain_id)


def find_places(chain_id: int) -> tuple[Place, ...]:
    """The known markets of a chain."""
    at = deployments(chain_id)
    if at is None:
        return ()
    asset = next(token for token in load_deployment(KNOWN_NETWORKS[chain_id]).tokens if token.symbol == _ASSET)
    return (
        Place(
            market=at[MARKET],
            sy=at[SY],
            pt=at[PT],
            yt=at[YT],
            asset=asset.address,
            decimals=asset.decimals,
            router=at[ROUTER],
            limit_router=at[LIMIT_ROUTER],
            oracle=at[ORACLE],
            yield_factory=at[YIELD_FACTORY],
            reward=at[REWARD],
            symbols=Symbols("PT-DAI-1JAN2031", "YT-DAI-1JAN2031", "PLP-DAI-1JAN2031", "SY-DAI"),
        ),
    )


def find_place(chain_id: int, address: str) -> Place | None:
    """The known market of an address: its own or that of one of its tokens."""
    return next((each for each in find_places(chain_id) if address in each.tokens), None)


def places_on(chain_id: int) -> tuple[Place, ...]:
    """The known markets. Raises ChainNotSupported."""
    if chain_id not in CHAINS:
        raise ChainNotSupported(
            f"no market of Pendle is known on chain {chain_id}", chain_id=chain_id, chains=sorted(CHAINS)
        )
    return find_places(chain_id)
