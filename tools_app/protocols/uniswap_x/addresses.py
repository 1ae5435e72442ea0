"""Where the reactors are, as data: the table of the npm package `@uniswap/uniswapx-sdk` 3.1.0, its makers' own.

Every order goes through Permit2, which is one contract on all chains. The local reactors are that package's own code;
their addresses follow from the account that deploys them.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from tools_app.chain.networks import ChainNotSupported
from tools_app.standards.permit2 import PERMIT2

NAME: Final = "uniswap_x"
LABEL: Final = "UniswapX"
LOCAL_CHAIN_ID: Final = 31_337
ENTRY: Final = "permit2"
LIMIT, DUTCH_V2, DUTCH_V3, PRIORITY = "limit", "dutch_v2", "dutch_v3", "priority"

_REACTORS: Final[Mapping[int, Mapping[str, str]]] = MappingProxyType(
    {
        1: {
            LIMIT: "0x6000da47483062A0D734Ba3dc7576Ce6A0B645C4",
            DUTCH_V2: "0x00000011F84B9aa48e5f8aA8B9897600006289Be",
            DUTCH_V3: "0x0000000015757c461808EA25Eb309638B62681cf",
        },
        10: {DUTCH_V3: "0x000000000923439A92daE8930613568824108631"},
        130: {
            PRIORITY: "0x00000006021a6Bce796be7ba509BBBA71e956e37",
            DUTCH_V3: "0x000000005aF66799D1a6317714D66800f9CA1406",
        },
        137: {
            LIMIT: "0x6000da47483062A0D734Ba3dc7576Ce6A0B645C4",
            DUTCH_V3: "0x00000000bAB6E234db8AD638B6A6395b7c499Bc4",
        },
        8453: {
            PRIORITY: "0x000000001Ec5656dcdB24D90DFa42742738De729",
            DUTCH_V3: "0x000000008a8330B5d1F43A62Bf4C673A49f27ba0",
        },
        42161: {
            DUTCH_V2: "0x1bd1aAdc9E230626C44a139d7E70d842749351eb",
            DUTCH_V3: "0xB274d5F4b833b61B340b654d600A864fB604a87c",
        },
        LOCAL_CHAIN_ID: {
            LIMIT: "0xB769427779E373Ee002ec409ab5C6173956554eC",
            DUTCH_V2: "0x7c54e9E90d8f26D8e9c8615AdF3cd4bb38af7331",
            DUTCH_V3: "0x1806F50173b59DD0989db64944Defa189C1B7294",
            PRIORITY: "0x55697c6f1De289670De7a3fEEB126e641f3E95B4",
        },
    }
)
_DEPLOYMENTS: Final = {
    chain_id: MappingProxyType({ENTRY: PERMIT2, **reactors}) for chain_id, reactors in _REACTORS.items()
}
CHAINS: Final = frozenset(_REACTORS)


def deployments(chain_id: int) -> Mapping[str, str] | None:
    """Permit2 and the reactors by their keys; None where there is none."""
    return _DEPLOYMENTS.get(chain_id)


def reactor_on(chain_id: int, kind: str) -> str:
    """The reactor of a kind of order. Raises ChainNotSupported."""
    reactors = _REACTORS.get(chain_id, {})
    if kind not in reactors:
        raise ChainNotSupported(
            f"UniswapX takes no {kind} orders on chain {chain_id}; it takes {', '.join(sorted(reactors)) or 'none'}",
            chain_id=chain_id,
            chains=sorted(each for each, found in _REACTORS.items() if kind in found),
        )
    return reactors[kind]
