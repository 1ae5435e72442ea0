"""Privy's server wallets: the key is there, the signature comes back, and nothing is sent by them.

Only `eth_signTransaction` is asked for, `personal_sign` of the hash of a user operation where the key owns a smart
account, and `eth_signTypedData_v4` of a promise that was permitted. The answer is read as any stranger's: the
signature must recover the wallet's address and every field must be the one that was asked for, or nothing of it is
kept. Written to Privy's public REST API: app id and secret as basic authentication, and an authorization signature
(P-256) over the request where a key for it is configured.
"""

from __future__ import annotations

import base64
import binascii
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import quote

import rfc8785
from Crypto.Hash import SHA256
from Crypto.PublicKey import ECC
from Crypto.Signature import DSS
from eth_utils import to_checksum_address
from eth_utils.crypto import keccak

from permits_app.custody.signers.base import SignedTransaction, UnsignedTransaction
from permits_app.custody.signers.check_signed_bytes import check_signed
from permits_app.custody.signers.eth_account_library import recover_hash_signer, recover_signer
from permits_app.errors import SignerMismatch, SignerUnavailable
from tools_app.chain.typed_hash import hash_typed_data
from tools_app.core import guarded_http
from tools_app.core.bounded_parsing import read_json
from tools_app.core.errors import InvalidParams
from tools_app.core.guarded_http import AddressRefused, ExchangeFailed
from tools_app.core.json_types import JsonObject
from tools_app.core.stored_json import read_stored
from tools_app.core.taint import Secret
from tools_app.toolkit.typed_data import TypedData

PRIVY_URL: Final = "https://api.privy.io"
_MOST_ANSWER_BYTES: Final = 262_144
_AUTHORIZATION_PREFIX: Final = "wallet-auth:"


@dataclass(frozen=True, slots=True)
class _PrivyAnswer:
    """What an answer says of a wallet, a policy or a signature; a stranger's, judged where it is used."""

    id: object = None
    chain_type: object = None
    address: object = None
    policy_ids: object = None
    method: object = None
    data: object = None


@dataclass(frozen=True, slots=True)
class _Signed:
    """What was signed, likewise."""

    encoding: object = None
    signed_transaction: object = None
    signature: object = None


@dataclass(frozen=True, slots=True)
class PrivyClient:
    """The account at Privy that this server asks. Secrets stay out of every text."""

    app_id: str
    app_secret: Secret = field(repr=False)
    authorization_key: Secret | None = field(default=None, repr=False)
    url: str = PRIVY_URL
    allows_private: bool = False
    timeout_seconds: float = 10.0

    def read_address(self, wallet_id: str) -> str:
        """The EIP-55 address of an Ethereum wallet. Raises SignerUnavailable, SignerMismatch, InvalidParams."""
        answer = read_stored(_PrivyAnswer, self._ask("GET", f"/v1/wallets/{_as_id(wallet_id)}", None))
        if answer.chain_type != "ethereum" or answer.id != wallet_id:
            raise SignerMismatch("Privy answered with another wallet, or with none for Ethereum", wallet_id=wallet_id)
        try:
            return str(to_checksum_address(str(answer.address)))
        except ValueError:
            raise SignerMismatch("Privy answered without an address", wallet_id=wallet_id) from None

    def create_wallet(self, *, name: str, chain_ids: tuple[int, ...]) -> tuple[str, str]:
        """Id and address of a new Ethereum wallet under a policy of its own: it signs for these chains and exports
        nothing. Asked again with the same `name` within a day Privy answers the same one. Raises SignerUnavailable,
        SignerMismatch.
        """
        asked = _write_policy(name, chain_ids)
        policy = read_stored(_PrivyAnswer, self._ask("POST", "/v1/policies", asked, once=f"{name} policy"))
        policy_id = policy.id
        if not isinstance(policy_id, str) or policy.chain_type != "ethereum":
            raise SignerMismatch("Privy answered something else than a policy")
        body = {"chain_type": "ethereum", "policy_ids": [policy_id], "external_id": name}
        made = read_stored(_PrivyAnswer, self._ask("POST", "/v1/wallets", body, once=f"{name} wallet"))
        wallet_id = made.id
        if not isinstance(wallet_id, str) or not wallet_id:
            raise SignerMismatch("Privy answered without a wallet's id")
        if made.policy_ids != [policy_id]:
            raise SignerMismatch("Privy made a wallet without the policy that was asked for", wallet_id=wallet_id)
        address = self.read_address(wallet_id)
        if str(made.address).lower() != address.lower():
            raise SignerMismatch("Privy answered two addresses for one wallet", wallet_id=wallet_id)
        return wallet_id, address

    def sign_transaction(self, wallet_id: str, transaction: dict[str, object]) -> bytes:
        """Signed bytes as Privy answers them, not judged yet. Raises SignerUnavailable, SignerMismatch."""
        body = {"method": "eth_signTransaction", "params": {"transaction": transaction}}
        answer = read_stored(_PrivyAnswer, self._ask("POST", f"/v1/wallets/{_as_id(wallet_id)}/rpc", body))
        if answer.method != "eth_signTransaction" or not isinstance(answer.data, dict):
            raise SignerMismatch("Privy answered something else than a signed transaction")
        data = read_stored(_Signed, answer.data)
        if data.encoding != "rlp":
            raise SignerMismatch("Privy answered in another encoding than RLP")
        try:
            return bytes.fromhex(str(data.signed_transaction).removeprefix("0x"))
        except ValueError:
            raise SignerMismatch("Privy's signed transaction is no hex") from None

    def sign_message(self, wallet_id: str, message: bytes) -> bytes:
        """An EIP-191 signature as Privy answers it, not judged yet. Raises SignerUnavailable, SignerMismatch."""
        body = {"method": "personal_sign", "params": {"message": message.hex(), "encoding": "hex"}}
        return self._ask_signature(wallet_id, body)

    def sign_typed_data(self, wallet_id: str, typed: TypedData) -> bytes:
        """An EIP-712 signature as Privy answers it, not judged yet. Raises SignerUnavailable, SignerMismatch."""
        # Integers as text, but for the chain: JSON's numbers lose the digits of larger ones.
        told = typed.as_json()
        document = {
            "types": told["types"],
            "primary_type": told["primaryType"],
            "domain": {**told["domain"], "chainId": typed.chain_id},
            "message": told["message"],
        }
        return self._ask_signature(wallet_id, {"method": "eth_signTypedData_v4", "params": {"typed_data": document}})

    def _ask_signature(self, wallet_id: str, body: JsonObject) -> bytes:
        answer = read_stored(_PrivyAnswer, self._ask("POST", f"/v1/wallets/{_as_id(wallet_id)}/rpc", body))
        data = read_stored(_Signed, answer.data) if isinstance(answer.data, dict) else _Signed()
        if answer.method != body["method"] or data.encoding != "hex":
            raise SignerMismatch("Privy answered something else than a signature in hex")
        try:
            return bytes.fromhex(str(data.signature).removeprefix("0x"))
        except ValueError:
            raise SignerMismatch("Privy's signature is no hex") from None

    def _ask(self, method: str, path: str, body: JsonObject | None, *, once: str = "") -> dict[str, object]:
        url = self.url.rstrip("/") + path
        raw = rfc8785.dumps(body) if body is not None else None
        headers = {
            "Authorization": "Basic " + _encode(f"{self.app_id}:{self.app_secret.reveal()}".encode()),
            "privy-app-id": self.app_id,
            "Accept": "application/json",
        }
        if body is not None:
            headers["Content-Type"] = "application/json"
            if once:
                headers["privy-idempotency-key"] = once
            if self.authorization_key is not None:
                headers["privy-authorization-signature"] = _authorize(
                    self.authorization_key, method=method, url=url, body=body, app_id=self.app_id, once=once
                )
        try:
            target = guarded_http.resolve(url, allows_private=self.allows_private)
            answer = guarded_http.exchange(
                method, target, headers=headers, body=raw, seconds=self.timeout_seconds, most_bytes=_MOST_ANSWER_BYTES
            )
        except (AddressRefused, ExchangeFailed) as error:
            raise SignerUnavailable(f"Privy is not reached: {error}") from None
        return _read(answer)


@dataclass(frozen=True, slots=True)
class PrivySigner:
    """Signs with one wallet at Privy. Two requests for one transaction may answer different valid signatures."""

    client: PrivyClient
    address: str
    wallet_id: str

    def sign(self, transaction: UnsignedTransaction) -> SignedTransaction:
        """The signed bytes of `transaction`, checked. Raises SignerUnavailable, SignerMismatch."""
        asked = {
            "type": 2,
            "chain_id": transaction.chain_id,
            "nonce": transaction.nonce,
            "to": transaction.to,
            "value": hex(transaction.value),
            "data": "0x" + transaction.data.hex(),
            "gas_limit": hex(transaction.gas_limit),
            "max_fee_per_gas": hex(transaction.max_fee_per_gas),
            "max_priority_fee_per_gas": hex(transaction.max_priority_fee_per_gas),
        }
        raw = self.client.sign_transaction(self.wallet_id, asked)
        check_signed(raw, transaction=transaction, address=self.address)
        return SignedTransaction(raw=raw, tx_hash="0x" + keccak(raw).hex())

    def sign_message(self, message: bytes, *, chain_id: int) -> bytes:
        """The EIP-191 signature of `message`, checked. Raises SignerUnavailable, SignerMismatch."""
        signature = self.client.sign_message(self.wallet_id, message)
        try:
            signer = recover_signer(message, signature)
        except ValueError:
            raise SignerMismatch("the signer's answer is no signature") from None
        if signer != self.address:
            raise SignerMismatch("another key signed this, or something else was signed", field="signer")
        return signature

    def sign_typed_data(self, typed: TypedData) -> bytes:
        """The EIP-712 signature of what our own reading of the standard hashes, checked.

        Raises SignerUnavailable, SignerMismatch.
        """
        signature = self.client.sign_typed_data(self.wallet_id, typed)
        try:
            signer = recover_hash_signer(hash_typed_data(typed), signature)
        except ValueError:
            raise SignerMismatch("the signer's answer is no signature") from None
        if signer != self.address:
            raise SignerMismatch("another key signed this, or something else was signed", field="signer")
        return signature


def _read(answer: guarded_http.Answer) -> dict[str, object]:
    """The answer's object. Its texts are a stranger's and are not repeated."""
    if answer.status in (401, 403):
        raise SignerUnavailable("Privy refused this server's credentials or its authorization signature")
    if not 200 <= answer.status < 300:
        raise SignerUnavailable(f"Privy answered {answer.status}", status=str(answer.status))
    try:
        found = read_json(answer.body, most_bytes=_MOST_ANSWER_BYTES)
    except ValueError:
        raise SignerMismatch("Privy's answer is no JSON, or longer than an answer may be") from None
    if not isinstance(found, dict):
        raise SignerMismatch("Privy's answer is no object")
    return found


def _write_policy(name: str, chain_ids: tuple[int, ...]) -> dict[str, object]:
    """What a wallet may be asked for; Privy refuses everything else, the export of its key too."""

    def allow(method: str, source: str, field_name: str) -> dict[str, object]:
        chains = [str(each) for each in chain_ids]
        condition = {"field_source": source, "field": field_name, "operator": "in", "value": chains}
        return {"name": f"{method} of its chains", "method": method, "conditions": [condition], "action": "ALLOW"}

    return {
        "version": "1.0",
        "name": name[:50],
        "chain_type": "ethereum",
        "rules": [
            allow("eth_signTransaction", "ethereum_transaction", "chain_id"),
            allow("eth_signTypedData_v4", "ethereum_typed_data_domain", "chainId"),
        ],
    }


def _as_id(wallet_id: str) -> str:
    if not wallet_id or not wallet_id.isascii() or not wallet_id.replace("-", "").isalnum():
        raise InvalidParams("a wallet id has letters, digits and hyphens", fields={"wallet_id": "malformed"})
    return quote(wallet_id, safe="")


def _authorize(key: Secret, *, method: str, url: str, body: JsonObject, app_id: str, once: str) -> str:
    """The authorization signature: P-256 over SHA-256 of the canonical request, DER in base64."""
    payload: JsonObject = {
        "version": 1,
        "method": method,
        "url": url,
        "body": body,
        "headers": {"privy-app-id": app_id, **({"privy-idempotency-key": once} if once else {})},
    }
    try:
        opened = ECC.import_key(base64.b64decode(key.reveal().removeprefix(_AUTHORIZATION_PREFIX), validate=True))
    except (ValueError, IndexError, TypeError, binascii.Error):
        raise SignerUnavailable("the authorization key for Privy does not open") from None
    if opened.curve != "NIST P-256" or not opened.has_private():
        raise SignerUnavailable("the authorization key for Privy is no private key of P-256")
    return _encode(DSS.new(opened, "fips-186-3", encoding="der").sign(SHA256.new(rfc8785.dumps(payload))))


def _encode(raw: bytes) -> str:
    return base64.b64encode(raw).decode("ascii")
