"""A key that somebody else keeps and that signs 32 bytes: from its answer to what a chain takes.

Who keeps it may answer either of two signatures that are worth the same, and does not say which of two keys a signature
recovers. Here it becomes the one with the low half, the bit that recovers this key is found, and what recovers another
key is thrown away.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, Protocol

from Crypto.Util.asn1 import DerBitString, DerObjectId, DerSequence
from eth_utils import to_checksum_address
from eth_utils.crypto import keccak

from permits_app.custody.signers.base import SignedTransaction, UnsignedTransaction
from permits_app.custody.signers.check_signed_bytes import check_signed
from permits_app.custody.signers.eth_account_library import (
    encode_signed,
    encode_unsigned,
    hash_message,
    recover_hash_signer,
)
from permits_app.errors import SignerMismatch
from tools_app.chain.typed_hash import hash_typed_data
from tools_app.toolkit.typed_data import TypedData

ORDER: Final = 0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFEBAAEDCE6AF48A03BBFD25E8CD0364141
"""Of the group of secp256k1."""
_EC_KEY, _SECP256K1 = "1.2.840.10045.2.1", "1.3.132.0.10"


class DigestHolder(Protocol):
    """Keeps keys and signs 32 bytes with one of them."""

    def sign_digest(self, key_id: str, digest: bytes) -> tuple[int, int]:
        """r and s, not judged yet. Raises SignerUnavailable, SignerMismatch."""


@dataclass(frozen=True, slots=True)
class DigestSigner:
    """Signs with one key of a holder. Two requests for one transaction may answer different valid signatures."""

    holder: DigestHolder
    address: str
    key_id: str

    def sign(self, transaction: UnsignedTransaction) -> SignedTransaction:
        """The signed bytes of `transaction`, checked. Raises SignerUnavailable, SignerMismatch."""
        signature = self._sign(keccak(encode_unsigned(transaction)))
        raw = encode_signed(transaction, signature)
        check_signed(raw, transaction=transaction, address=self.address)
        return SignedTransaction(raw=raw, tx_hash="0x" + keccak(raw).hex())

    def sign_message(self, message: bytes, *, chain_id: int) -> bytes:
        """The EIP-191 signature of `message`, checked. Raises SignerUnavailable, SignerMismatch."""
        return self._sign(hash_message(message))

    def sign_typed_data(self, typed: TypedData) -> bytes:
        """The EIP-712 signature, checked. Raises SignerUnavailable, SignerMismatch."""
        return self._sign(hash_typed_data(typed))

    def _sign(self, digest: bytes) -> bytes:
        return make_signature(*self.holder.sign_digest(self.key_id, digest), digest=digest, address=self.address)


def make_signature(r: int, s: int, *, digest: bytes, address: str) -> bytes:
    """The 65 bytes of the low signature that recovers `address`. Raises SignerMismatch where none does."""
    if not 0 < r < ORDER or not 0 < s < ORDER:
        raise SignerMismatch("the signer's answer is no signature of secp256k1")
    body = r.to_bytes(32, "big") + min(s, ORDER - s).to_bytes(32, "big")
    for v in (27, 28):
        try:
            if recover_hash_signer(digest, body + bytes([v])) == address:
                return body + bytes([v])
        except ValueError:
            continue
    raise SignerMismatch("another key signed this, or something else was signed", field="signer")


def read_der_signature(raw: bytes) -> tuple[int, int]:
    """r and s of a signature in DER. Raises SignerMismatch."""
    try:
        found: Any  # Any: the library says None, and answers a sequence
        found = DerSequence().decode(raw, strict=True, nr_elements=2, only_ints_expected=True)
        return int(found[0]), int(found[1])
    except (ValueError, IndexError, TypeError):
        raise SignerMismatch("the signer's answer is no signature in DER") from None


def read_public_key(raw: bytes) -> str:
    """The EIP-55 address of a public key of secp256k1, as SubjectPublicKeyInfo in DER. Raises SignerMismatch."""
    try:
        info: Any  # Any: as above
        info = DerSequence().decode(raw, strict=True, nr_elements=2)
        algorithm: Any  # Any: as above
        algorithm = DerSequence().decode(info[0], strict=True, nr_elements=2)
        kind, curve = (DerObjectId().decode(each, strict=True).value for each in (algorithm[0], algorithm[1]))
        point = DerBitString().decode(info[1], strict=True).value
    except (ValueError, IndexError, TypeError):
        raise SignerMismatch("the public key is no SubjectPublicKeyInfo in DER") from None
    if (kind, curve) != (_EC_KEY, _SECP256K1) or len(point) != 65 or point[0] != 4:
        raise SignerMismatch("the key is no key of secp256k1")
    return str(to_checksum_address(keccak(point[1:])[12:]))
