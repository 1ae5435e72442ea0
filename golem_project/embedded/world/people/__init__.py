"""What a protocol's own people do while the local chain runs: a keeper or an operator that a public network has.

Simulated, and only where somebody would otherwise wait for ever. A module says `PEOPLE = People(key, work)`, its key
being that of the protocol's part of the world.
"""

from __future__ import annotations

import importlib
import pkgutil
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from golem_project.embedded.errors import EmbeddedError
from golem_project.embedded.npm import Say
from golem_project.embedded.world.accounts import CHAIN_ID, derive_account
from golem_project.embedded.world.protocols import read_note
from golem_project.embedded.world.rpc import JsonRpc, call_data

LOOK_SECONDS = 5.0
WORK_GAS = 3_000_000
TIP_WEI = 10**8


@dataclass(frozen=True)
class RunningProtocol:
    """One protocol on a running chain, to those who run it. `contracts` by key."""

    key: str
    rpc: JsonRpc
    contracts: Mapping[str, str]

    def read(
        self, to: str, signature: str, *arguments: object, returns: str
    ) -> tuple[Any, ...]:  # Any: values of whatever types `returns` names
        """What a contract answers, at the newest block."""
        return self.rpc.read(to, signature, *arguments, returns=returns)

    def now(self) -> int:
        """Unix seconds: this machine's, or the chain's where it is ahead of it."""
        return max(int(time.time()), self.rpc.read_block().timestamp)

    @property
    def account(self) -> str:
        """Who sends what they do: the account that built the protocol."""
        return str(derive_account(f"{self.key} deployer").address)

    def transact(self, to: str, signature: str, *arguments: object, value: int = 0) -> None:
        """A transaction of the account that built the protocol. Raises EmbeddedError."""
        account = derive_account(f"{self.key} deployer")
        balance = int(self.rpc.call("eth_getBalance", account.address, "latest"), 16)
        if balance < value + 10**18:
            self.rpc.call("anvil_setBalance", account.address, hex(value + 10**24))
        fee = 2 * int(self.rpc.call("eth_gasPrice"), 16) + TIP_WEI
        transaction: dict[str, Any] = {  # Any: what eth-account signs, of several types
            "type": 2,
            "chainId": CHAIN_ID,
            "nonce": int(self.rpc.call("eth_getTransactionCount", account.address, "pending"), 16),
            "to": to,
            "value": value,
            "data": call_data(signature, *arguments),
            "gas": WORK_GAS,
            "maxFeePerGas": fee,
            "maxPriorityFeePerGas": TIP_WEI,
        }
        signed = account.sign_transaction(transaction)
        receipt = self.rpc.wait_for_receipt(self.rpc.send_raw(bytes(signed.raw_transaction)))
        if receipt["status"] != "0x1":
            raise EmbeddedError(f"{signature} of {self.key} reverted on the local chain. Fix: make reset.")


@dataclass(frozen=True)
class People:
    """Those who run one protocol. `work` does what is due and says so in a sentence, or does nothing."""

    key: str
    work: Callable[[RunningProtocol], str | None]


def find_people() -> tuple[People, ...]:
    """All of them, in the order of their keys."""
    modules = sorted(pkgutil.iter_modules(__path__), key=lambda one: one.name)
    found: tuple[People, ...] = tuple(importlib.import_module(f"{__name__}.{each.name}").PEOPLE for each in modules)
    return found


def work_once(rpc: JsonRpc, people: tuple[People, ...], *, say: Say) -> None:
    """What is due now at every protocol that is on the chain. Raises EmbeddedError."""
    for each in people:
        note = read_note(rpc, each.key)
        told = each.work(RunningProtocol(each.key, rpc, note.contracts)) if note is not None else None
        if told:
            say(told)


def work_on(url: str, *, say: Say, look_seconds: float = LOOK_SECONDS) -> None:
    """Look every few seconds, until this process is ended. A chain that does not answer is asked again."""
    rpc, people = JsonRpc(url), find_people()
    problem = ""
    while True:
        try:
            work_once(rpc, people, say=say)
            problem = ""
        except EmbeddedError as error:
            if str(error) != problem:
                say(str(error))
            problem = str(error)
        time.sleep(look_seconds)
