"""Defines what a pre-flight starts from, what it may answer, and how it refuses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from permits_app.policy_cage.contract import BatchClass

MICRO_USD: Final = 10**6
UINT256_MAX: Final = 2**256 - 1


@dataclass(frozen=True, slots=True)
class Refusal:
    """The contract's error by name, with its arguments in order. An empty name is a revert without a reason."""

    name: str
    args: tuple[object, ...] = ()


class Refused(Exception):
    """Ends the judging with the contract's error."""

    def __init__(self, name: str, *args: object) -> None:
        super().__init__(name)
        self.refusal = Refusal(name, args)


@dataclass(frozen=True, slots=True)
class Measured:
    """What the account held at one moment, in the order of the state's assets and positions; positions in micro-USD.

    `exposures` are base units in wallet and positions less what is owed, `held` what each position holds of each asset,
    position by position. `frozen` is what may not grow, a word each: which position << 248 | its number << 128 | how
    much. None is told by a contract before version 8, which has no such rules.
    """

    balances: tuple[int, ...]
    gross: tuple[int, ...]
    debts: tuple[int, ...]
    largest: tuple[int, ...]
    newest: tuple[int, ...]
    covers: tuple[int, ...]
    exposures: tuple[int, ...]
    held: tuple[int, ...]
    frozen: tuple[int, ...] | None = None


@dataclass(frozen=True, slots=True)
class Right:
    """What a spender may take of a token without the cage: an allowance of the token's own, or one of Permit2."""

    token: str
    spender: str
    is_of_permit2: bool = False


@dataclass(frozen=True, slots=True)
class Observed:
    """What the chain says at `now` (unix seconds).

    `rights_before` and `rights_after` are the base units of every right the batch names, or why one cannot be read.
    `prices` are (answer, unit) or the refusal of the feed, by asset; `after` is None when a call failed, and then
    `failure` says which and why. `owned` are targets that the account owns; `acted` is how many of the owners'
    transactions ran inside the batch, `nonce` how many before it. `hooks` are the Safe's guards and handler, the zero
    address where one is not set. `seen_prices` is the contract's own word of the last batch's prices; `sequencer` is
    what its feed says, (answer, since when in unix seconds), where the rules ask for it.
    """

    now: int
    prices: Mapping[str, tuple[int, int] | Refusal]
    before: Measured | Refusal
    after: Measured | Refusal | None
    failure: Refusal | None = None
    codeless: frozenset[str] = frozenset()
    hooks: frozenset[str] = frozenset()
    modules: frozenset[str] = frozenset()
    owned: frozenset[str] = frozenset()
    is_key_owner: bool = False
    nonce: int = 0
    acted: int = 0
    has_account_code: bool = True
    rights_before: Mapping[Right, int | Refusal] = field(default_factory=dict)
    rights_after: Mapping[Right, int | Refusal] = field(default_factory=dict)
    seen_prices: int = 0
    sequencer: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class PreflightVerdict:
    """What a batch that runs counts as; values in micro-USD."""

    batch_class: BatchClass
    moved: int
    loss: int


def value_of(observed: Observed, asset: str, amount: int) -> int:
    """Micro-USD of base units, rounded down as the contract rounds; of none without asking. Raises Refused."""
    if not amount:
        return 0
    answer, unit = price_of(observed, asset)
    return amount * answer * MICRO_USD // unit


def price_of(observed: Observed, asset: str) -> tuple[int, int]:
    """(answer, unit) of an asset. Raises Refused with the feed's refusal."""
    price = observed.prices[asset]
    if isinstance(price, Refusal):
        raise Refused(price.name, *price.args)
    return price
