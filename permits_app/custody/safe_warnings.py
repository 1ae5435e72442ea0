"""Warns whoever signs next for a Safe of what acts for it without its owners' agreement.

The chain is asked in that moment; no transaction may be open. A file that leaves the server takes the answer along, and
its check asks a chain itself, without the server's rows.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from archetypes_app.models import Golem
from permits_app.custody.agreed_safe import find_agreed_of, list_handlers
from permits_app.custody.safe_view import open_chain
from permits_app.policy_cage.safe_watch import Change, SafeState, list_unagreed, read_safe_state, say_change
from tools_app.core.errors import GolemError
from tools_app.core.json_types import JsonObject
from tools_app.core.stored_json import read_stored

NO_SAFE: Final = "it does not answer as a Safe does"


@dataclass(frozen=True, slots=True)
class SafeNow:
    """A Safe as a chain told it. `warnings` have a line for each thing its owners did not agree to, or for why nobody
    knows. `agreed` are addresses that they agreed to; `block` is None where the chain told nothing.
    """

    chain_id: int
    safe: str
    block: int | None
    warnings: tuple[str, ...]
    agreed: tuple[str, ...] = ()

    def as_dict(self) -> JsonObject:
        """JSON-ready, as an exported request takes it along."""
        return {
            "chain_id": str(self.chain_id),
            "safe": self.safe,
            "block": "" if self.block is None else str(self.block),
            "warnings": list(self.warnings),
            "agreed": list(self.agreed),
        }


def look_at_safe(golem: Golem, *, chain_id: int, safe: str, now: datetime) -> SafeNow:
    """The Safe as it is, against what its owners agreed to here. Never raises what a node raises."""
    agreed = find_agreed_of(golem, safe)
    known = tuple(agreed.list_agreed())
    block, found = _read(chain_id, safe, now, agreed.list_unagreed)
    return SafeNow(chain_id, safe, block, found, known)


def look_without_rows(*, chain_id: int, safe: str, agreed: Collection[str], now: datetime) -> SafeNow:
    """The Safe as it is, for who has an exported file and a node alone: everything that acts for it is named, also
    what the file says was agreed to.
    """

    def judge(state: SafeState) -> list[Change]:
        return list_unagreed(state, None, known=(), handlers=list_handlers(chain_id))

    block, found = _read(chain_id, safe, now, judge, agreed)
    return SafeNow(chain_id, safe, block, found, tuple(agreed))


def read_exported(document: Mapping[str, object]) -> SafeNow | None:
    """What a file says of its Safe; None for a file that says nothing. Raises ValueError."""
    told = document.get("safe_now")
    if not told:
        return None
    kept = read_stored(_ExportedSafe, told)
    return SafeNow(kept.chain_id, kept.safe, int(kept.block) if kept.block else None, kept.warnings, kept.agreed)


@dataclass(frozen=True, slots=True)
class _ExportedSafe:
    """A Safe as a file tells it; `block` is empty where it could not be read."""

    chain_id: int
    safe: str
    block: str
    warnings: tuple[str, ...]
    agreed: tuple[str, ...]


def _read(
    chain_id: int, safe: str, now: datetime, judge: Callable[[SafeState], list[Change]], agreed: Collection[str] = ()
) -> tuple[int | None, tuple[str, ...]]:
    try:
        chain = open_chain(chain_id, now=now)
        state = read_safe_state(chain, safe)
        block = chain.block.number
    except GolemError as error:
        return None, (f"what acts for the Safe could not be read: {error.title}",)
    if state is None:
        return block, (NO_SAFE,)
    return block, tuple(_say(each, agreed) for each in judge(state))


def _say(change: Change, agreed: Collection[str]) -> str:
    return say_change(change) + (" (agreed to, as the file says)" if change.after in agreed else "")
