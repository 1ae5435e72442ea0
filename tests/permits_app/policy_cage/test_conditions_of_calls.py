"""What a condition packs into one number, and which calls meet it: beside the contract's own words for its layout."""

from __future__ import annotations

from typing import Any, Final

import pytest
from eth_abi.abi import encode

from permits_app.policy_cage.conditions import Condition, Must, is_met

ACCOUNT, ASSET, OTHER = "0x" + "11" * 20, "0x" + "22" * 20, "0x" + "33" * 20
COIN: Final = "0x" + "ee" * 20
MOST: Final = 2**192 - 1


@pytest.mark.parametrize(
    ("condition", "number"),
    [
        (Condition(Must.BE_ACCOUNT), 1 << 248),
        (Condition(Must.EQUAL, (0,), 7), 2 << 248 | 1 << 232 | 7),
        (Condition(Must.BE_ASSET, (3, 255), 0, 9), 3 << 248 | 9 << 240 | 2 << 232 | 3 << 224 | 255 << 216),
        (
            Condition(Must.BE_PATH_OF_ASSETS, (1, 2, 3, 4, 5), MOST, 255, True),
            1 << 255 | 8 << 248 | 255 << 240 | 5 << 232 | 0x0102030405 << 192 | MOST,
        ),
    ],
)
def test_a_condition_is_one_number_as_the_contract_lays_it_out(condition: Condition, number: int) -> None:
    assert condition.pack() == number and Condition.unpack(number) == condition


@pytest.mark.parametrize(
    "condition",
    [
        Condition(Must.EQUAL, (0,) * 6),
        Condition(Must.EQUAL, (256,)),
        Condition(Must.EQUAL, (-1,)),
        Condition(Must.EQUAL, (0,), MOST + 1),
        Condition(Must.EQUAL, (0,), -1),
        Condition(Must.EQUAL, (0,), 0, 256),
        Condition(Must.EQUAL, (0,), 0, -1),
    ],
)
def test_what_does_not_fit_is_not_packed(condition: Condition) -> None:
    with pytest.raises(ValueError, match="no place|an operand of 192 bits"):
        condition.pack()


@pytest.mark.parametrize("number", [0, 9 << 248, 127 << 248, 2 << 248 | 6 << 232])
def test_what_the_contract_lets_nothing_meet_means_nothing(number: int) -> None:
    assert Condition.unpack(number) is None
    assert not meets(number, "uint256", 0) and not meets(number | 1 << 255, "uint256", 0)


def meets(condition: Condition | int, types: str, *args: Any, value: int = 0, cut: int = 0) -> bool:
    """Whether a call with these arguments does, its last `cut` bytes left out."""
    data = b"\xab\xcd\xef\x01" + encode(types.split(), args)
    number = condition if isinstance(condition, int) else condition.pack()
    return is_met(
        number,
        value=value,
        data=data[: len(data) - cut],
        account=ACCOUNT,
        is_listed=lambda each: each in (int(ASSET, 16), int(COIN, 16)),
    )


FIRST, SECOND = (0,), (1,)
BITS: Final = 0xF0 << 96 | 0x50


@pytest.mark.parametrize(
    ("condition", "kind", "met", "not_met"),
    [
        (Condition(Must.BE_ACCOUNT, SECOND), "address", [ACCOUNT], [ASSET, OTHER]),
        (Condition(Must.EQUAL, SECOND, 7), "uint256", [7], [6, 8, 7 + 2**200]),
        (Condition(Must.BE_AT_MOST, SECOND, 7), "uint256", [0, 7], [8, 2**255]),
        (Condition(Must.BE_AT_LEAST, SECOND, 7), "uint256", [7, 8, 2**255], [0, 6]),
        (Condition(Must.HAVE_BITS, SECOND, BITS), "uint256", [0x50, 0x5F, 0x150], [0x40, 0x60, 0xF0, 0]),
        (Condition(Must.BE_ASSET, SECOND), "address", [ASSET], [ACCOUNT, OTHER]),
        (Condition(Must.BE_ASSET, SECOND), "uint256", [int(ASSET, 16)], [int(ASSET, 16) | 1 << 160, int(COIN, 16)]),
        (Condition(Must.EQUAL, SECOND, 7, is_not=True), "uint256", [6, 8], [7]),
    ],
)
def test_a_word_meets_what_is_asked_of_it(condition: Condition, kind: str, met: list[Any], not_met: list[Any]) -> None:
    assert [meets(condition, f"uint256 {kind}", 1, each) for each in met] == [True] * len(met)
    assert [meets(condition, f"uint256 {kind}", 1, each) for each in not_met] == [False] * len(not_met)
    assert not meets(condition, f"uint256 {kind}", 1, met[0], cut=1), "a word that is cut short is not there"


def test_without_a_place_the_coins_sent_along_are_meant() -> None:
    few = Condition(Must.BE_AT_MOST, (), 5)
    assert meets(few, "uint256", 9, value=5) and not meets(few, "uint256", 1, value=6)


STRUCT: Final = "uint256 (uint256,address,bytes)"


def test_steps_lead_through_what_words_point_at_from_the_beginning_of_where_they_stand() -> None:
    inside = [Condition(Must.EQUAL, (1, 0), 5), Condition(Must.BE_ASSET, (1, 1)), Condition(Must.EQUAL, (1, 2, 0), 3)]
    assert all(meets(each, STRUCT, 9, (5, ASSET, b"abc")) for each in inside)
    assert not any(meets(each, STRUCT, 9, (6, OTHER, b"abcd")) for each in inside)
    nested = Condition(Must.EQUAL, (0, 1, 1, 0), 8)
    types = "((uint256,(uint256,(uint256,bytes))),uint256)"
    assert meets(nested, types, ((1, (2, (8, b""))), 4)) is False
    assert meets(Condition(Must.EQUAL, (0, 0, 1, 1, 0), 8), types, ((1, (2, (8, b""))), 4))
    beyond = Condition(Must.EQUAL, (1, 0), 0)
    assert not meets(beyond, "uint256 uint256", 9, 68 + 1) and not meets(beyond, "uint256 uint256", 9, 2**255)
    assert meets(Condition(Must.EQUAL, (1, 0), 32), "uint256 uint256", 32, 0)


LIST: Final = "uint256 address[]"


@pytest.mark.parametrize(
    ("items", "is_so"),
    [
        ([ASSET], True),
        ([ASSET] * 16, True),
        ([ASSET] * 17, False),
        ([], False),
        ([ASSET, OTHER], False),
        ([COIN], False),
    ],
)
def test_an_array_holds_assets_alone_and_neither_none_nor_too_many(items: list[str], is_so: bool) -> None:
    assert meets(Condition(Must.BE_ASSETS, SECOND), LIST, 1, items) is is_so


def test_an_array_that_is_not_there_meets_neither_a_condition_nor_its_contrary() -> None:
    asked, contrary = Condition(Must.BE_ASSETS, SECOND), Condition(Must.BE_ASSETS, SECOND, is_not=True)
    for each in (asked, contrary):
        assert not meets(each, LIST, 1, []) and not meets(each, LIST, 1, [ASSET, ASSET], cut=1)
        assert not meets(each, "uint256 uint256", 1, 10_000)
    assert meets(contrary, LIST, 1, [ASSET, OTHER]) and not meets(contrary, LIST, 1, [ASSET])
    assert not meets(Condition(Must.BE_ASSETS), LIST, 1, [ASSET])


def path(*tokens: str) -> bytes:
    return b"\x00\x01\xf4".join(bytes.fromhex(each[2:]) for each in tokens)


@pytest.mark.parametrize(
    ("packed", "is_so"),
    [
        (path(ASSET), True),
        (path(ASSET, ASSET), True),
        (path(*[ASSET] * 16), True),
        (path(*[ASSET] * 17), False),
        (path(ASSET, OTHER), False),
        (path(OTHER, ASSET), False),
        (path(ASSET)[:-1], False),
        (path(ASSET) + b"\x00", False),
        (b"", False),
    ],
)
def test_a_path_leads_through_assets_alone(packed: bytes, is_so: bool) -> None:
    assert meets(Condition(Must.BE_PATH_OF_ASSETS, SECOND), "uint256 bytes", 1, packed) is is_so
    if len(packed) == 43:
        cut = 64 - 43 + 1
        assert not meets(Condition(Must.BE_PATH_OF_ASSETS, SECOND), "uint256 bytes", 1, packed, cut=cut)
        assert meets(Condition(Must.BE_PATH_OF_ASSETS, SECOND), "uint256 bytes", 1, packed, cut=cut - 1) is is_so
