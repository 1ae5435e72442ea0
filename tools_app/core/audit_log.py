"""The audit log: append-only and hash-linked per golem, written inside the transaction it describes.

Each entry hashes its own content and the hash before it, so a changed, removed or reordered line shows.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from django.db import connection, transaction
from django.db.transaction import TransactionManagementError

from tools_app.core import event_bus
from tools_app.core.hashing import hash_canonical
from tools_app.core.json_types import JsonObject
from tools_app.core.models import AuditEntry, AuditHead, EventSequence
from tools_app.core.prepared_statements import Filled, Prepared, Rows, fetch_together
from tools_app.core.storable_text import make_plain_value
from tools_app.core.taint import DataSink, about, clean_for
from tools_app.core.transaction_retry import retry_aborted

GENESIS_HASH = "0x" + "00" * 32


@dataclass(frozen=True, slots=True)
class BrokenLink:
    """The first entry of a chain that does not hold, and what is wrong with it."""

    seq: int
    reason: str


@retry_aborted
def append(
    *,
    golem_id: UUID,
    event: str,
    actor: str,
    data: JsonObject,
    now: datetime,
    heartbeat_tick: int | None = None,
    head: Sequence[tuple[Any, ...]] = (),  # Any: JSON, of any shape
    along: Sequence[Filled] = (),
) -> AuditEntry:
    """Append one entry to the chain of `golem_id`; joins the caller's transaction and locks the chain's head.

    `data` is JSON-ready, integers as decimal strings, no secret. `head` is what `fill_lock` answered earlier in the
    transaction. `along` is sent with it, after it: the events of the same change. Without `heartbeat_tick` it stands in
    the tick that is under way, else in the golem's newest, as events do.
    """
    # Without a savepoint of its own: an entry that cannot be written takes the change it describes with it.
    with transaction.atomic(savepoint=False):
        ((seq, last_hash, newest_tick),) = head or _lock_head(golem_id)
        with about(golem_id):
            cleaned = clean_for(DataSink.AUDIT, data)
        entry = AuditEntry(
            golem_id=golem_id,
            seq=seq + 1,
            prev_hash=last_hash,
            timestamp_ms=int(now.timestamp() * 1000),
            heartbeat_tick=event_bus.current_tick() or newest_tick if heartbeat_tick is None else heartbeat_tick,
            event=event,
            actor=make_plain_value(actor),
            data=make_plain_value(cleaned),
        )
        entry.entry_hash = hash_entry(entry)
        columns = {field.attname: getattr(entry, field.attname) for field in AuditEntry._meta.concrete_fields}
        appended = _APPEND.fill(**{**columns, "data": json.dumps(entry.data)})
        (((entry.pk,),), *_) = fetch_together(appended, *along)
        entry._state.adding, entry._state.db = False, connection.alias
    return entry


# Entry and head in one statement, because every change of money writes one.
_APPEND = Prepared(
    "append_audit",
    f"""
WITH moved AS (
    UPDATE {AuditHead._meta.db_table} SET seq = %(seq)s, entry_hash = %(entry_hash)s WHERE golem_id = %(golem_id)s
)
INSERT INTO {AuditEntry._meta.db_table}
    (golem_id, seq, prev_hash, timestamp_ms, heartbeat_tick, event, actor, data, entry_hash)
VALUES (%(golem_id)s, %(seq)s, %(prev_hash)s, %(timestamp_ms)s, %(heartbeat_tick)s, %(event)s, %(actor)s,
        %(data)s::jsonb, %(entry_hash)s)
RETURNING id
""",  # noqa: S608  (the tables' own names)
)
# The counter of events first: most changes emit too, before or after, and both are then held in one order. The head is
# locked last by the statement's own order of work: a row of it is joined once the counter was counted.
_LOCK = Prepared(
    "lock_audit_head",
    f"""
WITH counter AS MATERIALIZED (
    SELECT heartbeat_tick FROM {EventSequence._meta.db_table} WHERE golem_id = %(golem_id)s FOR NO KEY UPDATE
)
SELECT head.seq, head.entry_hash, held.newest_tick
  FROM (SELECT COALESCE(MAX(heartbeat_tick), 0) AS newest_tick FROM counter) AS held,
       {AuditHead._meta.db_table} AS head
 WHERE head.golem_id = %(golem_id)s FOR NO KEY UPDATE OF head
""",  # noqa: S608  (the tables' own names)
)


def lock(golem_id: UUID) -> None:
    """Hold event counter and head of the chain until the transaction ends, before what follows them is locked."""
    if not connection.in_atomic_block:
        raise TransactionManagementError("a lock holds until its transaction ends")
    _lock_head(golem_id)


def fill_lock(golem_id: UUID) -> Filled:
    """The statement that locks the chain's head, for whoever sends it along with others of the transaction."""
    if not connection.in_atomic_block:
        raise TransactionManagementError("a lock holds until its transaction ends")
    return _LOCK.fill(golem_id=golem_id)


def _lock_head(golem_id: UUID) -> Rows:
    found = fill_lock(golem_id).fetch()
    if not found:
        EventSequence.objects.bulk_create([EventSequence(golem_id=golem_id)], ignore_conflicts=True)
        AuditHead.objects.bulk_create([AuditHead(golem_id=golem_id, entry_hash=GENESIS_HASH)], ignore_conflicts=True)
        found = _LOCK.fetch(golem_id=golem_id)
    return found


def hash_entry(entry: AuditEntry) -> str:
    """The hash an entry must carry, from its own columns."""
    return hash_canonical(
        {
            "golem_id": str(entry.golem_id),
            "seq": entry.seq,
            "prev_hash": entry.prev_hash,
            "timestamp_ms": entry.timestamp_ms,
            "heartbeat_tick": entry.heartbeat_tick,
            "event": entry.event,
            "actor": entry.actor,
            "data": entry.data,
        }
    )


class LinkCheck:
    """Follows one chain entry by entry, from its beginning or `after` an entry whose hash is known. The first entry is
    re-hashed like every other.
    """

    def __init__(self, *, after: int = 0, last_hash: str = GENESIS_HASH) -> None:
        self.count = after
        self.last_hash = last_hash

    def add(self, entry: AuditEntry) -> BrokenLink | None:
        """Take the next entry; says what is wrong with it, or None."""
        expected_seq = self.count + 1
        if entry.seq != expected_seq:
            return BrokenLink(expected_seq, f"entry {expected_seq} is missing; the next one found is {entry.seq}")
        if entry.prev_hash != self.last_hash:
            return BrokenLink(entry.seq, "its previous hash is not the hash of the entry before it")
        if hash_entry(entry) != entry.entry_hash:
            return BrokenLink(entry.seq, "its content does not match its hash")
        self.count, self.last_hash = expected_seq, entry.entry_hash
        return None


def append_denial(
    *, golem_id: UUID, event: str, actor: str, problem: dict[str, object], asked: dict[str, object], now: datetime
) -> AuditEntry:
    """Append a refusal: its code, and the hook and rule that refused where there is one. `asked` names what was asked.

    Parameters never get in raw; the caller hashes them.
    """
    members = ("code", "hook", "rule", "observed", "limit", "remaining", "resets_at", "would_pass", "reviewer")
    refused = {name: str(problem[name]) for name in members if problem.get(name) not in (None, "")}
    return append(golem_id=golem_id, event=event, actor=actor, data={**refused, **asked}, now=now)


def read_time(entry: AuditEntry) -> datetime:
    """The entry's time, aware."""
    return datetime.fromtimestamp(entry.timestamp_ms / 1000, tz=UTC)
