"""Lists where the registries of ERC-8004 are, as data.

Identity and reputation: the list of their makers, README.md of erc-8004/erc-8004-contracts (commit 2eb5adcb9ef2), which
gives them the same addresses on every main network it names; `registry-addresses.json` there (commit e78c7fc823cc)
agrees for Ethereum and Base. Neither names a validation registry on a main network, so there is none here. The address
0x8004A818…BD9e of other lists is that of test networks. Locally our own contracts stand in; their addresses follow from
the account that deploys them, in that order.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from tools_app.chain.networks import ChainNotSupported
from tools_app.toolkit.context import ChainReader

NAME: Final = "erc8004"
LOCAL_CHAIN_ID: Final = 31_337
IDENTITY, REPUTATION, VALIDATION = "identity", "reputation", "validation"

_MAIN: Final = {
    IDENTITY: "0x8004A169FB4a3325136EB29fA0ceB6D2e539a432",
    REPUTATION: "0x8004BAa17C55a88189AE136b182e5fdA19dE9b63",
}
_MAIN_CHAINS: Final = (1, 10, 56, 137, 8_453, 42_161, 42_220, 43_114)
_DEPLOYMENTS: Final[Mapping[int, Mapping[str, str]]] = {
    **dict.fromkeys(_MAIN_CHAINS, _MAIN),
    LOCAL_CHAIN_ID: {
        IDENTITY: "0xDE4B779b2Fc5ea8d63bA3D6AF2FF67347b0f6304",
        REPUTATION: "0x9fD026c3cd470a11A81Da887eBde0148aAa649e7",
        VALIDATION: "0xb4d4126289a90f10BF271C813c81333e03F97277",
    },
}
CHAINS: Final = frozenset(_DEPLOYMENTS)
VALIDATION_CHAINS: Final = frozenset(chain for chain, keys in _DEPLOYMENTS.items() if VALIDATION in keys)
"""Where agents can be validated."""


def deployments(chain_id: int) -> Mapping[str, str] | None:
    """The registries of a chain by key: identity, reputation, and validation where there is one; None where none is."""
    return _DEPLOYMENTS.get(chain_id)


def registries_on(reader: ChainReader) -> Mapping[str, str]:
    """The registries of the reader's chain, which has code for them. Raises ChainNotSupported."""
    found = deployments(reader.chain_id)
    if found is None or not reader.code(found[IDENTITY]):
        raise ChainNotSupported(
            f"agents are not registered on chain {reader.chain_id}", chain_id=reader.chain_id, chains=sorted(CHAINS)
        )
    return found
