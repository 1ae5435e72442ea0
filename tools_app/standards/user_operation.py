"""ERC-4337 user operations of EntryPoint v0.7: their fields, their hash, how they are packed, and what the chain says.

An operation is known by a hash of its own and lies in somebody else's transaction. Gas in gas units, prices in wei per
gas.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from eth_utils.crypto import keccak

from tools_app.chain.abi import checksum, decode_values, encode_args, event_topic
from tools_app.chain.abi_records import AbiEvent
from tools_app.toolkit.context import AbiValues, ChainReader
from tools_app.toolkit.views import LogEntry, ReceiptView

ENTRY_POINT: Final = "0x0000000071727De22E5E9d8BAf0edAc6f37da032"
"""EntryPoint v0.7, at one address on every chain that has it."""
GET_NONCE: Final = "function getNonce(address sender, uint192 key) view returns (uint256)"
DEPOSIT_OF: Final = "function balanceOf(address account) view returns (uint256)"
OPERATION_EVENT: Final = (
    "event UserOperationEvent(bytes32 indexed userOpHash, address indexed sender, address indexed paymaster,"
    " uint256 nonce, bool success, uint256 actualGasCost, uint256 actualGasUsed)"
)
OPERATION_TOPIC: Final = event_topic(OPERATION_EVENT)
FAILED_OP: Final = "error FailedOp(uint256 opIndex, string reason)"
FAILED_OP_WITH_REVERT: Final = "error FailedOpWithRevert(uint256 opIndex, string reason, bytes inner)"
_EXECUTION_TOPIC: Final = event_topic("event BeforeExecution()")
HANDLE_OPS: Final = (
    "function handleOps((address sender, uint256 nonce, bytes initCode, bytes callData, bytes32 accountGasLimits,"
    " uint256 preVerificationGas, bytes32 gasFees, bytes paymasterAndData, bytes signature)[] ops, address beneficiary)"
)
_PACKED: Final = ("address", "uint256", "bytes", "bytes", "bytes32", "uint256", "bytes32", "bytes", "bytes")
_HASHED: Final = ("address", "uint256", "bytes32", "bytes32", "bytes32", "uint256", "bytes32", "bytes32")
_PAYMASTER_HEAD: Final = 52


@dataclass(frozen=True, slots=True)
class UserOperation:
    """One operation of an account that exists. Without `paymaster` the account pays its own gas."""

    sender: str
    nonce: int
    call_data: bytes
    call_gas_limit: int
    verification_gas_limit: int
    pre_verification_gas: int
    max_fee_per_gas: int
    max_priority_fee_per_gas: int
    paymaster: str = ""
    paymaster_verification_gas_limit: int = 0
    paymaster_post_op_gas_limit: int = 0
    paymaster_data: bytes = b""
    signature: bytes = b""

    @property
    def total_gas(self) -> int:
        """All limits together; times the fee cap it is the most the EntryPoint takes."""
        return (
            self.call_gas_limit
            + self.verification_gas_limit
            + self.pre_verification_gas
            + self.paymaster_verification_gas_limit
            + self.paymaster_post_op_gas_limit
        )

    def hash(self, *, chain_id: int) -> str:
        """What the EntryPoint of `chain_id` calls it, 0x-hex; the signature is not in it. Raises ValueError."""
        sender, nonce, init_code, call_data, limits, pre_gas, fees, paymaster, _ = self.pack()
        digests = (keccak(init_code), keccak(call_data), limits, pre_gas, fees, keccak(paymaster))
        inner = keccak(encode_args(_HASHED, (sender, nonce, *digests)))
        return "0x" + keccak(encode_args(("bytes32", "address", "uint256"), (inner, ENTRY_POINT, chain_id))).hex()

    def encode(self) -> bytes:
        """The packed operation with its signature, as the EntryPoint takes it. Raises ValueError."""
        return encode_args(_PACKED, self.pack())

    def as_rpc(self) -> dict[str, str]:
        """As bundlers take it: unpacked, quantities and bytes in hex."""
        shown = {
            "sender": self.sender,
            "nonce": hex(self.nonce),
            "callData": _hex(self.call_data),
            "callGasLimit": hex(self.call_gas_limit),
            "verificationGasLimit": hex(self.verification_gas_limit),
            "preVerificationGas": hex(self.pre_verification_gas),
            "maxFeePerGas": hex(self.max_fee_per_gas),
            "maxPriorityFeePerGas": hex(self.max_priority_fee_per_gas),
            "signature": _hex(self.signature),
        }
        if self.paymaster:
            shown |= {
                "paymaster": self.paymaster,
                "paymasterVerificationGasLimit": hex(self.paymaster_verification_gas_limit),
                "paymasterPostOpGasLimit": hex(self.paymaster_post_op_gas_limit),
                "paymasterData": _hex(self.paymaster_data),
            }
        return shown

    def pack(self) -> AbiValues:
        """The EntryPoint's own tuple of it. Raises ValueError for gas or fees beyond 128 bits."""
        paymaster = b""
        if self.paymaster:
            limits = _pack_pair(self.paymaster_verification_gas_limit, self.paymaster_post_op_gas_limit)
            paymaster = bytes.fromhex(self.paymaster[2:]) + limits + self.paymaster_data
        return (
            self.sender,
            self.nonce,
            b"",
            self.call_data,
            _pack_pair(self.verification_gas_limit, self.call_gas_limit),
            self.pre_verification_gas,
            _pack_pair(self.max_priority_fee_per_gas, self.max_fee_per_gas),
            paymaster,
            self.signature,
        )


@dataclass(frozen=True, slots=True)
class _OperationLogged:
    nonce: int
    paymaster: str
    success: bool
    actual_gas_cost: int
    actual_gas_used: int


_OPERATION: Final = AbiEvent(OPERATION_EVENT, _OperationLogged)


@dataclass(frozen=True, slots=True)
class OperationSeen:
    """What the EntryPoint said of one operation. `cost` in wei, paid by the account, or by `paymaster` if not empty."""

    succeeded: bool
    cost: int
    gas_used: int
    paymaster: str


def decode_operation(raw: bytes) -> UserOperation:
    """A packed operation. Raises AbiDecodeError, and ValueError for one that would make its account."""
    sender, nonce, init_code, call_data, limits, pre_gas, fees, paid, signature = decode_values(_PACKED, raw)
    if init_code or 0 < len(paid) < _PAYMASTER_HEAD:
        raise ValueError("no operation of an account that exists")
    verification, call_gas = _unpack_pair(limits)
    priority, cap = _unpack_pair(fees)
    paymaster_gas, post_gas = _unpack_pair(paid[20:_PAYMASTER_HEAD]) if paid else (0, 0)
    return UserOperation(
        sender=sender,
        nonce=nonce,
        call_data=call_data,
        call_gas_limit=call_gas,
        verification_gas_limit=verification,
        pre_verification_gas=pre_gas,
        max_fee_per_gas=cap,
        max_priority_fee_per_gas=priority,
        paymaster=checksum("0x" + paid[:20].hex()) if paid else "",
        paymaster_verification_gas_limit=paymaster_gas,
        paymaster_post_op_gas_limit=post_gas,
        paymaster_data=paid[_PAYMASTER_HEAD:],
        signature=signature,
    )


def read_next_nonce(chain: ChainReader, account: str) -> int:
    """The nonce the EntryPoint takes next from `account` under key 0, at the reader's block."""
    [nonce] = chain.call(ENTRY_POINT, GET_NONCE, account, 0)
    return int(nonce)


def read_nonce(event: LogEntry) -> int:
    """The nonce of the operation that an event of the EntryPoint tells of."""
    return _read(event).nonce


def topic_of(account: str) -> str:
    """An account as the EntryPoint's events are indexed by it."""
    return "0x" + account.removeprefix("0x").lower().rjust(64, "0")


def find_in_receipt(receipt: ReceiptView, op_hash: str) -> tuple[OperationSeen, tuple[LogEntry, ...]] | None:
    """What became of one operation in the transaction that carried it, and the logs of its own execution.

    None when the transaction reverted or carried it not.
    """
    if not receipt.succeeded:
        return None
    since = 0
    for index, log in enumerate(receipt.logs):
        if log.address != ENTRY_POINT or not log.topics:
            continue
        if log.topics[0] == _EXECUTION_TOPIC:
            since = index + 1
        elif log.topics[0] == OPERATION_TOPIC:
            if len(log.topics) == 4 and log.topics[1] == op_hash:
                return _read_event(log), receipt.logs[since:index]
            since = index + 1
    return None


def _read_event(log: LogEntry) -> OperationSeen:
    said = _read(log)
    is_sponsored = int(said.paymaster, 16) != 0
    return OperationSeen(
        succeeded=said.success,
        cost=said.actual_gas_cost,
        gas_used=said.actual_gas_used,
        paymaster=said.paymaster if is_sponsored else "",
    )


def _read(log: LogEntry) -> _OperationLogged:
    said = _OPERATION.read(log)
    if said is None:
        raise ValueError("the EntryPoint's event has another shape")
    return said


def _pack_pair(high: int, low: int) -> bytes:
    if not (0 <= high < 1 << 128 and 0 <= low < 1 << 128):
        raise ValueError("a gas limit or a fee does not fit 128 bits")
    return high.to_bytes(16, "big") + low.to_bytes(16, "big")


def _unpack_pair(word: bytes) -> tuple[int, int]:
    return int.from_bytes(word[:16], "big"), int.from_bytes(word[16:], "big")


def _hex(data: bytes) -> str:
    return "0x" + data.hex()
