"""Lists the ERC-4626 vaults that are known, chain by chain, as data.

Savings Dai is a fact of the npm package `@morpho-org/morpho-ts` 2.8.0 (its address book names it `sDai`), sUSDS and
Spark's sUSDC on other chains, which earns Sky's rate on USDC, are of Spark's registry of addresses
(sparkdotfi/spark-address-registry). The local vaults are OpenZeppelin's, Lagoon's and a
simulated sUSDS over DAI, where the account that deploys them puts them.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from tools_app.chain.deployments import load_deployment
from tools_app.chain.networks import KNOWN_NETWORKS
from tools_app.standards.erc4626 import Vault
from tools_app.toolkit.protocol import SIMULATED

NAME: Final = "erc4626"
LOCAL_CHAIN_ID: Final = 31_337

ENTRY: Final = "vault"
REQUEST: Final = "request_vault"
"""A vault that is entered and left by request."""
SAVINGS: Final = "susds"
"""The vault of Sky's savings rate, which tells what it pays a second."""
_LOCAL: Final[Mapping[str, str]] = MappingProxyType(
    {
        ENTRY: "0x9d22fB8BE6b404f25a75378d365547aAbBBD396a",
        REQUEST: "0xBA623E4b0B6292a5273CBE8701831e061f6953Cf",
        SAVINGS: "0x0FB9704d893C89F6a610DF6dDa8A64e368FEA56c",
    }
)
_PUBLIC: Final[Mapping[int, Mapping[str, str]]] = MappingProxyType(
    {
        1: MappingProxyType(
            {
                ENTRY: "0x83F20F44975D03b1b09e64809B757c47f942BEeA",
                SAVINGS: "0xa3931d71877C0E7a3148CB7Eb4463524FEc27fbD",
            }
        ),
        130: MappingProxyType({ENTRY: "0x14d9143BEcC348920b68D123687045db49a016C6"}),
        8453: MappingProxyType({ENTRY: "0x3128a0F7f0ea68E7B7c9B00AFa7E41045828e858"}),
        42161: MappingProxyType({ENTRY: "0x940098b108fB7D0a7E374f6eDED7760787464609"}),
    }
)
# Chain and key -> the asset's registered symbol, and words for people.
_WORDS: Final[Mapping[tuple[int, str], tuple[str, str]]] = MappingProxyType(
    {
        (LOCAL_CHAIN_ID, ENTRY): ("USDC", "Local USDC vault"),
        (LOCAL_CHAIN_ID, REQUEST): ("USDC", "Local Lagoon vault"),
        (LOCAL_CHAIN_ID, SAVINGS): ("DAI", f"sUSDS (Sky savings){SIMULATED}"),
        (1, ENTRY): ("DAI", "Savings Dai"),
        (1, SAVINGS): ("USDS", "sUSDS (Sky savings)"),
        **{(chain_id, ENTRY): ("USDC", "sUSDC (Spark savings)") for chain_id in (130, 8453, 42161)},
    }
)
CHAINS: Final = frozenset({*_PUBLIC, LOCAL_CHAIN_ID})
"""Where a vault is known."""


def deployments(chain_id: int) -> Mapping[str, str] | None:
    """The vaults of a chain by key, checksummed; None where none is known."""
    return _LOCAL if chain_id == LOCAL_CHAIN_ID else _PUBLIC.get(chain_id)


def known_vaults(chain_id: int) -> tuple[Vault, ...]:
    """The vaults of a chain whose asset is registered there."""
    place = deployments(chain_id)
    if place is None:
        return ()
    tokens = {token.symbol: token.address for token in load_deployment(KNOWN_NETWORKS[chain_id]).tokens}
    return tuple(
        Vault(address, tokens[symbol], label, by_request=key == REQUEST)
        for key, address in place.items()
        for symbol, label in (_WORDS[chain_id, key],)
        if symbol in tokens
    )


def find_vault(chain_id: int, address: str) -> Vault | None:
    """The known vault at an address."""
    return next((vault for vault in known_vaults(chain_id) if vault.address == address), None)


def find_savings(chain_id: int) -> Vault | None:
    """The vault of a chain that tells its savings rate."""
    address = (deployments(chain_id) or {}).get(SAVINGS)
    return find_vault(chain_id, address) if address is not None else None
