"""An incentive of the staker: the five parts by which it is known, and the id that they make.

The staker keeps incentives by their id alone, and an id does not tell its parts. They stand in the log of whoever
opened it, or in the text that an agent names.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from eth_utils.crypto import keccak

from tools_app.chain.abi import checksum, encode_args

PATTERN: Final = r"^0x[0-9a-fA-F]{40}:0x[0-9a-fA-F]{40}:[0-9]{1,12}:[0-9]{1,12}:0x[0-9a-fA-F]{40}$"
_TYPES: Final = ("address", "address", "uint256", "uint256", "address")


@dataclass(frozen=True, slots=True)
class IncentiveKey:
    """Who pays what for liquidity in which pool, from when to when (Unix seconds), and whom the rest goes back to."""

    reward_token: str
    pool: str
    starts_at: int
    ends_at: int
    refundee: str

    @property
    def parts(self) -> tuple[str, str, int, int, str]:
        """As the staker's calls take it."""
        return self.reward_token, self.pool, self.starts_at, self.ends_at, self.refundee

    @property
    def id(self) -> bytes:
        """The hash under which the staker keeps it."""
        return bytes(keccak(self.encoded))

    @property
    def encoded(self) -> bytes:
        """Its parts, 160 bytes."""
        return encode_args(_TYPES, self.parts)

    def __str__(self) -> str:
        return ":".join(map(str, self.parts))

    @classmethod
    def parse(cls, text: str) -> IncentiveKey:
        """The reverse of `str`, in any case of letters and with zeros in front. Raises ValueError."""
        token, pool, starts, ends, refundee = text.split(":")
        return cls(checksum(token), checksum(pool), int(starts), int(ends), checksum(refundee))
