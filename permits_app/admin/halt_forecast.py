"""What a halt will cancel, doom or take away, read from rows alone; no node is asked."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from archetypes_app.models import ApiKey, Golem
from archetypes_app.models.api_key import Scope
from permits_app.actions.halt import list_allowances
from permits_app.halts.choices import does_unwind
from permits_app.models import ActionPermit, ChangeRequest, OutboundTransaction, PendingRequest
from permits_app.models.approval import LIVE_STATES
from permits_app.models.pending_request import FOLLOWED
from permits_app.models.permit import PermitStatus
from permits_app.models.transaction import UNSETTLED
from permits_app.permits.request_stages import RequestStage, Stage, read_permit_stage, read_stage
from permits_app.words.address_book import read_book
from permits_app.words.move_words import describe_move
from tools_app.admin.display import format_usd

_CANCELLED = (PermitStatus.CREATED, PermitStatus.AWAITING_APPROVAL, PermitStatus.ANNOUNCED)


@dataclass(frozen=True, slots=True)
class Forecast:
    """Lines for people. `doomed` are decisions that the halt takes back, `waiting` requests it leaves open."""

    permits: tuple[str, ...]
    doomed: tuple[str, ...]
    waiting: tuple[str, ...]
    keys: tuple[str, ...]
    in_flight: tuple[str, ...]
    allowances: tuple[str, ...]
    queues: int
    is_live: bool
    unwinds: bool

    @property
    def is_empty(self) -> bool:
        """Nothing is open that it would end."""
        return not (self.permits or self.doomed or self.in_flight or self.allowances)


def foretell_halt(golem: Golem, *, now: datetime) -> Forecast:
    """What halting `golem` now ends and what it leaves."""
    permits = ActionPermit.objects.filter(golem=golem, status__in=_CANCELLED).order_by("created_at")
    asked = {row.permit_id: row for row in ChangeRequest.objects.filter(golem=golem, state__in=LIVE_STATES)}
    plain: list[str] = []
    doomed: list[str] = []
    for permit in permits:
        stage = read_permit_stage(permit, now=now)
        move = f"{describe_move(permit.action_type, permit.bounds)}, {format_usd(permit.value_micro_usd)}"
        request = asked.get(permit.pk)
        if stage is not None and stage.stage is not Stage.DECIDE:
            doomed.append(f"{request.title if request is not None else move}: {say_stage(stage)}")
        else:
            plain.append(f"{move}: {say_stage(stage) if stage is not None else 'open'}")
    waiting = [f"{row.title}: {say_stage(read_stage(row, now=now))}" for row in asked.values() if row.permit_id is None]
    book = read_book(golem.owner_id)
    return Forecast(
        permits=tuple(plain),
        doomed=tuple(doomed),
        waiting=tuple(waiting),
        keys=tuple(
            f"{key.label or 'no label'} ({key.prefix}…)"
            for key in ApiKey.objects.filter(golem=golem, revoked_at__isnull=True)
            if Scope.COMMIT in key.scopes
        ),
        in_flight=tuple(
            f"nonce {row.nonce}, {row.get_state_display().lower()}"
            for row in OutboundTransaction.objects.filter(
                permit__golem=golem, is_live=True, state__in=[str(state) for state in UNSETTLED]
            )
        ),
        allowances=tuple(
            f"{row['token']} to {book.in_text(row['chain_id'], row['spender'])}" for row in list_allowances(golem)
        ),
        queues=PendingRequest.objects.filter(golem=golem, state__in=FOLLOWED).count(),
        is_live=golem.is_live,
        unwinds=does_unwind(golem),
    )


def say_stage(found: RequestStage) -> str:
    """The shared word, with its time."""
    return f"{found.stage} until {found.until:%Y-%m-%d %H:%M} UTC" if found.until is not None else str(found.stage)
