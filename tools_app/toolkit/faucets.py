"""Test money: what a chain whose coins are worth nothing gives to an account that asks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Protocol

from tools_app.core.errors import GolemError, Recovery

MOST_COINS_WEI: Final = 10**18
"""Of the chain's own coin one request gives at most one."""
MOST_UNITS: Final = 15_000
"""Of any other token one request gives at most so many whole units."""


class FaucetMissing(GolemError, status=409, recovery=Recovery.ASK_OWNER, title="No faucet gives money on this chain"):
    """The chain has no faucet that this server reaches."""


class FaucetRefused(GolemError, status=502, recovery=Recovery.CHECK_STATE, title="The faucet gave nothing"):
    """The local chain did not give what it was asked for."""


@dataclass(frozen=True, slots=True)
class Gift:
    """What one request may give of a token at most, in base units."""

    symbol: str
    is_native: bool
    raw: int


class Faucet(Protocol):
    """The service that gives test money on the local chain and nowhere else."""

    def gives_on(self, chain_id: int) -> bool:
        """Whether there is a faucet for the chain."""

    def give(self, *, chain_id: int, account: str, gift: Gift) -> None:
        """Add the gift to what the account has. Raises FaucetMissing, FaucetRefused."""
