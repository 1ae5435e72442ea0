"""A local server that answers as Turnkey's public REST API does, and refuses what that API would refuse."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from uuid import UUID, uuid5

import rlp
from Crypto.Hash import SHA256
from Crypto.PublicKey import ECC
from Crypto.Signature import DSS
from eth_account import Account
from eth_account.messages import encode_typed_data
from eth_account.signers.local import LocalAccount
from eth_keys.datatypes import PrivateKey

from permits_app.custody.signers.turnkey import TurnkeyClient
from tests.stand_in import serve_stand_in
from tools_app.chain.abi import checksum
from tools_app.core.taint import Secret

ORGANIZATION, USER = str(uuid5(UUID(int=1), "organization")), str(uuid5(UUID(int=1), "user"))
_PATH = "m/44'/60'/0'/0/0"


class TurnkeyStandIn:
    """One organization. `twist` changes an answer before it leaves; `seen` holds each request."""

    def __init__(self) -> None:
        self.api_key = ECC.generate(curve="P-256")
        self.wallets: dict[str, LocalAccount] = {}
        self.policies: list[dict[str, Any]] = []
        self.twist: Callable[[dict[str, Any]], Any] = lambda answer: answer
        self.change: dict[str, Any] = {}
        self.status = "ACTIVITY_STATUS_COMPLETED"
        self.seen: list[tuple[str, dict[str, Any]]] = []
        self.url = ""

    def client(self, **changes: Any) -> TurnkeyClient:
        """A client of this server."""
        facts = {
            "organization_id": ORGANIZATION,
            "api_key": Secret(f"{int(self.api_key.d):064x}"),
            "user_id": USER,
            "url": self.url,
            "allows_private": True,
        }
        return TurnkeyClient(**{**facts, **changes})

    def make(self) -> str:
        """A wallet's id."""
        wallet_id = str(uuid5(UUID(int=2), str(len(self.wallets))))
        self.wallets[wallet_id] = Account.create()
        return wallet_id

    def answer(self, method: str, path: str, headers: dict[str, str], body: bytes) -> tuple[int, Any]:
        """Status and document."""
        if not self._is_stamped(headers.get("x-stamp", ""), body):
            return 401, {"code": 16, "message": "request not authorized"}
        asked = json.loads(body)
        self.seen.append((path, asked))
        if method != "POST" or asked.get("organizationId") != ORGANIZATION:
            return 404, {"code": 5, "message": "not found"}
        if path == "/public/v1/query/list_wallet_accounts":
            account = self.wallets.get(asked.get("walletId", ""))
            if account is None:
                return 404, {"code": 5, "message": "wallet not found"}
            told = {"walletId": asked["walletId"], "path": _PATH, "addressFormat": "ADDRESS_FORMAT_ETHEREUM"}
            return 200, self.twist({"accounts": [{**told, "address": account.address}]})
        acts = {
            "create_wallet": ("CREATE_WALLET", self._create),
            "create_policy": ("CREATE_POLICY_V3", self._allow),
            "sign_transaction": ("SIGN_TRANSACTION_V2", self._sign_transaction),
            "sign_raw_payload": ("SIGN_RAW_PAYLOAD_V2", self._sign_payload),
        }
        kind, act = acts.get(path.removeprefix("/public/v1/submit/"), ("", None))
        if act is None or asked.get("type") != f"ACTIVITY_TYPE_{kind}" or not str(asked["timestampMs"]).isdecimal():
            return 400, {"code": 3, "message": "invalid request"}
        result = act(asked["parameters"])
        if result is None:
            return 400, {"code": 3, "message": "invalid parameters"}
        activity = {"id": "a", "type": asked["type"], "status": self.status, "result": result}
        return 200, self.twist({"activity": activity})

    def _create(self, asked: dict[str, Any]) -> dict[str, Any] | None:
        wanted = {
            "curve": "CURVE_SECP256K1",
            "pathFormat": "PATH_FORMAT_BIP32",
            "path": _PATH,
            "addressFormat": "ADDRESS_FORMAT_ETHEREUM",
        }
        if not asked.get("walletName") or asked.get("accounts") != [wanted]:
            return None
        wallet_id = self.make()
        return {"createWalletResult": {"walletId": wallet_id, "addresses": [self.wallets[wallet_id].address]}}

    def _allow(self, asked: dict[str, Any]) -> dict[str, Any] | None:
        if set(asked) != {"policyName", "effect", "consensus", "condition", "notes"}:
            return None
        self.policies.append(asked)
        return {"createPolicyResult": {"policyId": "p"}}

    def _find(self, asked: dict[str, Any]) -> LocalAccount | None:
        return next((each for each in self.wallets.values() if each.address == asked.get("signWith")), None)

    def _sign_transaction(self, asked: dict[str, Any]) -> dict[str, Any] | None:
        account, raw = self._find(asked), bytes.fromhex(asked["unsignedTransaction"])
        if account is None or asked["type"] != "TRANSACTION_TYPE_ETHEREUM" or raw[0] != 2:
            return None
        names = ("chainId", "nonce", "maxPriorityFeePerGas", "maxFeePerGas", "gas", "to", "value", "data")
        words = dict(zip(names, rlp.decode(raw[1:]), strict=False))
        fields: dict[str, Any] = {
            name: int.from_bytes(word, "big") for name, word in words.items() if name not in ("to", "data")
        }
        fields |= {"type": 2, "to": checksum("0x" + words["to"].hex()), "data": words["data"], **self.change}
        return {"signTransactionResult": {"signedTransaction": account.sign_transaction(fields).raw_transaction.hex()}}

    def _sign_payload(self, asked: dict[str, Any]) -> dict[str, Any] | None:
        account = self._find(asked)
        if account is None or asked.get("hashFunction") != "HASH_FUNCTION_NO_OP":
            return None
        if asked.get("encoding") == "PAYLOAD_ENCODING_EIP712":
            document = json.loads(asked["payload"])
            document["message"] = {**document["message"], **self.change}
            signed = account.sign_message(encode_typed_data(full_message=document))
            r, s, v = signed.r, signed.s, signed.v - 27
        elif asked.get("encoding") == "PAYLOAD_ENCODING_HEXADECIMAL":
            found = PrivateKey(bytes(account.key)).sign_msg_hash(bytes.fromhex(asked["payload"]))
            r, s, v = found.r, found.s, found.v
        else:
            return None
        return {"signRawPayloadResult": {"r": f"{r:064x}", "s": f"{s:064x}", "v": f"{v:02x}"}}

    def _is_stamped(self, stamp: str, body: bytes) -> bool:
        try:
            told = json.loads(base64.urlsafe_b64decode(stamp + "=" * (-len(stamp) % 4)))
            key = self.api_key.public_key()
            if told["publicKey"] != key.export_key(format="raw", compress=True).hex():
                return False
            DSS.new(key, "fips-186-3", encoding="der").verify(SHA256.new(body), bytes.fromhex(told["signature"]))
        except (ValueError, KeyError, TypeError):
            return False
        return bool(told.get("scheme") == "SIGNATURE_SCHEME_TK_API_P256")


@contextmanager
def serve_turnkey() -> Iterator[TurnkeyStandIn]:
    """The stand-in on a free port of this machine."""
    stand_in = TurnkeyStandIn()
    with serve_stand_in(stand_in.answer) as stand_in.url:
        yield stand_in
