"""Decides which tokens may leave as one of a kind: those of ERC-721 alone.

An item has a contract and a number and no amount, so whoever judges a plan lets all of that number go. Of ERC-1155 and
ERC-6909 an account may have many of one number: such a token is no item, and a plan that names one is refused. Such a
plan names an amount (`tools_app/standards/erc1155_erc6909_amounts.py`).
See docs/decisions/0535-nfts-a-plan-may-hand-over-only-tokens.md.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from tools_app.core.errors import GolemError, Recovery
from tools_app.toolkit.context import ChainReader, ReadCall
from tools_app.toolkit.plan import ItemGiven

SUPPORTS: Final = "function supportsInterface(bytes4 interfaceId) view returns (bool)"
ONE: Final = bytes.fromhex("80ac58cd")
OF_MANY: Final = {"ERC-1155": bytes.fromhex("d9b67a26"), "ERC-6909": bytes.fromhex("0f632fb3")}


class ItemOfMany(GolemError, status=422, recovery=Recovery.GIVE_UP, title="What would leave by its number may be many"):
    """A token that a plan hands over by its number is not known to be one of a kind. `data`: contract, token_id."""


def check_items(items: Iterable[ItemGiven], chain: ChainReader) -> None:
    """That the contract of each says it is ERC-721, and none of those that keep many of one number.

    Raises ItemOfMany, and what the chain raises.
    """
    by_contract = {each.contract: each for each in items}
    asked = [(each, kind) for each in by_contract for kind in (ONE, *OF_MANY.values())]
    told = chain.call_many([ReadCall(contract, SUPPORTS, (kind,)) for contract, kind in asked])
    said = {place: bool(each.ok and each.values[0]) for place, each in zip(asked, told, strict=True)}
    for contract, item in by_contract.items():
        many = [name for name, kind in OF_MANY.items() if said[contract, kind]]
        if many:
            raise _refuse(item, f"is {many[0]}, of which an account may have many of one number")
        if not said[contract, ONE]:
            raise _refuse(item, "does not say that it is ERC-721")


def check_counted(items: Iterable[ItemGiven], moved: Iterable[tuple[str, int | None, int]]) -> None:
    """That of no item more than one moved, by (contract, number, amount) of each movement. Raises ItemOfMany.

    A contract may say that it is ERC-721 and be something else.
    """
    named = {(each.contract, each.token_id): each for each in items}
    for contract, number, amount in moved:
        item = named.get((contract, number)) if number is not None else None
        if item is not None and amount > 1:
            raise _refuse(item, f"would move {amount} of one number")


def _refuse(item: ItemGiven, why: str) -> ItemOfMany:
    return ItemOfMany(
        f"{item.contract}, whose {item.token_id} would leave by its number, {why}; so nobody can say how much leaves",
        contract=item.contract,
        token_id=str(item.token_id),
    )
