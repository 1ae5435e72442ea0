"""The interface of a signer: it turns an unsigned transaction into bytes, and can do nothing else."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from permits_app.permits.stored_calls import SentCall
from tools_app.toolkit.typed_data import TypedData


@dataclass(frozen=True, slots=True)
class OperationTerms:
    """What makes a payload a user operation: the EntryPoint, who pays its gas ("" the account), its call's own gas."""

    entry_point: str
    paymaster: str
    call_gas_limit: int

    @classmethod
    def of_call(cls, call: SentCall) -> OperationTerms | None:
        """Those of a permit's stored call; None for a plain transaction."""
        terms = call.user_operation
        return None if terms is None else cls(terms.entry_point, terms.paymaster, terms.call_gas_limit)


@dataclass(frozen=True, slots=True)
class UnsignedTransaction:
    """An EIP-1559 transaction. Value and fees in wei, gas in gas units.

    With `operation` it is a user operation of the account `to`: `data` is the account's call, `nonce` the EntryPoint's,
    and `gas_limit` the most that all its limits may come to.
    """

    chain_id: int
    nonce: int
    to: str
    value: int
    data: bytes
    gas_limit: int
    max_fee_per_gas: int
    max_priority_fee_per_gas: int
    operation: OperationTerms | None = None


@dataclass(frozen=True, slots=True)
class SignedTransaction:
    """Signed bytes and the hash the chain will know them by.

    Of a user operation: `says` is what it asks for inside the limits it was given, `at_block` the chain's head then.
    """

    raw: bytes
    tx_hash: str
    says: UnsignedTransaction | None = None
    at_block: int | None = None


@dataclass(frozen=True, slots=True)
class SignedAuthorization:
    """The word of an account's key that the account runs the code of `contract` from now on (EIP-7702), no code where
    that is the zero address. It holds while the account's nonce is `nonce`.
    """

    chain_id: int
    contract: str
    nonce: int
    y_parity: int
    r: int
    s: int


class Signer(Protocol):
    """Signs for one address. It is called outside any database transaction and never sends."""

    @property
    def address(self) -> str: ...

    def sign(self, transaction: UnsignedTransaction) -> SignedTransaction:
        """The signed bytes; the same input gives the same bytes. Raises SignerUnavailable."""


class KeySigner(Signer, Protocol):
    """A signer that is a key itself, and not an account that one owns."""

    def sign_message(self, message: bytes, *, chain_id: int) -> bytes:
        """The EIP-191 signature of `message`, 65 bytes, for a chain's contract to check. Raises SignerUnavailable."""


@runtime_checkable
class TypedSigner(Protocol):
    """A key that signs typed data too."""

    def sign_typed_data(self, typed: TypedData) -> bytes:
        """The EIP-712 signature, 65 bytes. Raises SignerUnavailable, SignerMismatch."""
