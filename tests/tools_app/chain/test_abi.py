from __future__ import annotations

from typing import Any

import pytest
from eth_abi.abi import decode, encode
from eth_utils.address import to_checksum_address
from hypothesis import given, settings
from hypothesis import strategies as st
from web3 import Web3

from tools_app.chain.abi import (
    AbiDecodeError,
    clean_text,
    decode_input,
    decode_log,
    decode_revert,
    decode_values,
    encode_args,
    encode_call,
    encode_event_topics,
    event_topic,
)
from tools_app.toolkit.views import LogEntry

ALICE = "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266"
TRANSFER = "event Transfer(address indexed from, address indexed to, uint256 value)"

_addresses = st.binary(min_size=20, max_size=20).map(lambda raw: to_checksum_address("0x" + raw.hex()))


def _uint(bits: int) -> st.SearchStrategy[tuple[str, Any]]:
    return st.tuples(st.just(f"uint{bits}"), st.integers(0, 2**bits - 1))


def _int(bits: int) -> st.SearchStrategy[tuple[str, Any]]:
    return st.tuples(st.just(f"int{bits}"), st.integers(-(2 ** (bits - 1)), 2 ** (bits - 1) - 1))


def _fixed_bytes(size: int) -> st.SearchStrategy[tuple[str, Any]]:
    return st.tuples(st.just(f"bytes{size}"), st.binary(min_size=size, max_size=size))


_words = st.one_of(
    st.integers(1, 32).map(lambda n: n * 8).flatmap(_uint),
    st.integers(1, 32).map(lambda n: n * 8).flatmap(_int),
    st.integers(1, 32).flatmap(_fixed_bytes),
    st.tuples(st.just("address"), _addresses),
    st.tuples(st.just("bool"), st.booleans()),
)
_dynamic = st.one_of(
    st.tuples(st.just("bytes"), st.binary(max_size=80)),
    st.tuples(st.just("string"), st.text(st.characters(codec="utf-8"), max_size=40)),
    st.tuples(st.just("uint24[]"), st.lists(st.integers(0, 2**24 - 1), max_size=4).map(tuple)),
    st.tuples(st.just("(address,uint256)[2]"), st.tuples(*[st.tuples(_addresses, st.integers(0, 9))] * 2)),
)


@settings(max_examples=200, deadline=None)
@given(st.lists(_words, max_size=8))
def test_single_words_are_packed_and_unpacked_as_eth_abi_does(items: list[tuple[str, Any]]) -> None:
    types = tuple(kind for kind, _ in items)
    values = tuple(value for _, value in items)
    packed = encode_args(types, values)

    assert packed == encode(types, values)
    assert decode_values(types, packed) == values
    assert [str(value).lower() for value in decode(types, packed)] == [
        str(value).lower() for value in decode_values(types, packed)
    ]


@settings(max_examples=100, deadline=None)
@given(_words, st.integers(0, 90), st.binary(max_size=40))
def test_a_list_of_single_words_comes_back_as_eth_abi_reads_it(item: tuple[str, Any], count: int, rest: bytes) -> None:
    kind, value = item
    encoded = encode((f"{kind}[]",), ((value,) * count,))
    assert decode_values((f"{kind}[]",), encoded + rest) == ((value,) * count,)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.one_of(_words, _dynamic), min_size=1, max_size=6))
def test_mixed_values_are_encoded_as_eth_abi_does_and_come_back(items: list[tuple[str, Any]]) -> None:
    types = tuple(kind for kind, _ in items)
    values = tuple(value for _, value in items)
    encoded = encode_args(types, values)

    assert encoded == encode(types, values)
    assert decode_values(types, encoded) == values


@settings(max_examples=50, deadline=None)
@given(_addresses, _addresses, st.integers(0, 2**24 - 1), st.integers(0, 2**256 - 1))
def test_calldata_equals_that_of_web3(token_in: str, token_out: str, fee: int, amount: int) -> None:
    components = [
        {"name": "tokenIn", "type": "address"},
        {"name": "tokenOut", "type": "address"},
        {"name": "fee", "type": "uint24"},
        {"name": "amountIn", "type": "uint256"},
    ]
    abi = [
        {
            "type": "function",
            "name": "swap",
            "stateMutability": "payable",
            "inputs": [{"name": "params", "type": "tuple", "components": components}],
            "outputs": [],
        }
    ]
    expected = Web3().eth.contract(abi=abi).encode_abi("swap", args=[(token_in, token_out, fee, amount)])
    ours = encode_call(
        "function swap((address tokenIn, address tokenOut, uint24 fee, uint256 amountIn) params) payable",
        (token_in, token_out, fee, amount),
    )

    assert "0x" + ours.hex() == expected


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        ("uint8", 256),
        ("uint8", -1),
        ("uint256", True),
        ("uint256", 1.0),
        ("int8", 128),
        ("address", "0x1234"),
        ("address", "not an address"),
        ("bool", 1),
        ("bytes4", b"12345"),
        ("bytes32", "0x00"),
        ("uint8[]", [256]),
    ],
)
def test_a_value_that_does_not_fit_its_type_is_refused(kind: str, value: Any) -> None:
    with pytest.raises(ValueError):
        encode_args((kind,), (value,))


def test_a_wrong_number_of_arguments_is_refused() -> None:
    with pytest.raises(ValueError, match="1 arguments"):
        encode_call("function f(uint256,uint256)", 1)


@pytest.mark.parametrize(
    ("types", "data"),
    [
        (("uint8",), (256).to_bytes(32, "big")),
        (("bool",), (2).to_bytes(32, "big")),
        (("address",), b"\x01" * 32),
        (("uint256", "uint256"), bytes(32)),
        (("uint256",), b""),
        (("string",), b""),
        (("string",), (32).to_bytes(32, "big") + (2**255).to_bytes(32, "big")),
        (("string",), (32).to_bytes(32, "big") + (1).to_bytes(32, "big") + b"\xff" + bytes(31)),
        (("uint256[]",), b""),
        (("uint256[]",), (32).to_bytes(32, "big")),
        (("uint256[]",), (2**255).to_bytes(32, "big") + bytes(64)),
        (("uint256[]",), (32).to_bytes(32, "big") + (2).to_bytes(32, "big") + bytes(63)),
        (("uint256[]",), (32).to_bytes(32, "big") + (2**255).to_bytes(32, "big") + bytes(64)),
        (("uint8[]",), (32).to_bytes(32, "big") + (1).to_bytes(32, "big") + (256).to_bytes(32, "big")),
    ],
)
def test_bytes_of_another_shape_are_refused(types: tuple[str, ...], data: bytes) -> None:
    with pytest.raises(AbiDecodeError):
        decode_values(types, data)


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=300))
def test_any_bytes_decode_or_are_refused_but_never_crash(data: bytes) -> None:
    for types in (("uint8", "address"), ("string", "bytes"), ("(address,uint24[])[]",), ("bytes32[]",)):
        try:
            decode_values(types, data)
        except AbiDecodeError:
            continue
    assert decode_revert(data).text


def test_call_data_of_another_function_is_not_decoded() -> None:
    with pytest.raises(AbiDecodeError):
        decode_input("function approve(address,uint256)", encode_call("function transfer(address,uint256)", ALICE, 1))


def _log(topics: list[str], data: str = "0x" + "00" * 31 + "05") -> LogEntry:
    return LogEntry(ALICE, tuple(topics), data, 1, "0x", 0)


def _topic(address: str) -> str:
    return "0x" + "00" * 12 + address[2:].lower()


def test_a_log_is_decoded_by_name() -> None:
    log = _log([event_topic(TRANSFER), _topic(ALICE), _topic(ALICE)])

    assert decode_log(TRANSFER, log) == {"from": ALICE, "to": ALICE, "value": 5}


def test_an_erc721_transfer_is_not_taken_for_an_erc20_one() -> None:
    log = _log([event_topic(TRANSFER), _topic(ALICE), _topic(ALICE), "0x" + "00" * 32], "0x")

    assert decode_log(TRANSFER, log) is None


def test_a_log_of_another_event_or_with_short_data_is_none() -> None:
    assert decode_log(TRANSFER, _log(["0x" + "11" * 32, _topic(ALICE), _topic(ALICE)])) is None
    assert decode_log(TRANSFER, _log([event_topic(TRANSFER), _topic(ALICE), _topic(ALICE)], "0x")) is None
    assert decode_log(TRANSFER, _log([])) is None


def test_a_filter_holds_the_topic_and_the_named_arguments() -> None:
    assert encode_event_topics(TRANSFER, to=ALICE) == [event_topic(TRANSFER), None, _topic(ALICE)]
    assert encode_event_topics(TRANSFER) == [event_topic(TRANSFER)]
    with pytest.raises(ValueError, match="no indexed"):
        encode_event_topics(TRANSFER, value=1)


def test_revert_data_is_named() -> None:
    text = decode_revert(encode_call("function Error(string)", "STF"))
    panic = decode_revert(encode_call("function Panic(uint256)", 0x12))
    known = decode_revert(encode_call("function ERC20InsufficientBalance(address,uint256,uint256)", ALICE, 1, 2))
    given = decode_revert(encode_call("function TooLittle(uint256)", 3), ["error TooLittle(uint256 received)"])
    unknown = decode_revert(bytes.fromhex("deadbeef"))

    assert text.text == "STF"
    assert panic.text == "Panic 0x12: division or modulo by zero"
    assert known.name == "ERC20InsufficientBalance"
    assert known.args == {"sender": ALICE, "balance": 1, "needed": 2}
    assert given.text == "TooLittle(received=3)"
    assert unknown.text == "unknown error 0xdeadbeef"
    assert decode_revert(b"").text == "reverted without a reason"


def test_foreign_text_loses_control_and_invisible_characters_and_is_cut() -> None:
    hostile = "US\u202eDC\x1b[31m\u200b\n" + "x" * 500

    assert clean_text(hostile, limit=20) == "USDC[31m" + "x" * 11 + "…"
    assert "\x1b" not in decode_revert(encode_call("function Error(string)", hostile)).text
