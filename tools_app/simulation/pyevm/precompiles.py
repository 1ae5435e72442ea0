"""The precompiles that are slow in Python: how long they take at least is known before they run, so none can hang.

The proof of a blob's value reads its trusted setup once and not for every call, as py-evm does; a process that has not
read it yet counts the reading as part of the call.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any, Final

from ckzg import load_trusted_setup, verify_kzg_proof  # type: ignore[import-not-found]
from eth.exceptions import VMError
from eth.precompiles.point_evaluation import TRUSTED_SETUP_PATH, kzg_to_versioned_hash
from eth.vm.forks.cancun.constants import BLS_MODULUS, FIELD_ELEMENTS_PER_BLOB, POINT_EVALUATION_PRECOMPILE_GAS

POINT_EVALUATION: Final = bytes(19) + b"\x0a"
_POINT_EVALUATION_INPUT: Final = 192
_BLAKE2: Final = bytes(19) + b"\x09"
_BLAKE2_ROUNDS_PER_MS: Final = 200
_MODEXP: Final = bytes(19) + b"\x05"
# Python's own powers, measured from 8 bytes to 1024: a part for each bit of the exponent, a part for its size too.
_MODEXP_ITERATION_US: Final = 0.2
_MODEXP_SQUARE_US: Final = 0.011
_TRUSTED_SETUP_MS: Final = 3_000
# Precompile: (bytes of one item, milliseconds one takes at least on one core).
_SLOW: Final[dict[bytes, tuple[int, int]]] = {
    bytes(19) + bytes([number]): cost
    for number, cost in {
        7: (96, 4),
        8: (192, 100),
        10: (192, 2),
        12: (160, 10),
        13: (512, 1),
        14: (288, 50),
        15: (384, 200),
        16: (64, 2),
        17: (128, 50),
    }.items()
}


def estimate_ms(address: bytes, data: bytes, gas: int) -> float:
    """Milliseconds a precompile takes at least for its input; 0 for those that are quick or fail for want of gas."""
    if address == _MODEXP:
        return _estimate_modexp(data, gas)
    if address == _BLAKE2:
        rounds = int.from_bytes(data[:4], "big")
        return 0 if rounds > gas else rounds // _BLAKE2_ROUNDS_PER_MS
    if address == POINT_EVALUATION and _trusted_setup.cache_info().currsize == 0:
        return _TRUSTED_SETUP_MS
    cost = _SLOW.get(address)
    return 0 if cost is None else -(-len(data) // cost[0]) * cost[1]


def _estimate_modexp(data: bytes, gas: int) -> float:
    """By the iterations and the size that EIP-2565 charges for."""
    base_size, exponent_size, modulus_size = (
        int.from_bytes(data[at : at + 32].ljust(32, b"\0"), "big") for at in (0, 32, 64)
    )
    squares = ((max(base_size, modulus_size) + 7) // 8) ** 2
    start = 96 + base_size
    head_size = min(exponent_size, 32)
    head = int.from_bytes(data[start : start + head_size].ljust(head_size, b"\0"), "big")
    iterations = max(1, 8 * (exponent_size - head_size) + max(0, head.bit_length() - 1))
    if squares * iterations // 3 > gas:
        return 0
    return iterations * (_MODEXP_ITERATION_US + _MODEXP_SQUARE_US * squares) / 1000


def load_trusted_setup_once() -> None:
    """Read the trusted setup of blobs now, which takes seconds, so that no call waits for it."""
    _trusted_setup()


def evaluate_point(computation: Any) -> Any:
    """EIP-4844's point evaluation: a commitment's polynomial has the value that is claimed."""
    computation.consume_gas(POINT_EVALUATION_PRECOMPILE_GAS, reason="point evaluation")
    data = bytes(computation.msg.data)
    if len(data) != _POINT_EVALUATION_INPUT:
        raise VMError("point evaluation: input of another length")
    versioned_hash, z, y, commitment, proof = data[:32], data[32:64], data[64:96], data[96:144], data[144:]
    if kzg_to_versioned_hash(commitment) != versioned_hash:
        raise VMError("point evaluation: the commitment has another hash")
    try:
        is_true = verify_kzg_proof(commitment, z, y, proof, _trusted_setup())
    except RuntimeError as error:
        raise VMError("point evaluation: malformed point or number") from error
    if not is_true:
        raise VMError("point evaluation: the proof is wrong")
    computation.output = FIELD_ELEMENTS_PER_BLOB.to_bytes(32, "big") + BLS_MODULUS.to_bytes(32, "big")
    return computation


@lru_cache(maxsize=1)
def _trusted_setup() -> Any:
    return load_trusted_setup(TRUSTED_SETUP_PATH, 0)


def with_point_evaluation(precompiles: dict[Any, Callable[..., Any]]) -> dict[Any, Callable[..., Any]]:
    """A fork's precompiles, with ours in place of py-evm's point evaluation."""
    return {**precompiles, POINT_EVALUATION: evaluate_point}
