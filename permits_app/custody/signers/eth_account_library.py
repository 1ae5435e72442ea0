"""The door to eth-account. Importing it costs half a second of pairing tables, which only a signing process pays."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Final

from eth_utils.address import to_checksum_address
from eth_utils.crypto import keccak

from permits_app.custody.signers.base import SignedAuthorization, UnsignedTransaction

if TYPE_CHECKING:
    from eth_account import Account

_SET_CODE: Final = b"\x04"


@cache
def load_accounts() -> type[Account]:
    """eth-account's Account, imported when a key is first touched."""
    from eth_account import Account

    return Account


def read_signed(raw: bytes) -> tuple[dict[str, object], str]:
    """The fields of a signed typed transaction and the address that signed it. Raises ValueError for anything else."""
    from eth_account.typed_transactions import TypedTransaction
    from eth_keys.exceptions import BadSignature, ValidationError
    from hexbytes import HexBytes
    from rlp.exceptions import RLPException

    try:
        fields = dict(TypedTransaction.from_bytes(HexBytes(raw)).as_dict())
        return fields, str(load_accounts().recover_transaction(HexBytes(raw)))
    except (RLPException, BadSignature, ValidationError, TypeError, KeyError, AssertionError) as error:
        raise ValueError(f"no signed transaction: {type(error).__name__}") from None


def read_authorization(raw: bytes) -> SignedAuthorization | None:
    """The word of another key that signed bytes carry (EIP-7702); None where they carry none, or several."""
    import rlp

    if raw[:1] != _SET_CODE:
        return None
    words = rlp.decode(raw[1:])[9]
    if len(words) != 1:
        return None
    chain_id, contract, *numbers = words[0]
    nonce, y_parity, r, s = (int.from_bytes(each, "big") for each in numbers)
    return SignedAuthorization(int.from_bytes(chain_id, "big"), to_checksum_address(contract), nonce, y_parity, r, s)


def encode_unsigned(transaction: UnsignedTransaction) -> bytes:
    """The bytes that are hashed and signed for it."""
    import rlp

    fields = (
        transaction.chain_id,
        transaction.nonce,
        transaction.max_priority_fee_per_gas,
        transaction.max_fee_per_gas,
        transaction.gas_limit,
        bytes.fromhex(transaction.to[2:]),
        transaction.value,
        transaction.data,
        (),
    )
    return b"\x02" + bytes(rlp.encode(fields))


def encode_signed(transaction: UnsignedTransaction, signature: bytes) -> bytes:
    """The transaction with a signature of 65 bytes."""
    import rlp

    fields = rlp.decode(encode_unsigned(transaction)[1:])
    numbers = (signature[64] - 27, *(int.from_bytes(signature[at : at + 32], "big") for at in (0, 32)))
    return b"\x02" + bytes(rlp.encode((*fields, *numbers)))


def hash_message(message: bytes) -> bytes:
    """What is signed of `message` by EIP-191."""
    return keccak(b"\x19Ethereum Signed Message:\n" + str(len(message)).encode() + message)


def recover_signer(message: bytes, signature: bytes) -> str:
    """Whose EIP-191 signature of `message` it is. Raises ValueError for what is no signature of 65 bytes."""
    from eth_account.messages import encode_defunct
    from eth_keys.exceptions import BadSignature, ValidationError

    # A contract takes 27 and 28 only; the library reads 0 and 1 as well.
    if len(signature) != 65 or signature[64] not in (27, 28):
        raise ValueError("no signature of 65 bytes")
    try:
        return str(load_accounts().recover_message(encode_defunct(primitive=message), signature=signature))
    except (BadSignature, ValidationError) as error:
        raise ValueError(f"no signature: {type(error).__name__}") from None


def recover_hash_signer(digest: bytes, signature: bytes) -> str:
    """Whose signature of exactly these 32 bytes it is. Raises ValueError for what is no signature of 65 bytes."""
    from eth_keys.datatypes import Signature
    from eth_keys.exceptions import BadSignature, ValidationError

    if len(signature) != 65 or signature[64] not in (27, 28):
        raise ValueError("no signature of 65 bytes")
    try:
        found = Signature(signature_bytes=signature[:64] + bytes([signature[64] - 27]))
        return str(found.recover_public_key_from_msg_hash(digest).to_checksum_address())
    except (BadSignature, ValidationError) as error:
        raise ValueError(f"no signature: {type(error).__name__}") from None
