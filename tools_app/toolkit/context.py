"""Holds what a tool's handler may touch: pinned chain reads, the golem, a deadline; no signer, no settings.

The reader is handed down as a value, so this module knows neither web3 nor Django.
Its other end is `tools_app/chain/` (reads) and `permits_app/execution/` (spending).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NamedTuple, Protocol, TypeAlias, TypeVar, cast

from tools_app.core.clock import Deadline
from tools_app.core.errors import GolemError
from tools_app.core.events import EventType
from tools_app.toolkit.views import BlockRef, FeedPrice, FeeQuote, GolemView, LogEntry, LogQuery, TokenMeta

S = TypeVar("S")

AbiValues: TypeAlias = tuple[Any, ...]  # Any: a value of an ABI is of the type that its signature says, in text
"""The values that a function took or returned, or an event has, in the order of its signature."""

AbiValue: TypeAlias = Any  # Any: as above
"""One of them, before it is read."""


def _say_nothing(kind: EventType, payload: Mapping[str, object]) -> None:
    """A context nobody listens to."""


# Tuples, of which a decision makes hundreds: a frozen dataclass takes twice as long to make.
class ReadCall(NamedTuple):
    """One `eth_call`: `function balanceOf(address) view returns (uint256)` or the like, and its arguments."""

    to: str
    signature: str
    args: AbiValues = ()


class ReadOutcome(NamedTuple):
    """One answer of a batch: the decoded values, or the reason it reverted.

    `is_absent`: the call went well and no byte came, as where there is no contract. Any other failure is a question
    that was not answered.
    """

    ok: bool
    values: AbiValues
    revert_reason: str | None = None
    is_absent: bool = False


class ChainReader(Protocol):
    """Read-only view of one chain, pinned to one block for the life of the context."""

    @property
    def chain_id(self) -> int: ...

    @property
    def block(self) -> BlockRef: ...

    def call(self, to: str, signature: str, *args: Any) -> tuple[Any, ...]:  # Any: a value of the ABI's type
        """One read at the pinned block. Raises CallReverted, RpcUnavailable."""

    def call_many(self, calls: Sequence[ReadCall]) -> list[ReadOutcome]:
        """Many reads in one batch at the pinned block; a revert is an outcome, not an exception."""

    def logs(
        self,
        *,
        address: str | Sequence[str] | None,
        topics: Sequence[Any],  # Any: a value of the ABI's type
        from_block: int,
        to_block: int,
    ) -> list[LogEntry]:
        """Logs in a block range, inclusive."""

    def block_at(self, number: int) -> BlockRef: ...

    def blocks_at(self, numbers: Sequence[int]) -> list[BlockRef]:
        """Blocks by their numbers, in that order, in one round trip."""

    def first_block_since(self, timestamp: int) -> BlockRef:
        """The first block whose time is at or after `timestamp` seconds."""

    def forget_reads(self) -> None:
        """Let go of what contracts answered, so that it is asked anew at the same block."""

    def preload(
        self,
        *,
        calls: Sequence[ReadCall] = (),
        prices_of: Sequence[TokenMeta] = (),
        contracts: Sequence[str] = (),
        slots: Sequence[tuple[str, int]] = (),
        accounts: Sequence[str] = (),
        nonces: Sequence[str] = (),
    ) -> None:
        """Ask for all of these in one round trip: calls, feeds, code, slots by contract and number, coin balances, and
        how many transactions of accounts are mined.

        Reading them then costs none.
        """

    def expect(
        self,
        *,
        calls: Sequence[ReadCall] = (),
        prices_of: Sequence[TokenMeta] = (),
        accounts: Sequence[str] = (),
        fees: bool = False,
        since: int | None = None,
        alone: Sequence[ReadCall] = (),
    ) -> None:
        """Say what will be asked for later: it travels with the next round trip. What fails in it fails when asked.

        `alone` are calls that no aggregate takes in, because what they tell of gas depends on what ran before them.
        `since` begins the search for the first block since then, which takes a step with each round trip of reads.
        """

    def preload_logs(self, queries: Sequence[LogQuery]) -> None:
        """Ask for the logs of all of these in one round trip; asking for each then costs none."""

    def native_balance(self, account: str) -> int:
        """Wei held by `account` at the pinned block."""

    def code(self, address: str) -> bytes: ...

    def slot(self, address: str, number: int) -> int:
        """The word that a contract keeps in one slot of its storage."""

    def token(self, ref: str) -> TokenMeta:
        """A token by address or registered symbol. Raises TokenNotFound."""

    def registered_tokens(self) -> tuple[TokenMeta, ...]:
        """Every token of this chain's registry."""

    def native(self) -> TokenMeta:
        """The chain's own coin, under the address NATIVE."""

    def price(self, token: TokenMeta) -> FeedPrice:
        """USD price of a token from its on-chain feed. Raises PriceUnavailable, PriceStale."""

    def fees(self) -> FeeQuote: ...

    def mined_nonce(self, account: str) -> int:
        """How many transactions of `account` are mined up to the pinned block."""

    def pending_nonce(self, account: str) -> int:
        """The next nonce the node would accept, pending transactions counted."""


class ServiceMissing(GolemError, status=503, title="This process was not given what the tool needs"):
    """A tool asked for a service this process was not given."""


class Checkpoint:
    """What an earlier call with the same parameters left when its time was over, and what this one would leave.

    Only a tool that declares `keeps_checkpoint` finds anything in `left` or has its `kept` stored. JSON-ready both.
    """

    def __init__(self, left: Mapping[str, Any] | None = None) -> None:  # Any: a value of the ABI's type
        self.left: Mapping[str, Any] = left or {}  # Any: a value of the ABI's type
        self.kept: dict[str, object] = {}

    def keep(self, **data: Any) -> None:  # Any: what a tool keeps is of any type
        """Say how far the call is; the last word counts."""
        self.kept = data


@dataclass(frozen=True, slots=True)
class ReadContext:
    """Handed to a read tool: chain reads, golem, clock. It has no signer to misuse."""

    golem: GolemView
    now: datetime
    deadline: Deadline
    open_chain: Callable[[int], ChainReader]
    report_step: Callable[[str], None]
    services: Mapping[type, object] = field(default_factory=dict)
    checkpoint: Checkpoint = field(default_factory=Checkpoint)
    tell: Callable[[EventType, Mapping[str, Any]], None] = _say_nothing  # Any: a value of the ABI's type
    chosen_chain_id: int | None = None

    @property
    def chain_id(self) -> int:
        """The chain that the call chose, else the golem's home."""
        return self.chosen_chain_id if self.chosen_chain_id is not None else self.golem.home_chain_id

    def chain(self, chain_id: int | None = None) -> ChainReader:
        """The pinned reader of `chain_id`, else of the chain the call chose, else of the golem's home.

        Raises ChainNotSupported.
        """
        return self.open_chain(chain_id if chain_id is not None else self.chain_id)

    def step(self, name: str) -> None:
        """Report that a declared progress step begins, or goes on."""
        self.report_step(name)

    def begin(self, name: str) -> ChainReader:
        """The pinned reader of the call's chain, with the step that begins by reading it. Raises ChainNotSupported."""
        reader = self.chain()
        self.step(name)
        return reader

    def service(self, kind: type[S]) -> S:
        """A service handed down by wiring, looked up by its interface. Raises ServiceMissing."""
        found = self.services.get(kind)
        if found is None:
            raise ServiceMissing(f"{kind.__name__} is not set up in this process")
        return cast("S", found)


@dataclass(frozen=True, slots=True)
class WriteContext(ReadContext):
    """Handed to a write tool. It reads exactly like a read tool; what it returns is a plan, not an effect."""

    @property
    def account(self) -> str:
        """The golem's address. A write tool exists only for a golem with a wallet."""
        if self.golem.address is None:
            raise ServiceMissing("this golem has no wallet")
        return self.golem.address
