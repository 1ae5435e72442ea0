"""Signed bytes that somebody else made: that they are the transaction that was asked for, and nothing besides."""

from __future__ import annotations

from permits_app.custody.signers.base import UnsignedTransaction
from permits_app.custody.signers.eth_account_library import read_signed
from permits_app.errors import SignerMismatch


def check_signed(raw: bytes, *, transaction: UnsignedTransaction, address: str) -> None:
    """That `raw` is `transaction`, signed by `address`, and nothing besides. Raises SignerMismatch."""
    try:
        said, signer = read_signed(raw)
    except ValueError:
        raise SignerMismatch("the signer's answer is no signed transaction") from None
    wanted = {
        "type": 2,
        "chainId": transaction.chain_id,
        "nonce": transaction.nonce,
        "to": bytes.fromhex(transaction.to[2:]),
        "value": transaction.value,
        "data": transaction.data,
        "gas": transaction.gas_limit,
        "maxFeePerGas": transaction.max_fee_per_gas,
        "maxPriorityFeePerGas": transaction.max_priority_fee_per_gas,
    }
    for name, value in wanted.items():
        if _plain(said.get(name)) != value:
            raise SignerMismatch(f"the signer signed another {name} than it was asked to", field=name)
    # The library takes 27 and 28 for 0 and 1 as well; a node takes neither in a typed transaction.
    if said.get("v") not in (0, 1):
        raise SignerMismatch("the signature's parity is neither 0 nor 1", field="v")
    if said.get("accessList"):
        raise SignerMismatch("the signer added an access list", field="accessList")
    if signer != address:
        raise SignerMismatch("another key signed this", field="signer", signed_by=signer)


def _plain(value: object) -> object:
    return bytes(value) if isinstance(value, bytes | bytearray) else value
