"""Defines effects: what calls do, read back from their bytes, in the words of reviewers.

Whoever reads effects is written from the contracts' interfaces and not from the tools that build the calls, so that a
mistake in a tool is not repeated. A byte that is not accounted for raises UnknownCall, which is a veto.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

from tools_app.toolkit.context import ChainReader
from tools_app.toolkit.plan import AmountGiven, Arrival, Call, ItemGiven, Statement
from tools_app.toolkit.pool_hooks import PoolHooks
from tools_app.toolkit.pool_ids import PoolId
from tools_app.toolkit.positions import PositionRef


class UnknownCall(ValueError):
    """Bytes this reader cannot account for completely."""


@dataclass(frozen=True, slots=True)
class ChangeRead:
    """A position's legs of one token move: `raw` signed as legs are, at least so much more or at most so much less.

    `ref` None is a position that the call opens. `is_exact` is off where the calldata bounds it only in part (fees
    owed, all that is there). `rounding` is how many base units whole shares may leave of it.
    """

    protocol: str
    kind: str
    token: str
    raw: int
    ref: PositionRef | None = None
    is_exact: bool = True
    rounding: int = 0


@dataclass(frozen=True, slots=True)
class RightRead:
    """A right that the call gives, or takes back with an amount of 0: of `contract` to `taker`; -1 is everything."""

    contract: str
    taker: str
    amount: int
    token: str | None = None


@dataclass(frozen=True, slots=True)
class PrincipalRead:
    """Money of somebody else that the call moves under a right that the account received: at most `most` of `token`."""

    reference: str
    principal: str
    token: str
    most: int


@dataclass(frozen=True, slots=True)
class MarketRead:
    """A market the call trades in: the tokens sold and bought, and the fee where several markets share the pair.

    `pool` is its name where the calls choose one that pair and fee do not.
    """

    protocol: str
    sold: str
    bought: str
    fee: int | None = None
    pool: PoolId | None = None


@dataclass(slots=True)
class Effects:
    """The sum of all calls read so far. Amounts are base units by token address, the coin under NATIVE.

    `spends` is the most that leaves, `receives` the least that arrives; `open_minimums` are tokens whose receipt the
    calldata bounds only in part. `approvals` are (token, spender, amount). `recipients` is everyone who is paid, and
    `paid_plainly` those who are paid by a transfer and not out of a protocol. `lent` is what a call hands to the
    account and takes back before it ends, by an allowance. A reader that meets somebody else's position raises
    UnknownCall. `statements` are the texts that the calls write down, `items` the numbered tokens (NFTs) that they hand
    over, `principals` the moves of others' money, and `arrivals` the amounts that come in on other chains.
    `hooks` are those of the pools that the calls reach.
    """

    spends: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    receives: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    open_minimums: set[str] = field(default_factory=set)
    approvals: list[tuple[str, str, int]] = field(default_factory=list)
    rights: list[RightRead] = field(default_factory=list)
    recipients: list[str] = field(default_factory=list)
    paid_plainly: list[str] = field(default_factory=list)
    lent: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    deadlines: list[int] = field(default_factory=list)
    changes: list[ChangeRead] = field(default_factory=list)
    markets: list[MarketRead] = field(default_factory=list)
    statements: list[Statement] = field(default_factory=list)
    items: list[ItemGiven] = field(default_factory=list)
    amounts: list[AmountGiven] = field(default_factory=list)
    arrivals: list[Arrival] = field(default_factory=list)
    hooks: list[PoolHooks] = field(default_factory=list)
    principals: list[PrincipalRead] = field(default_factory=list)

    @property
    def only_pays(self) -> bool:
        """Whether all that was read is money for others, paid plainly; who may be paid so is judged elsewhere."""
        paid = bool(self.recipients) and set(self.recipients) <= set(self.paid_plainly)
        moved = self.receives or self.changes or self.markets or self.arrivals or self.items or self.amounts
        return paid and not moved


class EffectsReader(Protocol):
    """Reads one protocol's calls."""

    def read(self, call: Call, *, earlier: Sequence[Call], account: str, chain: ChainReader, into: Effects) -> None:
        """Add what `call`, to a contract of this protocol, does for `account`. `earlier` are the plan's calls before
        it. Raises UnknownCall, and what the chain raises.
        """


@runtime_checkable
class ClaimReader(Protocol):
    """An effects reader of a protocol whose positions stand behind tokens that others trade."""

    def read_claim(self, token: str, raw: int, *, chain: ChainReader) -> ChangeRead | None:
        """The change of a position when so many base units of a token that stands for it come (or go, negative) by
        another protocol's call; None for a token that has a price of its own. Raises what the chain raises.
        """
