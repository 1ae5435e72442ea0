"""The precompiles that are slow in Python: how long they take at least is known before they run, so none can hang.

The proof of a blob's value is a comparison of two pairings, which needs one point of the ceremony's setup. py-evm's own
way reads all 8,257 of them, for seconds in each process.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from eth.exceptions import VMError
from eth.precompiles.point_evaluation import kzg_to_versioned_hash
from eth.vm.forks.cancun.constants import BLS_MODULUS, FIELD_ELEMENTS_PER_BLOB, POINT_EVALUATION_PRECOMPILE_GAS
from py_arkworks_bls12381 import GT, G1Point, G2Point, Scalar

POINT_EVALUATION: Final = bytes(19) + b"\x0a"
_POINT_EVALUATION_INPUT: Final = 192
# The first power of the secret on the second curve: EIP-4844's trusted_setup_4096.json, g2_monomial[1].
_TAU: Final = G2Point.from_compressed_bytes(
    bytes.fromhex(
        "b5bfd7dd8cdeb128843bc287230af38926187075cbfbefa81009a2ce615ac53d2914e5870cb452d2afaaab24f3499f72"
        "185cbfee53492714734429b7b38608e23926c911cceceac9a36851477ba4c60b087041de621000edc98edada20c1def2"
    )
)
_BLAKE2: Final = bytes(19) + b"\x09"
_BLAKE2_ROUNDS_PER_MS: Final = 200
_MODEXP: Final = bytes(19) + b"\x05"
# Python's own powers, measured from 8 bytes to 1024: a part for each bit of the exponent, a part for its size too.
_MODEXP_ITERATION_US: Final = 0.2
_MODEXP_SQUARE_US: Final = 0.011
# Precompile: (bytes of one item, milliseconds one takes at least on one core).
_SLOW: Final[dict[bytes, tuple[int, int]]] = {
    bytes(19) + bytes([number]): cost
    for number, cost in {
        7: (96, 4),
        8: (192, 100),
        10: (192, 3),
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


def evaluate_point(computation: Any) -> object:  # Any: py-evm leaves it untyped
    """EIP-4844's point evaluation: a commitment's polynomial has the value that is claimed."""
    computation.consume_gas(POINT_EVALUATION_PRECOMPILE_GAS, reason="point evaluation")
    data = bytes(computation.msg.data)
    if len(data) != _POINT_EVALUATION_INPUT:
        raise VMError("point evaluation: input of another length")
    versioned_hash, z, y, commitment, proof = data[:32], data[32:64], data[64:96], data[96:144], data[144:]
    if kzg_to_versioned_hash(commitment) != versioned_hash:
        raise VMError("point evaluation: the commitment has another hash")
    try:
        is_true = _is_proven(commitment, z, y, proof)
    except ValueError as error:
        raise VMError("point evaluation: malformed point or number") from error
    if not is_true:
        raise VMError("point evaluation: the proof is wrong")
    computation.output = FIELD_ELEMENTS_PER_BLOB.to_bytes(32, "big") + BLS_MODULUS.to_bytes(32, "big")
    return computation


def _is_proven(commitment: bytes, z: bytes, y: bytes, proof: bytes) -> bool:
    """e(commitment - y, 1) is e(proof, tau - z), in words of the curve's generators. Raises ValueError."""
    committed, quotient = G1Point.from_compressed_bytes(commitment), G1Point.from_compressed_bytes(proof)
    point, value = Scalar.from_be_bytes(z), Scalar.from_be_bytes(y)
    left, right = committed - G1Point() * value, _TAU - G2Point() * point
    return bool(GT.pairing_check([left, -quotient], [G2Point(), right]))


def with_point_evaluation(
    precompiles: dict[Any, Callable[..., Any]],  # Any: py-evm leaves it untyped
) -> dict[object, Callable[..., object]]:
    """A fork's precompiles, with ours in place of py-evm's point evaluation."""
    return {**precompiles, POINT_EVALUATION: evaluate_point}
