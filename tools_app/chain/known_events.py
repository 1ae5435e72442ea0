"""Events this product can name in a call tree; a name is a label for people and decides nothing.

Data only, beside the errors; a protocol's own events are told by the protocol, on SHELF.
"""

from __future__ import annotations

from typing import Final

KNOWN_EVENTS: Final[tuple[str, ...]] = (
    # Tokens
    "event Transfer(address indexed from, address indexed to, uint256 value)",
    "event Transfer(address indexed from, address indexed to, uint256 indexed tokenId)",
    "event Approval(address indexed owner, address indexed spender, uint256 value)",
    "event Approval(address indexed owner, address indexed approved, uint256 indexed tokenId)",
    "event ApprovalForAll(address indexed owner, address indexed operator, bool approved)",
    "event Deposit(address indexed account, uint256 amount)",
    "event Withdrawal(address indexed account, uint256 amount)",
    # Permit2
    "event Approval(address indexed owner, address indexed token, address indexed spender, uint160 amount,"
    " uint48 expiration)",
    "event Permit(address indexed owner, address indexed token, address indexed spender, uint160 amount,"
    " uint48 expiration, uint48 nonce)",
)
