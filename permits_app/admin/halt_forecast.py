"""Foretells from rows alone what a halt will cancel, doom or take away."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from archetypes_app.models import ApiKey, Golem
from archetypes_app.models.api_key import Scope
from permits_app.actions.halt import list_allowances_of
from permits_app.halts.halt_choices import SAYS, HaltChoice, read_choices
from permits_app.models import ActionPermit, ChangeRequest, OutboundTransaction, PendingRequest
from permits_app.models.approval import LIVE_STATES
from permits_app.models.pending_request import FOLLOWED
from permits_app.models.permit import PermitStatus
from permits_app.models.transaction import UNSETTLED
from permits_app.permits.request_stages import RequestStage, Stage, read_permit_stages, read_stage
from permits_app.words.address_book import read_book
from permits_app.words.move_words import describe_move
from tools_app.wording.formats import format_usd

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
    choice: HaltChoice

    @property
    def unwinds(self) -> bool:
        """Whether its positions are left."""
        return self.choice is not HaltChoice.STOP

    @property
    def what_follows(self) -> str:
        """What the owner chose, in words."""
        return SAYS[self.choice]

    @property
    def is_empty(self) -> bool:
        """Nothing is open that it would end."""
        return not (self.permits or self.doomed or self.in_flight or self.allowances)


def foretell_halts(golems: Collection[Golem], *, now: datetime) -> dict[UUID, Forecast]:
    """What halting each of `golems` now ends and what it leaves, by golem; the rows of all are read together."""
    permits = list(ActionPermit.objects.filter(golem__in=golems, status__in=_CANCELLED).order_by("created_at"))
    stages = read_permit_stages(permits, now=now)
    requests = list(ChangeRequest.objects.filter(golem__in=golems, state__in=LIVE_STATES))
    keys = ApiKey.objects.filter(golem__in=golems, revoked_at__isnull=True)
    sent = OutboundTransaction.objects.filter(
        permit__golem__in=golems, is_live=True, state__in=[str(state) for state in UNSETTLED]
    ).select_related("permit")
    of_golem = _Sorted(
        permits=_sort(permits),
        requests=_sort(requests),
        keys=_sort(key for key in keys if Scope.COMMIT in key.scopes),
        sent=_sort(sent, lambda row: row.permit.golem_id),
    )
    queues = Counter(
        PendingRequest.objects.filter(golem__in=golems, state__in=FOLLOWED).values_list("golem", flat=True)
    )
    allowances, choices = list_allowances_of(golems), read_choices(golems)
    books = {owner_id: read_book(owner_id) for owner_id in {golem.owner_id for golem in golems}}
    return {
        golem.pk: _foretell(
            golem,
            of_golem,
            stages,
            now=now,
            allowances=tuple(
                f"{row['token']} to {books[golem.owner_id].in_text(row['chain_id'], row['spender'])}"
                for row in allowances[golem.pk]
            ),
            queues=queues[golem.pk],
            choice=choices[golem.pk],
        )
        for golem in golems
    }


@dataclass(frozen=True, slots=True)
class _Sorted:
    """Rows by golem."""

    permits: Mapping[UUID, list[ActionPermit]]
    requests: Mapping[UUID, list[ChangeRequest]]
    keys: Mapping[UUID, list[ApiKey]]
    sent: Mapping[UUID, list[OutboundTransaction]]


def _sort(
    rows: Iterable[Any],  # Any: rows of several models
    golem_of: Callable[[Any], UUID] = lambda row: row.golem_id,  # Any: as above
) -> dict[UUID, list[Any]]:  # Any: as above
    found: dict[UUID, list[Any]] = defaultdict(list)  # Any: as above
    for row in rows:
        found[golem_of(row)].append(row)
    return found


def _foretell(
    golem: Golem,
    rows: _Sorted,
    stages: Mapping[UUID, RequestStage],
    *,
    now: datetime,
    allowances: tuple[str, ...],
    queues: int,
    choice: HaltChoice,
) -> Forecast:
    requests = rows.requests.get(golem.pk, [])
    asked = {row.permit_id: row for row in requests if row.permit_id is not None}
    plain: list[str] = []
    doomed: list[str] = []
    for permit in rows.permits.get(golem.pk, []):
        stage = stages.get(permit.pk)
        move = f"{describe_move(permit.action_type, permit.bounds)}, {format_usd(permit.value_micro_usd)}"
        request = asked.get(permit.pk)
        if stage is not None and stage.stage is not Stage.DECIDE:
            doomed.append(f"{request.title if request is not None else move}: {say_stage(stage)}")
        else:
            plain.append(f"{move}: {say_stage(stage) if stage is not None else 'open'}")
    waiting = [row for row in requests if row.permit_id is None]
    return Forecast(
        permits=tuple(plain),
        doomed=tuple(doomed),
        waiting=tuple(f"{row.title}: {say_stage(read_stage(row, now=now))}" for row in waiting),
        keys=tuple(f"{key.label or 'no label'} ({key.prefix}…)" for key in rows.keys.get(golem.pk, [])),
        in_flight=tuple(f"nonce {row.nonce}, {row.get_state_display().lower()}" for row in rows.sent.get(golem.pk, [])),
        allowances=allowances,
        queues=queues,
        is_live=golem.is_live,
        choice=choice,
    )


def say_stage(found: RequestStage) -> str:
    """The shared word, with its time."""
    return f"{found.stage} until {found.until:%Y-%m-%d %H:%M} UTC" if found.until is not None else str(found.stage)
