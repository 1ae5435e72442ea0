"""A web3 provider over a chain in this process: `Web3(PyEvmProvider(LocalChain(...)))` needs no node.

Speaks what tests and small tools ask of a node; a method it does not know is an error as a node gives it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import count
from typing import Annotated, Any, Final

from pydantic import Field
from web3.providers.base import BaseProvider

from tools_app.chain.abi import checksum
from tools_app.chain.node_errors import CallReverted
from tools_app.core.errors import GolemError
from tools_app.core.stored_json import read_stored
from tools_app.simulation.pyevm.local_chain import BASE_FEE, GAS_LIMIT, LocalChain, MinedBlock, MinedTransaction
from tools_app.simulation.pyevm.transaction import Transaction

_NO_BLOOM: Final = "0x" + "00" * 256
_ZERO_HASH: Final = "0x" + "00" * 32
_TIP: Final = 10**8


class UnknownMethod(Exception):
    """The method is none of this provider's."""


@dataclass(frozen=True, slots=True)
class _LogFilter:
    """Which logs are asked for."""

    first: Annotated[object, Field(alias="fromBlock")] = "latest"
    last: Annotated[object, Field(alias="toBlock")] = "latest"
    address: str | list[object] | None = None
    topics: list[object] | None = None


@dataclass(frozen=True, slots=True)
class _AskedCall:
    """A call as nodes take it."""

    sender: Annotated[object, Field(alias="from")] = "0x" + "00" * 20
    to: object = None
    value: object = "0x0"
    input: object = None
    data: object = "0x"
    gas: object = hex(GAS_LIMIT)


class PyEvmProvider(BaseProvider):
    """Answers JSON-RPC methods from a LocalChain."""

    def __init__(self, chain: LocalChain) -> None:
        super().__init__()
        self.chain = chain
        self._ids = count(1)
        self._methods: dict[str, Callable[..., object]] = {
            "eth_chainId": lambda: hex(chain.chain_id),
            "net_version": lambda: str(chain.chain_id),
            "web3_clientVersion": lambda: "golem/pyevm",
            "eth_blockNumber": lambda: hex(chain.head.number),
            "eth_gasPrice": lambda: hex(BASE_FEE + _TIP),
            "eth_maxPriorityFeePerGas": lambda: hex(_TIP),
            "eth_feeHistory": self._fee_history,
            "eth_getBalance": lambda address, *_: hex(chain.state.get_balance(_raw(address))),
            "eth_getTransactionCount": lambda address, *_: hex(chain.state.get_nonce(_raw(address))),
            "eth_getCode": lambda address, *_: "0x" + chain.state.get_code(_raw(address)).hex(),
            "eth_getStorageAt": lambda address, slot, *_: (
                f"0x{chain.state.get_storage(_raw(address), _number(slot)):064x}"
            ),
            "eth_call": lambda call, *_: "0x" + chain.read(_transaction(call)).hex(),
            "eth_estimateGas": lambda call, *_: hex(chain.estimate_gas(_transaction(call))),
            "eth_sendRawTransaction": lambda raw: "0x" + chain.send_raw(_raw(raw)).hex(),
            "eth_getTransactionReceipt": self._receipt,
            "eth_getTransactionByHash": self._transaction,
            "eth_getBlockByNumber": self._block_by_number,
            "eth_getBlockByHash": self._block_by_hash,
            "eth_getLogs": self._logs,
            "evm_snapshot": lambda: hex(chain.snapshot()),
            "evm_revert": lambda number: chain.revert(_number(number)),
            "evm_mine": lambda *_: hex(chain.mine().number),
            "evm_increaseTime": self._increase_time,
            "anvil_setBalance": lambda address, wei: chain.set_balance(_raw(address), _number(wei)),
        }

    def make_request(self, method: Any, params: Any) -> Any:  # Any: JSON-RPC, of any shape
        """The answer a node would give, errors included."""
        answer: dict[str, Any] = {"jsonrpc": "2.0", "id": next(self._ids)}  # Any: JSON-RPC, of any shape
        known = self._methods.get(method)
        if known is None:
            return {**answer, "error": {"code": -32601, "message": f"the method {method} does not exist"}}
        try:
            return {**answer, "result": known(*params)}
        except CallReverted as error:
            message = f"execution reverted: {error.detail}"
            return {**answer, "error": {"code": 3, "message": message, "data": error.data["revert_data"]}}
        except GolemError as error:
            return {**answer, "error": {"code": -32000, "message": f"{error.title.lower()}: {error.detail}"}}

    def is_connected(self, show_traceback: bool = False) -> bool:
        """Always: it is in this process."""
        return True

    def _block_by_number(self, tag: str, full: bool = False) -> dict[str, object] | None:
        blocks = self.chain.blocks
        number = blocks[-1].number if tag in ("latest", "pending", "safe", "finalized") else 0
        if tag.startswith("0x"):
            number = int(tag, 16)
        return _show_block(blocks[number], full) if number < len(blocks) else None

    def _block_by_hash(self, block_hash: str, full: bool = False) -> dict[str, object] | None:
        found = next((block for block in self.chain.blocks if block.hash == _raw(block_hash)), None)
        return None if found is None else _show_block(found, full)

    def _receipt(self, transaction_hash: str) -> dict[str, object] | None:
        found = self.chain.find(_raw(transaction_hash))
        return None if found is None else _show_receipt(*found)

    def _transaction(self, transaction_hash: str) -> dict[str, object] | None:
        found = self.chain.find(_raw(transaction_hash))
        return None if found is None else _show_transaction(*found)

    def _logs(self, wanted: dict[str, Any]) -> list[dict[str, Any]]:  # Any: JSON-RPC, of any shape
        head = self.chain.head.number
        asked = read_stored(_LogFilter, wanted)
        first, last = _block_number(asked.first, head), _block_number(asked.last, head)
        wanted_of = [asked.address] if isinstance(asked.address, str) else asked.address or ()
        addresses = {_raw(address) for address in wanted_of}
        found = []
        for block in self.chain.blocks[first : last + 1]:
            for mined in block.transactions:
                logs = zip(mined.done.logs, _show_logs(block, mined), strict=True)
                for (address, topics, _), shown in logs:
                    if addresses and address not in addresses:
                        continue
                    if _fits([_show_topic(topic) for topic in topics], asked.topics or ()):
                        found.append(shown)
        return found

    def _fee_history(self, blocks: object, *_: object) -> dict[str, object]:
        wanted = _number(blocks)
        return {
            "oldestBlock": hex(max(0, self.chain.head.number - wanted + 1)),
            "baseFeePerGas": [hex(BASE_FEE)] * (wanted + 1),
            "gasUsedRatio": [0.0] * wanted,
            "reward": [[hex(_TIP)]] * wanted,
        }

    def _increase_time(self, seconds: object) -> str:
        self.chain.timestamp += _number(seconds)
        return hex(self.chain.timestamp)


def _transaction(call: dict[str, object]) -> Transaction:
    asked = read_stored(_AskedCall, call)
    return Transaction(
        sender=_raw(asked.sender),
        to=_raw(asked.to or "0x"),
        value=_number(asked.value),
        data=_raw(asked.data if asked.input is None else asked.input),
        gas=min(GAS_LIMIT, _number(asked.gas)),
    )


def _show_block(block: MinedBlock, full: bool) -> dict[str, object]:
    shown: list[object] = [
        _show_transaction(block, mined) if full else "0x" + mined.hash.hex() for mined in block.transactions
    ]
    return {
        "number": hex(block.number),
        "hash": "0x" + block.hash.hex(),
        "parentHash": "0x" + block.parent_hash.hex(),
        "timestamp": hex(block.timestamp),
        "gasLimit": hex(GAS_LIMIT),
        "gasUsed": hex(block.gas_used),
        "baseFeePerGas": hex(BASE_FEE),
        "miner": "0x" + "00" * 20,
        "mixHash": "0x" + block.parent_hash.hex(),
        "difficulty": "0x0",
        "extraData": "0x",
        "logsBloom": _NO_BLOOM,
        "nonce": "0x" + "00" * 8,
        "sha3Uncles": _ZERO_HASH,
        "stateRoot": _ZERO_HASH,
        "receiptsRoot": _ZERO_HASH,
        "transactionsRoot": _ZERO_HASH,
        "size": "0x0",
        "transactions": shown,
        "uncles": [],
    }


def _show_transaction(block: MinedBlock, mined: MinedTransaction) -> dict[str, object]:
    transaction = mined.transaction
    return {
        "hash": "0x" + mined.hash.hex(),
        "type": hex(mined.type_id),
        "nonce": hex(mined.nonce),
        "blockHash": "0x" + block.hash.hex(),
        "blockNumber": hex(block.number),
        "transactionIndex": "0x0",
        "from": checksum("0x" + transaction.sender.hex()),
        "to": checksum("0x" + transaction.to.hex()) if transaction.to else None,
        "value": hex(transaction.value),
        "gas": hex(transaction.gas),
        "gasPrice": hex(transaction.gas_price),
        "input": "0x" + transaction.data.hex(),
    }


def _show_receipt(block: MinedBlock, mined: MinedTransaction) -> dict[str, object]:
    done, shown = mined.done, _show_transaction(block, mined)
    return {
        "transactionHash": "0x" + mined.hash.hex(),
        **{key: shown[key] for key in ("type", "blockHash", "blockNumber", "transactionIndex", "from", "to")},
        "status": hex(done.succeeded),
        "gasUsed": hex(done.gas_used),
        "cumulativeGasUsed": hex(done.gas_used),
        "effectiveGasPrice": hex(mined.transaction.gas_price),
        "contractAddress": None if done.contract_address is None else checksum("0x" + done.contract_address.hex()),
        "logs": _show_logs(block, mined),
        "logsBloom": _NO_BLOOM,
    }


def _show_topic(topic: int) -> str:
    return f"0x{topic:064x}"


def _show_logs(block: MinedBlock, mined: MinedTransaction) -> list[dict[str, Any]]:  # Any: JSON-RPC, of any shape
    return [
        {
            "address": checksum("0x" + address.hex()),
            "topics": [_show_topic(topic) for topic in topics],
            "data": "0x" + data.hex(),
            "blockNumber": hex(block.number),
            "blockHash": "0x" + block.hash.hex(),
            "transactionHash": "0x" + mined.hash.hex(),
            "transactionIndex": "0x0",
            "logIndex": hex(index),
            "removed": False,
        }
        for index, (address, topics, data) in enumerate(mined.done.logs)
    ]


def _fits(topics: list[str], wanted: Any) -> bool:  # Any: JSON-RPC, of any shape
    for index, one in enumerate(wanted):
        if one is None:
            continue
        choices = [one] if isinstance(one, str) else one
        if index >= len(topics) or topics[index] not in choices:
            return False
    return True


def _block_number(tag: object, head: int) -> int:
    if tag in ("latest", "pending"):
        return head
    return 0 if tag == "earliest" else _number(tag)


def _raw(text: Any) -> bytes:  # Any: JSON-RPC, of any shape
    return bytes(text) if isinstance(text, bytes) else bytes.fromhex(str(text).removeprefix("0x"))


def _number(value: object) -> int:
    return value if isinstance(value, int) else int(str(value), 16)
