"""What a large argument was encoded to is found again by that very argument, and for the same function only."""

from __future__ import annotations

import pytest

from tools_app.chain import kept_encodings
from tools_app.chain.abi import encode_args, encode_call
from tools_app.chain.kept_encodings import KeptEncodings

_PAIRS = "function put((address,uint256)[] pairs)"
_OTHERS = "function take((address,uint256)[] pairs)"
_TOKEN = "0x" + "11" * 20


def test_the_same_tuple_is_the_same_data_for_each_function_and_another_tuple_is_its_own() -> None:
    pairs, more = ((_TOKEN, 1),), ((_TOKEN, 2),)
    for _ in range(2):
        for signature in (_PAIRS, _OTHERS):
            for each in (pairs, more):
                data = encode_call(signature, each)
                assert data[4:] == encode_args(("(address,uint256)[]",), (each,))
        assert encode_call(_PAIRS, pairs)[:4] != encode_call(_OTHERS, pairs)[:4]


def test_a_tuple_with_a_list_inside_is_encoded_as_it_is_now() -> None:
    inner = [1]
    holder = (inner,)
    first = encode_call("function put(uint256[][] rows)", holder)
    inner.append(2)
    assert encode_call("function put(uint256[][] rows)", holder) != first


def test_many_are_given_up_together(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_encodings, "_MOST_KEPT", 2)
    kept, arguments = KeptEncodings(), [(number,) for number in range(3)]
    for argument in arguments:
        kept.keep("f", argument, bytes(argument))
    assert [kept.find("f", argument) for argument in arguments] == [None, None, b"\x02"]
    assert kept.find("g", arguments[2]) is None and kept.find("f", (2, 2)[:1]) is None
