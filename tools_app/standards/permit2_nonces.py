"""Nonces that Permit2 takes in any order: whether one is used, whether its owner used it up, and using it up."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from tools_app.chain.abi import encode_call, event_topic
from tools_app.chain.abi_records import AbiEvent
from tools_app.standards.permit2 import PERMIT2
from tools_app.toolkit.context import ReadCall, ReadOutcome
from tools_app.toolkit.plan import Call, Statement
from tools_app.toolkit.positions import PositionsUnreadable, Trail
from tools_app.toolkit.views import LogEntry

_BITMAP: Final = "function nonceBitmap(address owner, uint256 word) view returns (uint256)"
INVALIDATED: Final = "event UnorderedNonceInvalidation(address indexed owner, uint256 word, uint256 mask)"
INVALIDATE: Final = "function invalidateUnorderedNonces(uint256,uint256)"


@dataclass(frozen=True, slots=True)
class _Gone:
    word: int
    mask: int


_INVALIDATED: Final = AbiEvent(INVALIDATED, _Gone)


def ask_nonce(owner: str, nonce: int) -> ReadCall:
    """The question that `is_used` reads the answer of."""
    return ReadCall(PERMIT2, _BITMAP, (owner, _place(nonce)[0]))


def is_used(nonce: int, told: ReadOutcome) -> bool:
    """Whether somebody was paid with it, or its owner used it up. Raises PositionsUnreadable."""
    if not told.ok:
        raise PositionsUnreadable("Permit2 does not tell its nonces")
    return bool(told.values[0] & _place(nonce)[1])


def trail_of_invalidations(owner: str) -> Trail:
    """The logs that `was_invalidated` reads."""
    return Trail((PERMIT2,), (event_topic(INVALIDATED), "0x" + owner[2:].lower().rjust(64, "0")))


def was_invalidated(nonce: int, logs: Iterable[LogEntry]) -> bool:
    """Whether its owner used it up, by the logs of that owner's trail."""
    word, mask = _place(nonce)
    gone = _INVALIDATED.list(log for log in logs if log.address == PERMIT2)
    return any(each.word == word and each.mask & mask for each in gone)


def use_up(nonce: int, *, label: str) -> tuple[Call, Statement]:
    """The call after which Permit2 takes it from nobody, and what the plan says of it."""
    word, mask = _place(nonce)
    call = Call(PERMIT2, encode_call(INVALIDATE, word, mask), 0, label)
    return call, Statement(PERMIT2, str(word), "nonces used up", hex(mask))


def _place(nonce: int) -> tuple[int, int]:
    """Its word of the bitmap, and its bit there."""
    return nonce >> 8, 1 << (nonce & 255)
