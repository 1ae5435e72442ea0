"""ERC-1271: a contract says for itself whether a signature is its own."""

from __future__ import annotations

from typing import Final

from tools_app.toolkit.context import ReadCall, ReadOutcome

IS_VALID_SIGNATURE: Final = "function isValidSignature(bytes32,bytes) view returns (bytes4)"
MAGIC_VALUE: Final = bytes.fromhex("1626ba7e")


def ask_whether_signed(address: str, digest: bytes, signature: bytes) -> ReadCall:
    """The question to the contract at `address` whether `signature` is its own for `digest` (32 bytes)."""
    return ReadCall(address, IS_VALID_SIGNATURE, (digest, signature))


def says_yes(outcome: ReadOutcome) -> bool:
    """Whether it answered that it is; no contract, a revert and any other answer say no."""
    return outcome.ok and outcome.values == (MAGIC_VALUE,)


def is_yes(output: bytes) -> bool:
    """The same of an answer's own bytes, as a simulated call has them."""
    return output == MAGIC_VALUE.ljust(32, b"\0")
