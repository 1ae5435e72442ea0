"""Lists where Maker is, as data: on Ethereum as its changelog says, locally our own contracts in its place.

The public addresses are those of the npm package `@makerdao/dai-plugin-mcd` 1.8.5, and the same in
`makerdao/spells-mainnet` (src/test/addresses_mainnet.sol), both its makers' own. The local ones follow from the account
that deploys there.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

NAME: Final = "maker"
LOCAL_CHAIN_ID: Final = 31_337
CHAINS: Final = frozenset({1, LOCAL_CHAIN_ID})

_MAINNET: Final[Mapping[str, str]] = MappingProxyType(
    {
        "vat": "0x35D1b3F3D7966A1DFe207aa4514C12a259A0492B",
        "jug": "0x19c0976f590D67707E62397C87829d896Dc0f1F1",
        "spot": "0x65C79fcB50Ca1594B025960e539eD7A9a6D434A3",
        "join_dai": "0x9759A6Ac90977b93B58547b4A71c78317f391A28",
        "cdp_manager": "0x5ef30b9986345249bc32d8928B7ee64DE9435E39",
        "get_cdps": "0x36a724Bd100c39f0Ea4D3A20F7097eE01A8Ff573",
        "join_eth_a": "0x2F0b23f53734252Bda2277357e97e1517d6B042A",
        "join_eth_b": "0x08638eF1A205bE6762A8b935F5da9b700Cf7322c",
        "join_eth_c": "0xF04a5cC80B1E94C69B48f5ee68a08CD2F09A7c3E",
    }
)
_LOCAL: Final[Mapping[str, str]] = MappingProxyType(
    {
        "vat": "0xFf359907c82978b980A397C7694E1bF9d384c432",
        "jug": "0x8ae7D2B6b27F880E1D98A8Ba2A2ED9a9e4943143",
        "spot": "0xbb7B746B8023AFBb60BD5aed30D57C205C121Ff6",
        "join_dai": "0x1aBC36aA35f2504a93bEA6E4c02275f087f8E985",
        "cdp_manager": "0x79F6e96b3e9B0DD3a70E23Bb87359dC99DdEd017",
        "get_cdps": "0x79D96E2F1e876A3C43A5B01D55Bd7215dCf723c3",
        "join_eth_a": "0x5e0a9089565D7Ab0Cc83a922ef4f3D1DD79B552e",
        "join_eth_c": "0x33caaA90aEefb6CDA0045eF2cfC7DceD39Fab210",
    }
)


def deployments(chain_id: int) -> Mapping[str, str] | None:
    """Its contracts by key, checksummed; None where it is not."""
    if chain_id == LOCAL_CHAIN_ID:
        return _LOCAL
    return _MAINNET if chain_id == 1 else None


@dataclass(frozen=True, slots=True)
class MakerContracts:
    """The contracts of one chain; `joins` are those that take the collateral of each type that is served."""

    vat: str
    jug: str
    spot: str
    join_dai: str
    cdp_manager: str
    get_cdps: str
    joins: Mapping[str, str]


def contracts_at(chain_id: int) -> MakerContracts:
    """The contracts of a chain. Raises KeyError where Maker is not."""
    return _CONTRACTS[chain_id]


def key_of(collateral_type: str) -> str:
    """The key of the contract that takes the collateral of `ETH-A`: `join_eth_a`."""
    return f"join_{collateral_type.lower().replace('-', '_')}"


def collateral_types(chain_id: int) -> tuple[str, ...]:
    """The kinds of vaults served on a chain, all of them over the wrapped coin."""
    keys = deployments(chain_id) or {}
    return tuple(kind for kind in ("ETH-A", "ETH-B", "ETH-C") if key_of(kind) in keys)


def _arrange(chain_id: int, found: Mapping[str, str]) -> MakerContracts:
    joins = {kind: found[key_of(kind)] for kind in collateral_types(chain_id)}
    fixed = {key: address for key, address in found.items() if address not in joins.values()}
    return MakerContracts(joins=joins, **fixed)


_CONTRACTS: Final = {1: _arrange(1, _MAINNET), LOCAL_CHAIN_ID: _arrange(LOCAL_CHAIN_ID, _LOCAL)}
