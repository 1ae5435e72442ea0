"""A local server that answers as AWS KMS's published JSON protocol does, and checks Signature Version 4 itself.

It makes keys, tells public keys as SubjectPublicKeyInfo and signs digests: each time by another nonce, and as often
with the high half as with the low one.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from uuid import UUID, uuid5

from Crypto.Util.asn1 import DerBitString, DerObjectId, DerSequence
from eth_account import Account
from eth_account.signers.local import LocalAccount
from eth_keys.datatypes import PrivateKey

from permits_app.custody.signers.aws_kms import KmsClient
from permits_app.custody.signers.external_digest_signer import ORDER
from tests.stand_in import serve_stand_in
from tools_app.core.taint import Secret

REGION, ACCESS_KEY, SECRET = "eu-central-1", "AKIAOFTESTS", "a secret access key of tests"
_SIGNED = re.compile(
    r"AWS4-HMAC-SHA256 Credential=([^/]+)/(\d{8})/([^/]+)/kms/aws4_request, SignedHeaders=([a-z0-9;-]+),"
    r" Signature=([0-9a-f]{64})"
)


class KmsStandIn:
    """One account. `twist` changes an answer before it leaves; `seen` holds each action with its body."""

    def __init__(self) -> None:
        self.keys: dict[str, LocalAccount] = {}
        self.twist: Callable[[dict[str, Any]], Any] = lambda answer: answer
        self.signs_with: LocalAccount | None = None
        self.is_high = False
        self.seen: list[tuple[str, dict[str, Any]]] = []
        self.url = ""

    def make(self) -> str:
        """A key's id."""
        key_id = str(uuid5(UUID(int=0), str(len(self.keys))))
        self.keys[key_id] = Account.create()
        return key_id

    def client(self, **changes: Any) -> KmsClient:
        """A client of this server."""
        facts = {
            "region": REGION,
            "access_key_id": ACCESS_KEY,
            "secret_access_key": Secret(SECRET),
            "url": self.url,
            "allows_private": True,
        }
        return KmsClient(**{**facts, **changes})

    def answer(self, method: str, path: str, headers: dict[str, str], body: bytes) -> tuple[int, Any]:
        """Status and document."""
        if not self._is_signed(method, path, headers, body):
            return 400, {"__type": "InvalidSignatureException", "message": "The signature does not match"}
        if headers.get("content-type") != "application/x-amz-json-1.1":
            return 400, {"__type": "SerializationException"}
        action, asked = headers["x-amz-target"].removeprefix("TrentService."), json.loads(body)
        self.seen.append((action, asked))
        if action == "CreateKey":
            if (asked.get("KeySpec"), asked.get("KeyUsage")) != ("ECC_SECG_P256K1", "SIGN_VERIFY"):
                return 400, {"__type": "UnsupportedOperationException"}
            return 200, self.twist({"KeyMetadata": {"KeyId": self.make(), "KeySpec": "ECC_SECG_P256K1"}})
        account = self.keys.get(asked.get("KeyId", ""))
        if account is None:
            return 400, {"__type": "NotFoundException", "message": "Invalid keyId"}
        if action == "GetPublicKey":
            told = {"KeySpec": "ECC_SECG_P256K1", "KeyUsage": "SIGN_VERIFY", "PublicKey": write_public_key(account)}
            return 200, self.twist({"KeyId": asked["KeyId"], **told})
        if action == "Sign" and (asked.get("MessageType"), asked.get("SigningAlgorithm")) == (
            "DIGEST",
            "ECDSA_SHA_256",
        ):
            digest = base64.b64decode(asked["Message"], validate=True)
            if len(digest) != 32:
                return 400, {"__type": "ValidationException"}
            signature = self._sign(self.signs_with or account, digest)
            told = {"Signature": base64.b64encode(signature).decode(), "SigningAlgorithm": "ECDSA_SHA_256"}
            return 200, self.twist({"KeyId": asked["KeyId"], **told})
        return 400, {"__type": "ValidationException"}

    def _sign(self, account: LocalAccount, digest: bytes) -> bytes:
        found = PrivateKey(bytes(account.key)).sign_msg_hash(digest)
        s = ORDER - found.s if self.is_high else found.s
        return bytes(DerSequence([found.r, s]).encode())

    def _is_signed(self, method: str, path: str, headers: dict[str, str], body: bytes) -> bool:
        """Worked out from AWS's description of Signature Version 4, with nothing of the client's."""
        told = _SIGNED.fullmatch(headers.get("authorization", ""))
        if told is None or (method, path) != ("POST", "/"):
            return False
        access, day, region, names, signature = told.groups()
        needed = {"host", "x-amz-date", "x-amz-target", "content-type"}
        listed = names.split(";")
        if (access, region) != (ACCESS_KEY, REGION) or not needed <= set(listed) or listed != sorted(listed):
            return False
        lines = [f"{name}:{' '.join(headers.get(name, '').split())}" for name in listed]
        request = "\n".join([method, path, "", *lines, "", names, hashlib.sha256(body).hexdigest()])
        date = headers.get("x-amz-date", "")
        scope = f"{day}/{region}/kms/aws4_request"
        text = "\n".join(["AWS4-HMAC-SHA256", date, scope, hashlib.sha256(request.encode()).hexdigest()])
        key = ("AWS4" + SECRET).encode()
        for part in (day, region, "kms", "aws4_request"):
            key = hmac.digest(key, part.encode(), "sha256")
        return date.startswith(day) and hmac.compare_digest(hmac.digest(key, text.encode(), "sha256").hex(), signature)


def write_public_key(account: LocalAccount, *, curve: str = "1.3.132.0.10") -> str:
    """SubjectPublicKeyInfo in base64."""
    point = b"\x04" + PrivateKey(bytes(account.key)).public_key.to_bytes()
    algorithm = DerSequence([DerObjectId("1.2.840.10045.2.1"), DerObjectId(curve)])
    return base64.b64encode(DerSequence([algorithm, DerBitString(point)]).encode()).decode()


@contextmanager
def serve_kms() -> Iterator[KmsStandIn]:
    """The stand-in on a free port of this machine."""
    stand_in = KmsStandIn()
    with serve_stand_in(stand_in.answer) as stand_in.url:
        yield stand_in
