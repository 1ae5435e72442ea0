"""Defines what the three issuers have in common: how each stands, what an account has there, and the requests that
wait.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

WAD: Final = 10**18
BPS: Final = 10_000


@dataclass(frozen=True, slots=True)
class Standing:
    """How an issuer stands. Amounts in wei of ether, but `least_in_tokens`, which is base units of its token.

    `rate` is the wei of a whole token. `least_in` and `room` bound a deposit (None: no bound is told). `waiting` is
    what its queue owes, `liquid` what it has to pay that with. `at_once` is what it redeems now for `fee_bps`, 0 where
    it does not. `delay` is how long a request waits at least, in seconds; `delay_blocks` where the issuer counts
    blocks. `next_unlocked` is how far its queue was paid, as the issuer counts.
    """

    rate: int
    is_in_paused: bool
    is_out_paused: bool
    is_claim_paused: bool
    waiting: int
    liquid: int
    at_once: int = 0
    fee_bps: int = 0
    least_in: int = 0
    room: int | None = None
    least_in_tokens: int = 0
    delay: int = 0
    delay_blocks: int = 0
    next_unlocked: int = 0

    def worth(self, tokens: int) -> int:
        """Wei of base units of its token, rounded down."""
        return tokens * self.rate // WAD

    def tokens_for(self, ether: int) -> int:
        """Base units of its token for wei, rounded down."""
        return ether * WAD // self.rate

    def paid_at_once(self, ether: int) -> int:
        """What a redemption of `ether` wei pays after its fee, about."""
        return ether * (BPS - self.fee_bps) // BPS


@dataclass(frozen=True, slots=True)
class Request:
    """One request at an issuer. `number` is the issuer's, `place` where its contract lists it (Renzo's moves).

    `asked` and `worth` are wei: what was asked for, and what it gives now. `free_at` is the Unix second from which it
    can be claimed, None: now; nobody knows when where it is WHEN_REPAID. `is_valid` is off where the issuer struck it.
    """

    issuer: str
    number: int
    place: int
    asked: int
    worth: int
    free_at: int | None
    is_valid: bool = True

    @property
    def id(self) -> str:
        """What positions and agents call it."""
        return f"{self.issuer}-{self.number}"


@dataclass(frozen=True, slots=True)
class Holding:
    """What an account has at one issuer: base units of its token, of them `loose` as the token's rebasing form
    (eETH, counted by shares), and requests. `has_more`: there are requests beyond those that were read.
    """

    issuer: str
    standing: Standing
    tokens: int
    loose: int
    requests: tuple[Request, ...]
    has_more: bool = False

    @property
    def worth(self) -> int:
        """Wei of its tokens."""
        return self.standing.worth(self.tokens)


def parse_id(text: str) -> tuple[str, int] | None:
    """The issuer and number of a request's id; None for anything else."""
    issuer, _, number = text.partition("-")
    return (issuer, int(number)) if issuer and number.isdecimal() else None
