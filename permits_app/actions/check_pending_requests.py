"""check_pending_requests: look at what golems asked of protocols and wait for, as far as it is due, so many at a time.

A look reads the positions of one account at one protocol and changes rows of ours only. Who looks first moves the next
look ahead, so that two followers do not do the same twice; one that dies is followed up when that time is over.
What became of a standing order that is gone its protocol is asked, and who got what was asked for where others may
claim it; what it says came to the account is believed as far as transfers show it. Emits request:ready, request:done,
request:stuck, request:taken, request:lost, and of orders request:executed, request:cancelled, request:expired.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, Final

from django.db.models import Min

from permits_app.limits.pending_requests import RequestLook, judge_look, put_off, record_look
from permits_app.models import ActionPermit, PendingRequest
from permits_app.models.pending_request import FOLLOWED
from permits_app.permits.blocked_commits import list_silent_chains
from tools_app import runner
from tools_app.chain.networks import KNOWN_NETWORKS
from tools_app.core.clock import Deadline
from tools_app.core.errors import GolemError
from tools_app.core.isolated_sweeps import one_by_one
from tools_app.core.json_types import JsonObject
from tools_app.portfolio.read_all_positions import HeldAt
from tools_app.portfolio.remembered_positions import remember_positions
from tools_app.standards.inbound_transfers import list_arrivals
from tools_app.standards.position_logs import follow_trails
from tools_app.toolkit.context import ChainReader
from tools_app.toolkit.orders import OrderEnd
from tools_app.toolkit.positions import Act, ExitStep, Leg, Position, PositionRef, PositionsUnreadable, Wait, drive
from tools_app.toolkit.protocol import SHELF, ProtocolDef
from tools_app.toolkit.withdrawal_request_claims import Taking

logger = logging.getLogger(__name__)

MOST_ACCOUNTS: Final = 40
"""So many accounts one run looks at; those that waited longest come first."""
MOST_ROWS: Final = 200
_LEASE: Final = timedelta(seconds=60)
_READ_BUDGET_MS: Final = 5_000
BLOCKS_BACK: Final = 64
"""An end is looked for so many blocks before the last one it was seen in: blocks may leave the chain."""
MOST_BLOCKS_BACK: Final = 50_000
"""Who got what could be claimed is looked for so far back at most; what is gone was there a moment ago."""
_OF: Final = ("golem_id", "expects_chain_id", "account", "protocol")


def check_pending_requests(*, now: datetime, limit: int = MOST_ACCOUNTS) -> dict[str, int]:
    """Look at what is due; how many requests were looked at and how many changed."""
    followed = PendingRequest.objects.filter(state__in=[str(state) for state in FOLLOWED], next_check_at__lte=now)
    # One account counts once, however many requests it has: a golem with many makes no other one wait.
    heard = followed.exclude(expects_chain_id__in=list_silent_chains(now=now))
    due = heard.values(*_OF).annotate(since=Min("next_check_at")).order_by("since")[:limit]
    accounts = [{name: group[name] for name in _OF} for group in due]
    counts = list(one_by_one(accounts, lambda of: _follow(of, now), what="requests of"))
    return {"looked": sum(looked for looked, _ in counts), "changed": sum(changed for _, changed in counts)}


def _follow(of: dict[str, object], now: datetime) -> tuple[int, int]:
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


def _take(*, now: datetime, **of: Any) -> list[PendingRequest]:  # Any: look-ups of a query
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
    chain = runner.open_reader(first.expects_chain_id, now=now, deadline=Deadline.after_ms(_READ_BUDGET_MS))
    refs = tuple(PositionRef.parse(row.ref) for row in rows)
    held = drive(HeldAt(chain.chain_id, first.account, (protocol,), refs).ask(), chain.call_many)
    by_ref = {str(position.ref): position for position in held}
    changed = 0
    for row in rows:
        # What was sent elsewhere has no block here.
        if row.chain_id == row.expects_chain_id and chain.block.number < row.block_number:
            put_off([row], reason="the node is behind the block it was asked in", now=now)
            continue
        position = by_ref.get(row.ref)
        step = _next_step(protocol, position, chain.block.timestamp)
        at = RequestLook(
            now, position, step, claims[row.pk], block=chain.block.number, block_time=chain.block.timestamp
        )
        try:
            look = replace(at, **_ask_about_end(chain, row, position, protocol, now))
            look = replace(look, **_ask_others(chain, row, position, protocol))
        except PositionsUnreadable as error:
            put_off([row], reason=f"{error.code}: {error.detail}", now=now)
            continue
        changed += record_look(row, look, judge_look(row, look))
    return changed


def _ask_about_end(
    chain: ChainReader, row: PendingRequest, position: Position | None, protocol: ProtocolDef, now: datetime
) -> JsonObject:
    """What is told of an end, as fields of a look; nothing of what goes on."""
    if row.is_order:
        return _ask_end(chain, row, protocol, now) if position is None else {}
    return _ask_takings(chain, row, protocol) if position is not None and position.is_settled else {}


def _ask_takings(chain: ChainReader, row: PendingRequest, protocol: ProtocolDef) -> JsonObject:
    """Who got it, since it was last seen waiting: before there is something to claim nobody else can take it."""
    if protocol.takings is None:
        return {}
    ref = PositionRef.parse(row.ref)
    since = max(row.block_number, (row.seen_block or 0) - BLOCKS_BACK, chain.block.number - MOST_BLOCKS_BACK)
    trails = protocol.takings.trails(ref, row.account)
    logs = follow_trails(chain, trails, from_block=since, to_block=chain.block.number)
    told = protocol.takings.read(ref, row.account, logs)
    return {"takings": tuple(each for each in told if each.to != row.account or _has_arrived(chain, each))}


def _ask_others(
    chain: ChainReader, row: PendingRequest, position: Position | None, protocol: ProtocolDef
) -> JsonObject:
    """What others claimed of what is still there, since the last look and as far as blocks are final enough for us."""
    if protocol.takings is None or position is None or position.is_settled:
        return {}
    network = KNOWN_NETWORKS.get(chain.chain_id)
    until = chain.block.number - (network.confirmations if network is not None else 1)
    before = row.others_block if row.others_block is not None else row.block_number
    since = max(before + 1, until - MOST_BLOCKS_BACK)
    if since > until:
        return {}
    ref = PositionRef.parse(row.ref)
    try:
        logs = follow_trails(chain, protocol.takings.trails(ref, row.account), from_block=since, to_block=until)
    except GolemError as error:
        # That it can be claimed is told all the same; the next look asks again.
        logger.info("who else claimed of %s cannot be seen now: %s", row.ref, error.code)
        return {}
    told = protocol.takings.read(ref, row.account, logs)
    return {"others": tuple(each for each in told if each.to != row.account), "others_block": until}


def _has_arrived(chain: ChainReader, taking: Taking) -> bool:
    """Whether transfers of its block show so much, and something, to have come."""
    token = taking.paid.token
    came = list_arrivals(chain, account=taking.to, tokens=[token], block=taking.block).get(token, 0)
    return came >= max(1, taking.paid.raw)


def _ask_end(chain: ChainReader, row: PendingRequest, protocol: ProtocolDef, now: datetime) -> JsonObject:
    """What became of an order that is gone, as fields of a look; nothing where its protocol cannot say."""
    if protocol.orders is None:
        return {}
    ref = PositionRef.parse(row.ref)
    since = max(row.block_number, (row.seen_block or 0) - BLOCKS_BACK)
    trails = protocol.orders.trails(ref, row.account)
    logs = follow_trails(chain, trails, from_block=since, to_block=chain.block.number) if trails else []
    end = drive(protocol.orders.end(ref, row.account, logs), chain.call_many)
    end = replace(end, came=_list_seen(chain, end, row.account))
    if end.successor is None:
        return {"end": end}
    remember_positions(account=row.account, refs=[end.successor], now=now, is_own=True)
    held = drive(HeldAt(chain.chain_id, row.account, (protocol,), (end.successor,)).ask(), chain.call_many)
    return {"end": end, "successor": next((each for each in held if each.ref == end.successor), None)}


def _list_seen(chain: ChainReader, end: OrderEnd, account: str) -> tuple[Leg, ...]:
    """What is said to have come, no more of each token than transfers of that block show."""
    if not end.came or end.block is None or end.block > chain.block.number:
        return ()
    arrived = list_arrivals(chain, account=account, tokens=[leg.token for leg in end.came], block=end.block)
    seen = []
    for leg in end.came:
        raw = max(0, min(leg.raw, arrived.get(leg.token, 0)))
        arrived[leg.token] = arrived.get(leg.token, 0) - raw
        if raw:
            seen.append(Leg(leg.token, raw))
    return tuple(seen)


def _next_step(protocol: ProtocolDef, position: Position | None, block_time: int) -> ExitStep | None:
    if position is None or protocol.exits is None:
        return None
    step = protocol.exits.next_step(position, {}, block_time)
    # What could be taken back is not what was waited for.
    return Wait(None, "nobody knows when") if isinstance(step, Act) and step.is_early else step


def _find_claim(row: PendingRequest) -> ActionPermit | None:
    """The newest permit of the golem, after the one that asked, that speaks of taking it."""
    speaks_of_it = ActionPermit.objects.filter(
        golem_id=row.golem_id,
        chain_id=row.expects_chain_id,
        committing_at__isnull=False,
        created_at__gt=row.permit.created_at,
        bounds__changes__contains=[{"ref": row.ref}],
    )
    return speaks_of_it.order_by("-created_at").first()
