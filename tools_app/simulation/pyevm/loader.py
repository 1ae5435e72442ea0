"""Fills a base from any JSON-RPC node, in as few round trips as the node's methods allow.

First choice is `debug_traceCall` with the prestate tracer, which answers in one batch everything the calls will touch;
then `eth_createAccessList` with one batch of reads for what it lists; then single reads, batched by account. All reads
name the pinned block by its hash, so a reorganisation meanwhile is an error and never another state.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Final
from weakref import WeakKeyDictionary

from pydantic import Field

from tools_app.chain.node_errors import BlockUnavailable, CallReverted, RpcMethodMissing, RpcNonsense
from tools_app.chain.rpc import RpcRequest, parse_bytes, parse_quantity
from tools_app.chain.rpc_pool import RpcPool
from tools_app.core.clock import Deadline
from tools_app.core.stored_json import read_stored
from tools_app.simulation.node_engine import to_node_call
from tools_app.simulation.prestate import TRACER, parse_accounts, parse_sized, parse_word
from tools_app.simulation.pyevm.base import Base, EvmAccount, Header

_TRACE, _LIST, _LAZY = "trace", "access list", "lazy"


@dataclass(frozen=True, slots=True)
class CallToTouch:
    """A call about to run, for a node to say what it will touch. Addresses are hex; a creation has `0x` as `to`."""

    sender: str
    to: str
    data: bytes
    value: int = 0

    def as_call(self) -> dict[str, str]:
        """As nodes take calls."""
        return to_node_call(sender=self.sender, to=self.to, data=self.data, value=self.value)


@dataclass(frozen=True, slots=True)
class _ListedAccount:
    address: object
    keys: Annotated[list[object], Field(alias="storageKeys")]


@dataclass(frozen=True, slots=True)
class _AccessList:
    entries: Annotated[list[_ListedAccount], Field(alias="accessList")]


@dataclass(frozen=True, slots=True)
class _ToldHeader:
    """A block as a node tells it, before anything of it is checked."""

    hash: object = None
    number: object = None
    timestamp: object = None
    base_fee: Annotated[object, Field(alias="baseFeePerGas")] = "0x0"
    gas_limit: Annotated[object, Field(alias="gasLimit")] = None
    miner: object = None
    mix_hash: Annotated[object, Field(alias="mixHash")] = None
    excess_blob_gas: Annotated[object, Field(alias="excessBlobGas")] = None


class NodeSource:
    """Reads one block from a chain's nodes within one run's deadline. Counts its round trips."""

    def __init__(self, *, pool: RpcPool, block_hash: str, number: int, deadline: Deadline) -> None:
        self._pool = pool
        self._block_hash = block_hash
        self._number = number
        self._deadline = deadline
        self.round_trips = 0

    def prefetch(self, base: Base, touches: Sequence[CallToTouch]) -> None:
        """Load what the calls touch as far as the node can say; what it cannot is read when it is met.

        Raises BlockUnavailable when the block is not the node's any more, and what a node raises.
        """
        way = _WAYS.get(self._pool, _TRACE)
        fitting = [touch for touch in touches if _worth_tracing(base, touch)]
        # Another thread may fill the same base meanwhile, so what was asked decides how the answers are read.
        asks_header = base.header is None
        requests = [self._header_request()] if asks_header else []
        if way == _TRACE:
            requests += [RpcRequest("debug_traceCall", (t.as_call(), self._tag(), _PRESTATE)) for t in fitting]
        elif way == _LIST:
            requests += [RpcRequest("eth_createAccessList", (t.as_call(), self._tag())) for t in fitting]
        if not requests:
            return
        replies = self._send(requests)
        if asks_header:
            base.header = self._parse_header(replies.pop(0).unwrap())
        if way == _LAZY:
            return
        if any(isinstance(reply.error, RpcMethodMissing) for reply in replies):
            _note_way(self._pool, _LIST if way == _TRACE else _LAZY)
            self.prefetch(base, touches)
            return
        answers = [reply.result for reply in replies if reply.error is None]
        for reply in replies:
            if reply.error is not None and not isinstance(reply.error, CallReverted):
                raise reply.error
        if way == _TRACE:
            for answer in answers:
                _put_prestate(base, answer)
        else:
            self._load_listed(base, fitting, answers)

    def load_header(self) -> Header:
        return self._parse_header(self._send([self._header_request()])[0].unwrap())

    def load_account(self, address: bytes) -> EvmAccount:
        return self._load_accounts([address])[0]

    def load_slot(self, address: bytes, slot: int) -> int:
        return parse_word(self._send([self._slot_request(address, slot)])[0].unwrap())

    def load_block_hash(self, number: int) -> bytes:
        answer = self._send([RpcRequest("eth_getBlockByNumber", (hex(number), False))])[0].unwrap()
        if not isinstance(answer, dict):
            raise BlockUnavailable("The node does not have that block")
        return parse_sized(answer.get("hash"), 32)

    def _load_accounts(self, addresses: Sequence[bytes]) -> list[EvmAccount]:
        methods = ("eth_getTransactionCount", "eth_getBalance", "eth_getCode")
        replies = self._send(
            [RpcRequest(method, ("0x" + address.hex(), self._tag())) for address in addresses for method in methods]
        )
        found = []
        for start in range(0, len(replies), 3):
            nonce, balance, code = (reply.unwrap() for reply in replies[start : start + 3])
            found.append(EvmAccount(parse_quantity(nonce), parse_quantity(balance), parse_bytes(code)))
        return found

    def _load_listed(self, base: Base, touches: Sequence[CallToTouch], answers: Sequence[object]) -> None:
        addresses: dict[bytes, None] = {}
        slots: dict[tuple[bytes, int], None] = {}
        for touch in touches:
            addresses |= {bytes.fromhex(text[2:]): None for text in (touch.sender, touch.to) if len(text) > 2}
        for answer in answers:
            try:
                listed = read_stored(_AccessList, answer)
            except ValueError:
                raise RpcNonsense("The node answered something that is no access list") from None
            for entry in listed.entries:
                address = parse_sized(entry.address, 20)
                addresses[address] = None
                slots |= {(address, parse_word(key)): None for key in entry.keys}
        missing = [address for address in addresses if address not in base.accounts]
        wanted = [key for key in slots if key not in base.slots]
        self._fill(base, missing, wanted)

    def _fill(self, base: Base, addresses: Sequence[bytes], slots: Iterable[tuple[bytes, int]]) -> None:
        wanted = list(slots)
        methods = ("eth_getTransactionCount", "eth_getBalance", "eth_getCode")
        requests = [RpcRequest(m, ("0x" + address.hex(), self._tag())) for address in addresses for m in methods]
        requests += [self._slot_request(*key) for key in wanted]
        if not requests:
            return
        results = [reply.unwrap() for reply in self._send(requests)]
        for index, address in enumerate(addresses):
            nonce, balance, code = results[3 * index : 3 * index + 3]
            base.put_account(address, EvmAccount(parse_quantity(nonce), parse_quantity(balance), parse_bytes(code)))
        for key, word in zip(wanted, results[3 * len(addresses) :], strict=True):
            base.slots[key] = parse_word(word)

    def _send(self, requests: Sequence[RpcRequest]) -> list[Any]:  # Any: JSON-RPC, of any shape
        self.round_trips += 1
        return self._pool.send(requests, deadline=self._deadline)

    def _header_request(self) -> RpcRequest:
        return RpcRequest("eth_getBlockByHash", (self._block_hash, False))

    def _slot_request(self, address: bytes, slot: int) -> RpcRequest:
        return RpcRequest("eth_getStorageAt", ("0x" + address.hex(), f"0x{slot:064x}", self._tag()))

    def _tag(self) -> dict[str, str]:
        return {"blockHash": self._block_hash}

    def _parse_header(self, raw: object) -> Header:
        if raw is None:
            raise BlockUnavailable("The node does not have that block")
        told = read_stored(_ToldHeader, raw) if isinstance(raw, dict) else _ToldHeader()
        if told.hash != self._block_hash:
            raise RpcNonsense("The node answered another block than it was asked for")
        number = parse_quantity(told.number)
        if number != self._number:
            raise RpcNonsense("The node gives that block another number")
        return Header(
            number=number,
            hash=self._block_hash,
            timestamp=parse_quantity(told.timestamp),
            base_fee=parse_quantity(told.base_fee),
            gas_limit=parse_quantity(told.gas_limit),
            coinbase=parse_sized(told.miner, 20),
            prevrandao=parse_sized(told.mix_hash or "0x" + "00" * 32, 32),
            excess_blob_gas=parse_quantity(told.excess_blob_gas or "0x0"),
        )


_PRESTATE: Final = {"tracer": TRACER}
_WAYS: WeakKeyDictionary[RpcPool, str] = WeakKeyDictionary()
_WAYS_LOCK: Final = threading.Lock()


def _note_way(pool: RpcPool, way: str) -> None:
    with _WAYS_LOCK:
        _WAYS[pool] = way


def _worth_tracing(base: Base, touch: CallToTouch) -> bool:
    """Whether the base lacks the called account; a known one was traced before, or is read as it is met."""
    return bytes.fromhex(touch.to[2:]) not in base.accounts or bytes.fromhex(touch.sender[2:]) not in base.accounts


def _put_prestate(base: Base, answer: object) -> None:
    for address, told in parse_accounts(answer).items():
        if address not in base.accounts:
            base.put_account(address, EvmAccount(told.nonce or 0, told.balance or 0, told.code or b""))
        for slot, word in told.storage.items():
            base.slots.setdefault((address, slot), word)
