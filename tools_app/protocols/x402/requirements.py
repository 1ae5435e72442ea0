"""Reads what a payee asks for in its 402 answer: a stranger's text, read strictly and held to what the agent said."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Final

from pydantic import Field

from tools_app.core.stored_json import read_stored
from tools_app.protocols.x402.addresses import EXACT, UPTO
from tools_app.protocols.x402.errors import PaymentRefused
from tools_app.protocols.x402.payments import VERSION
from tools_app.standards.x402.payment_required import PaymentRequired, WayToPay, decode_required, read_address

LONGEST_SECONDS: Final = 3_600
"""A payment that its payee would have longer is signed for an hour."""
SHORTEST_SECONDS: Final = 30
_METHOD: Final = "permit2"
_AMOUNT: Final = re.compile(r"[1-9][0-9]{0,38}")
_LONGEST_URL: Final = 2_048


@dataclass(frozen=True, slots=True)
class Asked:
    """One way to pay. `item` is it as the payee wrote it, and goes back with the payment; `resource` what it is for."""

    scheme: str
    amount: int
    seconds: int
    facilitator: str
    item: Mapping[str, object]
    resource: Mapping[str, object]
    url: str


@dataclass(frozen=True, slots=True)
class _Resource:
    """A stranger's words, none of them looked at yet; so are those below."""

    url: object = None


@dataclass(frozen=True, slots=True)
class _Extra:
    method: Annotated[object, Field(alias="assetTransferMethod")] = None
    facilitator: Annotated[object, Field(alias="facilitatorAddress")] = None


@dataclass(frozen=True, slots=True)
class _Fitting:
    """What of one way is gone by, once it fits."""

    scheme: str
    amount: int
    seconds: int
    facilitator: str


def read_asked(header: str, *, chain_id: int, token: str, payee: str, most: int) -> Asked:
    """The first way to pay among those that are asked for that fits what the agent said. Raises PaymentRefused."""
    told = _open(header)
    resource, ways = told.resource, told.accepts
    if told.version != VERSION:
        raise PaymentRefused(f"only version {VERSION} of x402 is paid", version=str(told.version)[:20])
    if not isinstance(resource, dict):
        raise PaymentRefused("it names no resource")
    url = read_stored(_Resource, resource).url
    if not isinstance(url, str) or not 0 < len(url) <= _LONGEST_URL or not isinstance(ways, list):
        raise PaymentRefused("it names no resource, or no way to pay for it")
    reasons = []
    for item in ways:
        if not isinstance(item, dict):
            reasons.append("one way is no object")
            continue
        fits = _read_way(read_stored(WayToPay, item), chain_id=chain_id, token=token, payee=payee, most=most)
        if isinstance(fits, _Fitting):
            return Asked(fits.scheme, fits.amount, fits.seconds, fits.facilitator, item, resource, url)
        reasons.append(fits)
    raise PaymentRefused(
        "none of what is asked for is what would be paid: " + ("; ".join(reasons[:4]) or "nothing is asked for"),
        asked=len(ways),
    )


def _open(header: str) -> PaymentRequired:
    try:
        told = decode_required(header, most_bytes=len(header))
    except ValueError as error:
        raise PaymentRefused("it is no base64 of JSON, as the header PAYMENT-REQUIRED holds it") from error
    if not isinstance(told, dict):
        raise PaymentRefused("it is JSON of something else")
    return read_stored(PaymentRequired, told)


def _read_way(way: WayToPay, *, chain_id: int, token: str, payee: str, most: int) -> _Fitting | str:
    """What of a way is gone by; where it does not fit, the words why."""
    told = way.extra or {}
    if way.scheme not in (EXACT, UPTO) or not isinstance(told, dict):
        return "a scheme that is neither exact nor upto"
    extra = read_stored(_Extra, told)
    if way.network != f"eip155:{chain_id}":
        return f"another network than eip155:{chain_id}"
    if way.scheme == EXACT and extra.method != _METHOD:
        return "a transfer that its payee carries out by the token's own permit: only Permit2 is signed for here"
    if read_address(way.asset) != token:
        return f"another token than {token}"
    if read_address(way.payee) != payee:
        return f"another payee than {payee}"
    if not isinstance(way.amount, str) or not _AMOUNT.fullmatch(way.amount):
        return "an amount that is no whole number of base units"
    if int(way.amount) > most:
        return f"{way.amount} base units, more than the {most} that would be paid"
    # `True` is an int of Python, and no number of seconds.
    if not isinstance(way.seconds, int) or isinstance(way.seconds, bool) or way.seconds < SHORTEST_SECONDS:
        return f"less than {SHORTEST_SECONDS} seconds to settle it"
    facilitator = read_address(extra.facilitator) if way.scheme == UPTO else ""
    if facilitator is None:
        return "a payment of up to an amount without the facilitator who says how much"
    return _Fitting(str(way.scheme), int(way.amount), min(way.seconds, LONGEST_SECONDS), facilitator)
