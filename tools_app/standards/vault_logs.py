"""Finds in an ERC-4626 vault's logs what an account put in and took out, and when."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from tools_app.chain.abi import encode_event_topics
from tools_app.standards.erc4626 import PAID_IN, PAID_OUT
from tools_app.toolkit.context import ChainReader

DAY_SECONDS: Final = 86_400


@dataclass(frozen=True, slots=True)
class NetDeposit:
    """What an account put in less what it took out: base units of the asset, and shares."""

    assets: int
    shares: int

    def earned(self, *, shares: int, worth: int) -> int | None:
        """What `shares` that are worth so much earned; None where some came otherwise, or earlier."""
        return worth - self.assets if self.shares == shares else None


def read_put_in(reader: ChainReader, vault: str, account: str, *, days: int) -> NetDeposit:
    """What logs of the last `days` tell. Raises the node's errors."""
    first = reader.first_block_since(reader.block.timestamp - days * DAY_SECONDS).number
    put, shares = 0, 0
    for event, sign in ((PAID_IN, 1), (PAID_OUT, -1)):
        for log in reader.logs(
            address=vault,
            topics=encode_event_topics(event.signature, owner=account),
            from_block=first,
            to_block=reader.block.number,
        ):
            told = event.read(log)
            if told is not None:
                put += sign * told.assets
                shares += sign * told.shares
    return NetDeposit(put, shares)
