"""ERC-721: events and rights of a token that is one of a kind. ERC-1155 knows operators by the same words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from tools_app.chain.abi import encode_call
from tools_app.chain.abi_records import AbiEvent
from tools_app.toolkit.context import ReadCall
from tools_app.toolkit.plan import Call

TRANSFER_EVENT: Final = "event Transfer(address indexed from, address indexed to, uint256 indexed tokenId)"
APPROVAL_EVENT: Final = "event Approval(address indexed owner, address indexed approved, uint256 indexed tokenId)"
APPROVAL_FOR_ALL_EVENT: Final = "event ApprovalForAll(address indexed owner, address indexed operator, bool approved)"
OWNER_OF: Final = "function ownerOf(uint256 tokenId) view returns (address)"
GET_APPROVED: Final = "function getApproved(uint256 tokenId) view returns (address)"
IS_APPROVED_FOR_ALL: Final = "function isApprovedForAll(address owner, address operator) view returns (bool)"
_SET_APPROVAL_FOR_ALL: Final = "function setApprovalForAll(address operator, bool approved)"


@dataclass(frozen=True, slots=True)
class ItemTransfer:
    """A movement of one item, as its contract's log tells it."""

    from_: str
    to: str
    token_id: int


MOVED: Final = AbiEvent(TRANSFER_EVENT, ItemTransfer)


def operator_call(collection: str, owner: str, operator: str) -> ReadCall:
    """Whether `operator` may take every item of `owner`."""
    return ReadCall(collection, IS_APPROVED_FOR_ALL, (owner, operator))


def revoke_operator(*, collection: str, operator: str) -> Call:
    """Take every item back from the reach of `operator`."""
    data = encode_call(_SET_APPROVAL_FOR_ALL, operator, False)
    return Call(collection, data, 0, f"Revoke every item of {collection} from {operator}")
