"""One face for two EVMs: the node (anvil) and the machine in this process, so that one test runs on both."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from tools_app.chain.abi import checksum
from tools_app.core import clock
from tools_app.simulation.pyevm.local_chain import LocalChain
from tools_app.simulation.pyevm.transaction import Executed, Transaction
from tools_app.toolkit.views import LogEntry

if TYPE_CHECKING:
    from eth_account.signers.local import LocalAccount

    from golem_project.embedded.world.rpc import JsonRpc

CHAIN_ID = 31337
GAS = 16_000_000
COINS_WEI = 10**24


@dataclass(frozen=True, slots=True)
class Sent:
    """What a transaction did; `output` is the revert data of one that failed. `at` is its block's time."""

    succeeded: bool
    output: bytes
    gas_used: int
    logs: tuple[LogEntry, ...]
    created: str | None
    at: int


class Engine(Protocol):
    """A chain on which every transaction has a block of its own, one second after the last."""

    name: str
    history: list[tuple[LogEntry, int]]
    """Every log so far with its block's time."""

    def send(self, account: LocalAccount, to: str | None, data: bytes, value: int = 0) -> Sent: ...

    def read(self, to: str, data: bytes, sender: str | None = None) -> bytes: ...

    def now(self) -> int:
        """Unix seconds of the next transaction's block."""

    def advance(self, seconds: int) -> None: ...

    def balance(self, address: str) -> int: ...

    def give_coins(self, address: str, wei: int) -> None: ...

    def snapshot(self) -> Any: ...

    def revert(self, snapshot: Any) -> None: ...


class InProcessEngine:
    """py-evm in this process."""

    name = "in process"

    def __init__(self) -> None:
        self.chain = LocalChain(chain_id=CHAIN_ID)
        self.history: list[tuple[LogEntry, int]] = []

    def send(self, account: LocalAccount, to: str | None, data: bytes, value: int = 0) -> Sent:
        raw = sign_raw(account, to, data, value, self.chain.state.get_nonce(_raw(account.address)))
        found = self.chain.find(self.chain.send_raw(raw))
        assert found is not None
        block, mined = found
        done = mined.done
        logs = tuple(
            LogEntry(
                checksum("0x" + a.hex()),
                tuple(f"0x{t:064x}" for t in topics),
                "0x" + d.hex(),
                block.number,
                "0x" + mined.hash.hex(),
                index,
            )
            for index, (a, topics, d) in enumerate(done.logs)
        )
        created = (
            None if done.contract_address is None or to is not None else checksum("0x" + done.contract_address.hex())
        )
        self.history += [(log, block.timestamp) for log in logs]
        return Sent(done.succeeded, done.output, done.gas_used, logs, created, block.timestamp)

    def call(self, to: str, data: bytes, *, sender: str) -> Executed:
        """Run it in the next block's place and undo it."""
        return self.chain.call(Transaction(sender=_raw(sender), to=_raw(to), value=0, data=data, gas=GAS))

    def read(self, to: str, data: bytes, sender: str | None = None) -> bytes:
        done = self.call(to, data, sender=sender or "0x" + "00" * 20)
        assert done.error is None, f"a read reverted: {done.output.hex()}"
        return done.output

    def now(self) -> int:
        return self.chain.timestamp + 1

    def advance(self, seconds: int) -> None:
        self.chain.timestamp += seconds

    def balance(self, address: str) -> int:
        return self.chain.state.get_balance(_raw(address))

    def give_coins(self, address: str, wei: int) -> None:
        self.chain.set_balance(_raw(address), wei)

    def snapshot(self) -> tuple[int, int]:
        return self.chain.snapshot(), len(self.history)

    def revert(self, snapshot: tuple[int, int]) -> None:
        assert self.chain.revert(snapshot[0])
        del self.history[snapshot[1] :]


class NodeEngine:
    """The local chain's node."""

    name = "anvil"

    def __init__(self, rpc: JsonRpc) -> None:
        self.rpc = rpc
        self.history: list[tuple[LogEntry, int]] = []
        # Whoever used the node before may have set its clock to the present.
        self._next = max(self._head_time(), int(clock.now().timestamp())) + 2

    def send(self, account: LocalAccount, to: str | None, data: bytes, value: int = 0) -> Sent:
        at = self._next
        request = {"from": account.address, "data": "0x" + data.hex(), "value": hex(value), "gas": hex(GAS)}
        # The node simulates no creation; what it gives is only missed when it fails.
        foreseen = self.simulate([{**request, "to": to}], at=at)[0] if to is not None else None
        nonce = int(self.rpc.call("eth_getTransactionCount", account.address, "latest"), 16)
        raw = sign_raw(account, to, data, value, nonce)
        self.rpc.call("evm_setNextBlockTimestamp", at)
        transaction_hash = self.rpc.send_raw(raw)
        receipt = self.rpc.wait_for_receipt(transaction_hash)
        self._wait_for_state(account, nonce)
        succeeded = receipt["status"] == "0x1"
        assert foreseen is None or succeeded == foreseen.succeeded, "the node did what it simulated"
        output = b"" if foreseen is None else foreseen.output
        self._next = at + 1
        logs = tuple(
            LogEntry(
                checksum(log["address"]),
                tuple(log["topics"]),
                log["data"],
                int(log["blockNumber"], 16),
                log["transactionHash"],
                int(log["logIndex"], 16),
            )
            for log in receipt["logs"]
        )
        self.history += [(log, at) for log in logs]
        created = receipt.get("contractAddress")
        return Sent(succeeded, output, int(receipt["gasUsed"], 16), logs, created and checksum(created), at)

    def simulate(self, requests: Sequence[dict[str, Any]], *, at: int) -> list[Sent]:
        """Transactions one after the other in one block of time `at`, none of them kept."""
        block = {"blockOverrides": {"time": hex(at), "gasLimit": hex(10**12)}, "calls": list(requests)}
        answer = self.rpc.call("eth_simulateV1", {"blockStateCalls": [block], "validation": False}, "latest")
        return [parse_simulated(call, at) for call in answer[0]["calls"]]

    def read(self, to: str, data: bytes, sender: str | None = None) -> bytes:
        [done] = self.simulate(
            [{"from": sender or "0x" + "00" * 20, "to": to, "data": "0x" + data.hex()}], at=self._next
        )
        assert done.succeeded, f"a read reverted: {done.output.hex()}"
        return done.output

    def now(self) -> int:
        return self._next

    def advance(self, seconds: int) -> None:
        self._next += seconds

    def balance(self, address: str) -> int:
        return int(self.rpc.call("eth_getBalance", address, "latest"), 16)

    def give_coins(self, address: str, wei: int) -> None:
        self.rpc.call("anvil_setBalance", address, hex(wei))

    def snapshot(self) -> tuple[str, int, int]:
        return self.rpc.call("evm_snapshot"), self._next, len(self.history)

    def revert(self, snapshot: tuple[str, int, int]) -> None:
        assert self.rpc.call("evm_revert", snapshot[0])
        # It keeps what it mined in its pool for a moment; after going back it would mine that a second time.
        self.rpc.call("anvil_dropAllTransactions")
        self._next = snapshot[1]
        del self.history[snapshot[2] :]

    def _wait_for_state(self, account: LocalAccount, used: int) -> None:
        """The node tells a receipt a moment before its newest state has it, and the next nonce is read from there."""
        for _ in range(1_000):
            if int(self.rpc.call("eth_getTransactionCount", account.address, "latest"), 16) > used:
                return
            time.sleep(0.001)

    def _head_time(self) -> int:
        return int(self.rpc.call("eth_getBlockByNumber", "latest", False)["timestamp"], 16)


def install_permit2(engine: Engine) -> None:
    """The real Permit2 at its address, which no deployment of ours would reach."""
    from golem_project.embedded.world.artifacts import fetch_artifacts
    from golem_project.embedded.world.deploy import PERMIT2

    code = fetch_artifacts().permit2_runtime()
    if isinstance(engine, InProcessEngine):
        engine.chain.state.set_code(_raw(PERMIT2), bytes.fromhex(code[2:]))
    elif isinstance(engine, NodeEngine):
        engine.rpc.call("anvil_setCode", PERMIT2, code)


def parse_simulated(call: dict[str, Any], at: int) -> Sent:
    """One call of `eth_simulateV1`."""
    succeeded = call["status"] == "0x1"
    output = call["returnData"] if succeeded else (call.get("error") or {}).get("data") or call["returnData"]
    logs = tuple(
        LogEntry(checksum(log["address"]), tuple(log["topics"]), log["data"], 0, "", index)
        for index, log in enumerate(call.get("logs", []))
    )
    return Sent(succeeded, bytes.fromhex(output[2:]), int(call["gasUsed"], 16), logs, None, at)


def sign_raw(account: LocalAccount, to: str | None, data: bytes, value: int, nonce: int) -> bytes:
    """Signed bytes of a transaction with more gas than any needs."""
    fields: dict[str, Any] = {"type": 2, "chainId": CHAIN_ID, "nonce": nonce, "value": value, "data": data, "gas": GAS}
    fields |= {"maxFeePerGas": 10**12, "maxPriorityFeePerGas": 0}
    if to is not None:
        fields["to"] = to
    return bytes(account.sign_transaction(fields).raw_transaction)


def make_account(label: str) -> LocalAccount:
    """An account whose key follows from a label."""
    from golem_project.embedded.world.accounts import derive_account

    return derive_account(f"cage tests: {label}")


def _raw(address: str) -> bytes:
    return bytes.fromhex(address.removeprefix("0x"))


__all__ = ["Engine", "InProcessEngine", "NodeEngine", "Sent", "make_account", "parse_simulated"]
