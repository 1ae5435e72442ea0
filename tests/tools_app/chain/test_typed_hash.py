"""Our reading of EIP-712 against the library's, which shares no line with it."""

from __future__ import annotations

from typing import Any

import pytest
from eth_account.messages import encode_typed_data
from eth_utils.crypto import keccak
from hypothesis import given
from hypothesis import strategies as st

from tools_app.chain.typed_hash import hash_typed_data
from tools_app.toolkit.typed_data import TypedData

ADDRESS = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8"
TYPES = {
    "Order": (
        ("maker", "address"),
        ("items", "Item[]"),
        ("pair", "uint256[2]"),
        ("least", "int128"),
        ("salt", "bytes32"),
        ("data", "bytes"),
        ("note", "string"),
        ("partly", "bool"),
    ),
    "Item": (("token", "address"), ("amount", "uint128")),
}
items = st.lists(st.fixed_dictionaries({"token": st.just(ADDRESS), "amount": st.integers(0, 2**128 - 1)}), max_size=3)
orders = st.fixed_dictionaries(
    {
        "maker": st.just(ADDRESS),
        "items": items,
        "pair": st.lists(st.integers(0, 2**256 - 1), min_size=2, max_size=2),
        "least": st.integers(-(2**127), 2**127 - 1),
        "salt": st.binary(min_size=32, max_size=32).map(lambda raw: "0x" + raw.hex()),
        "data": st.binary(max_size=40).map(lambda raw: "0x" + raw.hex()),
        "note": st.text(max_size=20),
        "partly": st.booleans(),
    }
)


def make(message: dict[str, Any], **domain: Any) -> TypedData:
    named = {"name": "Market", "version": "1", "chainId": 31337, "verifyingContract": ADDRESS, **domain}
    return TypedData({name: each for name, each in named.items() if each is not None}, "Order", TYPES, message)


@given(message=orders, name=st.one_of(st.none(), st.text(max_size=10)))
def test_both_readings_come_to_the_same_digest_also_after_a_rest_as_json(message: dict[str, Any], name: Any) -> None:
    typed = make(message, name=name)
    signable = encode_typed_data(full_message=typed.as_document())
    theirs = keccak(b"\x19" + signable.version + signable.header + signable.body)
    assert hash_typed_data(typed) == theirs
    assert hash_typed_data(TypedData.of_json(typed.as_json())) == theirs


GOOD: dict[str, Any] = {
    "maker": ADDRESS,
    "items": [{"token": ADDRESS, "amount": 1}],
    "pair": [1, 2],
    "least": -1,
    "salt": "0x" + "11" * 32,
    "data": "0x",
    "note": "",
    "partly": False,
}


@pytest.mark.parametrize(
    "slip",
    [
        {"salt": "0x11"},
        {"pair": [1]},
        {"least": 2**127},
        {"items": [{"token": ADDRESS, "amount": -1}]},
        {"items": [{"token": ADDRESS, "amount": 1, "more": 1}]},
        {"maker": ADDRESS[:-2]},
        {"more": 1},
        {"least": True},
    ],
    ids=str,
)
def test_what_is_not_of_its_type_has_no_digest(slip: dict[str, Any]) -> None:
    hash_typed_data(make(GOOD))
    with pytest.raises(ValueError):
        hash_typed_data(make({**GOOD, **slip}))
