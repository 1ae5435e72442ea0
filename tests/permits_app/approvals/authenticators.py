"""An authenticator of tests: a real key that signs what WebAuthn says, and lies where a test wants it to."""

from __future__ import annotations

import hashlib
import json
import secrets
from dataclasses import dataclass, field
from typing import Any

import cbor2
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from django.test import Client
from django.urls import reverse
from webauthn.helpers import base64url_to_bytes
from webauthn.helpers import bytes_to_base64url as spell

from permits_app.models import Passkey
from tests.factories.golems import PASSWORD

ORIGIN = "http://localhost:8000"
ASK = "admin:permits_app_changerequest_passkey_ask"
FACTORS = "admin:permits_app_changerequest_second_factors"
PRESENT, VERIFIED, HAS_KEY = 1, 4, 64


@dataclass
class Authenticator:
    """One device with one key."""

    key: ec.EllipticCurvePrivateKey = field(default_factory=lambda: ec.generate_private_key(ec.SECP256R1()))
    credential_id: bytes = field(default_factory=lambda: secrets.token_bytes(32))
    count: int = 0
    step: int = 1
    """By how much its counter moves with each answer."""

    def make(self, asked: dict[str, Any], **lies: Any) -> str:
        """What `navigator.credentials.create` answers."""
        numbers = self.key.public_key().public_numbers()
        cose = {1: 2, 3: -7, -1: 1, -2: numbers.x.to_bytes(32, "big"), -3: numbers.y.to_bytes(32, "big")}
        told = bytes(16) + len(self.credential_id).to_bytes(2, "big") + self.credential_id + cbor2.dumps(cose)
        data = self._data(asked["rp"]["id"], HAS_KEY, lies) + told
        attestation = lies.get("attestation", cbor2.dumps({"fmt": "none", "attStmt": {}, "authData": data}))
        said = self._say("webauthn.create", asked["challenge"], lies)
        return self._wrap({"clientDataJSON": spell(said), "attestationObject": spell(attestation)})

    def answer(self, asked: dict[str, Any], **lies: Any) -> str:
        """What `navigator.credentials.get` answers."""
        self.count += self.step
        said = self._say("webauthn.get", asked["challenge"], lies)
        data = self._data(asked["rpId"], 0, lies)
        signature = self.key.sign(data + hashlib.sha256(said).digest(), ec.ECDSA(hashes.SHA256()))
        given = {"clientDataJSON": spell(said), "authenticatorData": spell(data), "signature": spell(signature)}
        return self._wrap({**given, "userHandle": lies.get("handle")})

    def _data(self, rp_id: str, more: int, lies: dict[str, Any]) -> bytes:
        flags = lies.get("flags", PRESENT | VERIFIED) | more
        name = lies.get("rp_id", rp_id).encode()
        return hashlib.sha256(name).digest() + bytes([flags]) + lies.get("count", self.count).to_bytes(4, "big")

    def _say(self, kind: str, challenge: str, lies: dict[str, Any]) -> bytes:
        said = {"type": lies.get("kind", kind), "challenge": lies.get("challenge", challenge)}
        return json.dumps(
            {**said, "origin": lies.get("origin", ORIGIN), "crossOrigin": lies.get("framed", False)}
        ).encode()

    def _wrap(self, response: dict[str, Any]) -> str:
        name = spell(self.credential_id)
        return json.dumps({"id": name, "rawId": name, "type": "public-key", "response": response})


def enter(person: Any) -> Client:
    """A browser of `person` at the address passkeys count at."""
    browser = Client(headers={"host": "localhost:8000"})
    browser.force_login(person)
    return browser


def ask(browser: Client, use: str, subject: str = "") -> dict[str, Any]:
    """What the server asks a passkey."""
    answer = browser.post(reverse(ASK), {"use": use, "subject": subject})
    assert answer.status_code == 200, answer.content
    found: dict[str, Any] = answer.json()
    return found


def add(browser: Client, authenticator: Authenticator, **given: str) -> Any:
    """The server's answer to the form that adds it."""
    made = authenticator.make(ask(browser, "register"))
    return browser.post(reverse(FACTORS), {"name": "my key", "proof": PASSWORD, "new_passkey": made, **given})


def give_passkey(person: Any, browser: Client) -> Authenticator:
    """A passkey that `person` added with their password alone: their first second factor."""
    authenticator = Authenticator()
    answer = add(browser, authenticator)
    assert answer.status_code == 302, answer.content
    assert bytes(Passkey.objects.get(user=person).credential_id) == authenticator.credential_id
    return authenticator


def read_challenge(asked: dict[str, Any]) -> bytes:
    return base64url_to_bytes(asked["challenge"])
