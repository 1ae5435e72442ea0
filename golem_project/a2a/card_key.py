"""The server's Ed25519 key for agent cards and notifications, derived from the keystore's passphrase: every process has
the same one and none is stored. Its public half is served as a JWK set.
"""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from a2a.types import a2a_pb2 as wire
from a2a.utils.signing import create_agent_card_signer
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from jwt import PyJWK, api_jws

from tools_app.core.taint import Secret

ALGORITHM = "EdDSA"
_INFO = b"golem agent cards v1"


@dataclass(frozen=True, slots=True)
class _Key:
    signing: PyJWK
    public: dict[str, str]


_key: _Key | None = None


def configure(passphrase: Secret) -> None:
    """Derive the key, once per process. Called by wiring."""
    global _key
    seed = HKDF(algorithm=SHA256(), length=32, salt=None, info=_INFO).derive(passphrase.reveal().encode())
    point = Ed25519PrivateKey.from_private_bytes(seed).public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)
    members = {"crv": "Ed25519", "kty": "OKP", "x": _base64(point)}
    # RFC 7638: the thumbprint of exactly these members, in this order.
    thumbprint = _base64(sha256(json.dumps(members, separators=(",", ":"), sort_keys=True).encode()).digest())
    public = {**members, "kid": thumbprint, "alg": ALGORITHM, "use": "sig"}
    _key = _Key(PyJWK({**public, "d": _base64(seed)}), public)


def list_public_keys() -> dict[str, Any]:
    """The JWK set (RFC 7517) that verifies what this server signs."""
    return {"keys": [_get_key().public]}


def sign_card(card: wire.AgentCard, *, keys_url: str) -> wire.AgentCard:
    """The card with this server's signature (JWS over its RFC 8785 form); `keys_url` serves the public key."""
    key = _get_key()
    signer = create_agent_card_signer(
        key.signing, {"kid": key.public["kid"], "alg": ALGORITHM, "jku": keys_url, "typ": "JOSE"}
    )
    return signer(card)


def sign_detached(body: bytes) -> str:
    """A compact JWS over `body` with its payload left out: `header..signature` (RFC 7515, appendix F)."""
    key = _get_key()
    header, _, signature = api_jws.encode(
        body, key.signing, algorithm=ALGORITHM, headers={"kid": key.public["kid"]}
    ).split(".")
    return f"{header}..{signature}"


def _get_key() -> _Key:
    if _key is None:
        raise RuntimeError("golem_project.a2a.card_key was not configured; golem_project.wiring does it at start-up")
    return _key


def _base64(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()
