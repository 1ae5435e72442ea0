"""A pytest plugin: the local world for a whole run, and a chain that forgets what each test did to it.

`world` is for reading only. `chain` is the same node inside a snapshot: what a test mines is undone after it.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import pytest

from golem_project.embedded.errors import EmbeddedError
from golem_project.embedded.paths import CHECKOUT
from tests.services import provide_chain

if TYPE_CHECKING:
    from eth_account.signers.local import LocalAccount

    from golem_project.embedded.world.rpc import JsonRpc

DEPLOYMENTS_FILE = CHECKOUT / "tools_app" / "chain" / "deployments" / "31337.json"
CHAIN_ID = 31337
MINING_TIMEOUT_SECONDS = 20
GAS_LIMIT = 3_000_000
BASE_FEE = 10**7  # wei for a unit of gas


@dataclass(frozen=True)
class WorldToken:
    """One token of the committed table."""

    symbol: str
    name: str
    address: str
    decimals: int
    simulated: bool
    feed: str
    traits: tuple[str, ...]

    def units(self, amount: int | str) -> int:
        """Base units of a decimal amount, exactly: `usdc.units("1.5")` is 1_500_000."""
        whole, _, fraction = str(amount).partition(".")
        if len(fraction) > self.decimals:
            raise ValueError(f"{amount} has more than {self.decimals} decimals")
        return int(whole + fraction.ljust(self.decimals, "0"))


@dataclass(frozen=True)
class WorldPool:
    """One pool of the committed table."""

    address: str
    version: str
    token0: str
    token1: str
    fee_tier: int


DOORS = {"uniswap_v4": "state_view"}
"""By which contract a protocol's own tools find another version of it, which stands for tests that name it alone."""


@dataclass
class World:
    """The node of this run and what lies on it. Not for several threads: `rpc` is one connection, `connect` another."""

    rpc_url: str
    deployments: Mapping[str, Any] = field(default_factory=lambda: json.loads(DEPLOYMENTS_FILE.read_text()))
    protocols: dict[str, dict[str, str]] = field(default_factory=dict)
    """The contracts of the further protocols that were asked for, by protocol and key."""
    doors: dict[str, str] = field(default_factory=dict)
    """Code of the contracts by which a protocol's tools find another version of it, by address."""
    _account_count: int = 0
    chain_id: int = CHAIN_ID

    @cached_property
    def rpc(self) -> JsonRpc:
        """The raw client: `rpc.call("eth_blockNumber")`, `rpc.read(to, "decimals()", returns="(uint8)")`."""
        return self.connect()

    def connect(self) -> JsonRpc:
        """A client of its own, for another thread."""
        from golem_project.embedded.world.rpc import JsonRpc

        return JsonRpc(self.rpc_url)

    @property
    def contracts(self) -> Mapping[str, str]:
        """Contract key -> address."""
        contracts: Mapping[str, str] = self.deployments["contracts"]
        return contracts

    @cached_property
    def tokens(self) -> Mapping[str, WorldToken]:
        """Symbol -> token."""
        return {
            entry["symbol"]: WorldToken(**{**entry, "traits": tuple(entry["traits"])})
            for entry in self.deployments["tokens"]
        }

    @cached_property
    def pools(self) -> tuple[WorldPool, ...]:
        """The pools in the order of the table."""
        return tuple(WorldPool(**entry) for entry in self.deployments["pools"])

    def pool(self, version: str, symbol_a: str, symbol_b: str, fee_tier: int = 3000) -> WorldPool:
        """The pool of two tokens, in any order."""
        pair = {self.tokens[symbol_a].address, self.tokens[symbol_b].address}
        for pool in self.pools:
            if pool.version == version and {pool.token0, pool.token1} == pair and pool.fee_tier == fee_tier:
                return pool
        raise LookupError(f"no {version} pool of {symbol_a} and {symbol_b} at {fee_tier}")

    @cached_property
    def actors(self) -> Any:
        """The world's own people: deployer (owns tokens and feeds), makers, traders; see `accounts.Actors`."""
        from golem_project.embedded.world.accounts import derive_actors

        return derive_actors()

    @cached_property
    def _minter(self) -> str:
        """Who owns the tokens, ready to send. The node remembers that beyond every snapshot."""
        from golem_project.embedded.world.fund import find_owner

        return find_owner(self.rpc, {symbol: token.address for symbol, token in self.tokens.items()})

    def fund(self, address: str, eth_wei: int = 10**18, tokens: Mapping[str, int] | None = None) -> None:
        """Add coins and `{symbol: base units}`, all in one block: two thirds of the tests begin with it."""
        from golem_project.embedded.world.rpc import call_data

        calls: list[dict[str, Any]] = [{"to": address, "value": hex(eth_wei)}] if eth_wei else []
        for symbol, amount in (tokens or {}).items():
            token = self.tokens[symbol].address
            if symbol == "WETH":
                calls.append({"to": token, "data": call_data("deposit()"), "value": hex(amount)})
                calls.append({"to": token, "data": call_data("transfer(address,uint256)", address, amount)})
            else:
                calls.append({"to": token, "data": call_data("mint(address,uint256)", address, amount)})
        self._send_together(calls, spent_wei=eth_wei + (tokens or {}).get("WETH", 0))

    def _send_together(self, calls: list[dict[str, Any]], *, spent_wei: int) -> None:
        """One block of transactions of the tokens' owner, each of which must succeed."""
        from golem_project.embedded.world.fund import FEES, OWNER_RESERVE_WEI
        from golem_project.embedded.world.fund import GAS_LIMIT as MINT_GAS

        sender = self._minter
        balance, nonce, _ = self.rpc.call_all(
            [
                ("eth_getBalance", [sender, "latest"]),
                ("eth_getTransactionCount", [sender, "pending"]),
                ("evm_setAutomine", [False]),
            ]
        )
        try:
            if int(balance, 16) < spent_wei + OWNER_RESERVE_WEI:
                self.rpc.call("anvil_setBalance", sender, hex(spent_wei + 2 * OWNER_RESERVE_WEI))
            # The nonces say in which order: a node takes what is asked together in any.
            fixed = {"from": sender, "gas": hex(MINT_GAS), **FEES}
            hashes = self.rpc.call_all(
                [
                    ("eth_sendTransaction", [{**fixed, **call, "nonce": hex(int(nonce, 16) + place)}])
                    for place, call in enumerate(calls)
                ]
            )
            self.rpc.call("evm_mine")
        finally:
            self.rpc.call("evm_setAutomine", True)
        receipts = self.rpc.call_all([("eth_getTransactionReceipt", [each]) for each in hashes])
        assert all(receipt is not None and receipt["status"] == "0x1" for receipt in receipts), "funding failed"

    def new_account(self, eth_wei: int = 10**18, tokens: Mapping[str, int] | None = None) -> LocalAccount:
        """A funded account that no other test of this run uses."""
        from golem_project.embedded.world.accounts import derive_account

        self._account_count += 1
        account = derive_account(f"test account {self._account_count} of {time.time_ns()}")
        self.fund(account.address, eth_wei, tokens)
        return account

    def fair_gas_price(self) -> int:
        """Twice what the next block asks, in wei. What the node suggests follows tips that were paid, and would rise
        with each transaction at twice of it.
        """
        return 2 * int(self.rpc.call("eth_feeHistory", 1, "latest", [])["baseFeePerGas"][-1], 16)

    def send(
        self,
        account: LocalAccount,
        to: str | None,
        data: str = "0x",
        *,
        value: int = 0,
        gas: int = GAS_LIMIT,
    ) -> dict[str, Any]:
        """Sign, send and wait; returns the receipt, also of a reverted transaction (`receipt["status"] == "0x0"`)."""
        fee_cap = 2 * int(self.rpc.call("eth_gasPrice"), 16)
        transaction: dict[str, Any] = {
            "type": 2,
            "chainId": self.chain_id,
            "nonce": int(self.rpc.call("eth_getTransactionCount", account.address, "pending"), 16),
            "value": value,
            "data": data,
            "gas": gas,
            "maxFeePerGas": fee_cap,
            "maxPriorityFeePerGas": min(10**8, fee_cap),
        }
        if to is not None:
            transaction["to"] = to
        raw = account.sign_transaction(transaction).raw_transaction
        return self.wait(self.rpc.call("eth_sendRawTransaction", "0x" + raw.hex()))

    def wait(self, transaction_hash: str) -> dict[str, Any]:
        """The receipt of a transaction, once it is mined."""
        deadline = time.monotonic() + MINING_TIMEOUT_SECONDS
        while time.monotonic() < deadline:
            receipt: dict[str, Any] | None = self.rpc.call("eth_getTransactionReceipt", transaction_hash)
            if receipt is not None:
                return receipt
            time.sleep(0.002)
        raise AssertionError(f"{transaction_hash} was not mined")

    def transact(
        self, account: LocalAccount, to: str, signature: str, *arguments: Any, value: int = 0, gas: int = GAS_LIMIT
    ) -> dict[str, Any]:
        """Call `signature` on `to` in a transaction; it must succeed."""
        from golem_project.embedded.world.rpc import call_data

        receipt = self.send(account, to, call_data(signature, *arguments), value=value, gas=gas)
        assert receipt["status"] == "0x1", f"{signature} reverted"
        return receipt

    def deploy(self, account: LocalAccount, contract: str, types: str = "()", *arguments: Any) -> str:
        """Deploy one of `contracts/src`; returns its checksummed address."""
        from golem_project.embedded.world.rpc import checksum, encode_arguments
        from golem_project.embedded.world.solidity import load_contract

        code = load_contract(contract).bytecode + encode_arguments(types, *arguments).hex()
        receipt = self.send(account, None, code)
        assert receipt["status"] == "0x1", f"deploying {contract} reverted"
        return checksum(receipt["contractAddress"])

    def provide_protocols(self, *keys: str) -> None:
        """Build what is not there yet; without a network the test is skipped, on the build machine it fails."""
        from golem_project.embedded.world.protocols import deploy_protocols

        missing = [key for key in keys if key not in self.protocols]
        if not missing:
            return
        try:
            self.protocols.update(deploy_protocols(self.rpc_url, missing))
        except EmbeddedError as error:
            if os.environ.get("CI") or "npm pack" not in str(error):
                raise
            pytest.skip(f"not run: {error}")

    def open_doors(self, *keys: str) -> None:
        """Only these of the versions that the protocol's own tools would find are found: others are as if not there."""
        for key, door in DOORS.items():
            if key not in self.protocols:
                continue
            address = self.protocols[key][door]
            code = self.rpc.call("eth_getCode", address, "latest")
            if code != "0x":
                self.doors[address] = code
            if (code != "0x") != (key in keys):
                self.rpc.call("anvil_setCode", address, self.doors[address] if key in keys else "0x")

    def refresh_feeds(self, *symbols: str) -> None:
        """Feeds, all or those of `symbols`, were last updated now: time that was let pass is in a block first, else
        they would be as old as all of it.
        """
        self.rpc.call("anvil_mine", "0x1")
        at, names = self.timestamp(), symbols or tuple(self.tokens)
        for feed in dict.fromkeys(self.tokens[each].feed for each in names if self.tokens[each].feed):
            self.transact(self.actors.deployer, feed, "setUpdatedAt(uint256)", at)

    def timestamp(self) -> int:
        """Unix seconds of the newest block."""
        return int(self.rpc.call("eth_getBlockByNumber", "latest", False)["timestamp"], 16)


@contextmanager
def as_before(rpc: JsonRpc) -> Iterator[None]:
    """Take the node back afterwards: blocks, balances and time. Inside, the first block asks `BASE_FEE` for gas, or
    what the one before asked where that is less.
    """
    snapshot, newest = rpc.call_all([("evm_snapshot", []), ("eth_getBlockByNumber", ["latest", False])])
    base_fee = min(BASE_FEE, int(newest["baseFeePerGas"], 16))
    # Going back to a snapshot takes the node's clock back too; a test begins at the machine's time. What a block asks
    # for gas does not go back: it would be what the tests before left, a hundred times as much or next to nothing.
    rpc.call_all(
        [("evm_setTime", [int(time.time())]), ("anvil_setNextBlockBaseFeePerGas", [hex(base_fee)])],
    )
    yield
    assert rpc.call("evm_revert", snapshot), "the node lost its snapshot"
    # It keeps what it mined in its pool for a moment; after going back it would mine that a second time.
    rpc.call("anvil_dropAllTransactions")


@pytest.fixture(scope="session")
def world() -> Iterator[World]:
    """The local world of this run; GOLEM_RPC_URL_31337 names another node that holds it."""
    found = World(provide_chain())
    yield found
    found.rpc.close()


@pytest.fixture
def chain(world: World, request: pytest.FixtureRequest) -> Iterator[World]:
    """The world inside a snapshot: blocks, balances and time are as before when the test is over.

    What `pytest.mark.protocols("a", "b")` names is built beneath the snapshot, once a run.
    """
    named = [key for mark in request.node.iter_markers("protocols") for key in mark.args]
    world.provide_protocols(*named)
    world.open_doors(*named)
    with as_before(world.rpc):
        yield world
    world.open_doors()
