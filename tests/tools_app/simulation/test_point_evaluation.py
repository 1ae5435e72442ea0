"""The proof of a blob's value, held against the library of the consensus clients."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from ckzg import (  # type: ignore[import-not-found]
    blob_to_kzg_commitment,
    compute_kzg_proof,
    load_trusted_setup,
    verify_kzg_proof,
)
from eth.exceptions import VMError
from eth.precompiles.point_evaluation import TRUSTED_SETUP_PATH, kzg_to_versioned_hash
from eth.vm.forks.cancun.constants import BLS_MODULUS

from tools_app.simulation.pyevm.precompiles import evaluate_point

INFINITY = b"\xc0" + bytes(47)
NO_POINTS = (bytes(48), b"\xff" * 48, b"\x80" + bytes(47), b"\xc0" + bytes(46) + b"\x01", b"\x9f" + b"\xff" * 47)


@pytest.fixture(scope="module")
def setup() -> Any:
    return load_trusted_setup(TRUSTED_SETUP_PATH, 0)


@pytest.fixture(scope="module")
def proven(setup: Any) -> tuple[bytes, bytes, bytes, bytes]:
    """A commitment, a point, the value there and its proof."""
    blob = b"".join(number.to_bytes(32, "big") for number in range(7, 7 + 4096))
    z = (2**200 + 5).to_bytes(32, "big")
    proof, y = compute_kzg_proof(blob, z, setup)
    return blob_to_kzg_commitment(blob, setup), z, y, proof


def evaluate(commitment: bytes, z: bytes, y: bytes, proof: bytes) -> bool:
    data = kzg_to_versioned_hash(commitment) + z + y + commitment + proof
    computation = SimpleNamespace(msg=SimpleNamespace(data=data), consume_gas=lambda *_, **__: None, output=b"")
    try:
        evaluate_point(computation)
    except VMError:
        return False
    return computation.output[-32:] == BLS_MODULUS.to_bytes(32, "big")


def ask_consensus(commitment: bytes, z: bytes, y: bytes, proof: bytes, setup: Any) -> bool:
    try:
        return bool(verify_kzg_proof(commitment, z, y, proof, setup))
    except RuntimeError:
        return False


def test_every_point_number_and_proof_is_judged_as_consensus_clients_judge_it(
    setup: Any, proven: tuple[bytes, bytes, bytes, bytes]
) -> None:
    commitment, z, y, proof = proven
    numbers = [bytes(32), z, y, *(n.to_bytes(32, "big") for n in (1, BLS_MODULUS - 1, BLS_MODULUS, 2**256 - 1))]
    points = [commitment, proof, INFINITY, *NO_POINTS]
    flipped = bytes([commitment[0] ^ 0x20]) + commitment[1:]
    cases = [(commitment, z, y, proof), (flipped, z, y, proof), (INFINITY, z, bytes(32), INFINITY)]
    cases += [(each, z, y, proof) for each in points] + [(commitment, z, y, each) for each in points]
    cases += [(commitment, each, y, proof) for each in numbers] + [(commitment, z, each, proof) for each in numbers]
    judged = [evaluate(*case) for case in cases]
    assert judged == [ask_consensus(*case, setup) for case in cases]
    assert judged[0] and judged[2], "what is proven is taken, and so is a polynomial that is nowhere but zero"
    assert not judged[1]


def test_a_number_as_large_as_the_field_is_refused_though_it_is_the_same_in_the_field(
    proven: tuple[bytes, bytes, bytes, bytes],
) -> None:
    commitment, z, y, proof = proven
    assert evaluate(commitment, z, y, proof)
    assert not evaluate(commitment, (int.from_bytes(z, "big") + BLS_MODULUS).to_bytes(32, "big"), y, proof)
    assert not evaluate(commitment, z, (int.from_bytes(y, "big") + BLS_MODULUS).to_bytes(32, "big"), proof)
