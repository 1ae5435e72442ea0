"""The life of an owners' transaction, and where their signatures are kept. It dies with its request in `states`.

Appends OwnerSigned, OwnerTransactionReleased, OwnerTransactionSent, OwnerTransactionExecuted, OwnerTransactionFailed,
OwnerTransactionGivenUp, OwnerTransactionReorged.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

from django.db import transaction

from permits_app.approval_errors import ChangeClosed, SignatureWrong
from permits_app.approvals import request_states
from permits_app.models import ActionPermit, ChangeRequest, OwnerSignature, OwnerTransaction
from permits_app.models.approval import ChangeState
from permits_app.models.owner_transaction import HOLDS_NONCE, OwnerTransactionState
from permits_app.models.permit import PermitStatus
from tools_app.core.transaction_retry import retry_aborted

S = OwnerTransactionState

TRANSITIONS: Mapping[OwnerTransactionState, frozenset[OwnerTransactionState]] = {
    S.SIGNING: frozenset({S.RELEASED, S.EXECUTED, S.DEAD}),
    S.RELEASED: frozenset({S.SENT, S.EXECUTED, S.FAILED, S.DEAD}),
    S.SENT: frozenset({S.EXECUTED, S.FAILED, S.DEAD}),
    # Only a reorganisation leads out of it: what was seen in a block is not seen any more, and is sent again.
    S.EXECUTED: frozenset({S.SENT, S.DEAD}),
    # Its signatures stay good until the Safe's nonce is used: it may be mined again, or sent again by anybody.
    S.FAILED: frozenset({S.EXECUTED, S.DEAD}),
    # Given up when another one had taken its nonce, which a reorganisation may take back.
    S.DEAD: frozenset({S.EXECUTED}),
}
_OF_PERMIT: Mapping[PermitStatus, OwnerTransactionState] = {
    PermitStatus.UNKNOWN: S.SENT,
    PermitStatus.COMMITTED: S.EXECUTED,
    PermitStatus.REVERTED: S.FAILED,
    PermitStatus.BLOCKED: S.DEAD,
    PermitStatus.CANCELLED: S.DEAD,
    PermitStatus.EXPIRED: S.DEAD,
}
_REORGED: Final = "OwnerTransactionReorged"
_TOLD: Final = {
    S.RELEASED: "OwnerTransactionReleased",
    S.SENT: "OwnerTransactionSent",
    S.EXECUTED: "OwnerTransactionExecuted",
    S.FAILED: "OwnerTransactionFailed",
    S.DEAD: "OwnerTransactionGivenUp",
}


def find_owner_transaction(request: ChangeRequest) -> OwnerTransaction | None:
    """What the Safe's owners sign for `request`, from the database; None for a change that is none on chain."""
    return OwnerTransaction.objects.filter(request=request).first()


def is_plan(request: ChangeRequest) -> bool:
    """Whether the Safe's owners sign a golem's own plan, which its key sends; no operation, which the relayer sends."""
    return request.permit is not None and not request.permit.is_local


def release_plan(*, permit: ActionPermit, actor: str, now: datetime) -> None:
    """The plan that the owners of its Safe signed is about to be sent; joins the caller's transaction."""
    asked = OwnerTransaction.objects.filter(request__permit=permit).first()
    if asked is not None:
        move_owner_transaction(asked=asked, to=S.RELEASED, actor=actor, now=now, facts={})


def follow_plan(*, permit: ActionPermit, actor: str, now: datetime) -> None:
    """Bring the owners' transaction of a plan to where its permit is; joins the caller's transaction."""
    asked = OwnerTransaction.objects.filter(request__permit=permit).select_related("request").first()
    to = _OF_PERMIT.get(PermitStatus(permit.status))
    if asked is None or to is None or asked.state == to:
        return
    sent = permit.transactions.filter(is_live=True).order_by("-pk").first()
    facts = {"tx_hash": sent.tx_hash} if sent is not None else {}
    done = {"executed_in": sent.tx_hash, "executed_at": now} if sent is not None and to is S.EXECUTED else {}
    move_owner_transaction(asked=asked, to=to, actor=actor, now=now, facts=facts, **done)


def is_sent(request: ChangeRequest) -> bool:
    """Whether bytes that carry the signatures of `request` are stored to be sent: then nobody takes it back here."""
    asked = find_owner_transaction(request)
    return asked is not None and (asked.state == S.SENT or asked.relays.exists())


def keep_signature(
    *,
    request: ChangeRequest,
    owner: Any,  # Any: an account, whose model is a setting of Django's
    signer: str,
    signature: bytes,
    now: datetime,
) -> None:
    """Store one checked signature; joins the caller's transaction. Raises SignatureWrong when the key signed before
    for another account.
    """
    asked = OwnerTransaction.objects.get(request=request)
    row, is_new = OwnerSignature.objects.get_or_create(
        transaction=asked,
        signer=signer,
        defaults={"signature": "0x" + signature.hex(), "given_by": owner, "given_at": now},
    )
    if row.given_by_id != owner.pk:
        raise SignatureWrong(f"{signer} signed this for another account already", signer=signer)
    if is_new:
        request_states.tell(
            request=request,
            audit="OwnerSigned",
            event=None,
            actor=f"owner:{owner.pk}",
            now=now,
            facts={"signer": signer, "safe_tx_hash": asked.safe_tx_hash},
        )


def move_owner_transaction(
    *,
    asked: OwnerTransaction,
    to: OwnerTransactionState,
    actor: str,
    now: datetime,
    facts: Mapping[str, object],
    **columns: object,
) -> bool:
    """Move `asked` to `to` if its stored state allows it; True when this call did. Joins the caller's transaction.

    What is executed has its nonce for itself: whatever else was asked for under it is given up.
    """
    left = asked.state
    if to is S.EXECUTED and left in (S.FAILED, S.DEAD):
        for other in _list_rivals(asked):
            move_owner_transaction(asked=other, to=S.DEAD, actor=actor, now=now, facts={})
    sources = [str(state) for state, following in TRANSITIONS.items() if to in following]
    done = OwnerTransaction.objects.filter(pk=asked.pk, state__in=sources).update(state=to, updated_at=now, **columns)
    asked.refresh_from_db()
    if done:
        audit = _REORGED if left == S.EXECUTED and to is S.SENT else _TOLD[to]
        request_states.tell(
            request=asked.request,
            audit=audit,
            event=None,
            actor=actor,
            now=now,
            facts={
                "safe": asked.safe,
                "safe_nonce": str(asked.safe_nonce),
                "safe_tx_hash": asked.safe_tx_hash,
                **facts,
            },
        )
    return bool(done)


@retry_aborted
def move_alone(
    *,
    asked: OwnerTransaction,
    to: OwnerTransactionState,
    actor: str,
    now: datetime,
    facts: Mapping[str, object],
    **columns: object,
) -> bool:
    """The same in a transaction of its own."""
    with transaction.atomic():
        # What an attempt that was given up had read of it is read again.
        asked.refresh_from_db()
        return move_owner_transaction(asked=asked, to=to, actor=actor, now=now, facts=facts, **columns)


def _list_rivals(asked: OwnerTransaction) -> list[OwnerTransaction]:
    """What holds the nonce of one that let go of it."""
    same = OwnerTransaction.objects.filter(chain_id=asked.chain_id, safe=asked.safe, safe_nonce=asked.safe_nonce)
    held = [str(state) for state in HOLDS_NONCE]
    return list(same.filter(state__in=held).exclude(pk=asked.pk).select_related("request"))


def release_owner_transaction(*, request: ChangeRequest, actor: str, now: datetime) -> None:
    """Let the signed bytes leave, under the caller's lock of the golem. Raises ChangeClosed when it is too late."""
    asked = find_owner_transaction(request)
    fresh = ChangeRequest.objects.get(pk=request.pk)
    is_moved = (
        asked is not None
        and fresh.state == ChangeState.APPROVED
        and move_owner_transaction(
            asked=asked,
            to=S.RELEASED,
            actor=actor,
            now=now,
            facts={"signers": list(asked.signatures.order_by("given_at").values_list("signer", flat=True))},
        )
    )
    if not is_moved:
        raise ChangeClosed(f"the request is {fresh.get_state_display().lower()}", state=fresh.state)
