"""Case, LocalCase and ReadCase: what one call of a tool does or tells on the local chain, as data beside the tool.

Whoever adds a tool says in its folder's `cases.py` what a call of it moves, changes, tells and refuses. One suite
carries out every case on the protocol's own code and holds the tool to it, and to everything that is true of all tools.
A tool without a case fails that suite.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeAlias

from tools_app.toolkit.enums import ActionClass


@dataclass(frozen=True, slots=True)
class FromReport:
    """A parameter's value out of what cases before it reported: the `key` of the newest report that has it.

    `account` is the golem's own address.
    """

    key: str


@dataclass(frozen=True, slots=True)
class About:
    """Base units that follow a pool's price, interest or a rate: within so many basis points of `raw`."""

    raw: int
    bps: int


@dataclass(frozen=True, slots=True)
class PutIn:
    """A way into a position for those who walk at random: a part of what the wallet has of a token, as `parameter`,
    `shaped` where a tool takes it among others. `loses_bps` is the most that a market keeps of what is moved.
    """

    tool: str
    symbol: str
    params: Mapping[str, Any] = field(default_factory=dict)  # Any: a tool's parameters, read by its schema
    parameter: str = "amount"
    shaped: Callable[[str], object] = str
    loses_bps: int = 0


@dataclass(frozen=True, slots=True)
class TakeOut:
    """A way out: a part of what the account holds of the token that is the protocol's contract `key`, or "max"."""

    tool: str
    key: str
    parameter: str
    params: Mapping[str, Any] = field(default_factory=dict)  # Any: a tool's parameters, read by its schema
    loses_bps: int = 0


@dataclass(frozen=True, slots=True)
class Leave:
    """A way out of what no token stands for: a part of what a position has of a token, or of what it `is_owed`; without
    a `parameter` all of it.
    """

    tool: str
    symbol: str
    params: Mapping[str, Any] = field(default_factory=dict)  # Any: a tool's parameters, read by its schema
    parameter: str = "amount"
    shaped: Callable[[str], object] = str
    is_owed: bool = False


@dataclass(frozen=True, slots=True)
class Borrow:
    """A way into a debt in dollars, of so many whole ones as there is room for."""

    tool: str
    symbol: str
    params: Mapping[str, Any] = field(default_factory=dict)  # Any: a tool's parameters, read by its schema


Way: TypeAlias = PutIn | TakeOut | Leave | Borrow


Amount: TypeAlias = int | About
"""Base units; a plain number is exact but for the case's rounding."""


@dataclass(frozen=True, slots=True)
class Case:
    """One call of a write tool. Amounts are signed base units by a token's symbol, the chain's coin under its own.

    `moves` is what the wallet loses and gains, `holds` by how much what lies in positions changes, `owes` by how much
    debts do; a token that is named in none of them may not move. `is_a` is the kind of action that is measured.
    `after` are names of cases that were carried out before, and `given` what other people did then: the suite's names.
    `tells` are figures of the report, as it writes them. `refuses` are parameters (on top of `params`) with the code
    of their refusal. `refused` is the code where every account that signs for itself is refused, and `when_old` where
    the call is after 300 days without anybody at the protocol.
    `meaningless` are words of calls whose change means nothing: (signature of the function, place of the word) with
    the reason. `loses_bps` bounds how far the account's worth may fall, in basis points of what the case moves: fees
    and slippage; `gains_bps` how far it may rise. `rounding` is in base units.
    """

    tool: str
    params: Mapping[str, Any]  # Any: a tool's parameters, read by its schema
    is_a: ActionClass
    name: str = ""
    after: tuple[str, ...] = ()
    given: tuple[str, ...] = ()
    moves: Mapping[str, Amount] = field(default_factory=dict)
    holds: Mapping[str, Amount] = field(default_factory=dict)
    owes: Mapping[str, Amount] = field(default_factory=dict)
    tells: Mapping[str, Any] = field(default_factory=dict)  # Any: a value of any tool's answer
    refuses: tuple[tuple[Mapping[str, Any], str], ...] = ()  # Any: a value of any tool's answer
    when_old: str = ""
    meaningless: Mapping[tuple[str, int], str] = field(default_factory=dict)
    refused: str = ""
    loses_bps: int = 0
    gains_bps: int = 0
    rounding: int = 2

    @property
    def id(self) -> str:
        """What other cases call it: its name, or its tool's."""
        return self.name or self.tool


@dataclass(frozen=True, slots=True)
class Together:
    """Two calls of one way out, each alone allowed, that are not both permitted at a time.

    `case` names the case of the way out. With `first` under a permit it is refused with `too_much`, which passes alone,
    and passes with `little`: parameters on top of the case's. `before` is another case that is carried out first.
    `is_cover`: what is too much together is not more than there is, but leaves a debt on too little.
    """

    case: str
    first: Mapping[str, Any]  # Any: a value of any tool's answer
    too_much: Mapping[str, object]
    little: Mapping[str, object]
    before: str = ""
    is_cover: bool = False


@dataclass(frozen=True, slots=True)
class LeftWhole:
    """A way out, by its case, of what is left whole or not at all: there is no part of it to take besides."""

    case: str


@dataclass(frozen=True, slots=True)
class OnlyComes:
    """Says why nothing there has a way out that anybody could take twice."""

    reason: str


Beside: TypeAlias = Together | LeftWhole | OnlyComes
"""What `TOGETHER` of a folder's `cases.py` holds: each protocol that is left says one at least."""


class Look(Protocol):
    """The chain as a read case sees it, past the product's readers: what it works figures out from another way."""

    @property
    def account(self) -> str:
        """The golem's own address."""

    @property
    def chain_id(self) -> int:
        """The chain's number."""

    def call(self, to: str, signature: str, *args: Any) -> Any:  # Any: a value of any tool's answer
        """One raw read at the newest block: its value, or the tuple of its values. Raises where it reverts."""

    def at(self, key: str) -> str:
        """A contract of the case's protocol."""

    def token(self, symbol: str) -> str:
        """A registered token's address."""

    def balance(self, symbol: str, account: str = "") -> int:
        """Base units of a token or of the coin, of the golem where nobody is named."""

    def price(self, symbol: str) -> int:
        """The answer of a token's feed: dollars with eight decimals."""

    def told(self, key: str) -> Any:  # Any: a value of any tool's answer
        """What a case before it reported."""

    def logs(self, address: str, event: str) -> Sequence[tuple[int, Sequence[int]]]:
        """The time of each log of one kind in the chain's order, and the words of its data; from 2**255 on negative."""

    def gas_price(self) -> tuple[int, int]:
        """Wei per gas: the next block's base fee, and the tip that the middle of the newest ten blocks paid."""

    @property
    def now(self) -> int:
        """The newest block's time."""

    @property
    def block(self) -> int:
        """The newest block's number."""


Figure: TypeAlias = Callable[[Look], Any]  # Any: a value of any tool's answer
"""A figure worked out another way than the tool does: from raw reads, a closed form, another formula."""

FEW_EXCHANGES = 4
SHORT_ANSWER = 4_000


@dataclass(frozen=True, slots=True)
class ReadCase:
    """One call of a read tool.

    `tells` are values of its answer by their path: `rates.0.asset`, or `rates[symbol=USDC].asset` for a member of a
    list that is found by what it says; `#` counts a list. Each is a plain value, `About` so many base units (of a
    decimal its millionths), or a `Figure`; a whole number is met by the same digits as text. `refuses` are parameters
    (on top of `params`) with the code of their refusal. `after`, `given` and `name` are as in `Case`.
    `most_exchanges` bounds the round trips to the node, as met by a process that knows the chain, and
    `most_characters` the answer as JSON. `among` names the only protocols that are on the shelf meanwhile, for a read
    that asks each that is there.
    """

    tool: str
    params: Mapping[str, Any] = field(default_factory=dict)  # Any: a tool's parameters, read by its schema
    tells: Mapping[str, Any | Figure] = field(default_factory=dict)  # Any: a value of any tool's answer
    name: str = ""
    after: tuple[str, ...] = ()
    given: tuple[str, ...] = ()
    among: tuple[str, ...] = ()
    refuses: tuple[tuple[Mapping[str, Any], str], ...] = ()  # Any: a value of any tool's answer
    most_exchanges: int = FEW_EXCHANGES
    most_characters: int = SHORT_ANSWER

    @property
    def id(self) -> str:
        """Its name, or its tool's."""
        return self.name or self.tool


@dataclass(frozen=True, slots=True)
class LocalCase:
    """One call of a write tool that sends nothing by itself, from its preview to what is so afterwards.

    `tells` are values of its report by their path. `leaves` are values that other reads tell once it is committed, by
    the words of query_state and their path, and which they do not all tell before. `refuses` are parameters (on top of
    `params`) with the code of their refusal. `after` are names of other cases, of calls that send something too.
    """

    tool: str
    params: Mapping[str, Any]  # Any: a tool's parameters, read by its schema
    tells: Mapping[str, Any | Figure]  # Any: a value of any tool's answer
    leaves: Mapping[str, Mapping[str, Any | Figure]]  # Any: a value of any tool's answer
    name: str = ""
    after: tuple[str, ...] = ()
    refuses: tuple[tuple[Mapping[str, Any], str], ...] = ()  # Any: a value of any tool's answer

    @property
    def id(self) -> str:
        """Its name, or its tool's."""
        return self.name or self.tool
