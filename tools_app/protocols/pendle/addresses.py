"""Where Pendle V2 is, chain by chain, and the markets that are known there, as data.

The public contracts are those of the package of Pendle's own makers, version 6.11.0 (`deployments/<chain>-core.json`),
which a test compares. Its markets are on no list: anybody makes one that Pendle's factories call valid, over a yield of
anybody's, and each ends with its maturity. So a market is known where the operator of this server named it
(`naming.py`); locally there is one. There market, claims and yield tokens lie where their factories' CREATE2 puts them,
the rest follows from the account that deploys it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType
from typing import Final

from tools_app.chain.abi import checksum
from tools_app.chain.deployments import load_deployment
from tools_app.chain.networks import KNOWN_NETWORKS, ChainNotSupported
from tools_app.toolkit.operator_named_places import list_named

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
VERSIONS: Final = ("", "_v3", "_v4", "_v5", "_v6")
"""What follows the names of both kinds of factories, by their version."""

_EVERYWHERE: Final[Mapping[str, str]] = MappingProxyType(
    {
        ROUTER: "0x888888888889758F76e7103c6CbF23ABbF58F946",
        LIMIT_ROUTER: "0x000000000000c9B3E2C3Ec88B1B4c0cD853f4321",
        ORACLE: "0x5542be50420E88dd7D5B4a3D488FA6ED82F6DAc2",
    }
)
_DEPLOYMENTS: Final[Mapping[int, Mapping[str, str]]] = MappingProxyType(
    {
        1: MappingProxyType(
            {
                **_EVERYWHERE,
                REWARD: "0x808507121B80c02388fAd14726482e061B8da827",
                "yield_factory": "0x70ee0A6DB4F5a2Dc4d9c0b57bE97B9987e75BAFD",
                "market_factory": "0x27b1dAcd74688aF24a64BD3C9C1B143118740784",
                "yield_factory_v3": "0xdF3601014686674e53d1Fa52F7602525483F9122",
                "market_factory_v3": "0x1A6fCc85557BC4fB7B534ed835a03EF056552D52",
                "yield_factory_v4": "0x273b4bFA3Bb30fe8F32c467b5f0046834557F072",
                "market_factory_v4": "0x3d75Bd20C983edb5fD218A1b7e0024F1056c7A2F",
                "yield_factory_v5": "0x35A338522a435D46f77Be32C70E215B813D0e3aC",
                "market_factory_v5": "0x6fcf753f2C67b83f7B09746Bbc4FA0047b35D050",
                "yield_factory_v6": "0x3E6EBa46AbC5ab18ED95F6667d8B2fd4020E4637",
                "market_factory_v6": "0x6d247b1c044fA1E22e6B04fA9F71Baf99EB29A9f",
            }
        ),
        56: MappingProxyType(
            {
                **_EVERYWHERE,
                REWARD: "0xb3Ed0A426155B79B898849803E3B36552f7ED507",
                "yield_factory": "0xa2530b4cfBF271e2B409A05C2CE520e4cB5fCc88",
                "market_factory": "0x2bEa6BfD8fbFF45aA2a893EB3B6d85D10EFcC70E",
                "yield_factory_v3": "0x40Ae6da2d92aa3DCb7f8d7a7209FD12BDfcb7C85",
                "market_factory_v3": "0xC40fEbF5A33b8C92B187d9be0fD3fe0ac2E4B07c",
                "yield_factory_v4": "0xdb6380041441A94050199b4A46771D8d93553509",
                "market_factory_v4": "0x7D20e644D2A9e149e5be9bE9aD2aB243a7835d37",
                "yield_factory_v5": "0xE006760020384A20774Dea977C313EF5F51FE17D",
                "market_factory_v5": "0x7C7f73f7a320364DBB3C9aAa9bCcd402040EE0f9",
                "yield_factory_v6": "0xd8c12d46dde7a04F782d417FAE78516448CB2c5b",
                "market_factory_v6": "0x80cE46449DF1c977f6ba60495125ce282F83DdFB",
            }
        ),
        8453: MappingProxyType(
            {
                **_EVERYWHERE,
                REWARD: "0xA99F6e6785Da0F5d6fB42495Fe424BCE029Eeb3E",
                "yield_factory_v5": "0x963ddBB35c1AE44e2a159E3b5fb5177E0B32660d",
                "market_factory_v5": "0x59968008a703dC13E6beaECed644bdCe4ee45d13",
                "yield_factory_v6": "0xdDBfA21ecf024971486684E4E1600998ADeabc88",
                "market_factory_v6": "0x81E80A50E56d10C501fF17B5Fe2F662bd9EA4590",
            }
        ),
        42161: MappingProxyType(
            {
                **_EVERYWHERE,
                REWARD: "0x0c880f6761F1af8d9Aa9C466984b80DAb9a8c9e8",
                "yield_factory": "0x28dE02Ac3c3F5ef427e55c321F73fDc7F192e8E4",
                "market_factory": "0xf5a7De2D276dbda3EEf1b62A9E718EFf4d29dDC8",
                "yield_factory_v3": "0xEb38531db128EcA928aea1B1CE9E5609B15ba146",
                "market_factory_v3": "0x2FCb47B58350cD377f94d3821e7373Df60bD9Ced",
                "yield_factory_v4": "0xc7F8F9F1DdE1104664b6fC8F33E49b169C12F41E",
                "market_factory_v4": "0xd9f5e9589016da862D2aBcE980A5A5B99A94f3E8",
                "yield_factory_v5": "0xFF29e023910FB9bfc86729c1050AF193A45a0C0c",
                "market_factory_v5": "0xd29e76c6F15ada0150D10A1D3f45aCCD2098283B",
                "yield_factory_v6": "0xBA814Bf6E27A6d6baE4a8aC65c8Bc3d8e9B0aaCF",
                "market_factory_v6": "0x49F2f7002669E0e4425Fa0203975625Ab4af3143",
            }
        ),
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
        ),
    }
)
CHAINS: Final = frozenset(_DEPLOYMENTS)
_ASSET: Final = "DAI"
_CALLED: Final = re.compile(r"[0-9A-Za-z.+()_-]{1,48}")
_PARTS: Final = 8
_MOST_DECIMALS: Final = 36


@dataclass(frozen=True, slots=True)
class Symbols:
    """What Pendle calls a market's tokens."""

    pt: str
    yt: str
    lp: str
    sy: str

    @classmethod
    def of(cls, called: str) -> Symbols:
        """Of a market that is called after its yield and its day, such as DAI-1JAN2031."""
        return cls(f"PT-{called}", f"YT-{called}", f"PLP-{called}", f"SY-{called.rpartition('-')[0] or called}")


@dataclass(frozen=True, slots=True)
class Place:
    """A market, which is the LP token too. A claim is due in `asset`, whose `decimals` claims and yield tokens have.

    Shares of one yield in a wallet may belong to several markets: `counts_shares` is at one of them alone.
    """

    market: str
    sy: str
    pt: str
    yt: str
    asset: str
    decimals: int
    router: str
    limit_router: str
    oracle: str
    market_factory: str
    yield_factory: str
    reward: str
    symbols: Symbols
    counts_shares: bool = True

    @property
    def tokens(self) -> frozenset[str]:
        """Those that stand for what is held here."""
        return frozenset({self.market, self.sy, self.pt, self.yt})


def deployments(chain_id: int) -> Mapping[str, str] | None:
    """The contracts by key, checksummed; None where there are none."""
    return _deployments(chain_id, list_named(NAME, chain_id))


@lru_cache(maxsize=64)
def _deployments(chain_id: int, named: tuple[str, ...]) -> Mapping[str, str] | None:
    at = _DEPLOYMENTS.get(chain_id)
    if at is None or not named:
        return at
    found = dict(at)
    for place in _find_places(chain_id, named):
        for name, address in zip(keys_of(place.market), (place.market, place.sy, place.pt, place.yt), strict=True):
            # A yield of several markets is called by the first of them.
            if address not in found.values():
                found[name] = address
    return MappingProxyType(found)


def keys_of(market: str) -> tuple[str, str, str, str]:
    """What a market that was named, its yield, its claims and its yield tokens are called in `deployments`."""
    return f"market {market}", f"sy {market}", f"pt {market}", f"yt {market}"


def factories_on(chain_id: int) -> tuple[tuple[str, str, str], ...]:
    """Version, factory of markets and factory of yields, newest first."""
    at = _DEPLOYMENTS.get(chain_id, {})
    return tuple(
        (version, at[MARKET_FACTORY + version], at[YIELD_FACTORY + version])
        for version in reversed(VERSIONS)
        if MARKET_FACTORY + version in at
    )


def find_places(chain_id: int) -> tuple[Place, ...]:
    """The known markets of a chain."""
    return _find_places(chain_id, list_named(NAME, chain_id))


@lru_cache(maxsize=64)
def _find_places(chain_id: int, named: tuple[str, ...]) -> tuple[Place, ...]:
    found: list[Place] = [_local_place()] if chain_id == LOCAL_CHAIN_ID else []
    for text in named:
        place = read_place(chain_id, text, beside=found)
        found.append(place)
    return tuple(found)


def is_called(name: str) -> bool:
    """Whether a market may be called so here."""
    return _CALLED.fullmatch(name) is not None


def write_place(place: Place, version: str) -> str:
    """The text by which the operator names a market."""
    parts = (place.market, place.sy, place.pt, place.yt, place.asset, str(place.decimals), version or "_v1")
    return "/".join((*parts, place.symbols.pt.removeprefix("PT-")))


def read_place(chain_id: int, text: str, *, beside: list[Place]) -> Place:
    """A market that the operator named. Raises ValueError for a text that is none, and one that is `beside` already."""
    parts = text.split("/")
    at = _DEPLOYMENTS.get(chain_id)
    if at is None or len(parts) != _PARTS or not is_called(parts[-1]) or not parts[5].isdecimal():
        raise ValueError(f"{text!r} names no market of Pendle on chain {chain_id}; manage.py name_place writes it")
    *addresses, decimals, version, called = parts
    version = version.removeprefix("_v1")
    try:
        market, sy, pt, yt, asset = (checksum(each) for each in addresses)
        factories = at[MARKET_FACTORY + version], at[YIELD_FACTORY + version]
    except (ValueError, KeyError) as error:
        raise ValueError(f"{text!r} names no market of Pendle on chain {chain_id}: {error}") from error
    if any(each.pt == pt or each.market == market for each in beside) or int(decimals) > _MOST_DECIMALS:
        raise ValueError(f"{text!r} names claims that are known already: they would be counted twice")
    return Place(
        market=market,
        sy=sy,
        pt=pt,
        yt=yt,
        asset=asset,
        decimals=int(decimals),
        router=at[ROUTER],
        limit_router=at[LIMIT_ROUTER],
        oracle=at[ORACLE],
        market_factory=factories[0],
        yield_factory=factories[1],
        reward=at[REWARD],
        symbols=Symbols.of(called),
        counts_shares=all(each.sy != sy for each in beside),
    )


def _local_place() -> Place:
    at = _DEPLOYMENTS[LOCAL_CHAIN_ID]
    tokens = load_deployment(KNOWN_NETWORKS[LOCAL_CHAIN_ID]).tokens
    asset = next(token for token in tokens if token.symbol == _ASSET)
    return Place(
        market=at[MARKET],
        sy=at[SY],
        pt=at[PT],
        yt=at[YT],
        asset=asset.address,
        decimals=asset.decimals,
        router=at[ROUTER],
        limit_router=at[LIMIT_ROUTER],
        oracle=at[ORACLE],
        market_factory=at[MARKET_FACTORY],
        yield_factory=at[YIELD_FACTORY],
        reward=at[REWARD],
        symbols=Symbols.of("DAI-1JAN2031"),
    )


def find_place(chain_id: int, address: str) -> Place | None:
    """The known market of an address: its own or that of one of its tokens."""
    return next((each for each in find_places(chain_id) if address in each.tokens), None)


def places_on(chain_id: int) -> tuple[Place, ...]:
    """The known markets. Raises ChainNotSupported."""
    if chain_id not in CHAINS:
        raise ChainNotSupported(f"Pendle is not known on chain {chain_id}", chain_id=chain_id, chains=sorted(CHAINS))
    return find_places(chain_id)
