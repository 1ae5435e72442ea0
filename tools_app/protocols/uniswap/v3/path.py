"""The packed path of a V3 swap over several pools: token, fee, token, fee, token."""

from __future__ import annotations

from collections.abc import Sequence


def encode_path(tokens: Sequence[str], fees: Sequence[int], *, is_exact_out: bool = False) -> bytes:
    """Packed path of token addresses and pool fees; an exact-output swap walks it backwards.

    Raises ValueError when there is not exactly one fee between every two tokens.
    """
    if len(tokens) != len(fees) + 1:
        raise ValueError("a path has one fee between every two tokens")
    ordered_tokens = list(reversed(tokens)) if is_exact_out else list(tokens)
    ordered_fees = list(reversed(fees)) if is_exact_out else list(fees)
    packed = bytes.fromhex(ordered_tokens[0][2:])
    for fee, token in zip(ordered_fees, ordered_tokens[1:], strict=True):
        packed += fee.to_bytes(3, "big") + bytes.fromhex(token[2:])
    return packed
