"""Where the orders over time are, as data: on the local chain alone.

No deployment for such orders is published, and none of a stranger is used. The local address follows from the account
that deploys it.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from tools_app.chain.networks import ChainNotSupported

NAME: Final = "uniswap_twamm"
LOCAL_CHAIN_ID: Final = 31_337
ENTRY: Final = "orders"

_DEPLOYMENTS: Final[Mapping[int, Mapping[str, str]]] = MappingProxyType(
    {LOCAL_CHAIN_ID: MappingProxyType({ENTRY: "0x0a69d7d43F03Aa80041923ccb34EDcB014C9C492"})}
)
CHAINS: Final = frozenset(_DEPLOYMENTS)


def deployments(chain_id: int) -> Mapping[str, str] | None:
    """The contract by its key; None where there is none."""
    return _DEPLOYMENTS.get(chain_id)


def contract_on(chain_id: int) -> str:
    """The contract of a chain. Raises ChainNotSupported."""
    found = deployments(chain_id)
    if found is None:
        raise ChainNotSupported(
            f"no orders over time are known on chain {chain_id}", chain_id=chain_id, chains=sorted(CHAINS)
        )
    return found[ENTRY]
