"""`nonce`: use up a nonce of a Safe with an empty transaction, so that what was asked for after it gets its turn.

What was signed under that nonce before can never be executed then.

See docs/decisions/0081-safe-owners-sign-a-golems-plans-in-the-order.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from archetypes_app.models import Golem
from permits_app.approval_errors import ChangeUnchanged
from permits_app.approvals.operations.base import BeforeAndAfter, Proposal, SeenSafe
from permits_app.approvals.operations.cage import draft_safe_tx
from permits_app.custody.safe_view import SafeView, open_chain, read_safe
from permits_app.models import OwnerTransaction, SigningKey
from permits_app.models.owner_transaction import OwnerTransactionState
from permits_app.models.signing_key import KeyHolder, KeyState
from tools_app.core.stored_json import read_stored
from tools_app.toolkit.enums import RiskTier

USE_UP_NONCE: Final = "nonce"
_OVER: Final = (OwnerTransactionState.DEAD, OwnerTransactionState.FAILED)


@dataclass(frozen=True, slots=True)
class _NoncePlace:
    """A Safe of which something was asked for this golem."""

    chain_id: int
    safe: str


@dataclass(frozen=True, slots=True)
class _SeenNonce(SeenSafe):
    """The Safe, and the golem's key where it is an owner; empty where it is none."""

    own_key: str = ""


@dataclass(frozen=True, slots=True)
class _NonceArguments(_NoncePlace):
    """Which Safe, and what was seen of it."""

    seen: _SeenNonce


@dataclass(frozen=True, slots=True)
class _NonceChange:
    """What was asked for, as its request keeps it."""

    nonce: str


class UseUpNonce:
    """`arguments`: `chain_id` and `safe`, of which something was asked for this golem."""

    name = USE_UP_NONCE

    def observe(self, golem: Golem, arguments: Mapping[str, object], *, now: datetime) -> dict[str, object]:
        """The Safe as it is. Raises ChangeUnchanged when nothing of this golem is asked of it, CageHasNoSafe."""
        place = read_stored(_NoncePlace, arguments)
        chain_id, address = place.chain_id, place.safe
        if not OwnerTransaction.objects.filter(request__golem=golem, chain_id=chain_id, safe=address).exists():
            raise ChangeUnchanged("nothing of this golem is asked of this Safe")
        safe = read_safe(open_chain(chain_id, now=now), address)
        seen = {
            "chain_id": chain_id,
            "safe": address,
            "nonce": safe.nonce,
            "threshold": safe.threshold,
            "block": safe.block,
            "own_key": _find_own_key(golem, safe),
        }
        return {**arguments, "seen": seen}

    def propose(self, golem: Golem, arguments: Mapping[str, object]) -> Proposal:
        """An empty call of the Safe to itself. Raises ChangeUnchanged when no nonce is in the way of anything."""
        asked = read_stored(_NonceArguments, arguments)
        draft = replace(draft_safe_tx(asked.seen, to=asked.safe, data=b""), own_key=asked.seen.own_key)
        nonce = draft.tx.nonce
        same = OwnerTransaction.objects.filter(chain_id=draft.chain_id, safe=draft.safe)
        waits = same.filter(safe_nonce__gt=nonce, state=OwnerTransactionState.SIGNING).exists()
        is_signed = same.filter(safe_nonce=nonce, state__in=_OVER, signatures__isnull=False).exists()
        if not waits and not is_signed:
            raise ChangeUnchanged("no nonce of the Safe is in the way of anything")
        line = BeforeAndAfter(
            f"Nonce {nonce} of the Safe",
            "free: what was asked under it was given up",
            "used up; nothing that was signed under it can be executed any more",
            "tightens",
        )
        change: dict[str, object] = {"safe": draft.safe, "nonce": str(nonce)}
        return Proposal(
            f"Use up nonce {nonce} of the Safe with an empty transaction",
            change,
            (line,),
            RiskTier.STANDARD,
            is_tightening=True,
            safe_tx=draft,
        )

    def check_current(self, golem: Golem, change: Mapping[str, object]) -> None:
        """The Safe's own nonce says whether it still can be used up; that is looked at with every signature."""

    def apply(
        self, *, golem: Golem, change: Mapping[str, object], actor: str, reason: str, now: datetime
    ) -> dict[str, object]:
        """The chain has it; nothing is left to do here."""
        return {"nonce": read_stored(_NonceChange, change).nonce}


def _find_own_key(golem: Golem, safe: SafeView) -> str:
    """The golem's key, where it is an owner and can sign here; empty otherwise."""
    keys = SigningKey.objects.filter(golem=golem, state=KeyState.ACTIVE, holder=KeyHolder.LOCAL_KEYSTORE)
    return str(keys.filter(address__in=safe.owners).values_list("address", flat=True).first() or "")
