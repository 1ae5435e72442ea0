"""Lists where Ethena's staking is, as data: on Ethereum, and locally a contract of ours over DAI, since no USDe is
there.

The public addresses are those that a lender lists as collateral (npm `@bgd-labs/aave-address-book`), which a test
compares. The local one follows from the account that deploys it.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from tools_app.chain.deployments import load_deployment
from tools_app.chain.networks import KNOWN_NETWORKS, ChainNotSupported
from tools_app.standards.erc4626 import Vault

NAME: Final = "ethena"
LOCAL_CHAIN_ID: Final = 31_337
SUSDE: Final = "susde"

_DEPLOYMENTS: Final[Mapping[int, Mapping[str, str]]] = MappingProxyType(
    {
        1: MappingProxyType({SUSDE: "0x9D39A5DE30e57443BfF2A8307A4256c8797A3497"}),
        LOCAL_CHAIN_ID: MappingProxyType({SUSDE: "0x15547641a176D527b7d41D0c5612763Fc82ac3A0"}),
    }
)
_PUBLIC_USDE: Final = "0x4c9EDD5852cd905f086C759E8383e09bff1E68B3"
CHAINS: Final = frozenset(_DEPLOYMENTS)


def deployments(chain_id: int) -> Mapping[str, str] | None:
    """The staking contract by its key, checksummed; None where there is none."""
    return _DEPLOYMENTS.get(chain_id)


def find_vault(chain_id: int) -> Vault | None:
    """sUSDe and what is staked for it; None where there is none."""
    at = deployments(chain_id)
    if at is None:
        return None
    if chain_id != LOCAL_CHAIN_ID:
        return Vault(at[SUSDE], _PUBLIC_USDE, "sUSDe (Ethena)")
    tokens = load_deployment(KNOWN_NETWORKS[chain_id]).tokens
    return Vault(at[SUSDE], next(token.address for token in tokens if token.symbol == "DAI"), "sUSDe (Ethena)")


def vault_on(chain_id: int) -> Vault:
    """The same. Raises ChainNotSupported."""
    found = find_vault(chain_id)
    if found is None:
        raise ChainNotSupported(f"Ethena is not known on chain {chain_id}", chain_id=chain_id, chains=sorted(CHAINS))
    return found
