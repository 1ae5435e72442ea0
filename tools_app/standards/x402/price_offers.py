"""Writes the ways in which one amount can be paid to a payee, as a 402 answer lists them.

A token's own authorization (EIP-3009) is asked for where the token says that it takes one, in the domain that the
token itself computes; Permit2 where the standard's proxies stand on the chain: exactly, and up to an amount.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from eth_utils.crypto import keccak

from tools_app.toolkit.context import ChainReader, ReadCall
from tools_app.toolkit.views import TokenMeta

VERSION: Final = 2
EXACT, UPTO = "exact", "upto"
SECONDS: Final = 300
"""So long a payee has to settle what was signed for it."""
EXACT_PROXY: Final = "0x402085c248EeA27D92E8b30b2C58ed07f9E20001"
"""It takes exact payments through Permit2, at one address on every chain (PyPI `x402` 2.25.0)."""
UPTO_PROXY: Final = "0x4020A4f3b7b90ccA423B9fabCc0CE57C6C240002"
"""It takes payments of up to an amount; the facilitator that was signed says how much of it."""
IDENTIFIER: Final = "payment-identifier"
"""The standard's extension by which a payer says a word of its own with a payment, which stands on no chain."""
IDENTIFIER_FORM: Final = "^[a-zA-Z0-9_-]{16,128}$"
_NOBODY: Final = "0x" + "0" * 40
_NAME: Final = "function name() view returns (string)"
_SEPARATOR: Final = "function DOMAIN_SEPARATOR() view returns (bytes32)"
_DOMAIN_TYPE: Final = keccak(text="EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)")
_SIGNED_VERSION: Final = "function version() view returns (string)"
STATE: Final = "function authorizationState(address authorizer, bytes32 nonce) view returns (bool)"


class Method(StrEnum):
    """Whose signature moves the token."""

    EIP3009 = "eip3009"
    PERMIT2 = "permit2"
    UPTO = "upto"


@dataclass(frozen=True, slots=True)
class PriceOffer:
    """One way to pay: `amount` base units of `token` to `payee`, of which `UPTO` may sign more and gives no more.

    `extra` goes along as the standard spells it.
    """

    method: Method
    chain_id: int
    token: str
    amount: int
    payee: str
    extra: Mapping[str, str]

    def as_item(self) -> dict[str, Any]:  # Any: a stranger's JSON
        """As one of `accepts`."""
        return {
            "scheme": UPTO if self.method is Method.UPTO else EXACT,
            "network": f"eip155:{self.chain_id}",
            "asset": self.token,
            "amount": str(self.amount),
            "payTo": self.payee,
            "maxTimeoutSeconds": SECONDS,
            "extra": dict(self.extra),
        }


def list_ways(reader: ChainReader, *, token: TokenMeta, payee: str, amount: int, facilitator: str) -> list[PriceOffer]:
    """Every way in which the token can be paid on this chain; none where it takes no signature."""
    name, version, state, separator = reader.call_many(
        [
            ReadCall(token.address, _NAME),
            ReadCall(token.address, _SIGNED_VERSION),
            ReadCall(token.address, STATE, (_NOBODY, b"\0" * 32)),
            ReadCall(token.address, _SEPARATOR),
        ]
    )
    found = []
    domain = {"name": str(name.values[0]), "version": str(version.values[0])} if name.ok and version.ok else {}
    is_own = separator.ok and domain and bytes(separator.values[0]) == _separate(domain, reader.chain_id, token.address)
    if is_own and state.ok:
        found.append(PriceOffer(Method.EIP3009, reader.chain_id, token.address, amount, payee, domain))
    if reader.code(EXACT_PROXY):
        extra = {**domain, "assetTransferMethod": "permit2"}
        found.append(PriceOffer(Method.PERMIT2, reader.chain_id, token.address, amount, payee, extra))
    if reader.code(UPTO_PROXY):
        extra = {**domain, "assetTransferMethod": "permit2", "facilitatorAddress": facilitator}
        found.append(PriceOffer(Method.UPTO, reader.chain_id, token.address, amount, payee, extra))
    return found


def write_required(ways: Sequence[PriceOffer], *, url: str, description: str, error: str) -> dict[str, object]:
    """What stands in the header PAYMENT-REQUIRED, before base64."""
    return {
        "x402Version": VERSION,
        "error": error,
        "resource": {"url": url, "description": description, "mimeType": "application/json"},
        "accepts": [way.as_item() for way in ways],
        "extensions": {IDENTIFIER: {"info": {"required": False}, "schema": _describe_identifier()}},
    }


def _describe_identifier() -> dict[str, object]:
    """As the standard describes what a payer may say."""
    word = {"type": "string", "minLength": 16, "maxLength": 128, "pattern": "^[a-zA-Z0-9_-]+$"}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "properties": {"required": {"type": "boolean"}, "id": word},
        "required": ["required"],
    }


def _separate(domain: Mapping[str, str], chain_id: int, token: str) -> bytes:
    """The domain separator of EIP-712 for what a wallet would be told."""
    words = (_DOMAIN_TYPE, keccak(text=domain["name"]), keccak(text=domain["version"]))
    return bytes(keccak(b"".join(words) + chain_id.to_bytes(32, "big") + bytes.fromhex(token[2:]).rjust(32, b"\0")))
