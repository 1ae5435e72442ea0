"""The rights that an ERC-721 contract tells by logs: over one of an account's items, and over all of them."""

from __future__ import annotations

from typing import Final

from tools_app.standards import erc721
from tools_app.toolkit.protocol import RightEvent

_NOBODY: Final = "0x0000000000000000000000000000000000000000"


def describe_item_rights(key: str, *, one: str, every: str) -> tuple[RightEvent, RightEvent]:
    """Of the contract `key`; `one` and `every` say to people what a taker may do."""
    return (
        RightEvent(erc721.APPROVAL_EVENT, giver=0, taker=1, token=2, revoke=_revoke_one, label=one, keys=(key,)),
        RightEvent(
            erc721.APPROVAL_FOR_ALL_EVENT, giver=0, taker=1, amount=2, revoke=_revoke_every, label=every, keys=(key,)
        ),
    )


def _revoke_one(contract: str, taker: str, token_id: str | None) -> tuple[str, tuple[object, ...]]:
    return "function approve(address to, uint256 tokenId)", (_NOBODY, int(token_id or 0))


def _revoke_every(contract: str, taker: str, token_id: str | None) -> tuple[str, tuple[object, ...]]:
    return "function setApprovalForAll(address operator, bool approved)", (taker, False)
