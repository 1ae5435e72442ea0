"""find_exposed_safes: look whether anybody can act for a golem's Safe through its fallback, and tell its owners then.

Whoever the Safe belongs to signs what closes it: the request is prepared here. Until then the golem's heartbeat
rehearses. The chain is read first, outside any transaction. Appends SafeFoundOpen, LiveSet, SafeClosed and what asking
appends; emits safe:open.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from django.db import transaction
from django.db.models import Q

from archetypes_app.models import Golem
from permits_app.actions.request_change import request_operation
from permits_app.approvals.operations.go_live import set_live
from permits_app.custody.exposed_safe_checks import WatchedSafe, list_watched
from permits_app.custody.safe_view import open_chain
from permits_app.models import ChangeRequest, SafeOpening
from permits_app.models.approval import LIVE_STATES
from permits_app.permits.blocked_commits import list_silent_chains
from permits_app.policy_cage.safe_fallback import CLOSE_SAFE, Openings, read_openings, say_danger, say_opening
from tools_app.core import audit_log, event_bus
from tools_app.core.events import Event, EventType
from tools_app.core.isolated_sweeps import one_by_one
from tools_app.core.transaction_retry import retry_aborted

_ACTOR: Final = "system:openings"
ASK_AGAIN: Final = timedelta(hours=1)
"""How long after owners let a request go they are asked again while their Safe stands open."""


@dataclass(frozen=True, slots=True)
class Looked:
    """What is found of one Safe of one golem."""

    safe: WatchedSafe
    openings: Openings


def find_exposed_safes(*, now: datetime) -> dict[str, int]:
    """Look at every Safe that golems act with, or whose cage they follow. One that fails stops nobody else's."""
    silent = set(list_silent_chains(now=now))
    by_chain: dict[int, list[WatchedSafe]] = defaultdict(list)
    for safe in list_watched():
        if safe.chain_id not in silent:
            by_chain[safe.chain_id].append(safe)
    looked = one_by_one(list(by_chain), lambda chain: _look(chain, by_chain[chain], now), what="the Safes of chain")
    found = [one for some in looked for one in some]
    opened = list(one_by_one(found, lambda one: _note(one, now), what="the Safe"))
    return {"looked_at": len(found), "open": sum(opened), "asked": _ask(now)}


def _look(chain_id: int, safes: Iterable[WatchedSafe], now: datetime) -> list[Looked]:
    chain = open_chain(chain_id, now=now)
    found = read_openings(chain, {safe.account: safe.cages for safe in safes})
    return [Looked(safe, found[safe.account]) for safe in safes]


def _note(looked: Looked, now: datetime) -> bool:
    """Whether the Safe stands open; what is as it was is not written again."""
    safe, openings = looked.safe, looked.openings
    row = SafeOpening.objects.filter(golem_id=safe.golem_id, chain_id=safe.chain_id, account=safe.account).first()
    if bool(openings) != (row is not None) or (row is not None and read_row(row) != openings):
        _keep(looked, now)
    elif row is not None and Golem.objects.filter(pk=safe.golem_id, is_live=True).exists():
        _keep(looked, now)
    return bool(openings)


@retry_aborted
def _keep(looked: Looked, now: datetime) -> None:
    safe, openings = looked.safe, looked.openings
    facts = {"chain_id": str(safe.chain_id), "account": safe.account}
    with transaction.atomic():
        golem = Golem.objects.select_for_update(no_key=True, of=("self",)).get(pk=safe.golem_id)
        rows = SafeOpening.objects.filter(golem=golem, chain_id=safe.chain_id, account=safe.account)
        before = rows.first()
        if not openings:
            if rows.delete()[0]:
                audit_log.append(golem_id=golem.pk, event="SafeClosed", actor=_ACTOR, data=facts, now=now)
            return
        if before is None or read_row(before) != openings:
            values = {
                "handler": openings.handler,
                "modules": list(openings.modules),
                "is_open": openings.is_open,
            }
            if before is None:
                SafeOpening.objects.create(golem=golem, chain_id=safe.chain_id, account=safe.account, **values)
            else:
                rows.update(**values)
            told = {**facts, **values, "danger": say_opening(safe.account, openings)}
            audit_log.append(golem_id=golem.pk, event="SafeFoundOpen", actor=_ACTOR, data=told, now=now)
            payload = {
                "account": safe.account,
                "is_open": openings.is_open,
                "danger": say_danger(safe.account, openings),
            }
            event_bus.emit(golem_id=golem.pk, event=Event(EventType.SAFE_OPEN, payload), now=now)
        if golem.is_live:
            reason = f"its Safe {safe.account} stands open"
            set_live(golem=golem, is_live=False, actor=_ACTOR, reason=reason, now=now)


def read_row(row: SafeOpening) -> Openings:
    """What is kept of a Safe."""
    return Openings(row.handler, tuple(row.modules), row.is_open)


def _ask(now: datetime) -> int:
    """Prepare what owners sign for each Safe that stands open and for which nothing is asked."""
    rows = list(SafeOpening.objects.select_related("golem__owner").order_by("pk"))
    waiting = [row for row in rows if not _is_asked(row.golem_id, row, now)]
    return sum(1 for _ in one_by_one(waiting, lambda row: _prepare(row, now), what="the closing of"))


def _prepare(row: SafeOpening, now: datetime) -> ChangeRequest:
    return request_operation(
        golem=row.golem,
        name=CLOSE_SAFE,
        arguments={"chain_id": row.chain_id, "account": row.account},
        owner=None,
        reason=say_opening(row.account, read_row(row)),
        now=now,
    )


def _is_asked(golem_id: UUID, row: SafeOpening, now: datetime) -> bool:
    asked = ChangeRequest.objects.filter(golem_id=golem_id, kind=CLOSE_SAFE, change__account=row.account)
    return asked.filter(Q(state__in=LIVE_STATES) | Q(closed_at__gte=now - ASK_AGAIN)).exists()
