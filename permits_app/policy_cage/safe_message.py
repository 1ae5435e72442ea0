"""Builds the SafeMessage that an owner signs so that a Safe signs something.

The Safe's fallback handler (CompatibilityFallbackHandler) reads it back when somebody asks the Safe by ERC-1271. An
owner may also note on the chain, in place of a signature, that such a message is the Safe's own.
"""

from __future__ import annotations

from typing import Final

from tools_app.toolkit.typed_data import TypedData

APPROVE_HASH: Final = "function approveHash(bytes32 hashToApprove)"


def wrap_digest(digest: bytes, *, safe: str, chain_id: int) -> TypedData:
    """The typed data whose signature by its owners makes `digest` (32 bytes) signed by `safe`."""
    return TypedData(
        domain={"chainId": chain_id, "verifyingContract": safe},
        primary_type="SafeMessage",
        types={"SafeMessage": (("message", "bytes"),)},
        message={"message": "0x" + digest.hex()},
    )
