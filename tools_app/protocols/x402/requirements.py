"""Reads what a payee asks for in its 402 answer: a stranger's text, read strictly and held to what the agent said."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from tools_app.chain.abi import checksum
from tools_app.core.bounded_parsing import read_json
from tools_app.protocols.x402.addresses import EXACT, UPTO
from tools_app.protocols.x402.errors import PaymentRefused
from tools_app.protocols.x402.payments import VERSION

LONGEST_SECONDS: Final = 3_600
"""A payment that its payee would have longer is signed for an hour."""
SHORTEST_SECONDS: Final = 30
_METHOD: Final = "permit2"
_ADDRESS: Final = re.compile(r"0x[0-9a-fA-F]{40}")
_AMOUNT: Final = re.compile(r"[1-9][0-9]{0,38}")
_LONGEST_URL: Final = 2_048


@dataclass(frozen=True, slots=True)
class Asked:
    """One way to pay. `item` is it as the payee wrote it, and goes back with the payment; `resource` what it is for."""

    scheme: str
    amount: int
    seconds: int
    facilitator: str
    item: Mapping[str, Any]  # Any: a stranger's JSON
    resource: Mapping[str, object]

    @property
    def url(self) -> str:
        return str(self.resource["url"])


def read_asked(header: str, *, chain_id: int, token: str, payee: str, most: int) -> Asked:
    """The first way to pay among those that are asked for that fits what the agent said. Raises PaymentRefused."""
    told = _open(header)
    resource, ways = told.get("resource"), told.get("accepts")
    if told.get("x402Version") != VERSION:
        raise PaymentRefused(f"only version {VERSION} of x402 is paid", version=str(told.get("x402Version"))[:20])
    if not isinstance(resource, dict):
        raise PaymentRefused("it names no resource")
    url = resource.get("url")
    if not isinstance(url, str) or not 0 < len(url) <= _LONGEST_URL or not isinstance(ways, list):
        raise PaymentRefused("it names no resource, or no way to pay for it")
    reasons = []
    for item in ways:
        reason = _speak_against(item, chain_id=chain_id, token=token, payee=payee, most=most)
        if not reason:
            extra = item.get("extra") or {}
            seconds = min(item["maxTimeoutSeconds"], LONGEST_SECONDS)
            facilitator = checksum(extra["facilitatorAddress"]) if item["scheme"] == UPTO else ""
            return Asked(item["scheme"], int(item["amount"]), seconds, facilitator, item, resource)
        reasons.append(reason)
    raise PaymentRefused(
        "none of what is asked for is what would be paid: " + ("; ".join(reasons[:4]) or "nothing is asked for"),
        asked=len(ways),
    )


def _open(header: str) -> dict[str, Any]:  # Any: a stranger's JSON
    try:
        told = read_json(base64.b64decode(header, validate=True), most_bytes=len(header))
    except (binascii.Error, ValueError) as error:
        raise PaymentRefused("it is no base64 of JSON, as the header PAYMENT-REQUIRED holds it") from error
    if not isinstance(told, dict):
        raise PaymentRefused("it is JSON of something else")
    return told


def _speak_against(item: object, *, chain_id: int, token: str, payee: str, most: int) -> str:
    """Why one way to pay does not fit; empty where it does."""
    if not isinstance(item, dict):
        return "one way is no object"
    extra = item.get("extra") or {}
    if item.get("scheme") not in (EXACT, UPTO) or not isinstance(extra, dict):
        return "a scheme that is neither exact nor upto"
    if item.get("network") != f"eip155:{chain_id}":
        return f"another network than eip155:{chain_id}"
    if item["scheme"] == EXACT and extra.get("assetTransferMethod") != _METHOD:
        return "a transfer that its payee carries out by the token's own permit: only Permit2 is signed for here"
    if not _is_address(item.get("asset")) or checksum(item["asset"]) != token:
        return f"another token than {token}"
    if not _is_address(item.get("payTo")) or checksum(item["payTo"]) != payee:
        return f"another payee than {payee}"
    amount, seconds = item.get("amount"), item.get("maxTimeoutSeconds")
    if not isinstance(amount, str) or not _AMOUNT.fullmatch(amount):
        return "an amount that is no whole number of base units"
    if int(amount) > most:
        return f"{amount} base units, more than the {most} that would be paid"
    if type(seconds) is not int or seconds < SHORTEST_SECONDS:
        return f"less than {SHORTEST_SECONDS} seconds to settle it"
    if item["scheme"] == UPTO and not _is_address(extra.get("facilitatorAddress")):
        return "a payment of up to an amount without the facilitator who says how much"
    return ""


def _is_address(value: object) -> bool:
    return isinstance(value, str) and _ADDRESS.fullmatch(value) is not None
