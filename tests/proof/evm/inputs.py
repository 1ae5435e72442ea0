"""Inputs for the precompiles that mean something: points on their curves, true signatures and proofs, and near misses.

Random bytes are refused by most precompiles before they compute anything; these are not.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Callable
from functools import lru_cache
from typing import Any, Final

from eth_keys import keys
from eth_utils.crypto import keccak
from py_ecc.bls.hash_to_curve import map_to_curve_G1, map_to_curve_G2
from py_ecc.optimized_bls12_381 import optimized_curve as bls
from py_ecc.optimized_bn128 import optimized_curve as bn

_BLS_FIELD: Final = bls.field_modulus
_SMALL: Final = (1, 2, 3, 5)


def make_input(rng: random.Random, precompile: int) -> bytes:
    """Input bytes of one precompile, by its number from 1 to 17; one in five is spoilt."""
    data = _MAKERS[precompile](rng)
    if rng.random() < 0.2:
        data = _spoil(rng, data)
    return data


def _spoil(rng: random.Random, data: bytes) -> bytes:
    kind = rng.randrange(3)
    if kind == 0 or not data:
        return data + bytes(rng.choice((1, 31, 32, 64)))
    if kind == 1:
        return data[: -rng.choice((1, 32, 64))]
    position = rng.randrange(len(data))
    return data[:position] + bytes([data[position] ^ (1 << rng.randrange(8))]) + data[position + 1 :]


def _signature(rng: random.Random) -> bytes:
    digest = keccak(rng.randbytes(8))
    signature = keys.PrivateKey(keccak(rng.randbytes(8))).sign_msg_hash(digest)
    v = signature.v + rng.choice((27, 27, 27, 28, 0))
    return digest + _words(v, signature.r, signature.s)


def _bytes(rng: random.Random) -> bytes:
    return rng.randbytes(rng.choice((0, 1, 31, 32, 33, 64, 65, 200)))


def _powers(rng: random.Random) -> bytes:
    base, exponent, modulus = (rng.choice((0, 1, 2, 31, 32, 33, 64)) for _ in range(3))
    numbers = rng.randbytes(base) + rng.randbytes(exponent) + rng.choice((rng.randbytes(modulus), bytes(modulus)))
    return _words(base, exponent, modulus) + numbers


def _blake(rng: random.Random) -> bytes:
    rounds = rng.choice((0, 1, 12, 12, 200))
    return rounds.to_bytes(4, "big") + rng.randbytes(208) + bytes([rng.choice((0, 1, 1, 2))])


def _bn_add(rng: random.Random) -> bytes:
    return _bn_g1(rng) + _bn_g1(rng)


def _bn_multiply(rng: random.Random) -> bytes:
    return _bn_g1(rng) + _scalar(rng, bn.curve_order)


def _bn_pairing(rng: random.Random) -> bytes:
    """Two pairs whose product is one, or one pair, or none."""
    one, other, twist = _bn_point(1), _bn_point(bn.curve_order - 1), _bn_twist(1)
    return rng.choice((b"", one + twist, one + twist + other + twist, _bn_g1(rng) + _bn_twist(2)))


def _kzg(rng: random.Random) -> bytes:
    """The empty polynomial, which is zero everywhere; or a false claim about it."""
    infinity = b"\xc0" + bytes(47)
    versioned = b"\x01" + hashlib.sha256(infinity).digest()[1:]
    z, y = rng.choice((0, 1, 77, 2**255)), rng.choice((0, 0, 1))
    return versioned + _words(z, y) + infinity + infinity


def _bls_g1_add(rng: random.Random) -> bytes:
    return _bls_g1(rng) + _bls_g1(rng)


def _bls_g1_msm(rng: random.Random) -> bytes:
    return b"".join(_bls_g1(rng) + _scalar(rng, bls.curve_order) for _ in range(rng.choice((1, 1, 2, 3))))


def _bls_g2_add(rng: random.Random) -> bytes:
    return _bls_g2(rng) + _bls_g2(rng)


def _bls_g2_msm(rng: random.Random) -> bytes:
    return b"".join(_bls_g2(rng) + _scalar(rng, bls.curve_order) for _ in range(rng.choice((1, 1, 2))))


def _bls_pairing(rng: random.Random) -> bytes:
    one, other, twist = _encode_g1(1), _encode_g1(bls.curve_order - 1), _encode_g2(1)
    return rng.choice((one + twist, one + twist + other + twist, _bls_g1(rng) + twist, one + _bls_g2(rng)))


def _field_element(rng: random.Random) -> bytes:
    return _padded(rng.choice((0, 1, rng.randrange(_BLS_FIELD), _BLS_FIELD - 1, _BLS_FIELD)))


def _two_field_elements(rng: random.Random) -> bytes:
    return _field_element(rng) + _field_element(rng)


def _scalar(rng: random.Random, order: int) -> bytes:
    return _words(rng.choice((0, 1, 2, order - 1, order, rng.randrange(2**256))))


def _bn_g1(rng: random.Random) -> bytes:
    return rng.choice((bytes(64), _bn_point(rng.choice(_SMALL)), _bn_point(rng.choice(_SMALL)), _words(1, 3)))


def _bls_g1(rng: random.Random) -> bytes:
    return rng.choice((bytes(128), _encode_g1(rng.choice(_SMALL)), _encode_g1(rng.choice(_SMALL)), _outside_g1()))


def _bls_g2(rng: random.Random) -> bytes:
    return rng.choice((bytes(256), _encode_g2(rng.choice(_SMALL)), _encode_g2(rng.choice(_SMALL)), _outside_g2()))


@lru_cache(maxsize=16)
def _bn_point(multiple: int) -> bytes:
    x, y = bn.normalize(bn.multiply(bn.G1, multiple))
    return _words(int(x), int(y))


@lru_cache(maxsize=16)
def _bn_twist(multiple: int) -> bytes:
    x, y = bn.normalize(bn.multiply(bn.G2, multiple))
    return _words(*(int(part) for element in (x, y) for part in reversed(element.coeffs)))


@lru_cache(maxsize=16)
def _encode_g1(multiple: int) -> bytes:
    return _show_g1(bls.multiply(bls.G1, multiple))


@lru_cache(maxsize=16)
def _encode_g2(multiple: int) -> bytes:
    return _show_g2(bls.multiply(bls.G2, multiple))


@lru_cache(maxsize=1)
def _outside_g1() -> bytes:
    """On the curve, but not in the group that signatures are of."""
    return _show_g1(map_to_curve_G1(bls.FQ(7)))


@lru_cache(maxsize=1)
def _outside_g2() -> bytes:
    return _show_g2(map_to_curve_G2(bls.FQ2((7, 9))))


def _show_g1(point: Any) -> bytes:
    return b"".join(_padded(int(element)) for element in bls.normalize(point))


def _show_g2(point: Any) -> bytes:
    return b"".join(_padded(int(part)) for element in bls.normalize(point) for part in element.coeffs)


def _padded(value: int) -> bytes:
    return value.to_bytes(64, "big")


def _words(*values: int) -> bytes:
    return b"".join(value.to_bytes(32, "big") for value in values)


_MAKERS: Final[dict[int, Callable[[random.Random], bytes]]] = {
    1: _signature,
    2: _bytes,
    3: _bytes,
    4: _bytes,
    5: _powers,
    6: _bn_add,
    7: _bn_multiply,
    8: _bn_pairing,
    9: _blake,
    10: _kzg,
    11: _bls_g1_add,
    12: _bls_g1_msm,
    13: _bls_g2_add,
    14: _bls_g2_msm,
    15: _bls_pairing,
    16: _field_element,
    17: _two_field_elements,
}
