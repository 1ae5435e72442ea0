"""Signatures of a Safe's owners: whose key made one, whether it counts, and how many are there.

A signature is made elsewhere, by a wallet or by `manage.py sign_request`; here it is recovered and compared with the
Safe's owners as the chain names them now.
"""

from __future__ import annotations

from typing import Final

from coincurve import PublicKey
from eth_utils.crypto import keccak

from permits_app.approval_errors import SignatureMissing, SignatureWrong
from permits_app.custody.safe_view import SafeView
from permits_app.models import OwnerTransaction
from permits_app.policy_cage.safe_batches import consent_of
from tools_app.chain.abi import checksum

_LENGTH: Final = 65
_HALF_ORDER: Final = 0x7FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF5D576E7357A4501DDFE92F46681B20A0


def parse_signature_text(text: str) -> bytes:
    """65 bytes with a recovery byte of 27 or 28, from 0x-hex. Raises SignatureMissing, SignatureWrong."""
    plain = "".join(text.split()).removeprefix("0x")
    if not plain:
        raise SignatureMissing("sign with your wallet, or paste what `manage.py sign_request` printed")
    try:
        raw = bytes.fromhex(plain)
    except ValueError:
        raise SignatureWrong("a signature is 0x and 130 hex digits") from None
    if len(raw) != _LENGTH:
        raise SignatureWrong(f"a signature has {_LENGTH} bytes; this one has {len(raw)}")
    # Hardware wallets write 0 and 1 for what the Safe calls 27 and 28.
    recovery = raw[64] + 27 if raw[64] < 2 else raw[64]
    if recovery not in (27, 28) or int.from_bytes(raw[32:64], "big") > _HALF_ORDER:
        raise SignatureWrong("this is no signature of typed data (EIP-712); sign with eth_signTypedData_v4")
    return raw[:64] + bytes([recovery])


def recover_signer(digest: bytes, signature: bytes) -> str:
    """The address whose key signed `digest`. Raises SignatureWrong."""
    try:
        key = PublicKey.from_signature_and_message(signature[:64] + bytes([signature[64] - 27]), digest, hasher=None)
    except ValueError as error:
        raise SignatureWrong(f"no key made this signature: {error}") from None
    return checksum("0x" + keccak(key.format(compressed=False)[1:])[-20:].hex())


def check_owner_signature(asked: OwnerTransaction, safe: SafeView, text: str) -> tuple[str, bytes]:
    """Who signed, and the bytes. Raises SignatureMissing, SignatureWrong when no current owner of the Safe did."""
    signature = parse_signature_text(text)
    signer = recover_signer(bytes.fromhex(asked.safe_tx_hash[2:]), signature)
    if signer not in safe.owners:
        raise SignatureWrong(
            f"it was made by {signer}, which owns no part of the Safe {safe.address}, or over other bytes",
            signer=signer,
            owners=list(safe.owners),
        )
    return signer, signature


def pick_signatures(asked: OwnerTransaction, safe: SafeView) -> dict[str, bytes]:
    """As many signatures of current owners as the Safe asks for, by signer; fewer when there are not as many.

    The golem's own key, where it is an owner that will send the plan, consents by sending it.
    """
    given = {asked.own_key: consent_of(asked.own_key)} if asked.own_key else {}
    given |= {row.signer: bytes.fromhex(row.signature[2:]) for row in asked.signatures.order_by("given_at")}
    usable = [owner for owner in given if owner in safe.owners][: safe.threshold]
    return {owner: given[owner] for owner in usable}
