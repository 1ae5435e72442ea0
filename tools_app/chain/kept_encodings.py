"""Keeps what large arguments were encoded to, by their identity.

Looking through the hundred calls of an aggregate takes longer than anything else of it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

_MOST_KEPT: Final = 2_048


@dataclass(frozen=True, slots=True)
class _KeptEncoding:
    argument: tuple[object, ...]
    signature: str
    data: bytes


@dataclass(slots=True)
class KeptEncodings:
    """Call data by the one argument it was made of, a tuple that holds plain values all the way down and so never
    changes. While it is kept, nothing else has its identity. Thread-safe.
    """

    _kept: dict[int, _KeptEncoding] = field(default_factory=dict)

    def find(self, signature: str, argument: tuple[object, ...]) -> bytes | None:
        """The data that this very argument was encoded to for `signature`."""
        known = self._kept.get(id(argument))
        if known is None or known.argument is not argument or known.signature != signature:
            return None
        return known.data

    def keep(self, signature: str, argument: tuple[object, ...], data: bytes) -> None:
        """Keep it; all others go first where there are many."""
        if len(self._kept) >= _MOST_KEPT:
            self._kept.clear()
        self._kept[id(argument)] = _KeptEncoding(argument, signature, data)


ENCODINGS: Final = KeptEncodings()
