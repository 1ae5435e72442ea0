"""Defines what a protocol offers for yields: a rate, how it is told, and how it is left."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

from tools_app.toolkit.context import ChainReader
from tools_app.toolkit.views import NATIVE


class YieldKind(StrEnum):
    """What earns."""

    LENDING = "lending"
    VAULT = "vault"
    SAVINGS = "savings"
    FIXED = "fixed"
    STAKING = "staking"
    POOL = "pool"


@dataclass(frozen=True, slots=True)
class Door:
    """How a token goes into a place or comes out of it: a write tool by its name, and its parameters but for the
    amount in base units, which it takes as `amount`. On a way out `max` is all of it.
    """

    tool: str
    params: Mapping[str, str]
    amount: str = "amount"


@dataclass(frozen=True, slots=True)
class YieldOffer:
    """One place where a token earns.

    `yearly_ppm` is millionths of the amount a year, None where nobody tells; `basis` says over what, or why not.
    `waits_seconds` is how long leaving takes from the request on, None where nobody knows; `free` how many base units
    of the token can be taken out now, None where the place does not tell. `steps_in` and `steps_out` are the
    transactions of going in and of leaving; `entry_ppm` is what goes in costs once, in millionths of it.
    `closed` is why nothing goes in now, and empty where something does. `way_in` and `way_out` are how rules of a golem
    go in and leave; None where they do not: leaving waits, or takes more than a step.
    """

    protocol: str
    place: str
    label: str
    kind: YieldKind
    yearly_ppm: int | None
    basis: str
    waits_seconds: int | None = 0
    free: int | None = None
    steps_in: int = 1
    steps_out: int = 1
    entry_ppm: int = 0
    closed: str = ""
    way_in: Door | None = None
    way_out: Door | None = None


Yields: TypeAlias = Callable[[ChainReader, str], Sequence[YieldOffer]]
"""The places of one protocol where the token at an address earns, on the chain of a reader.

Raises what the node raises, and PositionsUnreadable.
"""


def is_coin(reader: ChainReader, token: str) -> bool:
    """Whether a token is the chain's coin or what wraps it."""
    wrapped = f"W{reader.native().symbol}"
    return token == NATIVE or token in {each.address for each in reader.registered_tokens() if each.symbol == wrapped}
