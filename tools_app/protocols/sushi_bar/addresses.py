"""Lists where the bar is, as data: on Ethereum, and locally the same code over DAI, since no SUSHI with a price is
there.

The public addresses are those of the npm package `@sushiswap/core-sdk` 0.1.2, its makers' own, which a test compares;
their list of tokens (npm `@sushiswap/default-token-list`) names the same two. The page of addresses in SushiSwap's
documentation (sushiswap/sushi-docs, commit 090f95ef69b6) names another bar, whose shares that list does not know; it is
not used. The local one follows from the account that deploys it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from tools_app.chain.deployments import load_deployment
from tools_app.chain.networks import KNOWN_NETWORKS, ChainNotSupported

NAME: Final = "sushi_bar"
LOCAL_CHAIN_ID: Final = 31_337
ENTRY: Final = "bar"

_DEPLOYMENTS: Final[Mapping[int, Mapping[str, str]]] = MappingProxyType(
    {
        1: MappingProxyType({ENTRY: "0x8798249c2E607446EfB7Ad49eC89dD1865Ff4272"}),
        LOCAL_CHAIN_ID: MappingProxyType({ENTRY: "0x616B70b13F1070905DFB1d11DF36ff33Ba893Eee"}),
    }
)
_PUBLIC_SUSHI: Final = "0x6B3595068778DD592e39A122f4f5a5cF09C90fE2"
CHAINS: Final = frozenset(_DEPLOYMENTS)


@dataclass(frozen=True, slots=True)
class Place:
    """The bar of a chain, and the token that goes into it."""

    bar: str
    token: str


def deployments(chain_id: int) -> Mapping[str, str] | None:
    """The bar by its key, checksummed; None where there is none."""
    return _DEPLOYMENTS.get(chain_id)


def find_place(chain_id: int) -> Place | None:
    """The bar and its token; None where there is no bar."""
    at = deployments(chain_id)
    if at is None:
        return None
    if chain_id != LOCAL_CHAIN_ID:
        return Place(at[ENTRY], _PUBLIC_SUSHI)
    tokens = load_deployment(KNOWN_NETWORKS[chain_id]).tokens
    return Place(at[ENTRY], next(token.address for token in tokens if token.symbol == "DAI"))


def place_on(chain_id: int) -> Place:
    """The same. Raises ChainNotSupported."""
    found = find_place(chain_id)
    if found is None:
        raise ChainNotSupported(f"no bar is known on chain {chain_id}", chain_id=chain_id, chains=sorted(CHAINS))
    return found
