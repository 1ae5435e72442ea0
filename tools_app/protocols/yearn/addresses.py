"""Lists the Yearn V3 vaults that are known, chain by chain, as data.

Each public one is a row of Yearn's own lists (yearn/cms, `packages/cdn/vaults/`), which a test compares. Locally a
contract of ours stands in, at the address that follows from the account that deploys it.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from tools_app.chain.deployments import load_deployment
from tools_app.chain.networks import KNOWN_NETWORKS
from tools_app.standards.erc4626 import Vault

NAME: Final = "yearn"
LOCAL_CHAIN_ID: Final = 31_337
USDC: Final = "yv_usdc"

_DEPLOYMENTS: Final[Mapping[int, Mapping[str, str]]] = MappingProxyType(
    {
        1: MappingProxyType({USDC: "0xBe53A109B494E5c9f97b9Cd39Fe969BE68BF6204"}),
        137: MappingProxyType({USDC: "0x34b9421Fe3d52191B64bC32ec1aB764dcBcDbF5e"}),
        8453: MappingProxyType({USDC: "0xc3BD0A2193c8F027B82ddE3611D18589ef3f62a9"}),
        42161: MappingProxyType({USDC: "0x6FAF8b7fFeE3306EfcFc2BA9Fec912b4d49834C1"}),
        LOCAL_CHAIN_ID: MappingProxyType({USDC: "0xDb166a9B9Fb1E7C8F91ce6990f9F34c1aF4A9f2b"}),
    }
)
# Key -> the asset's registered symbol, and words for people.
_WORDS: Final[Mapping[str, tuple[str, str]]] = MappingProxyType({USDC: ("USDC", "yvUSDC-1 (Yearn V3)")})
# Where Yearn calls the vault otherwise. Of Horizon it says itself that losses and waits are likelier.
_CALLED: Final[Mapping[tuple[int, str], str]] = MappingProxyType(
    {
        (8453, USDC): "USDC Horizon (Yearn V3, riskier strategies)",
        (42161, USDC): "yvUSDC-A (Yearn V3)",
    }
)
CHAINS: Final = frozenset(_DEPLOYMENTS)


def deployments(chain_id: int) -> Mapping[str, str] | None:
    """The vaults of a chain by key, checksummed; None where none is known."""
    return _DEPLOYMENTS.get(chain_id)


def known_vaults(chain_id: int) -> tuple[Vault, ...]:
    """The vaults of a chain whose asset is registered there."""
    at = deployments(chain_id)
    if at is None:
        return ()
    tokens = {token.symbol: token.address for token in load_deployment(KNOWN_NETWORKS[chain_id]).tokens}
    return tuple(
        Vault(address, tokens[symbol], _CALLED.get((chain_id, key), label))
        for key, address in at.items()
        for symbol, label in (_WORDS[key],)
        if symbol in tokens
    )


def find_vault(chain_id: int, address: str) -> Vault | None:
    """The known vault at an address."""
    return next((vault for vault in known_vaults(chain_id) if vault.address == address), None)
