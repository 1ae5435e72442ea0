"""User operations: packed, unpacked and hashed as the EntryPoint does it, and read out of a bundle of many."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.evm.world import CHAIN_ID, World
from tests.permits_app.execution.signers.smart_accounts import deploy_smart_accounts
from tools_app.chain.abi import AbiDecodeError, encode_args
from tools_app.standards.user_operation import (
    ENTRY_POINT,
    OPERATION_TOPIC,
    UserOperation,
    decode_operation,
    find_in_receipt,
)
from tools_app.toolkit.views import LogEntry, ReceiptView

GET_HASH = "getUserOpHash((address,uint256,bytes,bytes,bytes32,uint256,bytes32,bytes,bytes))"
ACCOUNT, PAYMASTER = "0x" + "11" * 20, "0x" + "22" * 20
HALF = st.integers(0, 2**128 - 1)
WORD = st.integers(0, 2**256 - 1)
OPERATIONS = st.builds(
    UserOperation,
    sender=st.just(ACCOUNT),
    nonce=WORD,
    call_data=st.binary(max_size=200),
    call_gas_limit=HALF,
    verification_gas_limit=HALF,
    pre_verification_gas=WORD,
    max_fee_per_gas=HALF,
    max_priority_fee_per_gas=HALF,
    paymaster=st.just(PAYMASTER),
    paymaster_verification_gas_limit=HALF,
    paymaster_post_op_gas_limit=HALF,
    paymaster_data=st.binary(max_size=100),
    signature=st.binary(max_size=80),
)
PLAIN = UserOperation(ACCOUNT, 7, b"\x01\x02", 1, 2, 3, 5, 4, signature=b"s")


@given(OPERATIONS)
def test_what_is_packed_is_unpacked_as_it_was(operation: UserOperation) -> None:
    assert decode_operation(operation.encode()) == operation


def test_the_hash_is_the_entry_points_own(chain: World) -> None:
    deploy_smart_accounts(chain)

    @settings(max_examples=25, deadline=None)
    @given(OPERATIONS)
    def compare(operation: UserOperation) -> None:
        said = chain.rpc.read(ENTRY_POINT, GET_HASH, operation.pack(), returns="(bytes32)")[0]
        assert operation.hash(chain_id=CHAIN_ID) == "0x" + bytes(said).hex()

    compare()
    said = chain.rpc.read(ENTRY_POINT, GET_HASH, PLAIN.pack(), returns="(bytes32)")[0]
    assert PLAIN.hash(chain_id=CHAIN_ID) == "0x" + bytes(said).hex()


def test_the_hash_binds_the_chain_and_everything_but_the_signature() -> None:
    own = PLAIN.hash(chain_id=1)
    assert PLAIN.hash(chain_id=2) != own
    assert decode_operation(PLAIN.encode()).hash(chain_id=1) == own
    fields = {name: getattr(PLAIN, name) for name in PLAIN.__dataclass_fields__}
    for name, value in fields.items():
        changed = {**fields, name: value + 1 if isinstance(value, int) else b"\xff"}
        if name in ("sender", "paymaster"):
            changed[name] = PAYMASTER
        if name == "paymaster_data" or name.startswith("paymaster_"):
            changed["paymaster"] = PAYMASTER
        assert (UserOperation(**changed).hash(chain_id=1) == own) is (name == "signature"), name


def test_gas_beyond_its_field_and_bytes_of_another_shape_are_refused() -> None:
    for name in ("call_gas_limit", "verification_gas_limit", "max_fee_per_gas"):
        fields = {each: getattr(PLAIN, each) for each in PLAIN.__dataclass_fields__}
        with pytest.raises(ValueError, match="128 bits"):
            UserOperation(**{**fields, name: 2**128}).encode()
    with pytest.raises(AbiDecodeError):
        decode_operation(b"\x02\x01")
    kinds = ("address", "uint256", "bytes", "bytes", "bytes32", "uint256", "bytes32", "bytes", "bytes")
    for init_code, paymaster in ((b"\x01", b""), (b"", b"\x01" * 30)):
        packed = encode_args(kinds, (ACCOUNT, 0, init_code, b"", bytes(32), 0, bytes(32), paymaster, b""))
        with pytest.raises(ValueError, match="account that exists"):
            decode_operation(packed)


def log(address: str, *topics: str, data: str = "0x") -> LogEntry:
    return LogEntry(address=address, topics=topics, data=data, block_number=1, tx_hash="0x" + "0c" * 32, log_index=0)


def event(
    op_hash: str, *, success: int = 1, cost: int = 100, gas: int = 9, paymaster: str = "0x" + "00" * 20
) -> LogEntry:
    data = encode_args(("uint256", "bool", "uint256", "uint256"), (0, bool(success), cost, gas))
    indexed = [f"0x{each[2:]:0>64}" for each in (ACCOUNT, paymaster)]
    return log(ENTRY_POINT, OPERATION_TOPIC, op_hash, *indexed, data="0x" + data.hex())


def make_receipt(*, logs: tuple[LogEntry, ...], succeeded: bool = True) -> ReceiptView:
    """The receipt of a bundle."""
    return ReceiptView(
        tx_hash="0x" + "0c" * 32,
        succeeded=succeeded,
        block_number=1,
        block_hash="0x" + "0d" * 32,
        gas_used=10**6,
        effective_gas_price=10,
        l1_fee=0,
        logs=logs,
    )


BEFORE = log(ENTRY_POINT, "0xbb47ee3e183a558b1a2ff0874b079f3fc5478b7454eacf2bfc5af2ff5878f972")
OURS, OTHER = "0x" + "0a" * 32, "0x" + "0b" * 32


def test_an_operation_in_a_bundle_has_its_own_logs_and_not_its_neighbours() -> None:
    first, second, third = (log("0x" + f"{n:02x}" * 20, "0x" + "00" * 32) for n in (1, 2, 3))
    deposit = log(ENTRY_POINT, "0x" + "dd" * 32)
    logs = (deposit, BEFORE, first, event(OTHER), second, third, event(OURS, cost=55, gas=7), first)
    found = find_in_receipt(make_receipt(logs=logs), OURS)
    assert found is not None
    seen, own = found
    assert own == (second, third)
    assert (seen.succeeded, seen.cost, seen.gas_used, seen.paymaster) == (True, 55, 7, "")
    other = find_in_receipt(make_receipt(logs=logs), OTHER)
    assert other is not None and other[1] == (first,)


def test_failure_and_payer_are_read_from_the_event_and_only_from_the_entry_points() -> None:
    found = find_in_receipt(make_receipt(logs=(BEFORE, event(OURS, success=0, paymaster=PAYMASTER))), OURS)
    assert found is not None and not found[0].succeeded and found[0].paymaster.lower() == PAYMASTER
    forged = LogEntry(**{**{f: getattr(event(OURS), f) for f in LogEntry.__dataclass_fields__}, "address": PAYMASTER})
    assert find_in_receipt(make_receipt(logs=(BEFORE, forged)), OURS) is None
    assert find_in_receipt(make_receipt(logs=(BEFORE, event(OURS)), succeeded=False), OURS) is None
    assert find_in_receipt(make_receipt(logs=(BEFORE, event(OTHER))), OURS) is None
