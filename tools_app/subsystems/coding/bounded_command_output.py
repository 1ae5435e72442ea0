"""The end of what a command says, however much it says."""

from __future__ import annotations

from collections import deque


class KeptOutput:
    """Keeps the last `most` bytes of a stream and counts the rest."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._parts: deque[bytes] = deque()
        self._held = 0
        self.total = 0

    def add(self, part: bytes) -> None:
        """What came next."""
        self.total += len(part)
        self._parts.append(part)
        self._held += len(part)
        while self._held - len(self._parts[0]) >= self._most:
            self._held -= len(self._parts.popleft())

    @property
    def end(self) -> bytes:
        """The last bytes."""
        return b"".join(self._parts)[-self._most :] if self._parts else b""

    @property
    def left_out(self) -> int:
        """How many bytes came before them."""
        return self.total - len(self.end)
