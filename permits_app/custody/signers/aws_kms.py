"""AWS KMS: the key is there and never leaves; asked for its public key once and for a signature each time.

Written to its published JSON protocol: one POST with `X-Amz-Target`, signed by Signature Version 4. Keys are of the
kind ECC_SECG_P256K1. What comes back is read as any stranger's.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import re
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final
from urllib.parse import urlsplit

from permits_app.custody.signers.external_digest_signer import read_der_signature, read_public_key
from permits_app.errors import SignerMismatch, SignerUnavailable
from tools_app.core import clock, guarded_http
from tools_app.core.bounded_parsing import read_json
from tools_app.core.errors import InvalidParams
from tools_app.core.guarded_http import AddressRefused, ExchangeFailed
from tools_app.core.json_types import JsonObject
from tools_app.core.taint import Secret

_MOST_ANSWER_BYTES: Final = 65_536
_SERVICE: Final = "kms"
_ALGORITHM: Final = "ECDSA_SHA_256"
_SPEC: Final = "ECC_SECG_P256K1"
_KEY_ID: Final = re.compile(r"(?:mrk-)?[0-9a-f][0-9a-f-]{30,46}[0-9a-f]")


@dataclass(frozen=True, slots=True)
class KmsClient:
    """The account at AWS that this server asks. Secrets stay out of every text."""

    region: str
    access_key_id: str
    secret_access_key: Secret = field(repr=False)
    session_token: Secret | None = field(default=None, repr=False)
    url: str = ""
    allows_private: bool = False
    timeout_seconds: float = 10.0

    def read_address(self, key_id: str) -> str:
        """The EIP-55 address of a key. Raises SignerUnavailable, SignerMismatch, InvalidParams."""
        answer = self._ask("GetPublicKey", {"KeyId": _as_id(key_id)})
        if answer.get("KeySpec") != _SPEC or answer.get("KeyUsage") != "SIGN_VERIFY":
            raise SignerMismatch(f"the key is no {_SPEC} that signs", wallet_id=key_id)
        return read_public_key(_read_bytes(answer.get("PublicKey")))

    def create_key(self, *, name: str) -> tuple[str, str]:
        """Id and address of a new key. Raises SignerUnavailable, SignerMismatch."""
        asked = {"KeySpec": _SPEC, "KeyUsage": "SIGN_VERIFY", "Description": name[:8192]}
        made = self._ask("CreateKey", asked).get("KeyMetadata")
        key_id = made.get("KeyId") if isinstance(made, dict) else None
        if not isinstance(key_id, str) or not _KEY_ID.fullmatch(key_id):
            raise SignerMismatch("AWS KMS answered without a key's id")
        return key_id, self.read_address(key_id)

    def sign_digest(self, key_id: str, digest: bytes) -> tuple[int, int]:
        """r and s as AWS KMS answers them, not judged yet. Raises SignerUnavailable, SignerMismatch."""
        asked = {
            "KeyId": _as_id(key_id),
            "Message": base64.b64encode(digest).decode(),
            "MessageType": "DIGEST",
            "SigningAlgorithm": _ALGORITHM,
        }
        answer = self._ask("Sign", asked)
        if answer.get("SigningAlgorithm") != _ALGORITHM:
            raise SignerMismatch("AWS KMS signed by another algorithm")
        return read_der_signature(_read_bytes(answer.get("Signature")))

    def _ask(self, action: str, body: JsonObject) -> dict[str, object]:
        url = (self.url or f"https://kms.{self.region}.amazonaws.com").rstrip("/") + "/"
        raw = json.dumps(body, separators=(",", ":")).encode()
        headers = {
            "Content-Type": "application/x-amz-json-1.1",
            "Host": urlsplit(url).netloc,
            "X-Amz-Target": f"TrentService.{action}",
        }
        headers = self._sign_request(headers, raw, now=clock.wall())
        try:
            target = guarded_http.resolve(url, allows_private=self.allows_private)
            answer = guarded_http.post(
                target, headers=headers, body=raw, seconds=self.timeout_seconds, most_bytes=_MOST_ANSWER_BYTES
            )
        except (AddressRefused, ExchangeFailed) as error:
            raise SignerUnavailable(f"AWS KMS is not reached: {error}") from None
        return _read(answer)

    def _sign_request(self, headers: dict[str, str], body: bytes, *, now: datetime) -> dict[str, str]:
        """The headers with the date and Signature Version 4 over all of them and the body."""
        stamp = f"{now:%Y%m%dT%H%M%SZ}"
        headers = {**headers, "X-Amz-Date": stamp}
        if self.session_token is not None:
            headers["X-Amz-Security-Token"] = self.session_token.reveal()
        ordered = sorted((name.lower(), value.strip()) for name, value in headers.items())
        names = ";".join(name for name, _ in ordered)
        lines = "".join(f"{name}:{value}\n" for name, value in ordered)
        canonical = f"POST\n/\n\n{lines}\n{names}\n{hashlib.sha256(body).hexdigest()}"
        scope = f"{stamp[:8]}/{self.region}/{_SERVICE}/aws4_request"
        text = f"AWS4-HMAC-SHA256\n{stamp}\n{scope}\n{hashlib.sha256(canonical.encode()).hexdigest()}"
        key = f"AWS4{self.secret_access_key.reveal()}".encode()
        for part in (*scope.split("/"), text):
            key = hmac.new(key, part.encode(), hashlib.sha256).digest()
        credential = f"Credential={self.access_key_id}/{scope}"
        signed = f"AWS4-HMAC-SHA256 {credential}, SignedHeaders={names}, Signature={key.hex()}"
        return {**headers, "Authorization": signed}


def _read(answer: guarded_http.Answer) -> dict[str, object]:
    """The answer's object. Its texts are a stranger's and are not repeated."""
    if not 200 <= answer.status < 300:
        raise SignerUnavailable(f"AWS KMS answered {answer.status}", status=str(answer.status))
    try:
        found = read_json(answer.body, most_bytes=_MOST_ANSWER_BYTES)
    except ValueError:
        raise SignerMismatch("AWS KMS's answer is no JSON, or longer than an answer may be") from None
    if not isinstance(found, dict):
        raise SignerMismatch("AWS KMS's answer is no object")
    return found


def _read_bytes(told: Any) -> bytes:  # Any: an answer from outside, checked where it is read
    try:
        return base64.b64decode(told, validate=True)
    except (binascii.Error, ValueError, TypeError):
        raise SignerMismatch("AWS KMS answered no base64 where bytes belong") from None


def _as_id(key_id: str) -> str:
    if not _KEY_ID.fullmatch(key_id):
        raise InvalidParams("a key's id has hexadecimal digits and hyphens", fields={"wallet_id": "malformed"})
    return key_id
