"""Opcodes that compute one word of 256 bits from those on top of the stack: arithmetic, comparisons, bits.

A stack is a list of integers from 0 to 2**256 - 1, its top last. Each function takes its operands off and leaves its
result; it raises IndexError where there are too few. Gas is the caller's to take.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

Stack = list[int]

_MASK: Final = (1 << 256) - 1
_SIGN: Final = 1 << 255
_TOP: Final = 1 << 256


def multiply(stack: Stack) -> None:
    """MUL."""
    value = stack.pop()
    stack[-1] = (value * stack[-1]) & _MASK


def divide(stack: Stack) -> None:
    """DIV: by zero it is zero."""
    value = stack.pop()
    divisor = stack[-1]
    stack[-1] = value // divisor if divisor else 0


def take_remainder(stack: Stack) -> None:
    """MOD: by zero it is zero."""
    value = stack.pop()
    divisor = stack[-1]
    stack[-1] = value % divisor if divisor else 0


def add_in_modulus(stack: Stack) -> None:
    """ADDMOD, of the whole sum."""
    value = stack.pop()
    other = stack.pop()
    modulus = stack[-1]
    stack[-1] = (value + other) % modulus if modulus else 0


def multiply_in_modulus(stack: Stack) -> None:
    """MULMOD, of the whole product."""
    value = stack.pop()
    other = stack.pop()
    modulus = stack[-1]
    stack[-1] = value * other % modulus if modulus else 0


def extend_sign(stack: Stack) -> None:
    """SIGNEXTEND of the byte counted from the lowest."""
    index = stack.pop()
    value = stack[-1]
    if index < 31:
        bit = 8 * index + 7
        if value >> bit & 1:
            stack[-1] = value | (_MASK ^ ((1 << bit) - 1))
        else:
            stack[-1] = value & ((1 << (bit + 1)) - 1)


def is_less(stack: Stack) -> None:
    """LT."""
    value = stack.pop()
    stack[-1] = 1 if value < stack[-1] else 0


def is_greater(stack: Stack) -> None:
    """GT."""
    value = stack.pop()
    stack[-1] = 1 if value > stack[-1] else 0


def is_less_signed(stack: Stack) -> None:
    """SLT."""
    value = stack.pop() ^ _SIGN
    stack[-1] = 1 if value < stack[-1] ^ _SIGN else 0


def is_greater_signed(stack: Stack) -> None:
    """SGT."""
    value = stack.pop() ^ _SIGN
    stack[-1] = 1 if value > stack[-1] ^ _SIGN else 0


def either(stack: Stack) -> None:
    """OR."""
    value = stack.pop()
    stack[-1] |= value


def exclusive_either(stack: Stack) -> None:
    """XOR."""
    value = stack.pop()
    stack[-1] ^= value


def invert(stack: Stack) -> None:
    """NOT."""
    stack[-1] ^= _MASK


def pick_byte(stack: Stack) -> None:
    """BYTE counted from the highest; beyond the word it is zero."""
    index = stack.pop()
    stack[-1] = (stack[-1] >> (8 * (31 - index))) & 0xFF if index < 32 else 0


def shift_left(stack: Stack) -> None:
    """SHL."""
    bits = stack.pop()
    stack[-1] = (stack[-1] << bits) & _MASK if bits < 256 else 0


def shift_right(stack: Stack) -> None:
    """SHR."""
    bits = stack.pop()
    stack[-1] = stack[-1] >> bits if bits < 256 else 0


def shift_right_signed(stack: Stack) -> None:
    """SAR: the sign fills what comes free."""
    bits = stack.pop()
    value = stack[-1]
    if value >= _SIGN:
        value -= _TOP
    stack[-1] = (value >> min(bits, 256)) & _MASK


WORD_OPERATIONS: Final[Mapping[int, tuple[int, Callable[[Stack], None]]]] = {
    0x02: (5, multiply),
    0x04: (5, divide),
    0x06: (5, take_remainder),
    0x08: (8, add_in_modulus),
    0x09: (8, multiply_in_modulus),
    0x0B: (5, extend_sign),
    0x10: (3, is_less),
    0x11: (3, is_greater),
    0x12: (3, is_less_signed),
    0x13: (3, is_greater_signed),
    0x17: (3, either),
    0x18: (3, exclusive_either),
    0x19: (3, invert),
    0x1A: (3, pick_byte),
    0x1B: (3, shift_left),
    0x1C: (3, shift_right),
    0x1D: (3, shift_right_signed),
}
"""Each opcode with its gas and its function; ADD, SUB, EQ, ISZERO and AND are the loop's own."""
