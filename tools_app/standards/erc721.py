"""ERC-721: the events of a token that is one of a kind."""

from __future__ import annotations

from typing import Final

TRANSFER_EVENT: Final = "event Transfer(address indexed from, address indexed to, uint256 indexed tokenId)"
APPROVAL_EVENT: Final = "event Approval(address indexed owner, address indexed approved, uint256 indexed tokenId)"
APPROVAL_FOR_ALL_EVENT: Final = "event ApprovalForAll(address indexed owner, address indexed operator, bool approved)"
