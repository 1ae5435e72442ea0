"""Reads permits of Permit2 among the commands of the Universal Router from its bytes.

Written from the router's interface: command 0x0a hands in a PermitSingle and 0x03 a PermitBatch, both for the sender.
The highest bit of a command lets it fail: a permit that somebody handed in before fails, and what it gave is there.
"""

from __future__ import annotations

from typing import Final

from tools_app.chain.abi import checksum
from tools_app.protocols.uniswap.v4.exact_values import read_values
from tools_app.standards.calldata import calls, read_exactly
from tools_app.toolkit.permit2_in_call import InnerPermit, PermitDetails
from tools_app.toolkit.plan import Call

EXECUTE: Final = "function execute(bytes,bytes[],uint256)"
MAY_FAIL: Final = 0x80
SINGLE, BATCH = 0x0A, 0x03
DETAILS: Final = "(address,uint160,uint48,uint48)"
SINGLE_TYPES: Final = (f"({DETAILS},address,uint256)", "bytes")
BATCH_TYPES: Final = (f"({DETAILS}[],address,uint256)", "bytes")


def is_permit(code: int) -> bool:
    """Whether a command hands in a permit."""
    return code & ~MAY_FAIL in (SINGLE, BATCH)


def read_permit(code: int, data: bytes) -> InnerPermit:
    """The permit that a command hands in. Raises UnknownCall."""
    is_batch = code & ~MAY_FAIL == BATCH
    (details, spender, ends_at), signature = read_values(BATCH_TYPES if is_batch else SINGLE_TYPES, data)
    gives = tuple(PermitDetails(checksum(each[0]), *each[1:]) for each in (details if is_batch else [details]))
    return InnerPermit(gives, checksum(spender), ends_at, bytes(signature), is_batch)


class RouterPermits:
    """The Universal Router takes tokens of its caller alone, and hands in what its caller signed."""

    key: Final = "universal_router"

    def list_permits(self, call: Call) -> list[InnerPermit]:
        """Those among its commands. Raises UnknownCall."""
        if not calls(call.data, EXECUTE):
            return []
        commands, inputs, _ = read_exactly(call.data, EXECUTE)
        return [read_permit(code, data) for code, data in zip(commands, inputs, strict=False) if is_permit(code)]
