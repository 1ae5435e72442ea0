"""Reads permits of Permit2 in calls of V4's position manager from their bytes.

Written from the manager's interface: `multicall` does several calls of its own as the one who called it, and `permit`
and `permitBatch` hand to Permit2 what an owner signed; one that somebody handed in before fails, and the rest goes on.
"""

from __future__ import annotations

from typing import Final

from tools_app.chain.abi import checksum
from tools_app.standards.calldata import calls, read_exactly
from tools_app.toolkit.context import AbiValues
from tools_app.toolkit.effects import UnknownCall
from tools_app.toolkit.permit2_in_call import InnerPermit, PermitDetails
from tools_app.toolkit.plan import Call

MULTICALL: Final = "function multicall(bytes[]) payable returns (bytes[])"
_DETAILS: Final = "(address,uint160,uint48,uint48)"
SINGLE: Final = f"function permit(address,({_DETAILS},address,uint256),bytes) payable returns (bytes)"
BATCH: Final = f"function permitBatch(address,({_DETAILS}[],address,uint256),bytes) payable returns (bytes)"


def split_permit(data: bytes) -> tuple[str, InnerPermit, bytes]:
    """Whose permit a bundle begins with, the permit, and the one call after it. Raises UnknownCall."""
    (steps,) = read_exactly(data, MULTICALL)
    if len(steps) != 2:
        raise UnknownCall("V4's position manager is given other than a permit and one change of a position")
    first, then = bytes(steps[0]), bytes(steps[1])
    if not calls(first, SINGLE) and not calls(first, BATCH):
        raise UnknownCall(f"selector 0x{first[:4].hex()} is no permit of V4's position manager")
    is_batch = calls(first, BATCH)
    owner, (details, spender, ends_at), signature = read_exactly(first, BATCH if is_batch else SINGLE)
    gives = tuple(map(_read_details, details if is_batch else [details]))
    return checksum(owner), InnerPermit(gives, checksum(spender), ends_at, bytes(signature), is_batch), then


def _read_details(words: AbiValues) -> PermitDetails:
    token, amount, until, nonce = words
    return PermitDetails(checksum(token), amount, until, nonce)


class ManagerPermits:
    """V4's position manager takes tokens of its caller alone, and hands in what an owner signed."""

    key: Final = "v4_position_manager"

    def list_permits(self, call: Call) -> list[InnerPermit]:
        """The one that a bundle begins with. Raises UnknownCall."""
        if not calls(call.data, MULTICALL):
            return []
        _, permit, _ = split_permit(call.data)
        return [permit]
