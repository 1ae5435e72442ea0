"""Makes one golem, as the product makes them, into thousands: its rows are written again for each by SQL.

The pattern acted and ticked before, so that each copy has an owner, a policy, a wallet, an API key, and permits with
their outcomes. Chains of the audit log hold: they are hashed anew. Nothing checks references meanwhile.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from django.apps import apps
from django.contrib.auth.hashers import make_password
from django.contrib.auth.models import User
from django.db import connection, models, transaction

from archetypes_app.models import Golem, Heartbeat
from archetypes_app.owner_group import ensure_owner_group
from golem_project.heartbeat.schedule import first_tick
from tools_app.chain.abi import checksum
from tools_app.core.audit_log import GENESIS_HASH, hash_entry
from tools_app.core.models import AuditEntry, AuditHead

GOLEMS_OF_ONE: Final = 10
"""Golems that one owner has."""
THETA_SECONDS: Final = 30
_ENTRIES: Final = 3
_NEW_ID: Final = "md5(fleet.n || {column}::text)::uuid"
_OF_PERMIT: Final = "permit_id IN (SELECT id FROM permits_app_actionpermit WHERE golem_id = %(golem)s)"
_OF_GOLEM: Final = "golem_id = %(golem)s"
_ENDED: Final = "status IN ('COMMITTED', 'REVERTED', 'EXPIRED', 'DENIED', 'CANCELLED')"
_ADDRESS: Final = {"address": "fleet.address"}
# What is written again, which rows of it, and what differs in a copy beside ids of golems, permits, and rows.
_COPIED: Final[tuple[tuple[str, str, dict[str, str]], ...]] = (
    (
        "archetypes_app.Golem",
        "id = %(golem)s",
        {"id": "fleet.golem", "name": "'Fleet ' || fleet.n", "owner_id": "fleet.owner", "made_by": "'OWNER'"}
        | _ADDRESS,
    ),
    (
        "archetypes_app.ApiKey",
        _OF_GOLEM,
        {
            "prefix": "substr(md5(fleet.n || prefix), 1, 8)",
            "digest": "md5(fleet.n || digest) || md5(digest || fleet.n)",
            "created_by_id": "fleet.owner",
            "session_id": _NEW_ID.format(column="session_id"),
        },
    ),
    ("archetypes_app.Heartbeat", _OF_GOLEM, {"next_tick_at": "fleet.due", "is_on": "true"}),
    ("archetypes_app.VitalityRecord", _OF_GOLEM, {}),
    ("archetypes_app.ToolOverride", _OF_GOLEM, {}),
    ("permits_app.Wallet", _OF_GOLEM, _ADDRESS),
    ("permits_app.SigningKey", _OF_GOLEM, {"account": "fleet.address"} | _ADDRESS),
    ("permits_app.PolicyCage", _OF_GOLEM, {}),
    ("permits_app.PolicyVersion", _OF_GOLEM, {}),
    ("permits_app.SpendingLimits", _OF_GOLEM, {}),
    ("permits_app.AllowlistEntry", _OF_GOLEM, {}),
    ("permits_app.HighWaterMark", _OF_GOLEM, {"account": "fleet.address"}),
    ("permits_app.NavSnapshot", _OF_GOLEM, {}),
    ("permits_app.ActionPermit", f"{_OF_GOLEM} AND {_ENDED}", {"signer": "fleet.address"}),
    (
        "permits_app.OutboundTransaction",
        _OF_PERMIT,
        {
            "state": "'FINAL'",
            "tx_hash": "'0x' || md5(fleet.n || tx_hash) || md5(tx_hash || fleet.n)",
            "sender": "fleet.address",
            "replaces_id": "NULL",
        },
    ),
    ("permits_app.NonceReservation", _OF_PERMIT, _ADDRESS),
    (
        "permits_app.OutcomeRecord",
        _OF_PERMIT,
        {
            "episode_id": _NEW_ID.format(column="episode_id"),
            # Over a day, as they come.
            "created_at": "of_one.created_at - make_interval(secs => fleet.n * 8.0)",
        },
    ),
    (
        "permits_app.SpendEntry",
        f"{_OF_GOLEM} AND state <> 'RESERVED' AND reverses_id IS NULL",
        {},
    ),
    (
        "memory_app.Episode",
        _OF_GOLEM,
        {
            "content_hash": "md5(fleet.n || content_hash) || md5(content_hash || fleet.n)",
            "origin_id": _NEW_ID.format(column="origin_id"),
        },
    ),
    ("tools_app.EventSequence", _OF_GOLEM, {}),
)


@dataclass(frozen=True, slots=True)
class Fleet:
    """The golems' ids and addresses, an owner's, and how long it took to write them."""

    ids: tuple[UUID, ...]
    addresses: tuple[str, ...]
    owner: User


def make_fleet(pattern: Golem, count: int, *, now: datetime) -> Fleet:
    """Write `count` golems like `pattern`, each due within its first interval from `now`."""
    owners = _make_owners(-(-count // GOLEMS_OF_ONE))
    ids = [UUID(int=(0xF1EE7 << 100) | number) for number in range(1, count + 1)]
    addresses = [checksum(f"0x{'f1ee7':0<32}{number:08x}") for number in range(1, count + 1)]
    due = [first_tick(golem_id=each, theta_seconds=THETA_SECONDS, now=now) for each in ids]
    with transaction.atomic(), connection.cursor() as cursor:
        # Of a superuser, for this transaction: every reference is to a row that is copied too.
        cursor.execute("SET LOCAL session_replication_role = replica")
        cursor.execute(
            "CREATE TEMP TABLE fleet (n int, golem uuid, owner int, address text, due timestamptz) ON COMMIT DROP"
        )
        with cursor.copy("COPY fleet FROM STDIN") as copy:
            for number, (golem, address, at) in enumerate(zip(ids, addresses, due, strict=True)):
                copy.write_row((number + 1, golem, owners[number // GOLEMS_OF_ONE].pk, address, at))
        cursor.execute("ANALYZE fleet")
        for label, which, changes in _COPIED:
            cursor.execute(_write_copies(apps.get_model(label), which, changes), {"golem": pattern.pk})
        _copy_profiles(cursor, pattern)
    _write_audit(ids, now)
    Heartbeat.objects.filter(golem_id__in=ids).update(base_interval_seconds=THETA_SECONDS)
    with connection.cursor() as cursor:
        cursor.execute("VACUUM ANALYZE")
    return Fleet(tuple(ids), tuple(addresses), owners[0])


def _make_owners(count: int) -> list[User]:
    password = make_password(None)
    owners = User.objects.bulk_create(
        User(username=f"fleet owner {number}", is_staff=True, password=password) for number in range(count)
    )
    ensure_owner_group().user_set.add(*owners)
    return owners


def _write_copies(model: type[models.Model], which: str, changes: dict[str, str]) -> str:
    columns, values = [], []
    for field in model._meta.concrete_fields:
        name = str(field.column)
        if getattr(field, "generated", False):
            continue
        if name in changes:
            value = changes[name]
        elif name == "golem_id":
            value = "fleet.golem"
        elif field.primary_key and not isinstance(field, models.UUIDField):
            continue
        elif field.primary_key or name in {"permit_id", "api_key_id"}:
            value = _NEW_ID.format(column=f'"{name}"')
        else:
            value = f'of_one."{name}"'
        columns.append(f'"{name}"')
        values.append(value)
    table = model._meta.db_table
    return (
        f"INSERT INTO {table} ({', '.join(columns)}) SELECT {', '.join(values)}"
        f" FROM (SELECT * FROM {table} WHERE {which}) AS of_one, fleet"
    )


def _copy_profiles(cursor: object, pattern: Golem) -> None:
    table = Golem.profiles.through._meta.db_table
    cursor.execute(  # type: ignore[attr-defined]
        f"INSERT INTO {table} (golem_id, toolprofile_id) SELECT fleet.golem, toolprofile_id"
        f" FROM {table} AS of_one, fleet WHERE of_one.golem_id = %s",
        [pattern.pk],
    )


def _write_audit(ids: list[UUID], now: datetime) -> None:
    """A chain of a few entries of each, which holds."""
    begun_ms = int((now - timedelta(hours=1)).timestamp() * 1000)
    entries, heads = [], []
    for golem_id in ids:
        previous = GENESIS_HASH
        for seq in range(1, _ENTRIES + 1):
            entry = AuditEntry(
                golem_id=golem_id,
                seq=seq,
                prev_hash=previous,
                timestamp_ms=begun_ms + seq,
                event="PermitConsumed",
                actor="system:proof",
                data={"status": "COMMITTED"},
            )
            previous = entry.entry_hash = hash_entry(entry)
            entries.append(entry)
        heads.append(AuditHead(golem_id=golem_id, seq=_ENTRIES, entry_hash=previous))
    AuditEntry.objects.bulk_create(entries, batch_size=5_000)
    AuditHead.objects.bulk_create(heads, batch_size=5_000)
