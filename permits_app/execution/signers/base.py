"""The interface of a signer: it turns an unsigned transaction into bytes, and can do nothing else."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class UnsignedTransaction:
    """An EIP-1559 transaction. Value and fees in wei, gas in gas units."""

    chain_id: int
    nonce: int
    to: str
    value: int
    data: bytes
    gas_limit: int
    max_fee_per_gas: int
    max_priority_fee_per_gas: int


@dataclass(frozen=True, slots=True)
class SignedTransaction:
    """Signed bytes and the hash the chain will know them by."""

    raw: bytes
    tx_hash: str


class Signer(Protocol):
    """Signs for one address. It is called outside any database transaction and never sends."""

    @property
    def address(self) -> str: ...

    def sign(self, transaction: UnsignedTransaction) -> SignedTransaction:
        """The signed bytes; the same input gives the same bytes. Raises SignerUnavailable."""
