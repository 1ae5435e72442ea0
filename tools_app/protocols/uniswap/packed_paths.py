"""Paths of V3 as calldata packs them, read without the module that packs them."""

from __future__ import annotations

from typing import Any, Final

from tools_app.chain.abi import checksum
from tools_app.toolkit.effects import UnknownCall

_ADDRESS_BYTES: Final = 20
_FEE_BYTES: Final = 3


def unpack_path(packed: bytes) -> list[Any]:  # Any: a value of the ABI's type
    """Token, fee, token, ... of a packed path. Raises UnknownCall."""
    step = _ADDRESS_BYTES + _FEE_BYTES
    if len(packed) < _ADDRESS_BYTES + step or (len(packed) - _ADDRESS_BYTES) % step:
        raise UnknownCall("a V3 path has a length no path has")
    path: list[object] = [_address(packed[:_ADDRESS_BYTES])]
    for at in range(_ADDRESS_BYTES, len(packed), step):
        path.append(int.from_bytes(packed[at : at + _FEE_BYTES], "big"))
        path.append(_address(packed[at + _FEE_BYTES : at + step]))
    return path


def _address(raw: bytes) -> str:
    return checksum("0x" + raw.hex())
