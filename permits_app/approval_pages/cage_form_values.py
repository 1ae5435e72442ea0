"""Declares what the forms of a cage are given, once they have cleaned it."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal


@dataclass(frozen=True, slots=True)
class LimitGiven:
    """A limit, and its value in the limit's own unit."""

    limit: int
    number: int


@dataclass(frozen=True, slots=True)
class TargetGiven:
    """A contract, the selector of a function of it, and "1" where it may be called."""

    target: str
    function: bytes
    may: str


@dataclass(frozen=True, slots=True)
class SpenderGiven:
    """Who gets an allowance, and of how much at most, micro-USD."""

    spender: str
    most: int


@dataclass(frozen=True, slots=True)
class AssetGiven:
    """A token and what becomes of it: caps in base units, prices in dollars; None leaves one as it is."""

    token: str
    becomes: str
    per_batch: int | None
    per_window: int | None
    jump: int | None
    least: Decimal | None
    most: Decimal | None


@dataclass(frozen=True, slots=True)
class ValuerGiven:
    """Where a position lies, and who values it; empty for nobody."""

    target: str
    valuer: str


@dataclass(frozen=True, slots=True)
class SessionGiven:
    """A key, empty to end the session; for how many hours, operations and micro-USD."""

    key: str
    hours: int
    operations: int
    budget: int


@dataclass(frozen=True, slots=True)
class ActGiven:
    """Of a cancellation which change."""

    kind: int | None
    key: str
