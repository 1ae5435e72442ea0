"""One transaction, or one read, on a flat state: charged as the rules say, with its gas before and after refunds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from eth.exceptions import ContractCreationCollision, InvalidInstruction, OutOfGas, VMError, WriteProtection
from eth.vm.forks.prague.transactions import Authorization
from eth.vm.message import Message
from eth_hash.auto import keccak
from eth_typing import Address
from rlp import encode as rlp_encode

from tools_app.chain.node_errors import GasLimitRefused, InsufficientFunds
from tools_app.core.recursion_limit import deep_calls

_CREATE: Final = b""
_DELEGATION: Final = bytes.fromhex("ef0100")
_TX_GAS: Final = 21_000
_CREATE_GAS: Final = 32_000
_ACCESS_ADDRESS_GAS: Final = 2_400
_ACCESS_SLOT_GAS: Final = 1_900
_AUTHORIZATION_GAS: Final = 25_000
_ZERO_BYTE_GAS, _BYTE_GAS = 4, 16
_FLOOR_PER_TOKEN: Final = 10
_MAX_REFUND_QUOTIENT: Final = 5
_MAX_INIT_CODE: Final = 49_152
SET_CODE_TYPE: Final = 4


@dataclass(slots=True)
class Transaction:
    """What runs: `to` empty to create. Prices are wei per gas; `fee_cap` is what the sender must be able to pay."""

    sender: bytes
    to: bytes
    value: int
    data: bytes
    gas: int
    gas_price: int = 0
    tip: int = 0
    fee_cap: int = 0
    access_list: Sequence[tuple[bytes, Sequence[int]]] = ()
    authorization_list: Sequence[Any] = ()  # Any: py-evm leaves it untyped

    @property
    def type_id(self) -> int:
        return SET_CODE_TYPE if self.authorization_list else 2

    @property
    def blob_versioned_hashes(self) -> tuple[bytes, ...]:
        return ()


@dataclass(frozen=True, slots=True)
class Executed:
    """What a transaction did. Logs are (address, topics, data); `computation` is the tree of frames."""

    succeeded: bool
    output: bytes
    gas_used: int
    gas_before_refunds: int
    logs: tuple[tuple[bytes, tuple[int, ...], bytes], ...]
    error: VMError | None
    contract_address: bytes | None
    contracts_created: tuple[bytes, ...]
    computation: Any  # Any: py-evm leaves it untyped


def make_authorization(*, chain_id: int, address: bytes, nonce: int, y_parity: int, r: int, s: int) -> object:
    """A signed authorization as py-evm reads it; nothing is checked before it is applied."""
    return Authorization(chain_id, Address(address), nonce, y_parity, r, s)


def intrinsic_gas(transaction: Transaction) -> int:
    """Gas charged before the first opcode; a creation's init code is charged by its frame."""
    zeros = transaction.data.count(0)
    gas = _TX_GAS + _ZERO_BYTE_GAS * zeros + _BYTE_GAS * (len(transaction.data) - zeros)
    if transaction.to == _CREATE:
        gas += _CREATE_GAS
    gas += sum(_ACCESS_ADDRESS_GAS + _ACCESS_SLOT_GAS * len(slots) for _, slots in transaction.access_list)
    return gas + _AUTHORIZATION_GAS * len(transaction.authorization_list)


def floor_gas(transaction: Transaction) -> int:
    """The least a transaction costs since Prague (EIP-7623), by the bytes it carries."""
    zeros = transaction.data.count(0)
    return _TX_GAS + _FLOOR_PER_TOKEN * (zeros + 4 * (len(transaction.data) - zeros))


@deep_calls()
def execute(state: Any, transaction: Transaction, *, has_floor: bool) -> Executed:  # Any: py-evm leaves it untyped
    """Run it and keep what it changed, also its nonce and fees when it fails.

    Raises InsufficientFunds, GasLimitRefused, SimulationTimeout, and what the source of state raises.
    """
    cost = transaction.value + transaction.gas * max(transaction.gas_price, transaction.fee_cap)
    have = state.get_balance(transaction.sender)
    if have < cost:
        raise InsufficientFunds(
            f"The sender holds {have} wei; value and gas need {cost}", have=str(have), need=str(cost)
        )
    intrinsic = intrinsic_gas(transaction)
    floor = floor_gas(transaction) if has_floor else 0
    least = max(intrinsic, floor)
    if transaction.to == _CREATE:
        least += 2 * ((len(transaction.data) + 31) // 32)
        if len(transaction.data) > _MAX_INIT_CODE:
            raise GasLimitRefused(f"init code of {len(transaction.data)} bytes; at most {_MAX_INIT_CODE}")
    if transaction.gas < least:
        raise GasLimitRefused(f"{transaction.gas} gas given, the transaction itself takes {least}")

    state.delta_balance(transaction.sender, -transaction.gas * transaction.gas_price)
    nonce = state.get_nonce(transaction.sender)
    state.increment_nonce(transaction.sender)
    state.mark_address_warm(transaction.sender)
    refund = state.process_set_code_authorizations(transaction) if transaction.authorization_list else 0
    for address, slots in transaction.access_list:
        state.mark_address_warm(address)
        for slot in slots:
            state.mark_storage_warm(address, slot)

    context = state.get_transaction_context_class()(gas_price=transaction.gas_price, origin=transaction.sender)
    computation, created = _run(state, transaction, context, transaction.gas - intrinsic, nonce, refund)
    remaining = computation.get_gas_remaining()
    before_refunds = transaction.gas - remaining
    gas_used = max(before_refunds - min(computation.get_gas_refund(), before_refunds // _MAX_REFUND_QUOTIENT), floor)
    state.delta_balance(transaction.sender, (transaction.gas - gas_used) * transaction.gas_price)
    state.delta_balance(state.env.coinbase, gas_used * transaction.tip)
    for address in computation.get_accounts_for_deletion():
        state.delete_account(address)
    state.end_transaction()
    error = computation._error
    return Executed(
        succeeded=error is None,
        output=bytes(computation.output) if created is None or error is not None else b"",
        gas_used=gas_used,
        gas_before_refunds=max(before_refunds, floor),
        logs=computation.get_log_entries(),
        error=error,
        contract_address=created,
        contracts_created=() if error is not None else tuple(_alive(state, computation.contracts_created)),
        computation=computation,
    )


@deep_calls()
def read(
    state: Any,  # Any: py-evm leaves it untyped
    *,
    sender: bytes,
    to: bytes,
    data: bytes,
    gas: int,
) -> tuple[bool, bytes]:
    """Ask a contract something and undo whatever that did. Returns success and output."""
    mark = state.snapshot()
    transaction = Transaction(sender=sender, to=to, value=0, data=data, gas=gas)
    state.mark_address_warm(sender)
    context = state.get_transaction_context_class()(gas_price=0, origin=sender)
    computation, _ = _run(state, transaction, context, gas - intrinsic_gas(transaction), 0, 0)
    state.revert(mark)
    state.end_transaction()
    return computation.is_success, bytes(computation.output)


def describe_error(error: VMError) -> str:
    """What ended a frame, for people; a revert's own words are in its output."""
    if isinstance(error, OutOfGas):
        return "out of gas"
    if isinstance(error, InvalidInstruction):
        return "invalid opcode"
    if isinstance(error, WriteProtection):
        return "a change inside a static call"
    return type(error).__name__


def _run(
    state: Any,  # Any: py-evm leaves it untyped
    transaction: Transaction,
    context: Any,  # Any: py-evm leaves it untyped
    gas: int,
    nonce: int,
    refund: int,
) -> tuple[Any, bytes | None]:  # Any: py-evm leaves it untyped
    machine = state.computation_class
    common: dict[str, Any] = {  # Any: py-evm leaves it untyped
        "gas": gas,
        "to": transaction.to,
        "sender": transaction.sender,
        "value": transaction.value,
    }
    if transaction.to != _CREATE:
        state.mark_address_warm(transaction.to)
        code, delegation = state.get_code(transaction.to), None
        if has_delegation(state, code):
            delegation = code[3:]
            state.mark_address_warm(delegation)
            code = state.get_code(delegation)
        message = Message(
            **common, data=transaction.data, code=code, is_delegation=delegation is not None, refund=refund
        )
        return machine.apply_message(state, message, context), None
    created = Address(keccak(rlp_encode([transaction.sender, nonce]))[12:])
    state.mark_address_warm(created)
    message = Message(**common, data=b"", code=transaction.data, create_address=created, refund=refund)
    if state.has_code_or_nonce(created):
        computation = state.get_computation(message, context)
        computation.contracts_created = []
        computation.error = ContractCreationCollision("address in use")
        return computation, created
    return machine.apply_create_message(state, message, context), created


def has_delegation(state: object, code: bytes) -> bool:
    """Whether an account's code names another account to run (EIP-7702), under rules that know it."""
    return len(code) == 23 and code[:3] == _DELEGATION and hasattr(state, "process_set_code_authorizations")


def _alive(state: Any, created: Sequence[bytes]) -> list[bytes]:  # Any: py-evm leaves it untyped
    return [address for address in dict.fromkeys(created) if state.get_code(address)]
