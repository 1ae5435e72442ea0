from __future__ import annotations

import pytest

from tools_app.chain.signatures import SignatureError, parse_signature


def test_a_function_with_names_modifiers_and_outputs_is_read() -> None:
    entry = parse_signature("function slot0() external view returns (uint160 sqrtPriceX96, int24 tick, bool unlocked)")

    assert entry.canonical == "slot0()"
    assert entry.selector.hex() == "3850c7bd"
    assert [(param.type, param.name) for param in entry.outputs] == [
        ("uint160", "sqrtPriceX96"),
        ("int24", "tick"),
        ("bool", "unlocked"),
    ]


def test_structs_arrays_and_aliases_become_canonical_types() -> None:
    entry = parse_signature("function f(tuple(address token, uint[] fees)[3][] calldata paths, int x, string memory s)")

    assert entry.canonical == "f((address,uint256[])[3][],int256,string)"
    assert entry.inputs[0].members[1].name == "fees"
    assert entry.inputs[0].array_suffix == "[3][]"


def test_the_topic_of_an_event_ignores_names_and_indexed() -> None:
    named = parse_signature("event Transfer(address indexed from, address indexed to, uint256 value)")
    bare = parse_signature("event Transfer(address,address,uint)")

    assert named.digest == bare.digest
    assert named.digest.hex() == "ddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef"
    assert [param.is_indexed for param in named.inputs] == [True, True, False]


@pytest.mark.parametrize(
    "text",
    [
        "transfer(address,uint256)",
        "function f(uint257 x)",
        "function f(uint12 x)",
        "function f(bytes33 x)",
        "function f(address",
        "function f(address a b)",
        "function f(wat)",
        "function f() gives (uint256)",
        "event E(uint256) view",
        "function f(uint256) returns (uint256) %",
        "",
    ],
)
def test_a_malformed_signature_is_refused(text: str) -> None:
    with pytest.raises(SignatureError):
        parse_signature(text)
