"""Lists where the jars of fees and their releasers are, as data; locally contracts of ours, over DAI in the place of
UNI.

The public addresses are those of the README of Uniswap/protocol-fees (March 2026), which its page of deployments
repeats; an earlier README named others, which are not used. What is given up, how much of it and for which jar is read
from the releaser and never written down here. The local ones follow from the account that deploys them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from tools_app.chain.networks import ChainNotSupported

NAME: Final = "firepit"
LABEL: Final = "Uniswap's jar of fees"
LOCAL_CHAIN_ID: Final = 31_337
JAR: Final = "jar"
RELEASER: Final = "releaser"
COIN: Final = "0x" + "0" * 40
"""What a release calls the chain's coin."""

_PAIRS: Final[Mapping[int, tuple[str, str]]] = MappingProxyType(
    {
        1: ("0xf38521f130fcCF29dB1961597bc5d2B60F995f85", "0x0D5Cd355e2aBEB8fb1552F56c965B867346d6721"),
        10: ("0xb13285DF724ea75f3f1E9912010B7e491dCd5EE3", "0x94460443Ca27FFC1baeCa61165fde18346C91AbD"),
        130: ("0xD576BDF6b560079a4c204f7644e556DbB19140b5", "0xe0A780E9105aC10Ee304448224Eb4A2b11A77eeB"),
        8453: ("0x9bD25e67bF390437C8fAF480AC735a27BcF6168c", "0xFf77c0ED0B6b13A20446969107E5867abc46f53a"),
        42161: ("0x95E337C5B155385945D407f5396387D0c2a3A263", "0xB8018422bcE25D82E70cB98FdA96a4f502D89427"),
        LOCAL_CHAIN_ID: ("0x6226DD7C77BbC49b441Df5B3577971c50bA27e40", "0xA5203581e36824BF7f438abB03EF9D8eC429abc2"),
    }
)
_DEPLOYMENTS: Final = {
    chain_id: MappingProxyType({JAR: jar, RELEASER: releaser}) for chain_id, (jar, releaser) in _PAIRS.items()
}
CHAINS: Final = frozenset(_PAIRS)


@dataclass(frozen=True, slots=True)
class Place:
    """The jar of a chain, and the contract that alone may empty it."""

    jar: str
    releaser: str


def deployments(chain_id: int) -> Mapping[str, str] | None:
    """Both contracts by their keys, checksummed; None where there are none."""
    return _DEPLOYMENTS.get(chain_id)


def place_on(chain_id: int) -> Place:
    """The two of a chain. Raises ChainNotSupported."""
    found = _PAIRS.get(chain_id)
    if found is None:
        raise ChainNotSupported(
            f"no jar of fees is known on chain {chain_id}", chain_id=chain_id, chains=sorted(CHAINS)
        )
    return Place(*found)
