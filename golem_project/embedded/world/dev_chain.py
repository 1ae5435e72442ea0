"""Private test chains for the testnet tools, found by their `chain_ref` from any process of this machine.

A chain belongs to one golem and to the program that started it: it ends when it is stopped, when it is too old, and
when the session that its starter runs in ends (a Celery worker and its children are one). Its address stays in here.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from fractions import Fraction
from pathlib import Path
from uuid import UUID

from golem_project.embedded.errors import EmbeddedError
from golem_project.embedded.process import ProcessIdentity
from golem_project.embedded.world.dev_pool import (
    SLOT0,
    DevChainRefused,
    DevPool,
    DevPoolWish,
    DevToken,
    open_pool,
    plan_pool,
    read_price,
)
from golem_project.embedded.world.dev_registry import DevRecord, DevRegistry, Limits
from golem_project.embedded.world.fund import DEPLOYMENTS_FILE, find_owner, mint, token_addresses
from golem_project.embedded.world.node import CHAIN_ID
from golem_project.embedded.world.rpc import JsonRpc, checksum
from golem_project.embedded.world.saved_world import bare_state_file, ensure_saved, state_file
from golem_project.embedded.world.seed_data import POOLS, TOKENS_BY_SYMBOL
from golem_project.embedded.world.world_table import PoolEntry, read_world_table

FUNDED_WEI = 10_000 * 10**18
MOST_FUNDED_ACCOUNTS = 20
MOST_TRAVEL_SECONDS = 10 * 365 * 86_400
MOST_BLOCKS_AT_ONCE = 10_000
VERSIONS = ("v2", "v3")


@dataclass(frozen=True)
class DevChainState:
    """A test chain: times are unix seconds, `contracts` and `tokens` are name or symbol -> checksummed address."""

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


@dataclass(frozen=True)
class DevBalance:
    """What an account holds of one token, in base units."""

    token: str
    symbol: str
    decimals: int
    amount: int


@dataclass(frozen=True)
class DevAccount:
    """An account after it was funded."""

    address: str
    native_wei: int
    balances: tuple[DevBalance, ...]


class DevChains:
    """What a golem does with its test chains. All processes that name the same folder see the same chains."""

    def __init__(
        self,
        registry_dir: Path,
        *,
        most_per_golem: int = 2,
        most_in_all: int = 8,
        max_age_seconds: int = 3_600,
        anchor: ProcessIdentity | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        limits = Limits(most_per_golem, most_in_all, max_age_seconds)
        self._registry = DevRegistry(registry_dir, limits=limits, clock=clock, anchor=anchor)
        self._clock = clock

    def start(
        self,
        *,
        golem_id: UUID,
        versions: tuple[str, ...] = VERSIONS,
        seed_liquidity: bool = True,
        funded_accounts: int = 3,
    ) -> DevChainState:
        """Start a chain with the world's contracts; with liquidity for all versions it has the world's past too.

        Raises DevChainsExhausted, DevChainRefused, EmbeddedError when the node does not start.
        """
        if not versions or not set(versions) <= set(VERSIONS):
            raise DevChainRefused(f"versions {versions!r} are not deployed here. Fix: {', '.join(VERSIONS)}.")
        if not 0 <= funded_accounts <= MOST_FUNDED_ACCOUNTS:
            raise DevChainRefused(
                f"funded_accounts {funded_accounts} is out of range. Fix: 0 to {MOST_FUNDED_ACCOUNTS}."
            )
        ensure_saved(now=int(self._clock()))
        has_past = seed_liquidity and set(versions) == set(VERSIONS)
        addresses = tuple(checksum("0x" + secrets.token_hex(20)) for _ in range(funded_accounts))
        record = self._registry.launch(
            golem_id,
            state=state_file() if has_past else bare_state_file(),
            versions=versions,
            funded_addresses=addresses,
        )
        try:
            with connect(record) as node:
                # The state's newest block is as old as the state: from here on the chain's time is the machine's.
                node.call("anvil_mine", "0x1")
                for address in addresses:
                    node.call("anvil_setBalance", address, hex(FUNDED_WEI))
                pools = world_pools(node) if has_past else seed_pools(node, versions) if seed_liquidity else ()
            self._remember(record, pools)
        except BaseException:
            self._registry.end(record)
            raise
        return self.describe(golem_id=golem_id, chain_ref=record.chain_ref)

    def describe(self, *, golem_id: UUID, chain_ref: str | None = None) -> DevChainState:
        """The state of a running chain, the latest of this golem by default. Raises DevChainUnknown."""
        return describe(self._registry.find(golem_id, chain_ref))

    def list_chains(self, *, golem_id: UUID) -> tuple[str, ...]:
        """The running chains of a golem, latest first."""
        return tuple(record.chain_ref for record in self._registry.running() if record.golem_id == str(golem_id))

    def stop(self, *, golem_id: UUID, chain_ref: str | None = None) -> DevChainState:
        """End a chain and forget its data; answers its last state. Raises DevChainUnknown."""
        record = self._registry.find(golem_id, chain_ref)
        try:
            return describe(record)
        finally:
            self._registry.end(record)

    def travel(self, *, golem_id: UUID, chain_ref: str | None = None, seconds: int, blocks: int = 1) -> DevChainState:
        """Move the chain's clock ahead by `seconds`, then mine `blocks`. Raises DevChainUnknown, DevChainRefused."""
        if not 0 <= seconds <= MOST_TRAVEL_SECONDS:
            raise DevChainRefused(f"seconds {seconds} is out of range. Fix: 0 to {MOST_TRAVEL_SECONDS}.")
        if not 1 <= blocks <= MOST_BLOCKS_AT_ONCE:
            raise DevChainRefused(f"blocks {blocks} is out of range. Fix: 1 to {MOST_BLOCKS_AT_ONCE}.")
        record = self._registry.find(golem_id, chain_ref)
        with connect(record) as node:
            node.call("evm_increaseTime", seconds)
            node.call("anvil_mine", hex(blocks), "0x1")
        return describe(record)

    def fund(
        self, *, golem_id: UUID, chain_ref: str | None = None, address: str, native_wei: int, tokens: Mapping[str, int]
    ) -> DevAccount:
        """Set an account's coins, and add base units of tokens (by address or symbol) to what it has.

        Raises DevChainUnknown, DevChainRefused.
        """
        if not 0 <= native_wei < 2**128 or any(not 0 < amount < 2**112 for amount in tokens.values()):
            raise DevChainRefused("An amount is out of range. Fix: base units, 1 or more (coins: 0 or more).")
        known = dev_tokens()
        wanted = {find_token(known, name): amount for name, amount in tokens.items()}
        with connect(self._registry.find(golem_id, chain_ref)) as node:
            node.call("anvil_setBalance", address, hex(native_wei))
            owner = find_owner(node, token_addresses())
            for token, amount in wanted.items():
                mint(node, owner, token.symbol, token.address, address, amount)
            balances = tuple(
                DevBalance(token.address, token.symbol, token.decimals, node.balance_of(token.address, address))
                for token in wanted
            )
            coins = int(node.call("eth_getBalance", address, "latest"), 16)
        return DevAccount(address, coins, balances)

    def open_pool(self, *, golem_id: UUID, chain_ref: str | None = None, wish: DevPoolWish) -> DevPool:
        """Create a pool and fill it; when that fails, nothing of it stays. Raises DevChainUnknown, DevChainRefused."""
        known = dev_tokens()
        price = read_price(wish.initial_price)
        plan = plan_pool(wish, find_token(known, wish.token0), find_token(known, wish.token1), price)
        record = self._registry.find(golem_id, chain_ref)
        with connect(record) as node:
            owner = find_owner(node, token_addresses())
            snapshot = node.call("evm_snapshot")
            try:
                pool = open_pool(node, owner, read_world_table(DEPLOYMENTS_FILE).contracts, wish, plan)
            except EmbeddedError:
                node.call("evm_revert", snapshot)
                raise
        self._remember(record, (*record.pools, pool))
        return pool

    def reap(self) -> int:
        """Forget chains that are gone and end those that are too old; returns how many. For a periodic task."""
        return self._registry.reap()

    def stop_all(self) -> int:
        """End every chain of the registry; returns how many. For the supervisor's stop."""
        records = self._registry.running()
        for record in records:
            self._registry.end(record)
        return len(records)

    def _remember(self, record: DevRecord, pools: Sequence[DevPool]) -> None:
        self._registry.write(replace(record, pools=tuple(pools)))


@contextmanager
def connect(record: DevRecord) -> Iterator[JsonRpc]:
    """A line to a chain for the length of a block."""
    node = JsonRpc(f"http://127.0.0.1:{record.port}")
    try:
        yield node
    finally:
        node.close()


def describe(record: DevRecord) -> DevChainState:
    """What runs and what is on it."""
    with connect(record) as node:
        block = node.read_block()
    missing = [f"_{version}_" for version in VERSIONS if version not in record.versions]
    contracts: dict[str, str] = asdict(read_world_table(DEPLOYMENTS_FILE).contracts)
    return DevChainState(
        chain_ref=record.chain_ref,
        chain_id=CHAIN_ID,
        block_number=block.number,
        block_timestamp=block.timestamp,
        started_at=record.started_at_ns // 10**9,
        expires_at=record.expires_at,
        funded_addresses=record.funded_addresses,
        contracts={key: where for key, where in contracts.items() if not any(part in key for part in missing)},
        tokens=token_addresses(),
        pools=record.pools,
    )


def seed_pools(node: JsonRpc, versions: Sequence[str]) -> tuple[DevPool, ...]:
    """The world's pools of some versions only, as deep, each over the whole range."""
    known = dev_tokens()
    owner = find_owner(node, token_addresses())
    pools = []
    for pool in POOLS:
        if pool.version not in versions:
            continue
        first, second = (known[symbol] for symbol in pool.symbols)
        price = Fraction(first.price, second.price)
        usd = sum(band.usd for band in pool.bands)
        wish = DevPoolWish(pool.version, first.address, second.address, pool.fee_tier, "as the feeds say", usd)
        plan = plan_pool(wish, first, second, price)
        pools.append(open_pool(node, owner, read_world_table(DEPLOYMENTS_FILE).contracts, wish, plan))
    return tuple(pools)


def world_pools(node: JsonRpc) -> tuple[DevPool, ...]:
    """The pools that the world comes with, as they are now."""
    return tuple(read_pool(node, entry) for entry in read_world_table(DEPLOYMENTS_FILE).pools)


def read_pool(node: JsonRpc, entry: PoolEntry) -> DevPool:
    """One pool of the committed table."""
    address = entry.address
    sqrt_price, pool_tick = None, None
    if entry.version == "v2":
        liquidity = node.read(address, "totalSupply()", returns="(uint256)")[0]
    else:
        sqrt_price, pool_tick = node.read(address, "slot0()", returns=SLOT0)[:2]
        liquidity = node.read(address, "liquidity()", returns="(uint128)")[0]
    return DevPool(
        pool_address=address,
        version=entry.version,
        token0=entry.token0,
        token1=entry.token1,
        fee_tier=entry.fee_tier,
        initial_tick=pool_tick,
        initial_sqrt_price_x96=sqrt_price,
        liquidity=liquidity,
    )


def dev_tokens() -> dict[str, DevToken]:
    """Symbol -> token of the world."""
    return {
        entry.symbol: DevToken(
            symbol=entry.symbol,
            address=entry.address,
            decimals=entry.decimals,
            price=TOKENS_BY_SYMBOL[entry.symbol].price,
            traits=entry.traits,
        )
        for entry in read_world_table(DEPLOYMENTS_FILE).tokens
    }


def find_token(known: Mapping[str, DevToken], name: str) -> DevToken:
    """By symbol or address. Raises DevChainRefused."""
    for token in known.values():
        if name == token.symbol or name.lower() == token.address.lower():
            return token
    raise DevChainRefused(f"No token {name[:80]!r} on this chain. Fix: one of {', '.join(known)}, or its address.")
