"""ERC-721: owner and approval reads, safe transfer, and the events; positions of Uniswap V3 are such tokens."""

from __future__ import annotations

from typing import Final

from tools_app.chain.abi import encode_call
from tools_app.chain.node_errors import ContractOutputUnexpected
from tools_app.toolkit.context import ChainReader, ReadCall
from tools_app.toolkit.plan import Call

TRANSFER_EVENT: Final = "event Transfer(address indexed from, address indexed to, uint256 indexed tokenId)"
APPROVAL_EVENT: Final = "event Approval(address indexed owner, address indexed approved, uint256 indexed tokenId)"
APPROVAL_FOR_ALL_EVENT: Final = "event ApprovalForAll(address indexed owner, address indexed operator, bool approved)"
_OWNER_OF: Final = "function ownerOf(uint256 tokenId) view returns (address)"
_BALANCE_OF: Final = "function balanceOf(address owner) view returns (uint256)"
_ID_AT_INDEX: Final = "function tokenOfOwnerByIndex(address owner, uint256 index) view returns (uint256)"
_GET_APPROVED: Final = "function getApproved(uint256 tokenId) view returns (address)"
_IS_APPROVED_FOR_ALL: Final = "function isApprovedForAll(address owner, address operator) view returns (bool)"
_APPROVE: Final = "function approve(address to, uint256 tokenId)"
_SAFE_TRANSFER: Final = "function safeTransferFrom(address from, address to, uint256 tokenId)"
ZERO_ADDRESS: Final = "0x0000000000000000000000000000000000000000"


def owner_of(reader: ChainReader, collection: str, token_id: int) -> str:
    """Who owns the token. Raises CallReverted when it does not exist."""
    return str(reader.call(collection, _OWNER_OF, token_id)[0])


def tokens_of(reader: ChainReader, collection: str, owner: str, *, limit: int) -> tuple[int, ...]:
    """Ids that `owner` holds of an enumerable collection, in its own order, at most `limit`.

    Raises ContractOutputUnexpected when the collection cannot list them.
    """
    count = min(int(reader.call(collection, _BALANCE_OF, owner)[0]), limit)
    outcomes = reader.call_many([ReadCall(collection, _ID_AT_INDEX, (owner, index)) for index in range(count)])
    if not all(outcome.ok for outcome in outcomes):
        raise ContractOutputUnexpected(f"{collection} does not list the tokens of an owner", address=collection)
    return tuple(int(outcome.values[0]) for outcome in outcomes)


def approved_for(reader: ChainReader, collection: str, token_id: int) -> str | None:
    """Who may move this one token besides its owner, or None."""
    approved = str(reader.call(collection, _GET_APPROVED, token_id)[0])
    return None if approved == ZERO_ADDRESS else approved


def is_approved_for_all(reader: ChainReader, collection: str, *, owner: str, operator: str) -> bool:
    """Whether `operator` may move everything `owner` holds of the collection."""
    return bool(reader.call(collection, _IS_APPROVED_FOR_ALL, owner, operator)[0])


def approve(*, collection: str, spender: str, token_id: int) -> Call:
    """Let `spender` move one token; the zero address takes it back."""
    return Call(collection, encode_call(_APPROVE, spender, token_id), 0, f"Approve token {token_id} for {spender}")


def safe_transfer(*, collection: str, owner: str, recipient: str, token_id: int) -> Call:
    """Move one token; refused on-chain when the recipient is a contract that cannot hold it."""
    data = encode_call(_SAFE_TRANSFER, owner, recipient, token_id)
    return Call(collection, data, 0, f"Send token {token_id} to {recipient}")
