"""emergency_halt: from the moment it returns, no commit of the golem starts and nothing new is signed.

It locks the golem's row and raises its halt epoch; starting a commit and storing signed bytes take the same
lock, so each lies wholly before or wholly after the halt. Emits halt:started and halt:completed.
Seed: 000 "Layer 1" (emergency_halt); decisions, "Halt".
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.db import transaction

from archetypes_app.models import Golem
from permits_app import ledger, lifecycle
from permits_app.models import ActionPermit, OutboundTransaction
from permits_app.models.permit import UNFINISHED, PermitStatus
from permits_app.models.transaction import TransactionState
from tools_app.core import audit_log, clock, event_bus
from tools_app.core.events import Event, EventType


def halt_golem(*, golem: Golem, reason: str, actor: str, now: datetime) -> dict[str, Any]:
    """Stop the golem. Answers what was stopped, in order, with milliseconds from the start of each step.

    A second halt changes nothing and answers the same shape. Transactions already stored or sent are listed
    as in flight: they may still be mined, and their outcome is recorded as always.
    """
    started = clock.monotonic_ms()
    steps: list[dict[str, Any]] = []

    def note(step: str, **facts: Any) -> None:
        steps.append({"step": step, "at_ms": round(clock.monotonic_ms() - started), **facts})

    with transaction.atomic():
        locked = Golem.objects.select_for_update().get(pk=golem.pk)
        was_halted = locked.is_halted
        if not was_halted:
            Golem.objects.filter(pk=golem.pk).update(
                halt_epoch=locked.halt_epoch + 1, halted_at=now, halt_reason=reason
            )
            event_bus.emit(golem_id=golem.pk, event=Event(EventType.HALT_STARTED, {"reason": reason}), now=now)
            audit_log.append(golem_id=golem.pk, event="HaltStarted", actor=actor, data={"reason": reason}, now=now)
    note("commits and signatures refused", was_halted_before=was_halted)
    cancelled = _cancel_open_permits(golem, reason, actor, now)
    note("open permits cancelled", permit_ids=cancelled)
    in_flight = _list_in_flight(golem)
    note("transactions in flight listed", transactions=in_flight)
    allowances = _list_allowances(golem)
    note("standing allowances listed", allowances=allowances)
    report = {"halted": True, "reason": reason, "steps": steps}
    with transaction.atomic():
        event_bus.emit(
            golem_id=golem.pk,
            event=Event(EventType.HALT_COMPLETED, {"cancelled": len(cancelled), "in_flight": len(in_flight)}),
            now=now,
        )
        audit_log.append(golem_id=golem.pk, event="HaltCompleted", actor=actor, data={"steps": len(steps)}, now=now)
    return report


def resume_golem(*, golem: Golem, reason: str, actor: str, now: datetime) -> None:
    """Let a halted golem act again, as its owner, with a reason. Does nothing when it is not halted."""
    with transaction.atomic():
        changed = Golem.objects.filter(pk=golem.pk, halted_at__isnull=False).update(halted_at=None, halt_reason="")
        if changed:
            audit_log.append(golem_id=golem.pk, event="HaltResumed", actor=actor, data={"reason": reason}, now=now)
            event_bus.emit(golem_id=golem.pk, event=Event(EventType.HALT_RESUMED, {"reason": reason}), now=now)


def _cancel_open_permits(golem: Golem, reason: str, actor: str, now: datetime) -> list[str]:
    cancelled = []
    for permit in ActionPermit.objects.filter(
        golem=golem, status__in=[PermitStatus.CREATED, PermitStatus.AWAITING_APPROVAL, PermitStatus.ANNOUNCED]
    ):
        with transaction.atomic():
            done = lifecycle.transition(
                permit_id=permit.pk, leaving=PermitStatus(permit.status), to=PermitStatus.CANCELLED, actor=actor,
                now=now, reason=f"halted: {reason}", finished_at=now,
            )  # fmt: skip
            if done:
                ledger.release(permit_id=permit.pk)
                cancelled.append(str(permit.pk))
    return cancelled


def _list_in_flight(golem: Golem) -> list[dict[str, Any]]:
    rows = OutboundTransaction.objects.filter(
        permit__golem=golem,
        permit__status__in=[str(state) for state in UNFINISHED],
        state__in=[TransactionState.SIGNED, TransactionState.BROADCAST],
    )
    return [
        {"permit_id": str(row.permit_id), "tx_hash": row.tx_hash, "nonce": row.nonce, "state": row.state}
        for row in rows
    ]


def _list_allowances(golem: Golem) -> list[dict[str, Any]]:
    granted: dict[tuple[str, str], dict[str, Any]] = {}
    for permit in ActionPermit.objects.filter(golem=golem, status=PermitStatus.COMMITTED).order_by("finished_at"):
        for allowance in permit.bounds.get("allowances", []):
            key = (allowance["token"]["address"], allowance["spender"])
            granted[key] = {
                "token": allowance["token"]["symbol"],
                "token_address": key[0],
                "spender": key[1],
                "left": allowance["left"],
            }
    return [entry for entry in granted.values() if entry["left"] != "0"]
