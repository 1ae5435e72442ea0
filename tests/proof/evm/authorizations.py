"""Signed authorizations (EIP-7702) for generated cases: valid ones, stale ones, foreign ones and forged ones."""

from __future__ import annotations

import random
from functools import lru_cache
from typing import Any, Final

from eth_keys import keys
from eth_keys.datatypes import PrivateKey
from eth_utils.crypto import keccak
from rlp import encode as rlp_encode

_MAGIC: Final = b"\x05"
_CURVE_ORDER: Final = 0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFEBAAEDCE6AF48A03BBFD25E8CD0364141


@lru_cache(maxsize=8)
def authority_key(number: int) -> PrivateKey:
    """The key of one of the made-up accounts that give their code away."""
    return keys.PrivateKey(keccak(f"authority {number}".encode()))


def authority_address(number: int) -> str:
    """Its address, hex without 0x."""
    return authority_key(number).public_key.to_canonical_address().hex()


def sign_authorization(number: int, *, chain_id: int, address: str, nonce: int) -> dict[str, Any]:
    """Account `number` lets `address` (hex) act as its code."""
    message = _MAGIC + bytes(rlp_encode([_trim(chain_id), bytes.fromhex(address), _trim(nonce)]))
    signature = authority_key(number).sign_msg_hash(keccak(message))
    return {
        "chain_id": chain_id,
        "address": address,
        "nonce": nonce,
        "y_parity": signature.v,
        "r": signature.r,
        "s": signature.s,
    }


def make_authorizations(
    rng: random.Random, accounts: dict[str, Any], *, chain_id: int, targets: tuple[str, ...]
) -> list[dict[str, Any]]:
    """One to three, by up to three accounts, most of which are put into `accounts` with some history."""
    made = []
    for number in range(3):
        if rng.random() < 0.6:
            code = rng.choice(("", "", "", "ef0100" + rng.choice(targets), "00"))
            nonce = rng.choice((0, 0, 1, 9))
            accounts[authority_address(number)] = {"nonce": nonce, "balance": 10**9, "code": code, "storage": {}}
    for _ in range(rng.choice((1, 1, 2, 3))):
        number = rng.randrange(3)
        known = accounts.get(authority_address(number), {"nonce": 0})["nonce"]
        signed = sign_authorization(
            number,
            chain_id=rng.choice((chain_id, chain_id, chain_id, 0, 5)),
            address=rng.choice((*targets, "00" * 20)),
            nonce=rng.choice((known, known, known, known + 1, 2**64 - 1)),
        )
        forged = rng.random()
        if forged < 0.05:
            signed |= {"s": _CURVE_ORDER - signed["s"], "y_parity": 1 - signed["y_parity"]}
        elif forged < 0.1:
            signed |= {rng.choice(("r", "s")): rng.choice((0, 1, _CURVE_ORDER, _CURVE_ORDER - 1))}
        elif forged < 0.13:
            signed |= {"y_parity": rng.choice((2, 27))}
        made.append(signed)
    return made


def _trim(value: int) -> bytes:
    return value.to_bytes((value.bit_length() + 7) // 8, "big")
