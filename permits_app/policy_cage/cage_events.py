"""Declares what each event of a cage tells, as values; `read_cage_event` makes one of a decoded event.

A field is the argument of its name and place in the event's signature, where capitals and underscores do not count.
That is compared once, when this module is imported.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Final, TypeAlias

from permits_app.policy_cage.abi import EVENTS
from permits_app.policy_cage.contract import CageEvent
from tools_app.chain.signatures import parse_signature


@dataclass(frozen=True, slots=True)
class _OfRule:
    """What is of one rule, by its kind and key."""

    kind: int
    key: bytes

    @property
    def rule(self) -> tuple[int, str]:
        """The rule, as a state keys it."""
        return self.kind, "0x" + self.key.hex()


@dataclass(frozen=True, slots=True)
class AllowanceUsed(_OfRule):
    """What of an allowance that refills was used up to `at` (unix seconds)."""

    used: int
    at: int


@dataclass(frozen=True, slots=True)
class BatchExecuted:
    """A batch that a key ran: micro-USD moved and lost, and what is left to the key."""

    key: str
    batch_class: int
    moved: int
    loss: int
    total_before: int
    total_after: int
    operations_left: int
    budget_left: int


@dataclass(frozen=True, slots=True)
class ChangeCancelled(_OfRule):
    """A waiting change that its owners gave up."""


@dataclass(frozen=True, slots=True)
class ChangeProposed(_OfRule):
    """A loosening that waits until `ready_at` (unix seconds), with the others of its bundle."""

    from_: int
    to: int
    ready_at: int
    bundle: int


@dataclass(frozen=True, slots=True)
class DrawdownAcknowledged:
    """The owners took note of the drawdown."""


@dataclass(frozen=True, slots=True)
class DrawdownBreached:
    """The account fell under its floor, micro-USD."""

    total: int
    floor: int


@dataclass(frozen=True, slots=True)
class GasToppedUp:
    """Wei that a key got for gas."""

    key: str
    amount: int


@dataclass(frozen=True, slots=True)
class Halted:
    """Somebody halted it."""

    by: str


@dataclass(frozen=True, slots=True)
class OutflowCounted:
    """Base units of an asset that left."""

    asset: str
    amount: int


@dataclass(frozen=True, slots=True)
class PayoutMade:
    """Base units of an asset that a key paid, what they were worth (micro-USD), and what is left to the key."""

    key: str
    recipient: str
    asset: str
    amount: int
    worth: int
    operations_left: int
    budget_left: int


@dataclass(frozen=True, slots=True)
class PricesNoted:
    """Prices that had jumped were noted; batches run from `settled_at` (unix seconds) on."""

    by: str
    word: int
    settled_at: int


@dataclass(frozen=True, slots=True)
class Resumed:
    """Its owners let it act again."""


@dataclass(frozen=True, slots=True)
class RuleChanged(_OfRule):
    """A rule took another value."""

    from_: int
    to: int


@dataclass(frozen=True, slots=True)
class SessionSet:
    """The key of a role, until when (unix seconds), and for how much (micro-USD)."""

    key: str
    expires_at: int
    operations: int
    budget: int
    role: int


CageRecord: TypeAlias = (
    AllowanceUsed
    | BatchExecuted
    | ChangeCancelled
    | ChangeProposed
    | DrawdownAcknowledged
    | DrawdownBreached
    | GasToppedUp
    | Halted
    | OutflowCounted
    | PayoutMade
    | PricesNoted
    | Resumed
    | RuleChanged
    | SessionSet
)
_RECORDS: Final[dict[str, type[CageRecord]]] = {
    "PaidOut" if record is PayoutMade else record.__name__: record
    for record in (
        AllowanceUsed,
        BatchExecuted,
        ChangeCancelled,
        ChangeProposed,
        DrawdownAcknowledged,
        DrawdownBreached,
        GasToppedUp,
        Halted,
        OutflowCounted,
        PayoutMade,
        PricesNoted,
        Resumed,
        RuleChanged,
        SessionSet,
    )
}


def read_cage_event(event: CageEvent) -> CageRecord:
    """What the event tells. Raises KeyError for none of a cage, TypeError for another number of arguments."""
    return _RECORDS[event.name](*event.args.values())


def _check_names() -> None:
    """Raises TypeError where a record does not follow its event's signature."""
    for name, signature in EVENTS.items():
        told = [param.name.lower() for param in parse_signature(signature).inputs]
        ours = [field.name.replace("_", "").lower() for field in fields(_RECORDS[name])]
        if told != ours:
            raise TypeError(f"{name} tells {told}, and its record has {ours}")


_check_names()
