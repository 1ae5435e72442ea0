"""Where one protocol's part of the local world is built: a running chain and an account that belongs to that part.

What it creates follows from that account alone, so it does not matter what else was built, or in which order.
Transactions are queued and handed over together; what asks the chain waits for them first. Everything signed is the
same each time, so a building that was cut off goes on where it stopped.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import rlp
from eth_utils.crypto import keccak

from golem_project.embedded.errors import EmbeddedError
from golem_project.embedded.world.accounts import derive_account
from golem_project.embedded.world.fund import find_owner, mint, token_addresses
from golem_project.embedded.world.rpc import JsonRpc, Receipt, RpcError, call_data, checksum, encode_arguments
from golem_project.embedded.world.solidity import load_contract
from golem_project.embedded.world.world_table import WorldContracts, WorldTable

if TYPE_CHECKING:
    from eth_account.signers.local import LocalAccount

    from golem_project.embedded.npm import Say
    from golem_project.embedded.world.fetched_packages import Fetched

WEI_EACH = 1_000_000 * 10**18
# Never another fee, so that what is signed again is the same transaction.
FEES = {"maxFeePerGas": 10**12, "maxPriorityFeePerGas": 10**8}
CALL_GAS = 2_000_000
# Of a creation: what the code costs to bring and to keep, and something for the constructor.
CREATION_GAS = 2_000_000
CREATION_GAS_PER_BYTE = 260
QUEUE_GAS = 25_000_000
MINING_TIMEOUT_SECONDS = 30


@dataclass(frozen=True)
class Queued:
    """A signed transaction on its way."""

    raw: bytes
    hash: str
    what: str
    sender: str
    gas: int
    replay: dict[str, str]


@dataclass
class Site:
    """One building. `contracts`, `tokens` and `feeds` are the world's, by key and by symbol; `others` are the contracts
    of the protocols that this one needs. Its own account has coins, and what `give` gives it.
    """

    key: str
    rpc: JsonRpc
    fetched: Fetched
    table: WorldTable
    say: Say
    others: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    _accounts: dict[str, LocalAccount] = field(default_factory=dict)
    _nonces: dict[str, int] = field(default_factory=dict)
    _mined: dict[str, int] = field(default_factory=dict)
    _queue: list[Queued] = field(default_factory=list)
    _libraries: dict[str, str] = field(default_factory=dict)

    @property
    def contracts(self) -> WorldContracts:
        """The world's own contracts."""
        return self.table.contracts

    @cached_property
    def tokens(self) -> Mapping[str, str]:
        """Addresses of the world's tokens by symbol."""
        return {token.symbol: token.address for token in self.table.tokens}

    @cached_property
    def decimals(self) -> Mapping[str, int]:
        """Decimals of the world's tokens by symbol."""
        return {token.symbol: token.decimals for token in self.table.tokens}

    @cached_property
    def feeds(self) -> Mapping[str, str]:
        """Addresses of the dollar feeds (8 decimals) by symbol."""
        return {token.symbol: token.feed for token in self.table.tokens}

    @property
    def deployer(self) -> LocalAccount:
        """Who creates everything here."""
        return self.account("deployer")

    def account(self, role: str) -> LocalAccount:
        """An account of this building, the same on every machine, with coins."""
        if role not in self._accounts:
            account = derive_account(f"{self.key} {role}")
            self._accounts[role] = account
            self._nonces[account.address] = 0
            self._mined[account.address] = int(self.rpc.call("eth_getTransactionCount", account.address, "latest"), 16)
            if int(self.rpc.call("eth_getBalance", account.address, "latest"), 16) < WEI_EACH // 2:
                self.rpc.call("anvil_setBalance", account.address, hex(WEI_EACH))
        return self._accounts[role]

    def create(self, code: str | bytes, types: str = "()", *arguments: object, what: str = "a contract") -> str:
        """Create a contract; its address is known at once, its code is there when the chain is next asked."""
        head = code if isinstance(code, bytes) else bytes.fromhex(code.removeprefix("0x"))
        data = head + encode_arguments(types, *arguments)
        sender = self.deployer
        nonce = self._nonces[sender.address]
        gas = CREATION_GAS + CREATION_GAS_PER_BYTE * len(head)
        self._send(sender, None, "0x" + data.hex(), what=f"creating {what}", gas=gas)
        return checksum(keccak(rlp.encode([bytes.fromhex(sender.address[2:]), nonce]))[12:])

    def create_from(self, package: str, file: str, types: str = "()", *arguments: object) -> str:
        """Create a contract out of an artefact of a package; the libraries it calls are created first, each once.

        A library is looked for beside the others: in the package's kept files, by its name.
        """
        text = self.fetched.contract(package, file).link(lambda library: self._create_library(package, library))
        return self.create(text, types, *arguments, what=file)

    def _create_library(self, package: str, library: str) -> str:
        if library not in self._libraries:
            self._libraries[library] = self.create_from(package, self.fetched.find(package, library))
        return self._libraries[library]

    def create_ours(self, contract: str, types: str = "()", *arguments: object) -> str:
        """Create one of `contracts/src`."""
        return self.create(load_contract(contract).bytecode, types, *arguments, what=contract)

    def transact(
        self,
        to: str,
        signature: str,
        *arguments: object,
        value: int = 0,
        sender: LocalAccount | None = None,
        gas: int = CALL_GAS,
    ) -> None:
        """Call `signature` on `to` as the deployer or somebody else of this building."""
        data = call_data(signature, *arguments)
        self._send(sender or self.deployer, to, data, what=f"{signature} on {to}", value=value, gas=gas)

    def read(
        self, to: str, signature: str, *arguments: object, returns: str
    ) -> tuple[Any, ...]:  # Any: values of whatever types `returns` names
        """Ask the chain, after everything queued was mined; `returns` is a tuple type."""
        self.flush()
        return self.rpc.read(to, signature, *arguments, returns=returns)

    def give(self, symbol: str, amount: int, to: str | None = None) -> None:
        """Base units of one of the world's tokens, to the deployer unless told otherwise."""
        mint(self.rpc, self._owner, symbol, self.tokens[symbol], to or self.deployer.address, amount)

    def flush(self) -> None:
        """Hand over what is queued and wait until it is mined. Raises EmbeddedError naming what reverted."""
        queue, self._queue = self._queue, []
        if queue:
            self.rpc.call_all([("eth_sendRawTransaction", ["0x" + one.raw.hex()]) for one in queue])
        deadline = time.monotonic() + MINING_TIMEOUT_SECONDS
        for one in queue:
            self._check(one, self._wait_for(one, deadline))

    @cached_property
    def _chain_id(self) -> int:
        """The first local chain, or its twin."""
        return int(self.rpc.call("eth_chainId"), 16)

    @cached_property
    def _owner(self) -> str:
        return find_owner(self.rpc, token_addresses())

    def _send(self, sender: LocalAccount, to: str | None, data: str, *, what: str, gas: int, value: int = 0) -> None:
        nonce = self._nonces[sender.address]
        self._nonces[sender.address] = nonce + 1
        transaction: dict[str, Any] = {  # Any: what eth-account signs, of several types
            **FEES,
            "type": 2,
            "chainId": self._chain_id,
            "nonce": nonce,
            "value": value,
            "data": data,
            "gas": gas,
        }
        replay = {"from": sender.address, "data": data, "value": hex(value), "gas": hex(gas)}
        if to is not None:
            transaction, replay = {**transaction, "to": to}, {**replay, "to": to}
        signed = sender.sign_transaction(transaction)
        one = Queued(bytes(signed.raw_transaction), "0x" + bytes(signed.hash).hex(), what, sender.address, gas, replay)
        if nonce < self._mined[sender.address]:
            self._check_earlier(one)
            return
        # A node takes what it is handed at once in any order, and keeps that of one sender's nonces alone.
        is_another = any(other.sender != sender.address for other in self._queue)
        if is_another or sum(other.gas for other in self._queue) + gas > QUEUE_GAS:
            self.flush()
        self._queue.append(one)

    def _check_earlier(self, one: Queued) -> None:
        receipt = self.rpc.find_receipt(one.hash)
        if receipt is None or not receipt.is_ok:
            raise EmbeddedError(
                f"{self.key} was built in part by another version, or failed. Fix: make reset, and start again."
            )

    def _wait_for(self, one: Queued, deadline: float) -> Receipt:
        while time.monotonic() < deadline:
            receipt = self.rpc.find_receipt(one.hash)
            if receipt is not None:
                return receipt
            time.sleep(0.002)
        raise EmbeddedError(f"{self.key}: {one.what} was not mined. Fix: see whether the local chain mines.")

    def _check(self, one: Queued, receipt: Receipt) -> None:
        if receipt.is_ok:
            return
        try:
            self.rpc.call("eth_call", one.replay, hex(receipt.block_number - 1))
            reason = f"gas used {receipt.gas_used} of {one.gas}"
        except RpcError as error:
            reason = f"{error} {error.data or ''}".strip()
        raise EmbeddedError(f"{self.key} could not be built: {one.what} reverted ({reason}). Fix: report it.")
