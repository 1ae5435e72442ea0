"""Writes the history of a fresh chain: one signed transaction a block, at times and fees that we choose."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from golem_project.embedded.errors import EmbeddedError
from golem_project.embedded.world.accounts import CHAIN_ID
from golem_project.embedded.world.rpc import JsonRpc, call_data, checksum

if TYPE_CHECKING:
    from eth_account.signers.local import LocalAccount

BASE_FEE_WEI = 1_000_000_000
PRIORITY_FEE_WEI = 100_000_000
FEE_CAP_WEI = 20_000_000_000
# Below the block limit of 30 million, above the dearest deployment (5.2 million).
GAS_LIMIT = 8_000_000


@dataclass(frozen=True)
class Sent:
    """A transaction of the history, to be checked at its end."""

    transaction_hash: str
    what: str


class Ledger:
    """Sends on behalf of the actors; the clock is the block time, moved by the caller. Ends with `close`."""

    def __init__(self, rpc: JsonRpc, *, started_at: int) -> None:
        # Mining by itself, the node answers before the block is there.
        rpc.call("evm_setAutomine", False)
        self.rpc = rpc
        self.now = started_at
        self._nonces: dict[str, int] = {}
        self._sent: list[Sent] = []

    def move_clock_to(self, unix_seconds: int) -> None:
        """The next block is not before this."""
        self.now = max(self.now, unix_seconds)

    def send(self, sender: LocalAccount, to: str | None, data: str, *, what: str, value: int = 0) -> str:
        """Sign and mine one transaction; returns the address of the contract it creates, else its target."""
        nonce = self._nonces.get(sender.address, 0)
        self._nonces[sender.address] = nonce + 1
        transaction: dict[str, Any] = {  # Any: what eth-account signs, of several types
            "type": 2,
            "chainId": CHAIN_ID,
            "nonce": nonce,
            "value": value,
            "data": data,
            "gas": GAS_LIMIT,
            "maxFeePerGas": FEE_CAP_WEI,
            "maxPriorityFeePerGas": PRIORITY_FEE_WEI,
        }
        if to is not None:
            transaction |= {"to": to}
        signed = sender.sign_transaction(transaction)
        self.now += 1
        self.rpc.call("anvil_setNextBlockBaseFeePerGas", hex(BASE_FEE_WEI))
        transaction_hash = self.rpc.send_raw(signed.raw_transaction)
        self.rpc.call("evm_mine", self.now)
        self._sent.append(Sent(transaction_hash, what))
        return to or self._created_address(transaction_hash, what)

    def transact(self, sender: LocalAccount, to: str, signature: str, *arguments: object, value: int = 0) -> None:
        """Call `signature` on `to`."""
        self.send(sender, to, call_data(signature, *arguments), what=f"{signature} on {to}", value=value)

    def close(self, *, ends_at: int) -> None:
        """End the history with an empty block at `ends_at`; from here on the chain follows the machine's clock.

        Raises EmbeddedError naming the first transaction that reverted.
        """
        for sent in self._sent:
            receipt = self.rpc.find_receipt(sent.transaction_hash)
            if receipt is None or not receipt.is_ok:
                raise EmbeddedError(f"The local world could not be built: {sent.what} reverted. Fix: report it.")
        self.rpc.call("anvil_setNextBlockBaseFeePerGas", hex(BASE_FEE_WEI))
        self.rpc.call("evm_mine", ends_at)
        self.rpc.call("evm_setTime", ends_at)
        self.rpc.call("evm_setAutomine", True)

    def _created_address(self, transaction_hash: str, what: str) -> str:
        receipt = self.rpc.find_receipt(transaction_hash)
        if receipt is None or not receipt.is_ok or receipt.created is None:
            raise EmbeddedError(f"The local world could not be built: {what} reverted. Fix: report it.")
        return checksum(receipt.created)
