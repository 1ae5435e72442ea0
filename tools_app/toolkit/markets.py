"""Markets: pools in which two tokens are exchanged, whoever made them, and what can be asked about them.

Data tools, streams, the heartbeat and the reviewers ask these; only the protocol itself knows how its contracts answer.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from tools_app.core.errors import GolemError, Recovery
from tools_app.core.ratio import Ratio
from tools_app.toolkit.context import ChainReader, ReadCall
from tools_app.toolkit.effects import Effects, MarketRead
from tools_app.toolkit.pool_hooks import HookPower, PoolHooks
from tools_app.toolkit.pool_ids import PoolId
from tools_app.toolkit.positions import PositionRef
from tools_app.toolkit.views import LogEntry, TokenMeta

FEE_DENOMINATOR = 1_000_000
_Q192 = 2**192


class PoolNotFound(GolemError, status=404, recovery=Recovery.FIX_PARAMS, title="There is no such pool"):
    """No pool of a known factory has this address, or this pair and fee."""


class PositionNotFound(GolemError, status=404, recovery=Recovery.FIX_PARAMS, title="This account has no such position"):
    """No such position, or it belongs to another account; the two are answered alike."""


@dataclass(frozen=True, slots=True)
class Pool:
    """One pool at one block: of constant product (`v2`: `reserve0`, `reserve1`) or of concentrated liquidity (every
    other version: `sqrt_price`, `pool_tick`, `liquidity`).

    `fee` is in hundredths of a basis point: 3000 is 0.3%. `key` is what its manager calls it by, where that is more
    than an id; `hooks` is the hook that runs in it, None where none does.
    """

    version: str
    pool_id: PoolId
    token0: str
    token1: str
    fee: int
    reserve0: int = 0
    reserve1: int = 0
    sqrt_price: int = 0
    pool_tick: int = 0
    liquidity: int = 0
    protocol: str = ""
    key: tuple[Any, ...] = ()  # Any: a value of the ABI's type
    hooks: PoolHooks | None = None

    @property
    def id(self) -> str:
        """Its name as text: an address, or an id of 32 bytes."""
        return self.pool_id.text

    @property
    def is_concentrated(self) -> bool:
        """Whether it has a price of its own and ticks, rather than reserves."""
        return self.version != "v2"

    @property
    def is_usable(self) -> bool:
        """Whether it has a price at all."""
        return self.sqrt_price > 0 if self.is_concentrated else self.reserve0 > 0 and self.reserve1 > 0

    @property
    def spot(self) -> Ratio:
        """Token1 per token0 in base units, before fees."""
        if self.is_concentrated:
            return Ratio(self.sqrt_price * self.sqrt_price, _Q192)
        return Ratio(self.reserve1, self.reserve0)

    @property
    def venue(self) -> str:
        """Protocol and version, as events name it."""
        return f"{self.protocol} {self.version}"

    def spot_from(self, token_in: str) -> Ratio:
        """The other token per `token_in` in base units, before fees."""
        return self.spot if token_in == self.token0 else self.spot.inverse()

    def reserves_from(self, token_in: str) -> tuple[int, int]:
        """V2 reserves as (in, out) for a swap that begins with `token_in`."""
        return (self.reserve0, self.reserve1) if token_in == self.token0 else (self.reserve1, self.reserve0)

    def other(self, token: str) -> str:
        return self.token1 if token == self.token0 else self.token0


def sort_tokens(token_a: str, token_b: str) -> tuple[str, str]:
    """The pair in the order pools keep it: by address value."""
    return (token_a, token_b) if int(token_a, 16) < int(token_b, 16) else (token_b, token_a)


@dataclass(frozen=True, slots=True)
class CreatedPool:
    """A pool that a factory or a manager made: its name, pair, fee, and where on the chain that was. JSON-ready.

    `hook` is the contract of its hook, `powers` what that could do.
    """

    id: str
    version: str
    token0: str
    token1: str
    fee: int
    block_number: int
    tx_hash: str
    protocol: str = ""
    manager: str = ""
    key: tuple[Any, ...] = ()  # Any: a value of the ABI's type
    block_hash: str = ""
    log_index: int = 0
    hook: str = ""
    powers: tuple[HookPower, ...] = ()

    @property
    def venue(self) -> str:
        """Protocol and version, as events name it."""
        return f"{self.protocol} {self.version}"

    def as_pool(self) -> Pool:
        """The pool, its state still unread."""
        pair, name = (self.token0, self.token1), PoolId(self.id, self.manager)
        hooks = PoolHooks(self.id, self.hook, tuple(map(HookPower, self.powers))) if self.hook else None
        return Pool(self.version, name, *pair, self.fee, protocol=self.protocol, key=tuple(self.key), hooks=hooks)


@dataclass(frozen=True, slots=True)
class PoolDay:
    """24 hours of one pool. `in0`/`in1` are base units traders paid in; prices are token1 per token0 in base units.

    `reason` says why the figures are missing; then they are zero and must not be shown.
    """

    in0: int = 0
    in1: int = 0
    swaps: int = 0
    prices: tuple[Ratio, ...] = ()
    reason: str | None = None

    def fees(self, fee: int) -> tuple[int, int]:
        """Base units of fees paid in each token."""
        return self.in0 * fee // FEE_DENOMINATOR, self.in1 * fee // FEE_DENOMINATOR


@dataclass(frozen=True, slots=True)
class PoolEvent:
    """A log of a pool: its name, base units by token, positive into the pool, and what else it says, JSON-ready."""

    name: str
    amount0: int
    amount1: int
    details: Mapping[str, Any]  # Any: a value of the ABI's type


@dataclass(frozen=True, slots=True)
class TradeRead:
    """What one log says of a pool: the price after it, token1 per token0 in base units, and what a trader paid in.

    None where it says nothing of it.
    """

    price: Ratio | None = None
    in0: int | None = None
    in1: int | None = None

    @property
    def turned(self) -> TradeRead:
        """The same with the tokens the other way round."""
        return TradeRead(self.price.inverse() if self.price is not None else None, self.in1, self.in0)


@dataclass(frozen=True, slots=True)
class InitialisedTick:
    """A tick at which positions begin or end: `net` is added when the price rises through it, `gross` their sum."""

    pool_tick: int
    net: int
    gross: int


@dataclass(frozen=True, slots=True)
class PricePoint:
    """What one unit of token0 is worth in token1 after a block, as an exact ratio of base units."""

    block_number: int
    numerator: int
    denominator: int


class RangePosition(Protocol):
    """A position of concentrated liquidity at one block. `fees0`/`fees1` are base units a collect would pay now."""

    @property
    def position_id(self) -> str: ...

    @property
    def owner(self) -> str: ...

    @property
    def pool(self) -> Pool: ...

    @property
    def tick_lower(self) -> int: ...

    @property
    def tick_upper(self) -> int: ...

    @property
    def liquidity(self) -> int: ...

    @property
    def fees0(self) -> int: ...

    @property
    def fees1(self) -> int: ...

    @property
    def is_in_range(self) -> bool: ...

    def amounts(self, liquidity: int | None = None, *, sqrt_price: int | None = None) -> tuple[int, int]:
        """Token0 and token1 that taking out `liquidity` (by default all) gives, at the pool's or another price."""


class RangePositions(Protocol):
    """Positions of concentrated liquidity as their contract lists them, whoever owns them."""

    def read(self, reader: ChainReader, position_id: str) -> RangePosition:
        """One position with its owner. Raises PositionNotFound."""

    def read_many(self, reader: ChainReader, ids: Sequence[str]) -> Sequence[RangePosition]:
        """Positions by id; one that does not exist is left out."""

    def list_ids(self, reader: ChainReader, owner: str, *, limit: int) -> tuple[list[str], int]:
        """The newest position ids of an owner, at most `limit`, and how many there are."""

    def lists(self, position_id: str) -> bool:
        """Whether `list_ids` tells and counts a position of this id; others have to be known by name."""

    def name(self, chain_id: int, position_id: str) -> PositionRef:
        """How a position is called wherever holdings are counted."""

    def expect_calls(
        self,
        chain_id: int,
        owner: str,
        *,
        held: int,
        limit: int,
        known: Sequence[Mapping[str, object]],
        empty: Sequence[str] = (),
    ) -> list[ReadCall]:
        """The reads `list_ids` and `read_many` will make if nothing changed: `known` are `remember`ed positions. Of
        `empty` ones it is asked whether they still are.
        """

    def remember(self, position: RangePosition) -> dict[str, Any]:  # Any: a value of the ABI's type
        """JSON-ready: what `expect_calls` needs to know of a position."""


class Markets(Protocol):
    """The pools of one protocol. Every method asks the reader's chain, on which the protocol must be."""

    @property
    def chains(self) -> frozenset[int]:
        """Where its tools are served."""

    @property
    def ranges(self) -> RangePositions:
        """Its positions of concentrated liquidity."""

    @property
    def swap_topics(self) -> tuple[str, ...]:
        """Topic 0 of what its pools say of a swap."""

    @property
    def history_topics(self) -> tuple[str, ...]:
        """Topic 0 of what its pools say of prices and trades, which is all that is kept of them."""

    def why_not_counted(self, pool: Pool) -> str | None:
        """Why trades of a pool are not counted; None where they are."""

    def why_not_computed(self, pool: Pool) -> str | None:
        """Why swaps in a pool are not computed; None where they are."""

    def is_turned(self, pool: Pool) -> bool:
        """Whether logs of a pool tell its tokens the other way round: what `read_trade` says has to be turned then."""

    def read_trade(self, log: LogEntry) -> TradeRead | None:
        """What a log says of price and trade; None for one that is of none of its pools."""

    def describe(self, pool: Pool) -> str:
        """For people: the name of the market and its version."""

    def hubs(self, reader: ChainReader) -> list[str]:
        """Tokens most others trade against: the wrapped coin first, then dollar tokens."""

    def find(self, reader: ChainReader, pairs: Sequence[tuple[str, str]], *, with_balances: bool = False) -> list[Pool]:
        """Every pool of these pairs with its state; `with_balances` has what they hold travel with it."""

    def locate(self, reader: ChainReader, token0: str, token1: str, fee: int) -> PoolId | None:
        """The name of the concentrated pool of a sorted pair and fee, which every position of `ranges` can be in."""

    def read(self, reader: ChainReader, pool: str) -> Pool:
        """The pool of a name, confirmed by who keeps it, with its state and hook. Raises PoolNotFound."""

    def recognize(self, reader: ChainReader, names: Sequence[str]) -> dict[str, Pool]:
        """Which of these are pools, without their state; what merely calls itself one is left out."""

    def states(self, reader: ChainReader, pools: Sequence[Pool]) -> list[Pool]:
        """The same pools with their state, in one batch; one that does not answer is left out."""

    def state_calls(self, pool: Pool) -> list[ReadCall]:
        """What `states` asks of a pool."""

    def depth(self, reader: ChainReader, pools: Sequence[Pool]) -> dict[str, tuple[int, int]]:
        """Token0 and token1 base units each pool holds, by its name."""

    def days(self, reader: ChainReader, pools: Sequence[Pool]) -> dict[str, PoolDay]:
        """The last 24 hours of each pool by its name; what cannot be told is a reason."""

    def price_a_day_ago(self, reader: ChainReader, pool: Pool) -> tuple[Ratio | None, str | None]:
        """Token1 per token0 24 hours ago, or None with the reason."""

    def preload_day(self, reader: ChainReader, pool: Pool) -> None:
        """Ask for what `days` and `price_a_day_ago` look at, in one round trip. Raises the node errors."""

    def created(self, reader: ChainReader, *, from_block: int, to_block: int) -> list[CreatedPool]:
        """Pools made in a range of blocks, oldest first. Raises RpcUnavailable."""

    def tick_spacing(self, reader: ChainReader, pool: Pool) -> int:
        """How far apart the usable ticks of a pool are."""

    def ticks(self, reader: ChainReader, pool: Pool, *, spacing: int, spacings_each_side: int) -> list[InitialisedTick]:
        """Initialised ticks within so many spacings of the current tick, in order."""

    def event_topics(self, pool: Pool, names: Collection[str]) -> list[str]:
        """Topic 0 of the named events (swap, mint, burn, collect) of a pool."""

    def read_event(self, pool: Pool, log: LogEntry) -> PoolEvent | None:
        """What a pool's log says; None for one that is none of its."""

    def of(self, effects: Effects, reader: ChainReader) -> list[tuple[MarketRead, Pool | None]]:
        """The pool behind each market that calls trade in, once each, stateless; None where there is none."""

    def price_points(self, reader: ChainReader, pool: Pool, *, from_block: int) -> tuple[PricePoint, ...]:
        """The pool's price after each block in which it changed, from its own logs up to the pinned block."""


def pool_asset(wrapped_native: str | None, token: TokenMeta) -> str:
    """The address pools know a token by: the wrapped coin for the chain's own coin."""
    return wrapped_native if token.is_native and wrapped_native is not None else token.address
