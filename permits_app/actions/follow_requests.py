"""follow_requests: look at what golems asked of protocols and wait for, as far as it is due, a bounded part at a time.

A look reads the positions of one account at one protocol and changes rows of ours only. Who looks first moves the next
look ahead, so that two followers do not do the same twice; one that dies is followed up when that time is over.
Emits request:ready, request:done, request:stuck, request:lost.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, Final

from django.db.models import Min

from permits_app.models import ActionPermit, PendingRequest
from permits_app.models.pending_request import FOLLOWED
from permits_app.permits.blockage import list_silent_chains
from permits_app.permits.pending_requests import Look, judge_look, put_off, record_look
from tools_app import runner
from tools_app.core.clock import Deadline
from tools_app.core.errors import GolemError
from tools_app.core.one_by_one import one_by_one
from tools_app.portfolio.reading import HeldAt
from tools_app.toolkit.positions import ExitStep, Position, PositionRef, drive
from tools_app.toolkit.protocol import SHELF, ProtocolDef

logger = logging.getLogger(__name__)

MOST_ACCOUNTS: Final = 40
"""So many accounts one run looks at; those that waited longest come first."""
MOST_ROWS: Final = 200
_LEASE: Final = timedelta(seconds=60)
_READ_BUDGET_MS: Final = 5_000
_OF: Final = ("golem_id", "chain_id", "account", "protocol")


def follow_requests(*, now: datetime, limit: int = MOST_ACCOUNTS) -> dict[str, int]:
    """Look at what is due; how many requests were looked at and how many changed."""
    followed = PendingRequest.objects.filter(state__in=[str(state) for state in FOLLOWED], next_check_at__lte=now)
    # One account counts once, however many requests it has: a golem with many makes no other one wait.
    heard = followed.exclude(chain_id__in=list_silent_chains(now=now))
    due = heard.values(*_OF).annotate(since=Min("next_check_at")).order_by("since")[:limit]
    accounts = [{name: group[name] for name in _OF} for group in due]
    counts = list(one_by_one(accounts, lambda of: _follow(of, now), what="requests of"))
    return {"looked": sum(looked for looked, _ in counts), "changed": sum(changed for _, changed in counts)}


def _follow(of: dict[str, Any], now: datetime) -> tuple[int, int]:
    """How many requests of one account were looked at, and how many changed."""
    rows = _take(now=now, **of)
    if not rows:
        return 0, 0
    try:
        return len(rows), _look_at(rows, now)
    except GolemError as error:
        logger.info("requests of %s at %s cannot be seen now: %s", rows[0].account, rows[0].protocol, error.code)
        put_off(rows, reason=f"{error.code}: {error.detail}", now=now)
        return len(rows), 0


def _take(*, now: datetime, **of: Any) -> list[PendingRequest]:
    """The due rows of one account, for this caller alone until the lease is over."""
    due = PendingRequest.objects.filter(**of, state__in=[str(state) for state in FOLLOWED], next_check_at__lte=now)
    taken = []
    for row in due.select_related("permit").order_by("next_check_at", "pk")[:MOST_ROWS]:
        mine = PendingRequest.objects.filter(pk=row.pk, state=row.state, next_check_at=row.next_check_at)
        if mine.update(next_check_at=now + _LEASE):
            taken.append(row)
    return taken


def _look_at(rows: Sequence[PendingRequest], now: datetime) -> int:
    first = rows[0]
    protocol = SHELF.get(first.protocol)
    if protocol is None or protocol.positions is None:
        put_off(rows, reason="this product no longer knows the protocol", now=now)
        return 0
    # Claims before positions: one that ends in between leaves a position that is there, and is seen next time.
    claims = {row.pk: _find_claim(row) for row in rows}
    chain = runner.open_reader(first.chain_id, now=now, deadline=Deadline.after_ms(_READ_BUDGET_MS))
    refs = tuple(PositionRef.parse(row.ref) for row in rows)
    held = drive(HeldAt(chain.chain_id, first.account, (protocol,), refs).ask(), chain.call_many)
    by_ref = {str(position.ref): position for position in held}
    changed = 0
    for row in rows:
        if chain.block.number < row.block_number:
            put_off([row], reason="the node is behind the block it was asked in", now=now)
            continue
        position = by_ref.get(row.ref)
        step = _next_step(protocol, position, chain.block.timestamp)
        look = Look(now, position, step, claims[row.pk])
        changed += record_look(row, look, judge_look(row, look))
    return changed


def _next_step(protocol: ProtocolDef, position: Position | None, block_time: int) -> ExitStep | None:
    if position is None or protocol.exits is None:
        return None
    return protocol.exits.next_step(position, {}, block_time)


def _find_claim(row: PendingRequest) -> ActionPermit | None:
    """The newest permit of the golem, after the one that asked, that speaks of taking it."""
    speaks_of_it = ActionPermit.objects.filter(
        golem_id=row.golem_id,
        chain_id=row.chain_id,
        committing_at__isnull=False,
        created_at__gt=row.permit.created_at,
        bounds__changes__contains=[{"ref": row.ref}],
    )
    return speaks_of_it.order_by("-created_at").first()
