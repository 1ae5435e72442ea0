"""A plan as one transaction of a Safe, sent by the only owner it asks for.

A Safe takes the sender's own word for the sender's own consent, so the bytes hold no secret: they can be simulated,
shown and hashed before anybody signs. Several calls go through MultiSendCallOnly, which makes calls and nothing else.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from permits_app.errors import SignerUnavailable
from permits_app.policy_cage.safe_tx import EXEC_TRANSACTION, ZERO_ADDRESS
from tools_app.chain.abi import encode_call
from tools_app.toolkit.plan import Call

MULTI_SEND: Final = "function multiSend(bytes transactions)"
_CALL, _DELEGATE_CALL = 0, 1


def build_safe_call(calls: Sequence[Call], *, safe: str, owner: str, multi_send: str) -> Call:
    """What `owner` sends to `safe` to make `calls` from it, all or none. Raises SignerUnavailable without MultiSend."""
    consent = bytes(12) + bytes.fromhex(owner[2:]) + bytes(32) + b"\x01"
    if len(calls) == 1:
        to, value, data, operation = calls[0].to, calls[0].value, calls[0].data, _CALL
    elif multi_send:
        to, value, operation = multi_send, 0, _DELEGATE_CALL
        data = encode_call(MULTI_SEND, b"".join(_pack(call) for call in calls))
    else:
        raise SignerUnavailable("no MultiSendCallOnly is registered on this chain; the Safe cannot batch", safe=safe)
    label = "; ".join(call.label for call in calls)
    return Call(
        to=safe,
        data=encode_call(
            EXEC_TRANSACTION, to, value, data, operation, 0, 0, 0, ZERO_ADDRESS, ZERO_ADDRESS, consent
        ),
        value=0,
        label=f"through the Safe: {label}",
    )  # fmt: skip


def _pack(call: Call) -> bytes:
    return (
        bytes([_CALL])
        + bytes.fromhex(call.to[2:])
        + call.value.to_bytes(32, "big")
        + len(call.data).to_bytes(32, "big")
        + call.data
    )
