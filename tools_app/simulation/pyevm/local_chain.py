"""A chain that lives in this process: blocks, receipts and logs over the flat state, no node behind it.

Every transaction is mined at once, in a block of its own. Hashes of blocks are made of their content but are not those
of Ethereum's header format, and there are no state roots. For tests and small tools, on no path to a permit.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from eth_account import Account as EthAccount
from eth_hash.auto import keccak
from eth_keys.exceptions import BadSignature
from rlp import decode as rlp_decode
from rlp import encode as rlp_encode
from rlp.exceptions import RLPException

from tools_app.chain.node_errors import (
    CallReverted,
    GasLimitRefused,
    NonceTooHigh,
    NonceTooLow,
    TransactionMalformed,
    build_revert,
)
from tools_app.simulation.pyevm.base import Base, EvmAccount
from tools_app.simulation.pyevm.budget import Budget
from tools_app.simulation.pyevm.memory_source import MemorySource
from tools_app.simulation.pyevm.rules import NEWEST
from tools_app.simulation.pyevm.state import STATES, BlockEnv
from tools_app.simulation.pyevm.transaction import (
    SET_CODE_TYPE,
    Executed,
    Transaction,
    describe_error,
    execute,
    make_authorization,
)

GAS_LIMIT: Final = 30_000_000
BASE_FEE: Final = 10**9
_BLOCK_SECONDS: Final = 1
_NOT_SIGNED: Final = (ValueError, TypeError, KeyError, IndexError, RLPException, BadSignature)


@dataclass(frozen=True, slots=True)
class MinedTransaction:
    """A transaction in its block, and what it did."""

    hash: bytes
    transaction: Transaction
    nonce: int
    type_id: int
    done: Executed


@dataclass(frozen=True, slots=True)
class MinedBlock:
    """A block of the chain in memory."""

    number: int
    hash: bytes
    parent_hash: bytes
    timestamp: int
    transactions: tuple[MinedTransaction, ...] = ()

    @property
    def gas_used(self) -> int:
        return sum(mined.done.gas_used for mined in self.transactions)


@dataclass(slots=True)
class _Snapshot:
    height: int
    mark: int
    timestamp: int


@dataclass
class LocalChain:
    """The chain. `balances` are wei by raw address; time only moves with blocks. Not for several threads."""

    chain_id: int = 31337
    balances: Mapping[bytes, int] = field(default_factory=dict)
    timestamp: int = 1_700_000_000

    def __post_init__(self) -> None:
        base = Base({address: EvmAccount(0, wei, b"") for address, wei in self.balances.items()})
        self.blocks = [
            MinedBlock(0, _hash_block(self.chain_id, 0, bytes(32), self.timestamp, ()), bytes(32), self.timestamp)
        ]
        self._by_hash: dict[bytes, tuple[MinedBlock, MinedTransaction]] = {}
        self._snapshots: list[_Snapshot] = []
        source = MemorySource(block_hash=lambda number: self.blocks[number].hash)
        self.state = STATES[NEWEST](base=base, source=source, env=self._next_env(), budget=Budget(None))

    @property
    def head(self) -> MinedBlock:
        return self.blocks[-1]

    def send_raw(self, raw: bytes) -> bytes:
        """Mine a signed transaction; returns its hash.

        Raises TransactionMalformed, NonceTooLow, NonceTooHigh, InsufficientFunds, GasLimitRefused.
        """
        transaction, nonce, type_id = self._decode(raw)
        expected = self.state.get_nonce(transaction.sender)
        if nonce != expected:
            raise (NonceTooLow if nonce < expected else NonceTooHigh)(f"nonce {nonce}; the account's is {expected}")
        if transaction.gas > GAS_LIMIT:
            raise GasLimitRefused(f"{transaction.gas} gas; a block holds {GAS_LIMIT}")
        env = self._next_env()
        self._use(env)
        done = execute(self.state, transaction, has_floor=True)
        mined = MinedTransaction(bytes(keccak(raw)), transaction, nonce, type_id, done)
        self._append(env, (mined,))
        return mined.hash

    def mine(self, *, seconds: int = _BLOCK_SECONDS) -> MinedBlock:
        """An empty block, `seconds` after the last."""
        self.timestamp += seconds - _BLOCK_SECONDS
        env = self._next_env()
        self._append(env, ())
        return self.head

    def call(self, transaction: Transaction) -> Executed:
        """Run it on the head's state in the next block's place and undo it. Raises like `send_raw`."""
        self._use(self._next_env())
        mark = self.state.snapshot()
        try:
            return execute(self.state, transaction, has_floor=True)
        finally:
            self.state.revert(mark)

    def read(self, transaction: Transaction) -> bytes:
        """The output of a call. Raises CallReverted with its decoded reason."""
        done = self.call(transaction)
        if done.error is not None:
            raise build_revert(done.output, message="" if done.output else describe_error(done.error))
        return done.output

    def estimate_gas(self, transaction: Transaction) -> int:
        """The least gas limit that succeeds, to within 64. Raises CallReverted when none does."""
        self.read(transaction)
        low, high = 20_999, transaction.gas
        while high - low > 64:
            middle = (low + high) // 2
            transaction.gas = middle
            try:
                enough = self.call(transaction).succeeded
            except GasLimitRefused:
                enough = False
            low, high = (low, middle) if enough else (middle, high)
        return high

    def find(self, transaction_hash: bytes) -> tuple[MinedBlock, MinedTransaction] | None:
        """A mined transaction with its block."""
        return self._by_hash.get(transaction_hash)

    def set_balance(self, address: bytes, wei: int) -> None:
        """Give or take coins without a transaction."""
        self.state.set_balance(address, wei)

    def snapshot(self) -> int:
        """Remember this point; returns its number."""
        self._snapshots.append(_Snapshot(len(self.blocks), self.state.snapshot(), self.timestamp))
        return len(self._snapshots)

    def revert(self, number: int) -> bool:
        """Go back to a point, which with all later ones is then forgotten; False when there is none."""
        if not 1 <= number <= len(self._snapshots):
            return False
        point = self._snapshots[number - 1]
        del self._snapshots[number - 1 :]
        for block in self.blocks[point.height :]:
            for mined in block.transactions:
                self._by_hash.pop(mined.hash, None)
        del self.blocks[point.height :]
        self.state.revert(point.mark)
        self.timestamp = point.timestamp
        return True

    def _next_env(self) -> BlockEnv:
        head = self.head
        return BlockEnv(
            chain_id=self.chain_id,
            number=head.number + 1,
            timestamp=self.timestamp + _BLOCK_SECONDS,
            coinbase=bytes(20),
            prevrandao=head.hash,
            gas_limit=GAS_LIMIT,
            base_fee=BASE_FEE,
            excess_blob_gas=0,
            parent_hash=head.hash,
        )

    def _use(self, env: BlockEnv) -> None:
        self.state.enter_block(env)

    def _append(self, env: BlockEnv, transactions: tuple[MinedTransaction, ...]) -> None:
        hashes = tuple(mined.hash for mined in transactions)
        block_hash = _hash_block(self.chain_id, env.number, self.head.hash, env.timestamp, hashes)
        block = MinedBlock(env.number, block_hash, self.head.hash, env.timestamp, transactions)
        self.blocks.append(block)
        self.timestamp = env.timestamp
        for mined in transactions:
            self._by_hash[mined.hash] = (block, mined)
        if not self._snapshots:
            self.state.forget_history()

    def _decode(self, raw: bytes) -> tuple[Transaction, int, int]:
        try:
            sender = bytes.fromhex(EthAccount.recover_transaction(raw)[2:])
            fields = _read_fields(raw)
        except _NOT_SIGNED as error:
            raise TransactionMalformed(f"the bytes are no signed transaction: {error}") from error
        if fields.chain_id not in (None, self.chain_id):
            raise TransactionMalformed(f"the transaction is for chain {fields.chain_id}")
        price = min(fields.max_fee, BASE_FEE + fields.priority_fee)
        if price < BASE_FEE:
            raise TransactionMalformed(f"max fee per gas less than block base fee {BASE_FEE}")
        transaction = Transaction(
            sender=sender,
            to=fields.to,
            value=fields.value,
            data=fields.data,
            gas=fields.gas,
            gas_price=price,
            tip=price - BASE_FEE,
            access_list=fields.access_list,
            authorization_list=fields.authorizations,
        )
        return transaction, fields.nonce, fields.type_id


@dataclass(frozen=True, slots=True)
class _SignedFields:
    """What a signed transaction says; None as its chain where it says none."""

    type_id: int
    chain_id: int | None
    nonce: int
    max_fee: int
    priority_fee: int
    gas: int
    to: bytes
    value: int
    data: bytes
    access_list: list[tuple[bytes, list[int]]]
    authorizations: list[object]


def _read_fields(raw: bytes) -> _SignedFields:
    authorized: list[Any] = []  # Any: JSON-RPC, of any shape
    if raw[:1] == b"\x04":
        chain_id, nonce, tip, price, gas, to, value, data, listed, authorized, *_ = rlp_decode(raw[1:])
    elif raw[:1] == b"\x02":
        chain_id, nonce, tip, price, gas, to, value, data, listed, *_ = rlp_decode(raw[1:])
    elif raw[:1] == b"\x01":
        chain_id, nonce, price, gas, to, value, data, listed, *_ = rlp_decode(raw[1:])
        tip = price
    else:
        nonce, price, gas, to, value, data, v, _, _ = rlp_decode(raw)
        tip, listed = price, []
        seal = int.from_bytes(v, "big")
        chain_id = ((seal - 35) // 2).to_bytes(8, "big") if seal >= 35 else None
    return _SignedFields(
        type_id=raw[0] if raw[0] in (1, 2, SET_CODE_TYPE) else 0,
        chain_id=None if chain_id is None else _int(chain_id),
        nonce=_int(nonce),
        max_fee=_int(price),
        priority_fee=_int(tip),
        gas=_int(gas),
        to=to,
        value=_int(value),
        data=data,
        access_list=[(address, [_int(slot) for slot in slots]) for address, slots in listed],
        authorizations=[_read_authorization(*told) for told in authorized],
    )


def _read_authorization(chain_id: bytes, address: bytes, nonce: bytes, y_parity: bytes, r: bytes, s: bytes) -> object:
    return make_authorization(
        chain_id=_int(chain_id), address=address, nonce=_int(nonce), y_parity=_int(y_parity), r=_int(r), s=_int(s)
    )


def _int(data: bytes) -> int:
    return int.from_bytes(data, "big")


def _hash_block(chain_id: int, number: int, parent: bytes, timestamp: int, hashes: tuple[bytes, ...]) -> bytes:
    return bytes(keccak(rlp_encode([chain_id, number, parent, timestamp, list(hashes)])))


__all__ = ["BASE_FEE", "GAS_LIMIT", "CallReverted", "LocalChain", "MinedBlock", "MinedTransaction"]
