"""What a rollup's oracle is asked and answers, on contracts of our own with the oracles' ABI."""

from __future__ import annotations

from typing import Any

import pytest
from eth_account import Account
from eth_utils.crypto import keccak

from tests.evm.world import World
from tests.tools_app.chain.conftest import OpenReader
from tools_app.chain.node_errors import ContractOutputUnexpected
from tools_app.simulation.rollup_fee import RollupKind, encode_signed, estimate_l1_fee
from tools_app.toolkit.plan import Call

# Seven wei for each byte of the bytes it is given.
OP_CODE = "602435600702" + "5f5260205ff3"
# As much gas as the data has bytes, then two prices.
ARBITRUM_CODE = "6064355f526002602052600360405260605ff3"
CALL = Call("0x" + "11" * 20, bytes(range(200)), 10**18, "a call")
FEES: dict[str, Any] = {
    "nonce": 7,
    "gas_limit": 123_456,
    "max_fee_per_gas": 3 * 10**9,
    "max_priority_fee_per_gas": 10**8,
}


def deploy(chain: World, runtime: str) -> str:
    size = len(runtime) // 2
    receipt = chain.send(chain.actors.deployer, None, f"0x60{size:02x}8060095f395ff3{runtime}")
    address: str = receipt["contractAddress"]
    assert receipt["status"] == "0x1"
    return address


def test_a_chain_without_layer_one_charges_nothing(open_reader: OpenReader) -> None:
    assert estimate_l1_fee(open_reader(), chain_id=31337, call=CALL, **FEES) == 0


def test_the_op_oracle_is_given_the_transaction_as_it_will_be_sent(open_reader: OpenReader, chain: World) -> None:
    oracle = deploy(chain, OP_CODE)
    fee = estimate_l1_fee(open_reader(), chain_id=31337, call=CALL, kind=RollupKind.OP_STACK, oracle=oracle, **FEES)
    signed = Account.from_key(keccak(b"any key")).sign_transaction(
        {
            "type": 2,
            "chainId": 31337,
            "nonce": 7,
            "to": CALL.to,
            "value": CALL.value,
            "data": CALL.data,
            "gas": 123_456,
            "maxFeePerGas": 3 * 10**9,
            "maxPriorityFeePerGas": 10**8,
        }
    )

    assert abs(len(signed.raw_transaction) - len(encode_signed(chain_id=31337, call=CALL, **FEES))) <= 2
    assert fee == 7 * len(encode_signed(chain_id=31337, call=CALL, **FEES))


def test_arbitrums_gas_is_paid_at_the_fee_cap(open_reader: OpenReader, chain: World) -> None:
    oracle = deploy(chain, ARBITRUM_CODE)
    fee = estimate_l1_fee(open_reader(), chain_id=31337, call=CALL, kind=RollupKind.ARBITRUM, oracle=oracle, **FEES)

    assert fee == len(CALL.data) * FEES["max_fee_per_gas"]


def test_an_oracle_that_is_not_there_is_an_error_and_never_zero(open_reader: OpenReader) -> None:
    with pytest.raises(ContractOutputUnexpected):
        estimate_l1_fee(open_reader(), chain_id=8453, call=CALL, oracle="0x" + "9a" * 20, **FEES)
