"""Lists the markets of Compound V3 that are known, chain by chain, as data.

The public addresses are those of its makers' repository (compound-finance/comet, `deployments`), and a market whose
asset is not registered on its chain is left out. No package carries their bytecode, so that locally contracts of ours
stand in, at the addresses that follow from the account that deploys them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from tools_app.chain.deployments import load_deployment
from tools_app.chain.networks import KNOWN_NETWORKS, ChainNotSupported

NAME: Final = "compound_v3"
LOCAL_CHAIN_ID: Final = 31_337
REWARDS: Final = "rewards"
COMETS: Final[Mapping[str, str]] = MappingProxyType({"comet_usdc": "USDC", "comet_weth": "WETH"})
"""Keys of markets, and the registered symbol of what each lends."""

_DEPLOYMENTS: Final[Mapping[int, Mapping[str, str]]] = MappingProxyType(
    {
        1: MappingProxyType(
            {
                "comet_usdc": "0xc3d688B66703497DAA19211EEdff47f25384cdc3",
                "comet_weth": "0xA17581A9E3356d9A858b789D68B4d866e593aE94",
                REWARDS: "0x1B0e765F6224C21223AeA2af16c1C46E38885a40",
            }
        ),
        8453: MappingProxyType(
            {
                "comet_usdc": "0xb125E6687d4313864e53df431d5425969c15Eb2F",
                "comet_weth": "0x46e6b214b524310239732D51387075E0e70970bf",
                REWARDS: "0x123964802e6ABabBE1Bc9547D72Ef1B69B00A6b1",
            }
        ),
        42161: MappingProxyType(
            {
                "comet_usdc": "0x9c4ec768c28520B50860ea7a15bd7213a9fF58bf",
                "comet_weth": "0x6f7D514bbD4aFf3BcD1140B7344b32f063dEe486",
                REWARDS: "0x88730d254A2f7e6AC8388c3198aFd694bA9f7fae",
            }
        ),
        LOCAL_CHAIN_ID: MappingProxyType(
            {
                "comet_usdc": "0x3105909D5914D5C65eD03617A186c8Db8Eea379D",
                REWARDS: "0x651a73DB27a28825aF1488685807A1B5be892B8D",
            }
        ),
    }
)
CHAINS: Final = frozenset(_DEPLOYMENTS)


@dataclass(frozen=True, slots=True)
class Comet:
    """One market: its contract, what it lends, and who pays rewards of it."""

    address: str
    base: str
    label: str
    rewards: str


def deployments(chain_id: int) -> Mapping[str, str] | None:
    """The contracts by key, checksummed; None where none is known."""
    return _DEPLOYMENTS.get(chain_id)


def known_comets(chain_id: int) -> tuple[Comet, ...]:
    """The markets of a chain whose asset is registered there."""
    at = deployments(chain_id)
    if at is None:
        return ()
    tokens = {token.symbol: token.address for token in load_deployment(KNOWN_NETWORKS[chain_id]).tokens}
    return tuple(
        Comet(at[key], tokens[symbol], f"{symbol} market of Compound V3", at[REWARDS])
        for key, symbol in COMETS.items()
        if key in at and symbol in tokens
    )


def find_comet(chain_id: int, address: str) -> Comet | None:
    """The known market at an address."""
    return next((each for each in known_comets(chain_id) if each.address == address), None)


def comets_on(chain_id: int) -> tuple[Comet, ...]:
    """The known markets. Raises ChainNotSupported."""
    if chain_id not in CHAINS:
        raise ChainNotSupported(
            f"no market of Compound V3 is known on chain {chain_id}", chain_id=chain_id, chains=sorted(CHAINS)
        )
    return known_comets(chain_id)
