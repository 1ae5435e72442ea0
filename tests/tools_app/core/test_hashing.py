"""Canonical bytes: what is hashed is RFC 8785, whichever encoder wrote it."""

from __future__ import annotations

from typing import Any

import pytest
import rfc8785
from hypothesis import given
from hypothesis import strategies as st

from tools_app.core.hashing import canonical_bytes, hash_canonical

TEXT = st.text(max_size=12) | st.text(st.characters(max_codepoint=0x7F), max_size=12)
VALUES = st.recursive(
    st.none() | st.booleans() | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=5),
    max_leaves=12,
)


@given(VALUES)
def test_canonical_bytes_are_those_of_the_rfc(value: Any) -> None:
    assert canonical_bytes(value) == rfc8785.dumps(value)


def test_keys_beyond_the_first_plane_are_in_the_order_of_utf_16() -> None:
    assert canonical_bytes({"\ufb33": "1", "\U0001f600": "2"}) == '{"\U0001f600":"2","\ufb33":"1"}'.encode()


def test_integers_are_decimal_text_and_bytes_hex() -> None:
    assert canonical_bytes({"b": 2**200, "a": b"\x01\xff", "c": True}) == (b'{"a":"0x01ff","b":"%d","c":true}' % 2**200)
    assert hash_canonical({"a": 1, "b": 2}) == hash_canonical({"b": 2, "a": 1})
    assert hash_canonical({"a": 1}) != hash_canonical({"a": 2})


def test_a_fraction_has_no_canonical_form() -> None:
    with pytest.raises(TypeError):
        canonical_bytes({"a": 0.5})
