"""Names a pool by its contract's address, or by the 32 bytes under which a manager keeps it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tools_app.toolkit.views import LogEntry

ID_LENGTH = 66


@dataclass(frozen=True, slots=True, order=True)
class PoolId:
    """`text` is an EIP-55 address, or the 0x-hex of 32 bytes in lower case; then `manager` is the contract it is in.

    The manager's logs name the pool as their first indexed argument.
    """

    text: str
    manager: str = ""

    @property
    def contract(self) -> str:
        """What holds the pool's tokens, runs its code and tells its logs."""
        return self.manager or self.text

    def filter_logs(self, first: Sequence[str]) -> list[str | tuple[str, ...]]:
        """The topics by which its logs are asked for, given those of the events."""
        return [tuple(first), self.text] if self.manager else [tuple(first)]

    def tells(self, log: LogEntry) -> bool:
        """Whether a log is of this pool."""
        if log.address != self.contract:
            return False
        return not self.manager or (len(log.topics) > 1 and log.topics[1].lower() == self.text)


def is_pool_id(text: str) -> bool:
    """Whether a name is one of 32 bytes; an address is none."""
    return len(text) == ID_LENGTH
