"""A local server that answers as Privy's public REST API does, and refuses what that API would refuse."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import rfc8785
from Crypto.Hash import SHA256
from Crypto.PublicKey import ECC
from Crypto.Signature import DSS
from eth_account import Account
from eth_account.messages import encode_defunct
from eth_account.signers.local import LocalAccount

from permits_app.custody.signers.privy import PrivyClient
from tests.stand_in import serve_stand_in
from tools_app.core.taint import Secret

APP_ID, APP_SECRET, WALLET_ID = "cm-app-of-tests", "a secret of tests", "w4ll3t0id"
_FIELDS = {
    "type",
    "chain_id",
    "nonce",
    "to",
    "value",
    "data",
    "gas_limit",
    "max_fee_per_gas",
    "max_priority_fee_per_gas",
}


class PrivyStandIn:
    """One app with one Ethereum wallet. `twist` changes an answer before it leaves; `seen` holds each request."""

    def __init__(self, *, needs_authorization: bool = False) -> None:
        self.account: LocalAccount = Account.create()
        self.authorization = ECC.generate(curve="P-256")
        self.needs_authorization = needs_authorization
        self.twist: Callable[[dict[str, Any]], Any] = lambda answer: answer
        self.change: dict[str, Any] = {}
        self.status = 200
        self.made: dict[str, dict[str, Any]] = {}
        self.seen: list[tuple[str, str, dict[str, str], bytes]] = []
        self.url = ""

    @property
    def authorization_key(self) -> Secret:
        """As the dashboard hands it out."""
        der = self.authorization.export_key(format="DER", use_pkcs8=True)
        return Secret("wallet-auth:" + base64.b64encode(der).decode())

    def client(self, **changes: Any) -> PrivyClient:
        """A client of this server."""
        facts = {"app_id": APP_ID, "app_secret": Secret(APP_SECRET), "url": self.url, "allows_private": True}
        if self.needs_authorization:
            facts["authorization_key"] = self.authorization_key
        return PrivyClient(**{**facts, **changes})

    def answer(self, method: str, path: str, headers: dict[str, str], body: bytes) -> tuple[int, Any]:
        """Status and document."""
        self.seen.append((method, path, headers, body))
        if self.status != 200:
            return self.status, {"error": "refused by this test"}
        basic = "Basic " + base64.b64encode(f"{APP_ID}:{APP_SECRET}".encode()).decode()
        if headers.get("authorization") != basic or headers.get("privy-app-id") != APP_ID:
            return 401, {"error": "Invalid app ID or app secret."}
        if method == "POST" and path in ("/v1/policies", "/v1/wallets"):
            return self._make(path, headers, body)
        if (method, path) == ("GET", f"/v1/wallets/{WALLET_ID}"):
            return 200, self.twist({"id": WALLET_ID, "address": self.account.address, "chain_type": "ethereum"})
        if (method, path) != ("POST", f"/v1/wallets/{WALLET_ID}/rpc"):
            return 404, {"error": "Wallet not found"}
        return self._sign(path, headers, body)

    def _make(self, path: str, headers: dict[str, str], body: bytes) -> tuple[int, Any]:
        """A policy, or the one wallet; who asks again with the same idempotency key has the same answer."""
        document = json.loads(body)
        if self.needs_authorization and not self._is_authorized(path, headers, document):
            return 401, {"error": "Missing or invalid authorization signature"}
        once = headers.get("privy-idempotency-key", "")
        if document.get("chain_type") != "ethereum" or not once:
            return 400, {"error": "Invalid request body"}
        if self.made.setdefault(once, document) != document:
            return 400, {"error": "The idempotency key was used with another request"}
        if path == "/v1/policies":
            rules = document.get("rules")
            if document.get("version") != "1.0" or not rules or any(each["action"] != "ALLOW" for each in rules):
                return 400, {"error": "Invalid request body"}
            return 200, self.twist({**document, "id": "p0l1cy0id"})
        if document.get("policy_ids") != ["p0l1cy0id"]:
            return 400, {"error": "Policy not found"}
        return 200, self.twist({**document, "id": WALLET_ID, "address": self.account.address})

    def _sign(self, path: str, headers: dict[str, str], body: bytes) -> tuple[int, Any]:
        if headers.get("content-type") != "application/json":
            return 415, {"error": "Unsupported media type"}
        document = json.loads(body)
        if self.needs_authorization and not self._is_authorized(path, headers, document):
            return 401, {"error": "Missing or invalid authorization signature"}
        if document.get("method") == "personal_sign":
            return self._sign_message(document.get("params") or {})
        if document.get("method") == "eth_signTypedData_v4":
            return self._sign_typed((document.get("params") or {}).get("typed_data") or {})
        asked = document.get("params", {}).get("transaction")
        if document.get("method") != "eth_signTransaction" or set(asked or {}) != _FIELDS or asked["type"] != 2:
            return 400, {"error": "Invalid request body"}
        signed = self.account.sign_transaction(self._as_transaction(asked))
        data = {"signed_transaction": signed.raw_transaction.to_0x_hex(), "encoding": "rlp"}
        return 200, self.twist({"method": "eth_signTransaction", "data": data})

    def _sign_message(self, params: dict[str, Any]) -> tuple[int, Any]:
        message = str(params.get("message"))
        if set(params) != {"message", "encoding"} or params["encoding"] != "hex" or message.startswith("0x"):
            return 400, {"error": "Invalid request body"}
        signature = self.account.sign_message(encode_defunct(hexstr=message)).signature.to_0x_hex()
        return 200, self.twist({"method": "personal_sign", "data": {"signature": signature, "encoding": "hex"}})

    def _sign_typed(self, typed: dict[str, Any]) -> tuple[int, Any]:
        if set(typed) != {"types", "primary_type", "domain", "message"} or "EIP712Domain" not in typed["types"]:
            return 400, {"error": "Invalid request body"}
        full = {
            "types": typed["types"],
            "primaryType": typed["primary_type"],
            "domain": typed["domain"],
            "message": {**typed["message"], **self.change},
        }
        signature = self.account.sign_typed_data(full_message=full).signature.to_0x_hex()
        return 200, self.twist({"method": "eth_signTypedData_v4", "data": {"signature": signature, "encoding": "hex"}})

    def _as_transaction(self, asked: dict[str, Any]) -> dict[str, Any]:
        return {
            "type": 2,
            "chainId": asked["chain_id"],
            "nonce": asked["nonce"],
            "to": asked["to"],
            "value": int(asked["value"], 16),
            "data": asked["data"],
            "gas": int(asked["gas_limit"], 16),
            "maxFeePerGas": int(asked["max_fee_per_gas"], 16),
            "maxPriorityFeePerGas": int(asked["max_priority_fee_per_gas"], 16),
            **self.change,
        }

    def _is_authorized(self, path: str, headers: dict[str, str], document: Any) -> bool:
        payload = {
            "version": 1,
            "method": "POST",
            "url": self.url + path,
            "body": document,
            "headers": {name: headers[name] for name in ("privy-app-id", "privy-idempotency-key") if name in headers},
        }
        try:
            signature = base64.b64decode(headers.get("privy-authorization-signature", ""), validate=True)
            digest = SHA256.new(rfc8785.dumps(payload))
            DSS.new(self.authorization.public_key(), "fips-186-3", encoding="der").verify(digest, signature)
        except ValueError:
            return False
        return True


@contextmanager
def serve_privy(*, needs_authorization: bool = False) -> Iterator[PrivyStandIn]:
    """The stand-in on a free port of this machine."""
    stand_in = PrivyStandIn(needs_authorization=needs_authorization)
    with serve_stand_in(stand_in.answer) as stand_in.url:
        yield stand_in
