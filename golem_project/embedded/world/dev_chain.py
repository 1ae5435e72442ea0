"""Private test chains, one folder each, found by their `chain_ref` from any process of this machine.

A chain belongs to one golem and to the program that started it: it ends when it is stopped, when it is too old, and
when the session that its starter runs in ends (a Celery worker and its children are one). Its address stays in here.
"""

from __future__ import annotations

import json
import os
import secrets
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any
from uuid import UUID

from golem_project.embedded.errors import EmbeddedError
from golem_project.embedded.process import (
    ProcessIdentity,
    free_port,
    hold_lock,
    identify,
    identity_from,
    read_record,
    write_record,
)
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
from golem_project.embedded.world.figures import POOLS, TOKENS_BY_SYMBOL
from golem_project.embedded.world.fund import DEPLOYMENTS_FILE, find_owner, mint
from golem_project.embedded.world.node import CHAIN_ID, ask_chain_id, listens_on, node_argv
from golem_project.embedded.world.rpc import JsonRpc, checksum
from golem_project.embedded.world.saved import bare_state_file, ensure_saved, find_anvil, state_file

KEEPER = Path(__file__).with_name("dev_chain_keeper.py")
START_TIMEOUT_SECONDS = 20
LOCK_WAIT_SECONDS = 60
FUNDED_WEI = 10_000 * 10**18
MOST_FUNDED_ACCOUNTS = 20
MOST_TRAVEL_SECONDS = 10 * 365 * 86_400
MOST_BLOCKS_AT_ONCE = 10_000
VERSIONS = ("v2", "v3")


class DevChainUnknown(EmbeddedError):
    """This golem started no such chain, or it has ended."""


class DevChainsExhausted(EmbeddedError):
    """This golem has as many chains as it may."""


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


@dataclass(frozen=True)
class Found:
    """A chain of the registry and an open line to it."""

    record: dict[str, Any]
    folder: Path
    node: JsonRpc


class DevChains:
    """The registry in one folder, shared by all processes that name the same one."""

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
        self._dir = registry_dir
        self._most_per_golem = most_per_golem
        self._most_in_all = most_in_all
        self._max_age_seconds = max_age_seconds
        self._anchor = anchor
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
        with self._locked():
            self._reap()
            self._check_room(golem_id)
            chain_ref = self._launch(golem_id, state_file() if has_past else bare_state_file(), versions, addresses)
        try:
            with self._open(golem_id, chain_ref) as found:
                # The state's newest block is as old as the state: from here on the chain's time is the machine's.
                found.node.call("anvil_mine", "0x1")
                for address in addresses:
                    found.node.call("anvil_setBalance", address, hex(FUNDED_WEI))
                pools = world_pools(versions) if has_past else self._seed(found, versions) if seed_liquidity else ()
                self._remember(found, pools=pools)
            return self.describe(golem_id=golem_id, chain_ref=chain_ref)
        except BaseException:
            shutil.rmtree(self._dir / chain_ref, ignore_errors=True)
            raise

    def describe(self, *, golem_id: UUID, chain_ref: str | None = None) -> DevChainState:
        """The state of a running chain, the latest of this golem by default. Raises DevChainUnknown."""
        with self._open(golem_id, chain_ref) as found:
            return self._state_of(found)

    def list_chains(self, *, golem_id: UUID) -> tuple[str, ...]:
        """The running chains of a golem, latest first."""
        return tuple(record["chain_ref"] for record in self._records() if record["golem_id"] == str(golem_id))

    def stop(self, *, golem_id: UUID, chain_ref: str | None = None) -> DevChainState:
        """End a chain and forget its data; answers its last state. Raises DevChainUnknown."""
        with self._open(golem_id, chain_ref) as found:
            state = self._state_of(found)
        self._end(found.record)
        return state

    def travel(self, *, golem_id: UUID, chain_ref: str | None = None, seconds: int, blocks: int = 1) -> DevChainState:
        """Move the chain's clock ahead by `seconds`, then mine `blocks`. Raises DevChainUnknown, DevChainRefused."""
        if not 0 <= seconds <= MOST_TRAVEL_SECONDS:
            raise DevChainRefused(f"seconds {seconds} is out of range. Fix: 0 to {MOST_TRAVEL_SECONDS}.")
        if not 1 <= blocks <= MOST_BLOCKS_AT_ONCE:
            raise DevChainRefused(f"blocks {blocks} is out of range. Fix: 1 to {MOST_BLOCKS_AT_ONCE}.")
        with self._open(golem_id, chain_ref) as found:
            found.node.call("evm_increaseTime", seconds)
            found.node.call("anvil_mine", hex(blocks), "0x1")
            return self._state_of(found)

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
        with self._open(golem_id, chain_ref) as found:
            found.node.call("anvil_setBalance", address, hex(native_wei))
            owner = find_owner(found.node, {token.symbol: token.address for token in known.values()})
            for token, amount in wanted.items():
                mint(found.node, owner, token.symbol, token.address, address, amount)
            balances = tuple(
                DevBalance(token.address, token.symbol, token.decimals, found.node.balance_of(token.address, address))
                for token in wanted
            )
            coins = int(found.node.call("eth_getBalance", address, "latest"), 16)
        return DevAccount(address, coins, balances)

    def open_pool(self, *, golem_id: UUID, chain_ref: str | None = None, wish: DevPoolWish) -> DevPool:
        """Create a pool and fill it; when that fails, nothing of it stays. Raises DevChainUnknown, DevChainRefused."""
        known = dev_tokens()
        plan = plan_pool(
            wish, find_token(known, wish.token0), find_token(known, wish.token1), read_price(wish.initial_price)
        )
        with self._open(golem_id, chain_ref) as found:
            owner = find_owner(found.node, {token.symbol: token.address for token in known.values()})
            snapshot = found.node.call("evm_snapshot")
            try:
                pool = open_pool(found.node, owner, deployments()["contracts"], wish, plan)
            except EmbeddedError:
                found.node.call("evm_revert", snapshot)
                raise
            pools = (*(DevPool(**entry) for entry in found.record["pools"]), pool)
            self._remember(found, pools=pools)
        return pool

    def reap(self) -> int:
        """Forget chains that are gone and end those that are too old; returns how many. For a periodic task."""
        with self._locked():
            return self._reap()

    def stop_all(self) -> int:
        """End every chain of the registry; returns how many. For the supervisor's stop."""
        records = self._records()
        for record in records:
            self._end(record)
        return len(records)

    @contextmanager
    def _locked(self) -> Iterator[None]:
        self._dir.mkdir(parents=True, exist_ok=True, mode=0o700)
        with hold_lock(self._dir / ".lock", wait_seconds=LOCK_WAIT_SECONDS):
            yield

    def _records(self) -> list[dict[str, Any]]:
        """Running chains, latest first."""
        records = []
        for path in self._dir.glob("*/record.json"):
            record: dict[str, Any] = dict(read_record(path))
            identity = identity_from(record)
            if identity is not None and identity.is_alive() and record.get("expires_at", 0) > self._clock():
                records.append(record)
        return sorted(records, key=lambda record: (record["started_at_ns"], record["chain_ref"]), reverse=True)

    def _reap(self) -> int:
        running = {record["chain_ref"] for record in self._records()}
        gone = [folder for folder in self._dir.iterdir() if folder.is_dir() and folder.name not in running]
        for folder in gone:
            self._end({"chain_ref": folder.name, **read_record(folder / "record.json")})
        return len(gone)

    def _end(self, record: Mapping[str, Any]) -> None:
        identity = identity_from(record)
        # Its keeper sees the folder go; killing the node at once only makes it sooner.
        if identity is not None and identity.is_alive():
            try:
                os.kill(identity.pid, 9)
            except ProcessLookupError:
                pass
        shutil.rmtree(self._dir / str(record["chain_ref"]), ignore_errors=True)

    def _check_room(self, golem_id: UUID) -> None:
        records = self._records()
        own = sum(record["golem_id"] == str(golem_id) for record in records)
        if own >= self._most_per_golem:
            raise DevChainsExhausted(
                f"This golem runs {own} test chains, its most. Fix: stop one (testnet_stop_local)."
            )
        if len(records) >= self._most_in_all:
            raise DevChainsExhausted(f"{len(records)} test chains run on this machine, its most. Fix: try again later.")

    def _launch(self, golem_id: UUID, state: Path, versions: tuple[str, ...], addresses: tuple[str, ...]) -> str:
        """Start node and keeper and record them; returns the chain_ref. Raises EmbeddedError."""
        chain_ref = f"dev-{secrets.token_hex(8)}"
        folder = self._dir / chain_ref
        folder.mkdir(mode=0o700)
        try:
            port = free_port()
            node = self._start_keeper(folder, node_argv(find_anvil(), port, "--load-state", str(state)))
            deadline = time.monotonic() + START_TIMEOUT_SECONDS
            while not listens_on(node.pid, port) or ask_chain_id(port) != CHAIN_ID:
                if not node.is_alive() or time.monotonic() > deadline:
                    raise EmbeddedError("The test chain did not start. Fix: try again.")
                time.sleep(0.005)
            now = self._clock()
            record = {
                **asdict(node),
                "chain_ref": chain_ref,
                "golem_id": str(golem_id),
                "port": port,
                "started_at_ns": int(now * 10**9),
                "expires_at": int(now) + self._max_age_seconds,
                "funded_addresses": addresses,
                "versions": versions,
                "pools": [],
            }
            write_record(folder / "record.json", record)
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise
        return chain_ref

    def _start_keeper(self, folder: Path, command: list[str]) -> ProcessIdentity:
        anchor = self._anchor or session_leader()
        argv = [sys.executable, "-I", "-S", str(KEEPER), str(folder), str(self._max_age_seconds)]
        argv += [str(anchor.pid), str(anchor.started_at_ticks), "--", *command]
        result = subprocess.run(  # noqa: S603 (our own keeper and the pinned node)
            argv,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={"HOME": str(folder), "PATH": os.environ.get("PATH", "/usr/bin:/bin"), "TMPDIR": str(folder)},
            timeout=START_TIMEOUT_SECONDS,
            check=False,
        )
        try:
            identity = identify(json.loads(result.stdout)["node"])
        except (ValueError, KeyError, TypeError):
            identity = None
        if identity is None:
            raise EmbeddedError("The test chain did not start. Fix: try again.")
        return identity

    @contextmanager
    def _open(self, golem_id: UUID, chain_ref: str | None) -> Iterator[Found]:
        """Another golem's chain is as unknown as one that never was."""
        for record in self._records():
            if record["golem_id"] == str(golem_id) and chain_ref in {None, record["chain_ref"]}:
                node = JsonRpc(f"http://127.0.0.1:{record['port']}")
                try:
                    yield Found(record, self._dir / record["chain_ref"], node)
                finally:
                    node.close()
                return
        named = f"chain_ref {chain_ref!r}" if chain_ref else "test chain"
        raise DevChainUnknown(f"This golem runs no {named}. Fix: start one (testnet_setup_local).")

    def _seed(self, found: Found, versions: tuple[str, ...]) -> tuple[DevPool, ...]:
        """Pools of some versions only, as deep as the world's, each over the whole range."""
        known = dev_tokens()
        owner = find_owner(found.node, {token.symbol: token.address for token in known.values()})
        pools = []
        for pool in POOLS:
            if pool.version not in versions:
                continue
            first, second = (known[symbol] for symbol in pool.symbols)
            price = Fraction(first.price, second.price)
            usd = sum(band.usd for band in pool.bands)
            wish = DevPoolWish(pool.version, first.address, second.address, pool.fee_tier, "feeds", usd)
            plan = plan_pool(wish, first, second, price)
            pools.append(open_pool(found.node, owner, deployments()["contracts"], wish, plan))
        return tuple(pools)

    def _remember(self, found: Found, *, pools: tuple[DevPool, ...]) -> None:
        found.record["pools"] = [asdict(pool) for pool in pools]
        write_record(found.folder / "record.json", found.record)

    def _state_of(self, found: Found) -> DevChainState:
        block = found.node.call("eth_getBlockByNumber", "latest", False)
        versions = found.record["versions"]
        contracts = {
            key: address
            for key, address in deployments()["contracts"].items()
            if not any(f"_{version}_" in key for version in VERSIONS if version not in versions)
        }
        return DevChainState(
            chain_ref=found.record["chain_ref"],
            chain_id=CHAIN_ID,
            block_number=int(block["number"], 16),
            block_timestamp=int(block["timestamp"], 16),
            started_at=found.record["started_at_ns"] // 10**9,
            expires_at=found.record["expires_at"],
            funded_addresses=tuple(found.record["funded_addresses"]),
            contracts=contracts,
            tokens={token.symbol: token.address for token in dev_tokens().values()},
            pools=tuple(self._refreshed(found.node, DevPool(**entry)) for entry in found.record["pools"]),
        )

    def _refreshed(self, node: JsonRpc, pool: DevPool) -> DevPool:
        """The world's own pools are recorded without figures: read them."""
        if pool.liquidity:
            return pool
        if pool.version == "v2":
            return replace(pool, liquidity=node.read(pool.pool_address, "totalSupply()", returns="(uint256)")[0])
        sqrt_price, pool_tick = node.read(pool.pool_address, "slot0()", returns=SLOT0)[:2]
        liquidity = node.read(pool.pool_address, "liquidity()", returns="(uint128)")[0]
        return replace(pool, liquidity=liquidity, initial_tick=pool_tick, initial_sqrt_price_x96=sqrt_price)


def session_leader() -> ProcessIdentity:
    """The process whose end ends the session we run in; ourselves when it is gone already."""
    leader = identify(os.getsid(0)) or identify(os.getpid())
    if leader is None:
        raise EmbeddedError("This system does not tell about processes (/proc). Fix: run on Linux.")
    return leader


def deployments() -> dict[str, Any]:
    """The committed table."""
    table: dict[str, Any] = json.loads(DEPLOYMENTS_FILE.read_text())
    return table


def dev_tokens() -> dict[str, DevToken]:
    """Symbol -> token of the world."""
    return {
        entry["symbol"]: DevToken(
            symbol=entry["symbol"],
            address=entry["address"],
            decimals=entry["decimals"],
            price=TOKENS_BY_SYMBOL[entry["symbol"]].price,
            traits=tuple(entry["traits"]),
        )
        for entry in deployments()["tokens"]
    }


def find_token(known: Mapping[str, DevToken], name: str) -> DevToken:
    """By symbol or address. Raises DevChainRefused."""
    for token in known.values():
        if name == token.symbol or name.lower() == token.address.lower():
            return token
    raise DevChainRefused(f"No token {name[:80]!r} on this chain. Fix: one of {', '.join(known)}, or its address.")


def world_pools(versions: tuple[str, ...]) -> tuple[DevPool, ...]:
    """The world's pools, without figures."""
    return tuple(
        DevPool(
            pool_address=entry["address"],
            version=entry["version"],
            token0=entry["token0"],
            token1=entry["token1"],
            fee_tier=entry["fee_tier"],
            initial_tick=None,
            initial_sqrt_price_x96=None,
            liquidity=0,
        )
        for entry in deployments()["pools"]
        if entry["version"] in versions
    )
