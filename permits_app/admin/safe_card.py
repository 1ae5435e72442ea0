"""Builds the card of a Safe, for the page of its cage or its own: signers, modules and guards, and changes since its
owners took note.
"""

from __future__ import annotations

from dataclasses import dataclass

from permits_app.models import CageMirror, Wallet
from permits_app.policy_cage.safe_tx import ZERO_ADDRESS
from permits_app.policy_cage.safe_watch import SafeState, list_bypasses, list_changes
from permits_app.words.address_book import AddressBook
from tools_app.core.json_types import JsonObject


@dataclass(frozen=True, slots=True)
class SafeCard:
    """Lines in words; `can_note` where the Safe is not as its owners last saw it."""

    facts: tuple[tuple[str, str], ...]
    bypasses: tuple[str, ...]
    changes: tuple[tuple[str, str, str, bool], ...]
    can_note: bool


def build_safe_card(mirror: CageMirror, book: AddressBook) -> SafeCard | None:
    """Of the Safe behind a cage; None for a plain account and for a Safe that nobody looked at yet."""
    return _build(mirror.safe, mirror.safe_noted, mirror.chain_id, mirror.contract, book)


def build_wallet_card(wallet: Wallet, *, chain_id: int, book: AddressBook) -> SafeCard | None:
    """Of a Safe without a cage; None where nobody looked at it yet."""
    return _build(wallet.safe, wallet.safe_noted, chain_id, "", book)


def _build(
    kept: JsonObject | None, agreed: JsonObject | None, chain_id: int, cage: str, book: AddressBook
) -> SafeCard | None:
    if not kept:
        return None
    seen = SafeState.from_dict(kept)
    noted = SafeState.from_dict(agreed) if agreed else seen

    def show(address: str) -> str:
        if address == cage:
            return "this cage"
        return "none" if address == ZERO_ADDRESS else book.in_full(chain_id, address)

    facts = (
        ("Owners", f"{seen.threshold} of {len(seen.owners)} must sign: {', '.join(map(show, seen.owners))}"),
        ("Modules", ", ".join(map(show, seen.modules)) or "none"),
        ("Guard", show(seen.guard)),
        ("Guard of modules", show(seen.module_guard)),
        ("Fallback handler", show(seen.handler)),
        ("Code", show(seen.code)),
    )
    return SafeCard(
        facts=facts,
        bypasses=tuple(book.in_full(chain_id, line) for line in list_bypasses(seen, cage)),
        changes=tuple(
            (one.what, book.in_full(chain_id, one.before), book.in_full(chain_id, one.after), one.is_weaker)
            for one in list_changes(noted, seen, cage=cage)
        ),
        can_note=kept != agreed,
    )
