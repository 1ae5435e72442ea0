"""A contract that asks many contracts in one call and answers in words, so that looking costs little.

Its questions are in its code, which is put on a chain for that: nothing is decoded on the way in or out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

WORD: Final = 32
_MULTIPLY, _EQUAL, _IS_ZERO = b"\x02", b"\x14", b"\x15"
_LOAD, _STORE, _JUMP_IF, _GAS, _LANDING = b"\x51", b"\x52", b"\x57", b"\x5a", b"\x5b"
_RETURN, _STATIC_CALL = b"\xf3", b"\xfa"
_PUSH_2, _PUSH_20, _PUSH_32 = b"\x61", b"\x73", b"\x7f"


@dataclass(frozen=True, slots=True)
class Question:
    """A read of one contract: `words` of its answer are told, and its first is 0 where the read failed. It is asked
    only if the first word that was told before equals `after`.
    """

    to: str
    data: bytes
    words: int = 1
    after: int | None = None


def assemble(questions: Sequence[Question]) -> bytes:
    """Code that answers one word after the other, in the order of the questions."""
    told = WORD * sum(question.words for question in questions)
    code, at, last = b"", 0, 0
    for question in questions:
        asked = _ask(question, at, scratch=told)
        if question.after is not None:
            asked = _guard(asked, last, question.after, start=len(code))
        code, last, at = code + asked, at, at + WORD * question.words
    return code + _push(told) + _push(0) + _RETURN


def read_words(output: bytes) -> list[int]:
    """What such a contract answered."""
    return [int.from_bytes(output[at : at + WORD], "big") for at in range(0, len(output), WORD)]


def _ask(question: Question, at: int, *, scratch: int) -> bytes:
    code = b""
    for start in range(0, len(question.data), WORD):
        word = question.data[start : start + WORD].ljust(WORD, b"\0")
        code += _PUSH_32 + word + _push(scratch + start) + _STORE
    to = _PUSH_20 + bytes.fromhex(question.to.removeprefix("0x"))
    code += _push(WORD * question.words) + _push(at) + _push(len(question.data)) + _push(scratch)
    code += to + _GAS + _STATIC_CALL
    # What a read that failed gives back is no answer.
    return code + _push(at) + _LOAD + _MULTIPLY + _push(at) + _STORE


def _guard(asked: bytes, last: int, wanted: int, *, start: int) -> bytes:
    head = _push(last) + _LOAD + _PUSH_32 + wanted.to_bytes(WORD, "big") + _EQUAL + _IS_ZERO
    behind = start + len(head) + len(_push(0)) + len(_JUMP_IF) + len(asked)
    return head + _push(behind) + _JUMP_IF + asked + _LANDING


def _push(number: int) -> bytes:
    return _PUSH_2 + number.to_bytes(2, "big")
