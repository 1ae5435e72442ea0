"""Conditions on the arguments of a call, as the contract packs and judges them: `CageConditions.sol`.

A condition names a place among the arguments and what the word, array or path there must be. Pure.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum
from typing import Final

MOST_STEPS: Final = 5
MOST_ITEMS: Final = 16
_NATIVE: Final = 0xEEEEEEEEEEEEEEEEEEEEEEEEEEEEEEEEEEEEEEEE
_MASK_96: Final = 2**96 - 1
_MASK_192: Final = 2**192 - 1


class Must(IntEnum):
    """What must be so of a word; of the last two, of an array of addresses and of a V3 path."""

    BE_ACCOUNT = 1
    EQUAL = 2
    BE_ASSET = 3
    BE_AT_MOST = 4
    BE_AT_LEAST = 5
    HAVE_BITS = 6
    BE_ASSETS = 7
    BE_PATH_OF_ASSETS = 8


@dataclass(frozen=True, slots=True)
class Condition:
    """`place` are the words that lead there, from 0; none for the coins sent along. `operand` is of 192 bits.

    Conditions of one `group` (0 to 255) that follow each other are alternatives.
    """

    must: Must
    place: tuple[int, ...] = ()
    operand: int = 0
    group: int = 0
    is_not: bool = False

    def pack(self) -> int:
        """The rule's value. Raises ValueError for what does not fit."""
        if len(self.place) > MOST_STEPS or any(not 0 <= step <= 255 for step in self.place):
            raise ValueError(f"no place {self.place}")
        if not 0 <= self.operand <= _MASK_192 or not 0 <= self.group <= 255:
            raise ValueError("an operand of 192 bits and a group of 8")
        steps = sum(step << (224 - 8 * index) for index, step in enumerate(self.place))
        head = int(self.is_not) << 255 | int(self.must) << 248 | self.group << 240 | len(self.place) << 232
        return head | steps | self.operand

    @classmethod
    def unpack(cls, value: int) -> Condition | None:
        """What a rule's value means; None for what the contract takes for a condition that nothing meets."""
        must, count = value >> 248 & 0x7F, value >> 232 & 0xFF
        if not 1 <= must <= max(Must) or count > MOST_STEPS:
            return None
        place = tuple(value >> (224 - 8 * index) & 0xFF for index in range(count))
        return cls(Must(must), place, value & _MASK_192, value >> 240 & 0xFF, bool(value >> 255))


def is_met(condition: int, *, value: int, data: bytes, account: str, is_listed: Callable[[int], bool]) -> bool:
    """Whether a packed condition is met by a call of `value` wei with `data`; `is_listed` knows the assets."""
    must, count = condition >> 248 & 0x7F, condition >> 232 & 0xFF
    if not 1 <= must <= max(Must) or count > MOST_STEPS:
        return False
    base, word = 0, value
    for index in range(count):
        base += word if index else 0
        found = _word_at(data, base + 32 * (condition >> (224 - 8 * index) & 0xFF))
        if found is None or (index + 1 < count and found > len(data)):
            return False
        word = found

    def is_asset(each: int) -> bool:
        return not each >> 160 and each != _NATIVE and is_listed(each)

    is_so: bool | None
    if must < Must.BE_ASSETS:
        is_so = _is_word(Must(must), word, condition & _MASK_192, int(account, 16), is_asset)
    elif count == 0 or word > len(data):
        return False
    else:
        read = _are_assets if must == Must.BE_ASSETS else _is_path
        is_so = read(data, base + word, is_asset)
    return is_so is not None and is_so != bool(condition >> 255)


def _is_word(must: Must, word: int, operand: int, account: int, is_asset: Callable[[int], bool]) -> bool:
    match must:
        case Must.BE_ACCOUNT:
            return word == account
        case Must.EQUAL:
            return word == operand
        case Must.BE_ASSET:
            return is_asset(word)
        case Must.BE_AT_MOST:
            return word <= operand
        case Must.BE_AT_LEAST:
            return word >= operand
    return word & operand >> 96 == operand & _MASK_96


def _are_assets(data: bytes, at: int, is_asset: Callable[[int], bool]) -> bool | None:
    count = _word_at(data, at)
    if count is None or not 0 < count <= MOST_ITEMS:
        return None
    for index in range(1, count + 1):
        word = _word_at(data, at + 32 * index)
        if word is None:
            return None
        if not is_asset(word):
            return False
    return True


def _is_path(data: bytes, at: int, is_asset: Callable[[int], bool]) -> bool | None:
    length = _word_at(data, at)
    if length is None or length < 20 or (length - 20) % 23 or length > 23 * MOST_ITEMS:
        return None
    if at + 36 + length > len(data):
        return None
    tokens = (data[at + 36 + index : at + 56 + index] for index in range(0, length, 23))
    return all(is_asset(int.from_bytes(token, "big")) for token in tokens)


def _word_at(data: bytes, at: int) -> int | None:
    """The word `at` bytes behind the selector."""
    return int.from_bytes(data[at + 4 : at + 36], "big") if at + 36 <= len(data) else None
