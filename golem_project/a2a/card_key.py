"""The server's Ed25519 key for agent cards and notifications, derived from the keystore's passphrase: every process has
the same one and none is stored. Its public half is served as a JWK set.
"""

from __future__ import annotations

import base64
import json
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from Crypto.Hash import SHA256
from Crypto.Protocol.KDF import HKDF
from Crypto.PublicKey import ECC

from tools_app.core.taint import Secret

if TYPE_CHECKING:
    from a2a.types import a2a_pb2 as wire

ALGORITHM = "EdDSA"
_INFO = b"golem agent cards v1"


_key: dict[str, str] | None = None
"""As a private JWK."""


def configure(passphrase: Secret) -> None:
    """Derive the key, once per process. Called by wiring."""
    global _key
    seed: Any  # Any: pycryptodome types bytes or a tuple of them
    seed = HKDF(passphrase.reveal().encode(), 32, b"", SHA256, context=_INFO)
    point = ECC.construct(curve="ed25519", seed=seed).public_key().export_key(format="raw")
    members = {"crv": "Ed25519", "kty": "OKP", "x": _base64(point)}
    # RFC 7638: the thumbprint of exactly these members, in this order.
    thumbprint = _base64(sha256(json.dumps(members, separators=(",", ":"), sort_keys=True).encode()).digest())
    _key = {**members, "kid": thumbprint, "alg": ALGORITHM, "use": "sig", "d": _base64(seed)}


def list_public_keys() -> dict[str, object]:
    """The JWK set (RFC 7517) that verifies what this server signs."""
    return {"keys": [{name: value for name, value in _get_key().items() if name != "d"}]}


def sign_card(card: wire.AgentCard, *, keys_url: str) -> wire.AgentCard:
    """The card with this server's signature (JWS over its RFC 8785 form); `keys_url` serves the public key."""
    # Slow to load, and every process knows this module.
    from a2a.utils.signing import create_agent_card_signer
    from jwt import PyJWK

    key = _get_key()
    signer = create_agent_card_signer(PyJWK(key), {"kid": key["kid"], "alg": ALGORITHM, "jku": keys_url, "typ": "JOSE"})
    return signer(card)


def sign_detached(body: bytes) -> str:
    """A compact JWS over `body` with its payload left out: `header..signature` (RFC 7515, appendix F)."""
    from jwt import PyJWK, api_jws

    key = _get_key()
    header, _, signature = api_jws.encode(body, PyJWK(key), algorithm=ALGORITHM, headers={"kid": key["kid"]}).split(".")
    return f"{header}..{signature}"


def _get_key() -> dict[str, str]:
    if _key is None:
        raise RuntimeError("golem_project.a2a.card_key was not configured; golem_project.wiring does it at start-up")
    return _key


def _base64(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()
