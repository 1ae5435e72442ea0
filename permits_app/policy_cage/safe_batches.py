"""A plan as one transaction of a Safe: its calls, packed where they are several, and the signatures that go with it.

A Safe takes the sender's own word for the sender's own consent, which holds no secret. Several calls go through
MultiSendCallOnly, which makes calls and nothing else.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from permits_app.errors import SignerUnavailable
from permits_app.policy_cage.safe_tx import EXEC_TRANSACTION, SafeTx, encode_exec_transaction
from tools_app.chain.abi import AbiDecodeError, checksum, decode_input, encode_call
from tools_app.toolkit.plan import Call

MULTI_SEND: Final = "function multiSend(bytes transactions)"
_CALL, _DELEGATE_CALL = 0, 1
_HEAD_BYTES: Final = 85
"""Of each packed call: operation, target, value and length of the data."""


def pack_calls(calls: Sequence[Call], *, safe: str, multi_send: str, nonce: int = 0) -> SafeTx:
    """`calls` as one transaction of `safe`, all or none. Raises SignerUnavailable without MultiSend."""
    if len(calls) == 1:
        return SafeTx(to=calls[0].to, value=calls[0].value, data=calls[0].data, operation=_CALL, nonce=nonce)
    if not multi_send:
        raise SignerUnavailable("no MultiSendCallOnly is registered on this chain; the Safe cannot batch", safe=safe)
    data = encode_call(MULTI_SEND, b"".join(_pack(call) for call in calls))
    return SafeTx(to=multi_send, data=data, operation=_DELEGATE_CALL, nonce=nonce)


def unpack_calls(data: bytes) -> tuple[Call, ...] | None:
    """The calls in MultiSend's call data; None when it is anything else."""
    try:
        [packed] = decode_input(MULTI_SEND, data)
    except AbiDecodeError:
        return None
    at, calls = 0, []
    while at < len(packed):
        head, length = packed[at : at + _HEAD_BYTES], int.from_bytes(packed[at + 53 : at + _HEAD_BYTES], "big")
        if len(head) < _HEAD_BYTES or head[0] != _CALL or len(packed) < at + _HEAD_BYTES + length:
            return None
        body = packed[at + _HEAD_BYTES : at + _HEAD_BYTES + length]
        to = checksum("0x" + head[1:21].hex())
        calls.append(Call(to=to, value=int.from_bytes(head[21:53], "big"), data=body, label=""))
        at += _HEAD_BYTES + length
    return tuple(calls)


def build_safe_call(calls: Sequence[Call], *, safe: str, signatures: bytes, multi_send: str) -> Call:
    """What is sent to `safe` to make `calls` from it. Raises SignerUnavailable without MultiSend."""
    tx = pack_calls(calls, safe=safe, multi_send=multi_send)
    label = "; ".join(call.label for call in calls)
    data = encode_exec_transaction(tx, signatures=signatures)
    return Call(to=safe, data=data, value=0, label=f"through the Safe: {label}")


def consent_of(owner: str) -> bytes:
    """What stands for the signature of the owner who sends the transaction."""
    return bytes(12) + bytes.fromhex(owner[2:]) + bytes(32) + b"\x01"


def put_signatures(data: bytes, signatures: bytes) -> bytes:
    """The call data of an execTransaction with `signatures` in it, and nothing else changed. Raises AbiDecodeError."""
    return encode_call(EXEC_TRANSACTION, *decode_input(EXEC_TRANSACTION, data)[:-1], signatures)


def _pack(call: Call) -> bytes:
    return (
        bytes([_CALL])
        + bytes.fromhex(call.to[2:])
        + call.value.to_bytes(32, "big")
        + len(call.data).to_bytes(32, "big")
        + call.data
    )
