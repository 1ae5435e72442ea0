"""Lists where Across' spoke pools are, as data: one a chain, each behind a proxy.

The public addresses are those of npm `@across-protocol/contracts@5.0.27` (`dist/broadcast/deployed-addresses.json`),
which a test compares. The local ones follow from the account that deploys them, and are the same on both local chains.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from tools_app.chain.deployments import load_deployment
from tools_app.chain.networks import KNOWN_NETWORKS, ChainNotSupported
from tools_app.toolkit.views import TokenMeta

NAME: Final = "across"
LOCAL_CHAIN_IDS: Final = frozenset({31_337, 31_338})
SPOKE: Final = "spoke_pool"

_POOLS: Final[Mapping[int, str]] = MappingProxyType(
    {
        1: "0x5c7BCd6E7De5423a257D81B442095A1a6ced35C5",
        10: "0x6f26Bf09B1C792e3228e5467807a900A503c0281",
        130: "0x09aea4b2242abC8bb4BB78D537A67a245A7bEC64",
        137: "0x9295ee1d8C5b022Be115A2AD3c30C72E34e7F096",
        8_453: "0x09aea4b2242abC8bb4BB78D537A67a245A7bEC64",
        42_161: "0xe35e9842fceaCA96570B734083f4a58e8F7C5f2A",
        **dict.fromkeys(LOCAL_CHAIN_IDS, "0x696f4f77D554ff86CFB54CcBe240675D55482B17"),
    }
)
_DEPLOYMENTS: Final = {chain_id: MappingProxyType({SPOKE: pool}) for chain_id, pool in _POOLS.items()}
CHAINS: Final = frozenset(_POOLS)


def deployments(chain_id: int) -> Mapping[str, str] | None:
    """The spoke pool of a chain by its key, checksummed; None where there is none."""
    return _DEPLOYMENTS.get(chain_id)


def pool_on(chain_id: int) -> str:
    """The spoke pool of a chain. Raises ChainNotSupported."""
    pool = _POOLS.get(chain_id)
    if pool is None:
        raise ChainNotSupported(f"Across is not known on chain {chain_id}", chain_id=chain_id, chains=sorted(CHAINS))
    return pool


def find_same(token: TokenMeta, chain_id: int) -> TokenMeta | None:
    """The registered token of another chain that has the symbol of a registered one; None where there is none."""
    network = KNOWN_NETWORKS.get(chain_id)
    if network is None or not token.is_registered:
        return None
    return next((each for each in load_deployment(network).tokens if each.symbol == token.symbol), None)
