"""The card about the Safe itself on the page of a cage: who signs, what else acts, what changed since it was noted."""

from __future__ import annotations

from dataclasses import dataclass

from permits_app.models import CageMirror
from permits_app.policy_cage.safe_tx import ZERO_ADDRESS
from permits_app.policy_cage.safe_watch import SafeState, list_bypasses, list_changes
from permits_app.words.address_book import AddressBook


@dataclass(frozen=True, slots=True)
class SafeCard:
    """Lines in words; `can_note` where the Safe is not as its owners last saw it."""

    facts: tuple[tuple[str, str], ...]
    bypasses: tuple[str, ...]
    changes: tuple[tuple[str, str, str, bool], ...]
    can_note: bool


def build_safe_card(mirror: CageMirror, book: AddressBook) -> SafeCard | None:
    """None for a plain account and for a Safe that nobody looked at yet."""
    if not mirror.safe:
        return None
    chain_id, seen = mirror.chain_id, SafeState.from_dict(mirror.safe)
    noted = SafeState.from_dict(mirror.safe_noted) if mirror.safe_noted else seen

    def show(address: str) -> str:
        if address == mirror.contract:
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
        bypasses=tuple(book.in_full(chain_id, line) for line in list_bypasses(seen, mirror.contract)),
        changes=tuple(
            (one.what, book.in_full(chain_id, one.before), book.in_full(chain_id, one.after), one.is_weaker)
            for one in list_changes(noted, seen, cage=mirror.contract)
        ),
        can_note=mirror.safe != mirror.safe_noted,
    )
