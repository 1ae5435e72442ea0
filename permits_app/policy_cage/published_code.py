"""Checks that the code on a chain is the published cage, before anybody signs for it.

A contract can answer every question as a cage does and still take the Safe. So its code is compared byte by byte with
what this server was built with, and so is the code of its parts; only what a constructor wrote may differ.
"""

from __future__ import annotations

from collections.abc import Iterable

from eth_utils.crypto import keccak

from permits_app.errors import NotACage
from permits_app.policy_cage.abi import FUNCTIONS, PUBLISHED
from tools_app.toolkit.context import ChainReader

_PARTS = {"governance": "CageGovernance", "gate": "CageGate"}


def hash_code(name: str, code: bytes) -> str:
    """keccak256 of the code of one of the published contracts, with zeros where its constructor wrote."""
    return "0x" + keccak(mask_immutables(code, PUBLISHED[name][1])).hex()


def mask_immutables(code: bytes, places: Iterable[tuple[int, int]]) -> bytes:
    """`code` with zeros where a constructor wrote: (first byte, how many)."""
    masked = bytearray(code)
    for start, length in places:
        masked[start : start + length] = bytes(length)
    return bytes(masked)


def check_published(chain: ChainReader, contract: str) -> dict[str, str]:
    """The published hash of the cage and of each of its parts, by name. Raises NotACage when one is another."""
    _check(chain, contract, "PolicyCage")
    for getter, name in _PARTS.items():
        [part] = chain.call(contract, FUNCTIONS[getter])
        _check(chain, part, name)
        # The code of a part is the published one, so what it says of itself is true.
        for word in ("account", "baseAsset"):
            if chain.call(part, FUNCTIONS[word]) != chain.call(contract, FUNCTIONS[word]):
                raise NotACage(f"{part} is the {getter} of another cage", contract=contract)
    return {name: digest for name, (digest, _) in PUBLISHED.items()}


def _check(chain: ChainReader, address: str, name: str) -> None:
    found = hash_code(name, chain.code(address))
    if found != PUBLISHED[name][0]:
        raise NotACage(
            f"the code at {address} is not that of the published {name}: {found} instead of {PUBLISHED[name][0]}",
            contract=address,
        )
