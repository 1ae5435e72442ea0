"""Defines others' money: what belongs to a principal, and what a golem may move of it.

A principal is somebody else: an owner who lets a golem draw from a wallet, depositors of a vault that it manages. What
is theirs is never the golem's worth. A right has limits of its own, stands at a contract, and ends; a plan that uses
one says so by a `PrincipalFlow`, and is held to the right's limits and to the golem's. Decision 0450.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any, Protocol, runtime_checkable
from uuid import UUID

from tools_app.core.errors import GolemError, Recovery
from tools_app.toolkit.context import ReadCall, ReadOutcome
from tools_app.toolkit.views import TokenMeta


class RightKind(StrEnum):
    """How a principal lets a golem act: a signed delegation, a vault that it manages, a role at a contract."""

    DELEGATION = "DELEGATION"
    MANAGED_VAULT = "MANAGED_VAULT"
    ROLE = "ROLE"


@dataclass(frozen=True, slots=True)
class RightLimit:
    """At most `most` base units in each period of `period_seconds` from `starts_at` on, in Unix seconds, and nothing
    from `ends_at` on. A period of 0 is the whole life of the right.
    """

    most: int
    period_seconds: int
    starts_at: int
    ends_at: int

    def find_period(self, at: int) -> int:
        """When the period began that the moment `at` lies in, Unix seconds."""
        if not self.period_seconds or at <= self.starts_at:
            return self.starts_at
        return at - (at - self.starts_at) % self.period_seconds

    def most_until_end(self, at: int) -> int:
        """Everything that can be taken from the moment `at` on until the right ends, in base units."""
        if at >= self.ends_at:
            return 0
        if not self.period_seconds:
            return self.most
        begun = self.find_period(max(at, self.starts_at))
        periods = -(-(self.ends_at - begun) // self.period_seconds)
        return self.most * periods


@dataclass(frozen=True, slots=True)
class PrincipalFlow:
    """Money of a principal that a plan moves: at most `most` base units of `token` leave `principal`.

    `protocol` and `reference` name the right in the golem's book of rights received, whose limit is `limit`.
    """

    protocol: str
    reference: str
    principal: str
    token: TokenMeta
    most: int
    limit: RightLimit


@dataclass(frozen=True, slots=True)
class RightView:
    """One line of the book, for those who ask its contract and for tools. `terms` are the protocol's own words."""

    id: UUID
    chain_id: int
    protocol: str
    reference: str
    kind: RightKind
    principal: str
    holder: str
    token: str
    limit: RightLimit
    terms: Mapping[str, Any] = field(default_factory=dict)  # Any: JSON, of the protocol's own shape


@dataclass(frozen=True, slots=True)
class RightStanding:
    """What the contract says of a right now: whether it stands, and how much of it is left in this period.

    `reason` says why it does not stand, or why one that stands gives nothing now.
    """

    stands: bool
    available: int
    reason: str = ""


@dataclass(frozen=True, slots=True)
class GrantRead:
    """What a principal granted, read from the grant itself: a line for the book."""

    reference: str
    kind: RightKind
    principal: str
    token: str
    limit: RightLimit
    terms: Mapping[str, Any]  # Any: JSON, of the protocol's own shape


@dataclass(frozen=True, slots=True)
class RightUsed:
    """What was moved under a right in its present period, open permits included, and when one was committed last."""

    raw: int
    last_at: datetime | None


class GrantUnsafe(GolemError, status=422, recovery=Recovery.ASK_OWNER, title="What was granted is not safe to take"):
    """What was granted is not bounded in every way, not for this golem, or cannot be read."""


class ReceivedRights(Protocol):
    """The rights that accounts receive through one protocol."""

    def ask(self, right: RightView) -> list[ReadCall]:
        """What to read to see whether it stands and how much is left."""

    def judge(self, right: RightView, outcomes: Sequence[ReadOutcome]) -> RightStanding:
        """What the answers to `ask` say. Raises PositionsUnreadable where they say nothing."""


@runtime_checkable
class GrantReader(Protocol):
    """The received rights of a protocol whose grants a person brings in as text."""

    def read_grant(self, *, chain_id: int, given: str, holder: str) -> GrantRead:
        """What the text grants to `holder`. Raises GrantUnsafe, ChainNotSupported."""


@runtime_checkable
class EndsByHolder(Protocol):
    """The received rights of a protocol where who holds one can give it up on the chain."""

    def give_up(self, right: RightView) -> tuple[str, str, tuple[object, ...]]:
        """The call by which the holder gives it up: contract, signature, arguments."""


@runtime_checkable
class EndsByPrincipal(Protocol):
    """The received rights of a protocol that say what their principal does to take one back."""

    def say_end(self, right: RightView) -> str:
        """What to do and where, for a person."""


class RightsBook(Protocol):
    """The service by which tools read the rights that the golem they work for received."""

    def list(self, *, golem_id: UUID, chain_id: int, protocol: str) -> tuple[RightView, ...]:
        """Those that stand as far as was last seen, the one that ends first before the others."""

    def drop(
        self, *, golem_id: UUID, chain_id: int, protocol: str, reason: str, now: datetime
    ) -> tuple[RightView, ...]:
        """Use all of them no more, in the caller's transaction; those that were dropped."""

    def used(self, right: RightView) -> RightUsed:
        """What was moved under one of them."""
