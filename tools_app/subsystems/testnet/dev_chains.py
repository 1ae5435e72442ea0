"""Defines what the testnet tools need of private test chains. Wiring hands the implementation down.

Every method is scoped by the golem that asks: a `chain_ref` of another golem is unknown, like one that
never existed. `chain_ref` None means the latest chain the golem started that still runs. Other end: the
embedded chains of `golem_project/embedded/`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol
from uuid import UUID

from tools_app.core.errors import GolemError, Recovery


class DevChainNotFound(
    GolemError, status=404, recovery=Recovery.FIX_PARAMS, title="This golem runs no such test chain"
):
    """This golem started no such test chain, or it has stopped."""


class DevChainLimit(
    GolemError, status=409, recovery=Recovery.CHECK_STATE, title="This golem runs as many test chains as it may"
):
    """This golem runs as many test chains as it may."""


class DevChainFailed(GolemError, status=502, recovery=Recovery.CHECK_STATE, title="The test chain refused"):
    """The test chain did not start, or did not do what it was asked."""


@dataclass(frozen=True, slots=True)
class DevPool:
    """A pool on a test chain: addresses checksummed, fee in hundredths of a basis point, ticks None for V2."""

    pool_address: str
    version: str
    token0: str
    token1: str
    fee_tier: int
    initial_tick: int | None
    initial_sqrt_price_x96: int | None
    liquidity: int


@dataclass(frozen=True, slots=True)
class DevChainState:
    """A running test chain: times in Unix seconds, contracts by name and tokens by symbol as checksummed addresses."""

    chain_ref: str
    chain_id: int
    block_number: int
    block_timestamp: int
    started_at: int
    expires_at: int
    funded_addresses: tuple[str, ...]
    contracts: Mapping[str, str]
    tokens: Mapping[str, str]
    pools: tuple[DevPool, ...]


@dataclass(frozen=True, slots=True)
class DevBalance:
    """What an account holds of one token, in base units."""

    token: str
    symbol: str
    decimals: int
    amount: int


@dataclass(frozen=True, slots=True)
class DevAccount:
    """An account on a test chain after it was funded; `native_wei` in wei."""

    address: str
    native_wei: int
    balances: tuple[DevBalance, ...]


@dataclass(frozen=True, slots=True)
class DevPoolWish:
    """A pool to open: tokens by address or symbol in any order, price as units of token1 per token0 as named here.

    `liquidity_usd` is whole dollars, both sides together; ticks None mean the whole range.
    """

    version: str
    token0: str
    token1: str
    fee_tier: int
    initial_price: str
    liquidity_usd: int
    tick_lower: int | None
    tick_upper: int | None


class DevChains(Protocol):
    """Starts, changes and stops private test chains on this machine."""

    def start(
        self, *, golem_id: UUID, versions: tuple[str, ...], seed_liquidity: bool, funded_accounts: int
    ) -> DevChainState:
        """Start a chain with Uniswap on it. Raises DevChainLimit, DevChainFailed."""

    def describe(self, *, golem_id: UUID, chain_ref: str | None) -> DevChainState:
        """The state of a running chain. Raises DevChainNotFound."""

    def stop(self, *, golem_id: UUID, chain_ref: str | None) -> DevChainState:
        """Stop a chain and forget its data; answers its last state. Raises DevChainNotFound."""

    def travel(self, *, golem_id: UUID, chain_ref: str | None, seconds: int, blocks: int) -> DevChainState:
        """Move the chain's clock ahead and mine `blocks`. Raises DevChainNotFound, DevChainFailed."""

    def fund(
        self, *, golem_id: UUID, chain_ref: str | None, address: str, native_wei: int, tokens: Mapping[str, int]
    ) -> DevAccount:
        """Set an account's coin and add base units of tokens (by address or symbol) to it."""

    def open_pool(self, *, golem_id: UUID, chain_ref: str | None, wish: DevPoolWish) -> DevPool:
        """Create a pool and fill it. Raises DevChainNotFound, DevChainFailed."""
