"""The local signer: a key from the keystore, opened once per process and address."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

from eth_typing import HexStr

from permits_app.custody.account_code import check_known_code
from permits_app.custody.signers.base import SignedAuthorization, SignedTransaction, UnsignedTransaction
from permits_app.custody.signers.eth_account_library import load_accounts
from permits_app.custody.signers.keystore import Keystore
from permits_app.errors import SignerUnavailable
from tools_app.chain.typed_hash import hash_typed_data
from tools_app.core.json_types import JsonObject
from tools_app.toolkit.typed_data import TypedData

if TYPE_CHECKING:
    from eth_account.signers.local import LocalAccount

_opened: dict[tuple[int, str], LocalAccount] = {}
_locks: dict[tuple[int, str], threading.Lock] = {}


class LocalSigner:
    """Signs EIP-1559 transactions with a keystore key. RFC 6979: the same transaction gives the same bytes."""

    def __init__(self, *, keystore: Keystore, address: str) -> None:
        self._keystore = keystore
        self._address = address

    @property
    def address(self) -> str:
        return self._address

    def sign(self, transaction: UnsignedTransaction) -> SignedTransaction:
        """Signed bytes of `transaction`. Raises SignerUnavailable."""
        return self._sign({"type": 2, **_name_fields(transaction)}, transaction.chain_id)

    def sign_authorization(self, *, chain_id: int, contract: str, nonce: int) -> SignedAuthorization:
        """Its word that its account runs the code of `contract`. Raises SignerMismatch for code that is not known here,
        SignerUnavailable.
        """
        check_known_code(chain_id=chain_id, contract=contract)
        account = self._open()
        self._keystore.note_chain(address=self._address, chain_id=chain_id)
        signed: Any  # Any: the library types it as a signed message
        signed = account.sign_authorization({"chainId": chain_id, "address": contract, "nonce": nonce})
        return SignedAuthorization(chain_id, contract, nonce, signed.y_parity, signed.r, signed.s)

    def sign_carrying(self, transaction: UnsignedTransaction, authorization: SignedAuthorization) -> SignedTransaction:
        """The signed bytes of a transaction with the word of another key in it. Raises SignerUnavailable."""
        word = {
            "chainId": authorization.chain_id,
            "address": authorization.contract,
            "nonce": authorization.nonce,
            "yParity": authorization.y_parity,
            "r": authorization.r,
            "s": authorization.s,
        }
        return self._sign({"type": 4, **_name_fields(transaction), "authorizationList": [word]}, transaction.chain_id)

    def _sign(self, fields: JsonObject, chain_id: int) -> SignedTransaction:
        account = self._open()
        self._keystore.note_chain(address=self._address, chain_id=chain_id)
        signed: Any  # Any: the library types it as a signed message
        signed = account.sign_transaction(fields)
        return SignedTransaction(raw=bytes(signed.raw_transaction), tx_hash=signed.hash.to_0x_hex())

    def sign_message(self, message: bytes, *, chain_id: int) -> bytes:
        """The EIP-191 signature of `message`, for a chain's contract to check. Raises SignerUnavailable."""
        from eth_account.messages import encode_defunct

        account = self._open()
        self._keystore.note_chain(address=self._address, chain_id=chain_id)
        return bytes(account.sign_message(encode_defunct(primitive=message)).signature)

    def sign_typed_data(self, typed: TypedData) -> bytes:
        """The EIP-712 signature of exactly what our own reading of the standard hashes. Raises SignerUnavailable."""
        account = self._open()
        self._keystore.note_chain(address=self._address, chain_id=typed.chain_id)
        signed: Any  # Any: the library types it as a signed message
        signed = account.sign_typed_data(full_message=typed.as_document())
        if bytes(signed.message_hash) != hash_typed_data(typed):
            raise SignerUnavailable("two readings of what would be signed differ; nothing is", address=self._address)
        return bytes(signed.signature)

    def open(self) -> None:
        """Open the key now, so that its first signature need not wait for that. Raises SignerUnavailable."""
        self._open()

    def _open(self) -> LocalAccount:
        # Opening a keystore file costs most of a second by design, so it happens once per process, and keeps nobody
        # waiting who signs with another key.
        slot = (id(self._keystore), self._address)
        account = _opened.get(slot)
        if account is not None:
            return account
        with _locks.setdefault(slot, threading.Lock()):
            account = _opened.get(slot)
            if account is None:
                account = load_accounts().from_key(self._keystore.read_key(self._address).reveal())
                _opened[slot] = account
        return account

    def __repr__(self) -> str:
        return f"<LocalSigner {self._address}>"


def _name_fields(transaction: UnsignedTransaction) -> dict[str, object]:
    return {
        "chainId": transaction.chain_id,
        "nonce": transaction.nonce,
        "to": HexStr(transaction.to),
        "value": transaction.value,
        "data": transaction.data,
        "gas": transaction.gas_limit,
        "maxFeePerGas": transaction.max_fee_per_gas,
        "maxPriorityFeePerGas": transaction.max_priority_fee_per_gas,
    }
