"""What a rollup's oracle is asked and answers: the OP Stack's own contracts, and simulated ones."""

from __future__ import annotations

from typing import Any

import pytest
from eth_account import Account
from eth_utils.crypto import keccak

from tests.evm.world import World
from tests.tools_app.chain.conftest import OpenReader
from tests.tools_app.simulation.rollups import as_rollup, put_node_interface, put_oracle, put_real_op_stack
from tools_app.chain.networks import KNOWN_NETWORKS
from tools_app.chain.node_errors import ContractOutputUnexpected
from tools_app.simulation.rollup_fee import (
    OP_ORACLE,
    ROLLUPS,
    L1Charge,
    RollupKind,
    encode_unsigned,
    estimate_l1_charges,
)
from tools_app.toolkit.plan import Call

CALLS = (
    Call("0x" + "11" * 20, bytes(range(200)), 10**18, "a call"),
    Call("0x" + "22" * 20, b"", 1, "a transfer"),
)
FEES: dict[str, Any] = {"nonce": 7, "max_fee_per_gas": 3 * 10**9, "max_priority_fee_per_gas": 10**8}
LIMITS = (123_456, 21_000)


def test_a_chain_without_layer_one_charges_nothing(open_reader: OpenReader) -> None:
    assert estimate_l1_charges(open_reader(), calls=CALLS, gas_limits=LIMITS, **FEES) == (L1Charge(), L1Charge())


def test_the_op_oracle_is_given_each_transaction_unsigned(
    open_reader: OpenReader, chain: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    as_rollup(monkeypatch, RollupKind.OP_STACK)
    put_oracle(chain, l1_base_fee=10**10, base_fee_scalar=1_000_000)
    charges = estimate_l1_charges(open_reader(), calls=CALLS, gas_limits=LIMITS, **FEES)
    for position, (call, limit) in enumerate(zip(CALLS, LIMITS, strict=True)):
        unsigned = encode_unsigned(
            chain_id=31337,
            call=call,
            nonce=7 + position,
            gas_limit=limit,
            max_fee_per_gas=3 * 10**9,
            max_priority_fee_per_gas=10**8,
        )
        counted = sum(4 if byte == 0 else 16 for byte in unsigned) + 68 * 16
        assert charges[position] == L1Charge(fee_wei=counted * 10**10)


def test_the_op_stacks_own_contracts_answer_what_their_rule_says(
    open_reader: OpenReader, chain: World, monkeypatch: pytest.MonkeyPatch, bytecode: dict[str, str]
) -> None:
    """Since Fjord a size is estimated from what the bytes compress to; at least 100 bytes, and most are that small."""
    as_rollup(monkeypatch, RollupKind.OP_STACK)
    prices = {
        "base_fee_scalar": 5_227,
        "blob_base_fee_scalar": 1_014_213,
        "l1_base_fee": 20 * 10**9,
        "blob_base_fee": 3 * 10**9,
    }
    put_real_op_stack(chain, bytecode, **prices)
    random_bytes = b"".join(keccak(number.to_bytes(4, "big")) for number in range(100))
    calls = (Call("0x" + "22" * 20, b"", 1, "small"), Call("0x" + "11" * 20, random_bytes, 0, "large"))
    small, large = estimate_l1_charges(open_reader(), calls=calls, gas_limits=LIMITS, **FEES)

    per_byte = 16 * prices["base_fee_scalar"] * prices["l1_base_fee"]
    per_byte += prices["blob_base_fee_scalar"] * prices["blob_base_fee"]
    assert small == L1Charge(fee_wei=100 * 10**6 * per_byte // 10**12)
    # Nothing of it compresses: about its own size, a thirty-second more for the marks, a signature more.
    size = (len(random_bytes) * 33 // 32 + 68 + 60) * 836_500 - 42_585_600
    assert large.fee_wei == pytest.approx(size * per_byte / 10**12, rel=0.03)
    unsigned = encode_unsigned(
        chain_id=31337,
        call=calls[1],
        nonce=8,
        gas_limit=LIMITS[1],
        max_fee_per_gas=3 * 10**9,
        max_priority_fee_per_gas=10**8,
    )
    told = chain.rpc.read(OP_ORACLE, "getL1Fee(bytes)", unsigned, returns="(uint256)")
    assert large.fee_wei == (told[0] if isinstance(told, tuple) else told)


def test_every_rollup_this_product_knows_asks_an_oracle() -> None:
    # ZKsync takes what its bytes cost as gas of its own, which its node tells.
    only_gas = {1, 56, 137, 324, 43114, 31337, 31338}

    assert set(ROLLUPS) == set(KNOWN_NETWORKS) - only_gas


def test_the_unsigned_bytes_are_those_that_will_be_signed() -> None:
    call, limit = CALLS[0], LIMITS[0]
    told = {"chain_id": 31337, "call": call, "gas_limit": limit, **FEES}
    account = Account.from_key(keccak(b"any key"))
    signed = account.sign_transaction(
        {
            "type": 2,
            "chainId": 31337,
            "nonce": 7,
            "to": call.to,
            "value": call.value,
            "data": call.data,
            "gas": limit,
            "maxFeePerGas": 3 * 10**9,
            "maxPriorityFeePerGas": 10**8,
        }
    )
    recovered = Account._recover_hash(
        keccak(encode_unsigned(**told)), vrs=(signed.v, signed.r, signed.s)
    )  # the hash of exactly these bytes was signed

    assert recovered == account.address


def test_arbitrum_takes_its_charge_as_gas(
    open_reader: OpenReader, chain: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    as_rollup(monkeypatch, RollupKind.ARBITRUM)
    put_node_interface(chain)
    charges = estimate_l1_charges(open_reader(), calls=CALLS, gas_limits=LIMITS, **FEES)

    assert charges == (L1Charge(gas=200), L1Charge(gas=0))


@pytest.mark.parametrize("kind", [RollupKind.OP_STACK, RollupKind.ARBITRUM])
def test_an_oracle_that_is_not_there_is_an_error_and_never_zero(
    open_reader: OpenReader, monkeypatch: pytest.MonkeyPatch, kind: RollupKind
) -> None:
    as_rollup(monkeypatch, kind)
    with pytest.raises(ContractOutputUnexpected):
        estimate_l1_charges(open_reader(), calls=CALLS, gas_limits=LIMITS, **FEES)
