"""Defines when a call leaves a protocol: conditions on its arguments and on what is there.

Some protocols have calls that mean two things: what takes a deposit out borrows once there is none left, what repays a
debt puts in what is too much. Which of the two a call is stands in its arguments, or in what the account has there;
these are the words for it. What is there was measured before the calls, and what an earlier call of the same plan takes
is no longer there for a later one. What nobody measured is not there, so such a call is no leaving.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Protocol, TypeAlias

Place: TypeAlias = tuple[int, ...]
"""Where an argument stands: counted from 0, and downwards into structs."""

MOST: Final = 2**256 - 1
"""The largest number, which many protocols read as everything there is."""


@dataclass(slots=True)
class There:
    """What an account has at one protocol before a call: base units by token address, held and owed, both positive.

    `address_of` tells the protocol's contracts by their keys.
    """

    account: str
    address_of: Callable[[str], str | None]
    held: dict[str, int] = field(default_factory=dict)
    owed: dict[str, int] = field(default_factory=dict)


class ExitCondition(Protocol):
    """One thing that has to be so for a call to leave."""

    def holds(self, args: Sequence[Any], there: There) -> bool:  # Any: a value of the ABI's type
        """Whether it is so with these arguments."""

    def settle(self, args: Sequence[object], there: There) -> None:
        """Take away what the call takes, once all its conditions hold."""


class _Bare:
    """A condition on arguments alone: it takes nothing away."""

    __slots__ = ()

    def settle(self, args: Sequence[object], there: There) -> None:
        """Nothing."""


@dataclass(frozen=True, slots=True)
class IsAccount(_Bare):
    """The argument is the account itself: who receives, or for whom."""

    place: Place

    def holds(self, args: Sequence[Any], there: There) -> bool:  # Any: a value of the ABI's type
        """Whether it is."""
        return str(at(args, self.place)).lower() == there.account.lower()


@dataclass(frozen=True, slots=True)
class NotAboveZero(_Bare):
    """The argument is not above zero, where above zero it puts in or borrows."""

    place: Place

    def holds(self, args: Sequence[Any], there: There) -> bool:  # Any: a value of the ABI's type
        """Whether it is not."""
        return int(at(args, self.place)) <= 0


@dataclass(frozen=True, slots=True)
class Everything(_Bare):
    """The argument is the largest number, which the protocol reads as everything there is and no more."""

    place: Place

    def holds(self, args: Sequence[Any], there: There) -> bool:  # Any: a value of the ABI's type
        """Whether it is."""
        return int(at(args, self.place)) == MOST


@dataclass(frozen=True, slots=True)
class IsContract(_Bare):
    """The argument is one of the protocol's contracts of these `keys` of `deployments`."""

    place: Place
    keys: tuple[str, ...]

    def holds(self, args: Sequence[Any], there: There) -> bool:  # Any: a value of the ABI's type
        """Whether it is."""
        told = str(at(args, self.place)).lower()
        return any((there.address_of(key) or "").lower() == told for key in self.keys)


@dataclass(frozen=True, slots=True)
class WhileOwed(_Bare):
    """Something is owed there, of the token that the argument at `token` names; None: of any."""

    token: Place | None = None

    def holds(self, args: Sequence[Any], there: There) -> bool:  # Any: a value of the ABI's type
        """Whether anything is."""
        return _find(there.owed, args, self.token) > 0


@dataclass(frozen=True, slots=True)
class AtMostOwed:
    """The amount is not more than what is owed there of the token that the argument at `token` names; None: of all."""

    amount: Place
    token: Place | None = None

    def holds(self, args: Sequence[Any], there: There) -> bool:  # Any: a value of the ABI's type
        """Whether it is not."""
        return 0 < int(at(args, self.amount)) <= _find(there.owed, args, self.token)

    def settle(self, args: Sequence[object], there: There) -> None:
        """So much less is owed then."""
        _take(there.owed, args, self.token, int(at(args, self.amount)))


@dataclass(frozen=True, slots=True)
class AtMostHeld:
    """The amount is not more than what is held there of the token that the argument at `token` names; None: of all."""

    amount: Place
    token: Place | None = None

    def holds(self, args: Sequence[Any], there: There) -> bool:  # Any: a value of the ABI's type
        """Whether it is not."""
        return 0 < int(at(args, self.amount)) <= _find(there.held, args, self.token)

    def settle(self, args: Sequence[object], there: There) -> None:
        """So much less is there then."""
        _take(there.held, args, self.token, int(at(args, self.amount)))


def at(args: Any, place: Place) -> Any:  # Any: a value of the ABI's type
    """The argument at a place."""
    for index in place:
        args = args[index]
    return args


def _find(amounts: dict[str, int], args: Sequence[object], token: Place | None) -> int:
    if token is None:
        return sum(amounts.values())
    named = str(at(args, token)).lower()
    return sum(raw for each, raw in amounts.items() if each.lower() == named)


def _take(
    amounts: dict[str, int],
    args: Sequence[Any],  # Any: a value of the ABI's type
    token: Place | None,
    raw: int,
) -> None:
    named = None if token is None else str(at(args, token)).lower()
    for each in [each for each in amounts if named is None or each.lower() == named]:
        taken = min(raw, amounts[each])
        amounts[each] -= taken
        raw -= taken
