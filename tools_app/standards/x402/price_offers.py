"""Writes the ways in which one amount can be paid to a payee, as a 402 answer lists them.

A token's own authorization (EIP-3009) is asked for where the token says that it takes one; Permit2 where the standard's
proxy stands on the chain.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from tools_app.toolkit.context import ChainReader, ReadCall
from tools_app.toolkit.views import TokenMeta

VERSION: Final = 2
EXACT: Final = "exact"
SECONDS: Final = 300
"""So long a payee has to settle what was signed for it."""
EXACT_PROXY: Final = "0x402085c248EeA27D92E8b30b2C58ed07f9E20001"
"""It takes exact payments through Permit2, at one address on every chain (PyPI `x402` 2.25.0)."""
_NOBODY: Final = "0x" + "0" * 40
_NAME: Final = "function name() view returns (string)"
_SIGNED_VERSION: Final = "function version() view returns (string)"
STATE: Final = "function authorizationState(address authorizer, bytes32 nonce) view returns (bool)"


class Method(StrEnum):
    """Whose signature moves the token."""

    EIP3009 = "eip3009"
    PERMIT2 = "permit2"


@dataclass(frozen=True, slots=True)
class PriceOffer:
    """One way to pay: `amount` base units of `token` to `payee`. `extra` goes along as the standard spells it."""

    method: Method
    chain_id: int
    token: str
    amount: int
    payee: str
    extra: Mapping[str, str]

    def as_item(self) -> dict[str, Any]:
        """As one of `accepts`."""
        return {
            "scheme": EXACT,
            "network": f"eip155:{self.chain_id}",
            "asset": self.token,
            "amount": str(self.amount),
            "payTo": self.payee,
            "maxTimeoutSeconds": SECONDS,
            "extra": dict(self.extra),
        }


def list_ways(reader: ChainReader, *, token: TokenMeta, payee: str, amount: int) -> list[PriceOffer]:
    """Every way in which the token can be paid on this chain; none where it takes neither signature."""
    name, version, state = reader.call_many(
        [
            ReadCall(token.address, _NAME),
            ReadCall(token.address, _SIGNED_VERSION),
            ReadCall(token.address, STATE, (_NOBODY, b"\0" * 32)),
        ]
    )
    found = []
    domain = {"name": str(name.values[0]), "version": str(version.values[0])} if name.ok and version.ok else {}
    if domain and state.ok:
        found.append(PriceOffer(Method.EIP3009, reader.chain_id, token.address, amount, payee, domain))
    if reader.code(EXACT_PROXY):
        extra = {**domain, "assetTransferMethod": "permit2"}
        found.append(PriceOffer(Method.PERMIT2, reader.chain_id, token.address, amount, payee, extra))
    return found


def write_required(ways: Sequence[PriceOffer], *, url: str, description: str, error: str) -> dict[str, Any]:
    """What stands in the header PAYMENT-REQUIRED, before base64."""
    return {
        "x402Version": VERSION,
        "error": error,
        "resource": {"url": url, "description": description, "mimeType": "application/json"},
        "accepts": [way.as_item() for way in ways],
    }
