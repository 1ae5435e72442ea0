"""Shows the Safe's part of a request: the transaction to sign, its signers, those still missing, and its outcome."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from archetypes_app.ownership import has_power
from archetypes_app.roles import Power
from permits_app.actions.end_expired_signatures import has_ended
from permits_app.approval_errors import ChangeStale
from permits_app.approvals.owner_calls import NO_END, build_wallet_document, read_end_signed, say_end
from permits_app.approvals.owner_states import find_owner_transaction, is_plan
from permits_app.approvals.safe_nonces import check_not_past, describe_turn, find_gap, is_free
from permits_app.approvals.signatures import pick_signatures
from permits_app.custody.safe_view import SafeView, open_chain, read_safe
from permits_app.custody.safe_warnings import look_at_safe
from permits_app.models import ChangeRequest, OwnerSignature, OwnerTransaction, RelayedTransaction
from permits_app.models.approval import LIVE_STATES
from permits_app.models.owner_transaction import OwnerTransactionState
from tools_app.core.errors import GolemError


@dataclass(frozen=True, slots=True)
class SigningPage:
    """What the page needs. `problem` says why the Safe could not be read; then nothing is asked to be signed.

    `warnings` are what acts for the Safe, or on what it signs, that its owners did not agree to, as the chain says now.
    `loose_nonce` is the Safe's nonce under which what failed may still be executed, by whoever saw it, and that
    nothing else is asked for under. `ends` says when what is signed ends by itself, or that it does not; `is_empty`
    that it only uses the nonce up.
    """

    asked: OwnerTransaction
    typed: str
    owners: tuple[str, ...]
    threshold: int
    missing: int
    signatures: tuple[OwnerSignature, ...]
    relays: tuple[RelayedTransaction, ...]
    problem: str
    stale: str
    turn: str
    gap: int | None
    loose_nonce: int | None
    is_plan: bool
    may_sign: bool
    can_export: bool
    warnings: tuple[str, ...] = ()
    ends: str = ""
    is_empty: bool = False

    @property
    def no_end(self) -> str:
        """What `ends` says of what does not end by time."""
        return NO_END

    @property
    def owner_list(self) -> str:
        """For the page's script."""
        return ",".join(self.owners)


def build_signing_page(
    request: ChangeRequest,
    user: Any,  # Any: an account, whose model is a setting of Django's
    *,
    now: datetime,
) -> SigningPage | None:
    """The Safe's part of the page as `user` sees it; None for a change that is none on chain. Reads the chain."""
    asked = find_owner_transaction(request)
    if asked is None:
        return None
    is_open = request.state in LIVE_STATES
    is_live = is_open and asked.state == OwnerTransactionState.SIGNING
    # What ended by time can be sent by nobody again.
    has_failed = asked.state == OwnerTransactionState.FAILED and not has_ended(request, at=now)
    safe, problem = _look(asked, now) if is_open or has_failed else (None, "")
    signatures = tuple(asked.signatures.select_related("given_by").order_by("given_at"))
    has_signed = any(row.given_by_id == user.pk for row in signatures)
    stale = ""
    turn, gap = "", None
    if is_live and safe is not None:
        try:
            check_not_past(asked, safe)
        except ChangeStale as error:
            stale = error.detail
        else:
            turn, gap = describe_turn(asked, safe), find_gap(asked, safe)
    given = len(pick_signatures(asked, safe)) if safe is not None else len(signatures)
    may_decide = has_power(request.golem, user, Power.DECIDE)
    return SigningPage(
        asked=asked,
        typed=json.dumps(build_wallet_document(request.change["safe_tx"]), separators=(",", ":")),
        owners=safe.owners if safe is not None else (),
        threshold=safe.threshold if safe is not None else 0,
        missing=max(0, safe.threshold - given) if safe is not None else 0,
        signatures=signatures,
        relays=tuple(asked.relays.order_by("created_at")),
        problem=problem,
        stale=stale,
        turn=turn,
        gap=gap,
        loose_nonce=asked.safe_nonce if has_failed and safe is not None and is_free(asked, safe) else None,
        is_plan=is_plan(request),
        may_sign=is_live and safe is not None and not stale and not has_signed and may_decide,
        # A golem's own plan is sent by its key alone, once hooks and limits judged it anew.
        warnings=look_at_safe(request.golem, chain_id=asked.chain_id, safe=asked.safe, now=now).warnings
        if is_live and safe is not None
        else (),
        ends=say_end(read_end_signed(request.change["safe_tx"])),
        is_empty=asked.to == asked.safe and asked.data == "0x",
        can_export=safe is not None and given >= safe.threshold and is_open and not is_plan(request),
    )


def _look(asked: OwnerTransaction, now: datetime) -> tuple[SafeView | None, str]:
    try:
        return read_safe(open_chain(asked.chain_id, now=now), asked.safe), ""
    except GolemError as error:
        return None, f"{error.title}: {error.detail}"
