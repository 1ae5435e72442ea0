"""Opens the header PAYMENT-REQUIRED, in which a host says whom it is paid how: a stranger's words, not checked yet."""

from __future__ import annotations

import base64
import re
from dataclasses import dataclass
from typing import Annotated, Final

from pydantic import Field

from tools_app.chain.abi import checksum
from tools_app.core.bounded_parsing import read_json

_ADDRESS: Final = re.compile(r"0x[0-9a-fA-F]{40}")


@dataclass(frozen=True, slots=True)
class PaymentRequired:
    """What is asked for; any member may be anything."""

    version: Annotated[object, Field(alias="x402Version")] = None
    resource: object = None
    accepts: object = None


@dataclass(frozen=True, slots=True)
class WayToPay:
    """One of `accepts`, likewise."""

    scheme: object = None
    network: object = None
    asset: object = None
    payee: Annotated[object, Field(alias="payTo")] = None
    amount: object = None
    seconds: Annotated[object, Field(alias="maxTimeoutSeconds")] = None
    extra: object = None


def decode_required(header: str, *, most_bytes: int) -> object:
    """The JSON in the header. Raises ValueError where it holds none in base64."""
    return read_json(base64.b64decode(header, validate=True), most_bytes=most_bytes)


def read_address(value: object) -> str | None:
    """An address with its checksum; None of anything else."""
    return checksum(value) if isinstance(value, str) and _ADDRESS.fullmatch(value) else None
