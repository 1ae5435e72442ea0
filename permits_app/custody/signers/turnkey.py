"""Turnkey's wallets: the key is there, the signature comes back, and nothing is sent by them.

Written to its published REST API: each request is stamped by a key of P-256 over its body, each change is an activity
that is completed, waits or failed. A transaction is signed as a transaction, so that policies there may read it; what
is no transaction is signed by its 32 bytes. What comes back is read as any stranger's.
"""

from __future__ import annotations

import base64
import json
import re
from dataclasses import dataclass, field
from typing import Final

from Crypto.Hash import SHA256
from Crypto.PublicKey import ECC
from Crypto.Signature import DSS
from eth_utils import is_address, to_checksum_address
from eth_utils.crypto import keccak

from permits_app.custody.signers.base import SignedTransaction, UnsignedTransaction
from permits_app.custody.signers.check_signed_bytes import check_signed
from permits_app.custody.signers.eth_account_library import encode_unsigned, hash_message
from permits_app.custody.signers.external_digest_signer import make_signature
from permits_app.errors import SignerMismatch, SignerUnavailable
from tools_app.chain.typed_hash import hash_typed_data
from tools_app.core import clock, guarded_http
from tools_app.core.bounded_parsing import read_json
from tools_app.core.errors import InvalidParams
from tools_app.core.guarded_http import AddressRefused, ExchangeFailed
from tools_app.core.json_types import JsonObject
from tools_app.core.stored_json import read_stored
from tools_app.core.taint import Secret
from tools_app.toolkit.typed_data import TypedData

TURNKEY_URL: Final = "https://api.turnkey.com"
_MOST_ANSWER_BYTES: Final = 262_144
_SCHEME: Final = "SIGNATURE_SCHEME_TK_API_P256"
_PATH: Final = "m/44'/60'/0'/0/0"
_FORMAT: Final = "ADDRESS_FORMAT_ETHEREUM"
_HEX, _TYPED = "PAYLOAD_ENCODING_HEXADECIMAL", "PAYLOAD_ENCODING_EIP712"
_UUID: Final = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_WORD: Final = re.compile(r"[0-9a-fA-F]{64}")


@dataclass(frozen=True, slots=True)
class _TurnkeyAccount:
    """An account of a wallet, in Turnkey's own words; a stranger's, judged where it is used."""

    path: object = None
    addressFormat: object = None
    walletId: object = None
    address: object = None


@dataclass(frozen=True, slots=True)
class _TurnkeyActivity:
    """What became of a change that was asked for, likewise."""

    type: object = None
    status: object = None
    result: object = None


@dataclass(frozen=True, slots=True)
class TurnkeyClient:
    """The organization at Turnkey that this server asks. `user_id` is whom a new wallet's policy lets sign."""

    organization_id: str
    api_key: Secret = field(repr=False)
    user_id: str = ""
    url: str = TURNKEY_URL
    allows_private: bool = False
    timeout_seconds: float = 10.0

    def read_address(self, wallet_id: str) -> str:
        """The EIP-55 address of a wallet's first account. Raises SignerUnavailable, SignerMismatch, InvalidParams."""
        asked = {"organizationId": self.organization_id, "walletId": _as_id(wallet_id)}
        accounts = self._ask("query/list_wallet_accounts", asked).get("accounts")
        told = [each for each in (accounts if isinstance(accounts, list) else []) if isinstance(each, dict)]
        found = [
            each
            for each in (read_stored(_TurnkeyAccount, one) for one in told)
            if (each.path, each.addressFormat, each.walletId) == (_PATH, _FORMAT, wallet_id)
        ]
        if len(found) != 1:
            raise SignerMismatch("Turnkey answered with another wallet, or with none for Ethereum", wallet_id=wallet_id)
        return _as_address(found[0].address)

    def create_wallet(self, *, name: str, chain_ids: tuple[int, ...]) -> tuple[str, str]:
        """Id and address of a new wallet; with a `user_id`, under a policy by which that user signs for these chains.

        Raises SignerUnavailable, SignerMismatch.
        """
        account = {
            "curve": "CURVE_SECP256K1",
            "pathFormat": "PATH_FORMAT_BIP32",
            "path": _PATH,
            "addressFormat": _FORMAT,
        }
        made = self._act("create_wallet", "CREATE_WALLET", {"walletName": name, "accounts": [account]})
        result = made.get("createWalletResult")
        wallet_id = result.get("walletId") if isinstance(result, dict) else None
        if not isinstance(wallet_id, str) or not _UUID.fullmatch(wallet_id):
            raise SignerMismatch("Turnkey answered without a wallet's id")
        address = self.read_address(wallet_id)
        if self.user_id:
            self._act("create_policy", "CREATE_POLICY_V3", _write_policy(name, wallet_id, self.user_id, chain_ids))
        return wallet_id, address

    def sign_transaction(self, address: str, unsigned: bytes) -> bytes:
        """Signed bytes as Turnkey answers them, not judged yet. Raises SignerUnavailable, SignerMismatch."""
        asked = {"signWith": address, "unsignedTransaction": unsigned.hex(), "type": "TRANSACTION_TYPE_ETHEREUM"}
        result = self._act("sign_transaction", "SIGN_TRANSACTION_V2", asked).get("signTransactionResult")
        told = result.get("signedTransaction") if isinstance(result, dict) else None
        try:
            return bytes.fromhex(str(told).removeprefix("0x"))
        except ValueError:
            raise SignerMismatch("Turnkey's signed transaction is no hex") from None

    def sign_payload(self, address: str, payload: str, *, encoding: str) -> tuple[int, int]:
        """r and s as Turnkey answers them, not judged yet. Raises SignerUnavailable, SignerMismatch."""
        asked = {"signWith": address, "payload": payload, "encoding": encoding, "hashFunction": "HASH_FUNCTION_NO_OP"}
        result = self._act("sign_raw_payload", "SIGN_RAW_PAYLOAD_V2", asked).get("signRawPayloadResult")
        r, s = (str(result.get(name)) for name in ("r", "s")) if isinstance(result, dict) else ("", "")
        if not _WORD.fullmatch(r) or not _WORD.fullmatch(s):
            raise SignerMismatch("Turnkey's answer is no signature")
        return int(r, 16), int(s, 16)

    def _act(self, path: str, kind: str, parameters: JsonObject) -> dict[str, object]:
        """What came of one activity. One that waits for others is refused: nobody here waits for them."""
        body = {
            "type": f"ACTIVITY_TYPE_{kind}",
            "timestampMs": str(int(clock.wall().timestamp() * 1000)),
            "organizationId": self.organization_id,
            "parameters": parameters,
        }
        told = self._ask(f"submit/{path}", body).get("activity")
        activity = read_stored(_TurnkeyActivity, told) if isinstance(told, dict) else None
        if activity is None or activity.type != body["type"]:
            raise SignerMismatch("Turnkey answered with another activity, or with none")
        if activity.status != "ACTIVITY_STATUS_COMPLETED":
            raise SignerUnavailable("Turnkey did not complete this: a policy there refuses it or wants others to agree")
        if not isinstance(activity.result, dict):
            raise SignerMismatch("Turnkey completed this and told no result")
        return activity.result

    def _ask(self, path: str, body: JsonObject) -> dict[str, object]:
        raw = json.dumps(body, separators=(",", ":")).encode()
        headers = {"Content-Type": "application/json", "X-Stamp": self._stamp(raw)}
        try:
            target = guarded_http.resolve(
                f"{self.url.rstrip('/')}/public/v1/{path}", allows_private=self.allows_private
            )
            answer = guarded_http.post(
                target, headers=headers, body=raw, seconds=self.timeout_seconds, most_bytes=_MOST_ANSWER_BYTES
            )
        except (AddressRefused, ExchangeFailed) as error:
            raise SignerUnavailable(f"Turnkey is not reached: {error}") from None
        return _read(answer)

    def _stamp(self, body: bytes) -> str:
        """The public key, and its signature of the body, as base64 for addresses."""
        try:
            key = ECC.construct(curve="P-256", d=int(self.api_key.reveal(), 16))
        except ValueError:
            raise SignerUnavailable("the API key for Turnkey does not open") from None
        point = key.public_key().export_key(format="raw", compress=True)
        signature = DSS.new(key, "fips-186-3", encoding="der").sign(SHA256.new(body))
        stamp = {"publicKey": point.hex(), "scheme": _SCHEME, "signature": signature.hex()}
        return base64.urlsafe_b64encode(json.dumps(stamp).encode()).decode().rstrip("=")


@dataclass(frozen=True, slots=True)
class TurnkeySigner:
    """Signs with the first account of one wallet at Turnkey."""

    client: TurnkeyClient
    address: str

    def sign(self, transaction: UnsignedTransaction) -> SignedTransaction:
        """The signed bytes of `transaction`, checked. Raises SignerUnavailable, SignerMismatch."""
        raw = self.client.sign_transaction(self.address, encode_unsigned(transaction))
        check_signed(raw, transaction=transaction, address=self.address)
        return SignedTransaction(raw=raw, tx_hash="0x" + keccak(raw).hex())

    def sign_message(self, message: bytes, *, chain_id: int) -> bytes:
        """The EIP-191 signature of `message`, checked. Raises SignerUnavailable, SignerMismatch."""
        digest = hash_message(message)
        return self._check(digest, self.client.sign_payload(self.address, digest.hex(), encoding=_HEX))

    def sign_typed_data(self, typed: TypedData) -> bytes:
        """The EIP-712 signature of what our own reading of the standard hashes, checked.

        Raises SignerUnavailable, SignerMismatch.
        """
        told = typed.as_json()
        document = {**told, "domain": {**told["domain"], "chainId": typed.chain_id}}
        payload = json.dumps(document, separators=(",", ":"))
        return self._check(hash_typed_data(typed), self.client.sign_payload(self.address, payload, encoding=_TYPED))

    def _check(self, digest: bytes, signature: tuple[int, int]) -> bytes:
        return make_signature(*signature, digest=digest, address=self.address)


def _write_policy(name: str, wallet_id: str, user_id: str, chain_ids: tuple[int, ...]) -> dict[str, str]:
    """By which one user signs transactions and typed data of these chains with one wallet, and no bare 32 bytes."""
    chains = [f"{what} == {each}" for each in chain_ids for what in ("eth.tx.chain_id", "eth.eip_712.domain.chain_id")]
    return {
        "policyName": name,
        "effect": "EFFECT_ALLOW",
        "consensus": f"approvers.any(user, user.id == '{user_id}')",
        "condition": f"wallet.id == '{wallet_id}' && ({' || '.join(chains)})",
        "notes": "made together with the wallet",
    }


def _read(answer: guarded_http.Answer) -> dict[str, object]:
    """The answer's object. Its texts are a stranger's and are not repeated."""
    if answer.status in (401, 403):
        raise SignerUnavailable("Turnkey refused this server's stamp, or a policy there refuses what was asked")
    if not 200 <= answer.status < 300:
        raise SignerUnavailable(f"Turnkey answered {answer.status}", status=str(answer.status))
    try:
        found = read_json(answer.body, most_bytes=_MOST_ANSWER_BYTES)
    except ValueError:
        raise SignerMismatch("Turnkey's answer is no JSON, or longer than an answer may be") from None
    if not isinstance(found, dict):
        raise SignerMismatch("Turnkey's answer is no object")
    return found


def _as_address(told: object) -> str:
    if not isinstance(told, str) or not is_address(told):
        raise SignerMismatch("Turnkey answered without an address")
    return str(to_checksum_address(told))


def _as_id(wallet_id: str) -> str:
    if not _UUID.fullmatch(wallet_id):
        raise InvalidParams("a wallet's id at Turnkey is a UUID in small letters", fields={"wallet_id": "malformed"})
    return wallet_id
