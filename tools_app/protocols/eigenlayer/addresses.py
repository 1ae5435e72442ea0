"""Lists where EigenLayer is deployed, as data.

Ethereum: the three managers and the strategies as the README of Layr-Labs/eigenlayer-contracts lists its deployments.
Locally our own contracts stand in, over tokens that have feeds; their addresses follow from the account that deploys
them, in that order.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from tools_app.chain.networks import ChainNotSupported
from tools_app.toolkit.context import ChainReader

NAME: Final = "eigenlayer"
LOCAL_CHAIN_ID: Final = 31_337
DEPOSITS: Final = "deposits"
MAGNITUDES: Final = "magnitudes"
DELEGATION: Final = "delegation"
STRATEGY: Final = "strategy_"
"""Begins the keys of strategies."""

_DEPLOYMENTS: Final[Mapping[int, Mapping[str, str]]] = MappingProxyType(
    {
        1: MappingProxyType(
            {
                DEPOSITS: "0x858646372CC42E1A627fcE94aa7A7033e7CF075A",
                MAGNITUDES: "0x948a420b8CC1d6BFd0B6087C2E7c344a2CD0bc39",
                DELEGATION: "0x39053D51B77DC0d36036Fc1fCc8Cb819df8Ef37A",
                "strategy_steth": "0x93c4b944D05dfe6df7645A86cd2206016c51564D",
                "strategy_reth": "0x1BeE69b7dFFfA4E2d53C2a2Df135C388AD25dCD2",
                "strategy_cbeth": "0x54945180dB7943c0ed0FEE7EdaB2Bd24620256bc",
            }
        ),
        LOCAL_CHAIN_ID: MappingProxyType(
            {
                DEPOSITS: "0x9D5FC48b77B10F02BEb704F92C2E107748a16a9f",
                MAGNITUDES: "0xA70eb7beb864565374ef90A3FDa192B2fd590172",
                DELEGATION: "0x924e6fc90A87cF8434A8E5240988a10818fab3b6",
                "strategy_weth": "0xEC1aAe2A01134406CBdBC443113a42a4180Ec7f3",
                "strategy_dai": "0xae871beF3546C891317c897f62EB37F6E72d6056",
            }
        ),
    }
)
CHAINS: Final = frozenset(_DEPLOYMENTS)


def deployments(chain_id: int) -> Mapping[str, str] | None:
    """The managers and strategies by key; None where it is not."""
    return _DEPLOYMENTS.get(chain_id)


def deployment_on(reader: ChainReader) -> Mapping[str, str]:
    """The same where there is code for them. Raises ChainNotSupported."""
    found = deployments(reader.chain_id)
    if found is None or not reader.code(found[DELEGATION]):
        raise ChainNotSupported(
            f"EigenLayer is not deployed on chain {reader.chain_id}", chain_id=reader.chain_id, chains=sorted(CHAINS)
        )
    return found


def strategies(at: Mapping[str, str]) -> tuple[str, ...]:
    """The strategies of a deployment, in the order they are listed."""
    return tuple(address for key, address in at.items() if key.startswith(STRATEGY))
