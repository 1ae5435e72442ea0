"""Finds whose key signed a digest, as contracts do (ecrecover)."""

from __future__ import annotations

from typing import Final

from coincurve import PublicKey
from eth_utils.crypto import keccak

from tools_app.chain.abi import checksum

_LENGTH: Final = 65


def find_signer(digest: bytes, signature: bytes) -> str | None:
    """The address; None for what is no signature of 65 bytes that ends in 27 or 28."""
    if len(signature) != _LENGTH or signature[64] not in (27, 28):
        return None
    try:
        key = PublicKey.from_signature_and_message(signature[:64] + bytes([signature[64] - 27]), digest, hasher=None)
    except ValueError:
        return None
    return checksum("0x" + keccak(key.format(compressed=False)[1:])[-20:].hex())
