"""Defines positions: signed legs, what a plan promises to change in them, ways out.

A position is what a protocol keeps for an account: a loan, a share of a vault, a place in a queue. Its legs say what
it is made of in base units of tokens that have a price; what is owed is negative. The tokens that only stand for it
(receipts, shares, debts) are its claim tokens and are never priced themselves.
Whoever reads positions does no I/O: it yields batches of reads and is sent their outcomes. So the same lines read the
pinned block, the state after a simulated plan, a receipt's block, and many protocols side by side in the same batches.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, Protocol, TypeAlias, TypeVar

from tools_app.core.errors import GolemError, Recovery
from tools_app.toolkit.context import ReadCall, ReadOutcome
from tools_app.toolkit.valuation_rules import Due, Uncounted
from tools_app.toolkit.views import LogEntry

T = TypeVar("T")

Reads: TypeAlias = Generator[Sequence[ReadCall], Sequence[ReadOutcome], T]
"""Yields batches of reads, is sent the outcomes in their order, returns what they tell."""

CallMany: TypeAlias = Callable[[Sequence[ReadCall]], Sequence[ReadOutcome]]
"""Answers a batch of reads in their order; a revert is an outcome."""

ACCOUNT = "account"
"""The kind of a position in which every token is kept, taken out and limited for itself."""
MOST_BATCHES = 8
"""So many batches one protocol may ask for before it has told its positions; more is an error of its reader."""

REQUEST_KIND = "request"
"""The kind of every position that finishes later by itself: queues, cooldowns, bridges. Each is followed to its end."""

ORDER_KIND = "order"
"""The kind of every position that somebody else carries out or never does: orders at keepers. Each is followed too."""

FOLLOWED_KINDS: Final = (REQUEST_KIND, ORDER_KIND)
"""Kinds whose positions are followed from the receipt that opened them to their end."""


class PositionsUnreadable(
    GolemError,
    status=503,
    recovery=Recovery.WAIT,
    title="What the golem holds at a protocol could not be read",
    cleared_by="the protocol's contracts answer again",
):
    """A protocol did not tell what an account has there. Nobody may take that for nothing."""


class HealthTooLow(
    GolemError,
    status=422,
    recovery=Recovery.FIX_PARAMS,
    title="The position's health would be too low",
    cleared_by="less debt, more collateral, or a repayment first",
):
    """A debt would stand on less cover than its owner allows. `data` has position, health_bps, least_health_bps."""


@dataclass(frozen=True, slots=True, order=True)
class PositionRef:
    """Names a position everywhere, in SQL too: `lender/account/1/0x..`, `dex/nft/1/123`, `queue/request/1/77`."""

    protocol: str
    kind: str
    chain_id: int
    id: str

    def __str__(self) -> str:
        return f"{self.protocol}/{self.kind}/{self.chain_id}/{self.id}"

    @classmethod
    def parse(cls, text: str) -> PositionRef:
        """The reverse of `str`. Raises ValueError for anything else."""
        parts = text.split("/", 3)
        if len(parts) != 4 or not all(parts) or not parts[2].isdecimal():
            raise ValueError(f"{text!r} names no position")
        return cls(parts[0], parts[1], int(parts[2]), parts[3])


WHEN_REPAID: Final = 2**32 - 1
"""Unix seconds in 2106, for what can be had once others have repaid: nobody knows when."""


@dataclass(frozen=True, slots=True)
class Leg:
    """Base units of a token address (the coin under NATIVE) inside a position; negative is owed.

    `free_at` is the unix second from which it can be had; None: at once. `cover_bps` is how much of its value the
    protocol counts against debts before it liquidates, 0 for what covers none. `due` is told by a claim that is due
    later, and decides `raw`.
    """

    token: str
    raw: int
    free_at: int | None = None
    cover_bps: int = 0
    due: Due | None = None

    def __post_init__(self) -> None:
        """Raises ValueError for a claim that is counted at more than its rule."""
        if self.due is not None and self.raw != self.due.counted:
            raise ValueError("a claim that is due later counts as the lower of its average price and its face")

    def with_raw(self, raw: int) -> Leg:
        """The leg with so much in it. What is left of a claim, or believed of it, follows its rule no more."""
        return replace(self, raw=raw, due=None)


@dataclass(frozen=True, slots=True)
class Exposure:
    """How far a position's worth follows a token without holding it: signed base units, counted in concentration."""

    token: str
    raw: int


@dataclass(frozen=True, slots=True)
class ShareIndex:
    """The price of a share of `token`, on a scale that is the same at every reading, and how many are `held`.

    A gift to their contract makes such shares dearer. Earnings raise `raw` slowly; a sudden rise is no gain.
    """

    token: str
    raw: int
    held: int


LOCKED_WORDS: Final = {
    "used": "lent out: others have to repay or supply first",
    "asked": "given back by request alone: the vault has to be asked for it, and it waits",
    "paused": "paused by its guardians: nothing goes in or out",
    "closed": "shut down for good",
    "frozen": "frozen: it gives out and takes nothing in",
    "unpaid": "it pays nothing any more: it gives out, and nothing more is put in",
    "queue": "its withdrawal queue is paused: it waits until that goes on, or is sold",
    "late": "late on its bridge: nobody delivered it in its time",
    "still": "one of its tokens is paused or frozen by who issues it: it moves again when they let it",
    "dry": "no ether behind it to burn it for: others have to deposit or leave first, or it is sold",
}
"""Why something cannot be taken out now, for people, by the word of `Locked.reason`."""


@dataclass(frozen=True, slots=True)
class Locked:
    """Base units of a token in a position that nobody can take out now, and why: `used` (all of it is lent out),
    `asked` (given back by request alone), `paused`, `closed` (shut down for good), `queue` (its withdrawal queue takes
    nobody), `late` (a bridge did not deliver it in its time), `dry` (nothing is behind it to burn it for), `still` (a
    token that comes out with it stands still), or, where all can be taken out and nothing more is put in, `frozen` and
    `unpaid` (its rate is nothing). Nobody knows until when.
    """

    token: str
    raw: int
    reason: str


@dataclass(frozen=True, slots=True)
class Slashable:
    """Base units of a token in a position that a slash may take from. `keeper` names whose faults that is for, `kept`
    what slashes left of 10**18 that were there when the keeper began: it falls with each slash and never rises.
    `taken` is what slashes took so far of what was put in, where its protocol tells that.
    """

    token: str
    raw: int
    keeper: str
    kept: int
    taken: int = 0


@dataclass(frozen=True, slots=True)
class OrderStanding:
    """What may still come of a standing order, and until when.

    `heir` is whose the result is, its `brings` the least of it if all that is left is carried out. Nobody can carry it
    out after `until` (unix seconds; None: it has no end). `awaits` says for people what has to happen, in one line.
    `successor` is a position that a part of it became already.
    """

    heir: str
    awaits: str
    until: int | None = None
    brings: tuple[Leg, ...] = ()
    successor: PositionRef | None = None


@dataclass(frozen=True, slots=True)
class Position:
    """What a protocol keeps for an account.

    `health_bps` is the protocol's own word: cover over debt, 10,000 is liquidation, None without debt.
    `claim_tokens` are addresses of tokens that stand for it. `facts` is JSON-ready, for people, integers as text.
    `is_whole` is off where there is more than its legs tell, such as the positions beyond those that are read: nothing
    that counts it is complete. Without any leg it stands for what nobody met with, which never counted.
    A `kind` of ACCOUNT keeps legs that stand for themselves; legs of any other are one.
    `relies_on` are contracts that decide its health or its interest and are neither called by a plan nor heard in its
    logs: oracles, where those have their prices from, rate models. A permit binds their code too.
    `oracles` are those of them whose word its protocol takes for a price, `silent_oracles` those that give none now.
    `share_index` is told by a share that a stranger can make dearer: its legs count as far as it grew believably.
    `locked` is what of its legs cannot be taken out now, whatever the golem does. `uncounted` is what never counts.
    `is_margin` is on where its health is the margin its protocol tells, with or without a debt: gains and losses so far
    are legs, and no leg covers another.
    `is_settled`: what was under way has ended by itself. It is told once more, without legs, so that whoever follows
    it ends it, as arrived where no `takings` of its protocol say who else got it; nobody counts it.
    `standing` is what may still come of it, for a position that others carry out, and None for every other.
    `slashable` is told by what a slash can take from: its legs are what slashes left.
    `leaving_seconds` is how long its own way out takes from when it is asked for, beside what waits already; None where
    nobody knows. A sale may be quicker.
    """

    ref: PositionRef
    label: str
    legs: tuple[Leg, ...]
    health_bps: int | None = None
    exposure: tuple[Exposure, ...] = ()
    claim_tokens: frozenset[str] = frozenset()
    facts: Mapping[str, Any] = field(default_factory=dict)  # Any: a value of the ABI's type
    is_whole: bool = True
    relies_on: frozenset[str] = frozenset()
    oracles: frozenset[str] = frozenset()
    silent_oracles: frozenset[str] = frozenset()
    share_index: ShareIndex | None = None
    locked: tuple[Locked, ...] = ()
    standing: OrderStanding | None = None
    is_settled: bool = False
    uncounted: tuple[Uncounted, ...] = ()
    is_margin: bool = False
    slashable: tuple[Slashable, ...] = ()
    leaving_seconds: int | None = 0

    @property
    def is_told(self) -> bool:
        """Whether all of it that ever counted is among its legs."""
        return self.is_whole or not self.legs

    @property
    def has_debt(self) -> bool:
        """Whether anything is owed in it."""
        return any(leg.raw < 0 for leg in self.legs)

    @property
    def has_health(self) -> bool:
        """Whether it can be liquidated: it owes something, or stands on a margin."""
        return self.has_debt or self.is_margin

    def raw_of(self, token: str) -> int:
        """Base units of one token in it, what is owed subtracted."""
        return sum(leg.raw for leg in self.legs if leg.token == token)

    def uncounted_of(self, token: str, *, is_paid_for: bool = False) -> int:
        """Base units of one token in it that never count; only those that somebody buys with `is_paid_for`."""
        return sum(
            each.raw for each in self.uncounted if each.token == token and (each.market is not None or not is_paid_for)
        )


@dataclass(frozen=True, slots=True)
class PositionChange:
    """What a plan promises to change in a position: base units of one token's legs, signed as legs are.

    `expected` as quoted, `bound` the lowest that still passes: at least so much more is there (a deposit, a repayment),
    or at most so much less (a withdrawal, a new debt). `ref` None is a position of `protocol` that the plan opens.
    `least_health_bps` is what the position's health may not be under afterwards, where there is debt. `counts` is off
    for what never counts there (`Position.uncounted`).
    """

    protocol: str
    kind: str
    token: str
    expected: int
    bound: int
    ref: PositionRef | None = None
    least_health_bps: int | None = None
    counts: bool = True

    @property
    def is_debt(self) -> bool:
        """Whether it may leave more owed than before; what merely shrinks is told apart by what is measured."""
        return self.kind == "debt" and self.bound < 0


@dataclass(frozen=True, slots=True)
class Gauge:
    """A figure on the chain that no token tells: the value `index` of a read. `name` is for people."""

    name: str
    to: str
    signature: str
    args: tuple[Any, ...] = ()  # Any: a value of the ABI's type
    index: int = 0

    @property
    def read(self) -> ReadCall:
        """How it is read."""
        return ReadCall(self.to, self.signature, self.args)


@dataclass(frozen=True, slots=True)
class GaugeBound:
    """What a plan promises of a gauge: its value afterwards lies within these, None where that side is open."""

    gauge: Gauge
    least: int | None = None
    most: int | None = None


class PositionQuestion(Protocol):
    """Asks for positions; each `ask` begins anew, so that it can be asked of several states."""

    def ask(self) -> Reads[tuple[Position, ...]]:
        """The positions in the order of their refs. Raises PositionsUnreadable."""


@dataclass(frozen=True, slots=True)
class Trail:
    """Logs that an account leaves where it enters positions: of which contracts, with which topics of eth_getLogs."""

    addresses: tuple[str, ...]
    topics: tuple[str | tuple[str, ...] | None, ...]


class Positions(Protocol):
    """What an account has at one protocol."""

    def list(self, chain_id: int, account: str, hints: Sequence[PositionRef]) -> Reads[tuple[Position, ...]]:
        """Every position of `account` there. `hints` are those it had, for what no contract can list.

        Raises PositionsUnreadable; a revert where an answer was due is one.
        """

    def born(self, logs: Sequence[LogEntry], account: str, chain_id: int) -> tuple[PositionRef, ...]:
        """The positions that logs say `account` may now have; remembered as hints. None where contracts tell all."""
        return ()


@dataclass(frozen=True, slots=True)
class Act:
    """The next step out of a position: a tool of the product and its parameters, previewed like any other.

    `or_trade` is what the account is short of to be out at once: who may trade does that instead, the others this step.
    `in_part` is a smaller step, for an account whose contract refuses the whole: to a cage a debt that is paid and its
    cover that comes out are an exchange, and each by itself is leaving.
    `is_early` is on where it takes back what was asked for before it came: whoever leaves does that, and to whoever
    waits for it it is no sign that it is ready.
    """

    tool: str
    params: Mapping[str, Any]  # Any: a tool's parameters, read by its schema
    reason: str = ""
    or_trade: NeedsTrade | None = None
    in_part: Act | None = None
    is_early: bool = False


@dataclass(frozen=True, slots=True)
class Wait:
    """Nothing to do before `until` (unix seconds; None: nobody knows)."""

    until: int | None
    reason: str


@dataclass(frozen=True, slots=True)
class NeedsTrade:
    """So much of a token is missing to go on: the owner may have it bought with what else is held."""

    token: str
    raw: int
    reason: str


@dataclass(frozen=True, slots=True)
class Stuck:
    """No step of ours gets it out; the owner is told why."""

    reason: str


ExitStep: TypeAlias = Act | Wait | NeedsTrade | Stuck


class Exits(Protocol):
    """How positions of one protocol are left, one step at a time; asked again after every step."""

    def next_step(self, position: Position, held: Mapping[str, int], now: int) -> ExitStep | None:
        """What to do next; None when nothing is left in it. `held` are the account's token balances in base units."""


def drive(reads: Reads[T], call_many: CallMany) -> T:
    """Run reads to their end. Raises PositionsUnreadable for one that never ends, and what `call_many` raises."""
    try:
        wanted = next(reads)
        for _ in range(MOST_BATCHES):
            wanted = reads.send(call_many(wanted) if wanted else [])
    except StopIteration as ended:
        told: T = ended.value
        return told
    raise PositionsUnreadable(f"positions were not told within {MOST_BATCHES} batches of reads")


def side_by_side(each: Sequence[Reads[T]]) -> Reads[list[T]]:
    """Several readers in lock step: what all of them ask next is one batch. What one of them raises ends all."""
    told: dict[int, T] = {}
    wanted: dict[int, Sequence[ReadCall]] = {}

    def go_on(index: int, outcomes: Sequence[ReadOutcome] | None) -> None:
        try:
            wanted[index] = each[index].send(outcomes) if outcomes is not None else next(each[index])
        except StopIteration as ended:
            wanted.pop(index, None)
            told[index] = ended.value

    for index in range(len(each)):
        go_on(index, None)
    while wanted:
        asked = [(index, len(batch)) for index, batch in wanted.items()]
        outcomes = yield [call for batch in wanted.values() for call in batch]
        start = 0
        for index, size in asked:
            go_on(index, outcomes[start : start + size])
            start += size
    return [told[index] for index in range(len(each))]


def gather(*batches: Sequence[ReadCall]) -> Reads[list[Sequence[ReadOutcome]]]:
    """Ask several lists of reads in one batch and give each list its outcomes back."""
    outcomes = yield [call for batch in batches for call in batch]
    told, start = [], 0
    for batch in batches:
        told.append(outcomes[start : start + len(batch)])
        start += len(batch)
    return told
