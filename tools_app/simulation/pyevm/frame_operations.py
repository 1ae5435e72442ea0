"""Opcodes that put one word about the running frame on the stack: whose code, who calls, with how much and what."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

FRAME_OPERATIONS: Final[Mapping[int, Callable[[Any], int]]] = {  # Any: py-evm's computation has no types
    0x30: lambda frame: int.from_bytes(frame.msg.storage_address, "big"),  # ADDRESS
    0x33: lambda frame: int.from_bytes(frame.msg.sender, "big"),  # CALLER
    0x34: lambda frame: frame.msg.value,  # CALLVALUE
    0x36: lambda frame: len(frame.msg.data),  # CALLDATASIZE
    0x3D: lambda frame: len(frame.return_data),  # RETURNDATASIZE
}
"""Each costs 2 gas and grows the stack by one."""
