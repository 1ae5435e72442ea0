"""Old entries of the audit log are laid away: the chain holds over archives and rows, and nothing else goes."""

from __future__ import annotations

import hashlib
import io
import json
import zlib
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from django.core.management import CommandError, call_command
from django.db import DatabaseError, connection, transaction
from django.db.migrations.recorder import MigrationRecorder
from django.test import Client

from archetypes_app.owner_group import ensure_owner_group
from permits_app.execution.audit_archives import lay_away_old_entries
from permits_app.models import RecordKeeping
from tests import factories
from tests.explained import explain_all
from tools_app.core import archive_audit_entries, audit_log, clock
from tools_app.core.archive_audit_entries import lay_away_entries
from tools_app.core.audit_archives import (
    AuditArchiveBroken,
    find_entry,
    list_about,
    list_newest,
    read_archive,
    tell_entry,
)
from tools_app.core.audit_checkpoints import sign_head, verify_stored_chain
from tools_app.core.audit_export import export_chain, verify_file
from tools_app.core.models import AuditArchive, AuditCheckpoint, AuditEntry, AuditHead

pytestmark = pytest.mark.django_db

_TABLES = ("tools_app_auditentry", "tools_app_auditcheckpoint", "tools_app_auditarchive")
LATER = timedelta(days=800)
"""Beyond what is kept at hand unless somebody chose."""


@pytest.fixture(autouse=True)
def few_entries(settings: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.GOLEM_AUDIT_KEY_FILE = str(tmp_path / "audit_key.pem")
    monkeypatch.setattr(archive_audit_entries, "LEAST_ENTRIES", 3)


def write(golem_id: UUID, count: int, *, now: datetime | None = None) -> None:
    """So many entries, and a checkpoint of the last."""
    at = now or clock.now()
    for _ in range(count):
        seq = AuditEntry.objects.filter(golem_id=golem_id).count()
        audit_log.append(
            golem_id=golem_id, event="Test", actor="t", data={"permit_id": f"p{seq % 2}", "of": "é 1.5"}, now=at
        )
    assert sign_head(golem_id=golem_id, now=at)


@pytest.fixture
def golem_id() -> UUID:
    """A chain of eleven entries, signed at the fourth, the ninth and the eleventh."""
    golem = factories.make_golem(owner=factories.make_owner())
    for count in (4, 5, 2):
        write(golem.pk, count)
    assert AuditHead.objects.get(golem_id=golem.pk).seq == 11
    return golem.pk


def lay_away(golem_id: UUID, times: int = 1) -> list[AuditArchive]:
    made = [
        lay_away_entries(golem_id=golem_id, before=clock.now() + LATER, now=clock.now() + LATER) for _ in range(times)
    ]
    return [each for each in made if each is not None]


def tamper(sql: str, *values: Any) -> None:
    """What somebody does who may switch the triggers off."""
    with connection.cursor() as cursor:
        for table in _TABLES:
            cursor.execute(f"ALTER TABLE {table} DISABLE TRIGGER USER")
        cursor.execute(sql, values)
        for table in _TABLES:
            cursor.execute(f"ALTER TABLE {table} ENABLE TRIGGER USER")


def list_rows(golem_id: UUID) -> list[dict[str, Any]]:
    return [dict(row) for row in AuditEntry.objects.filter(golem_id=golem_id).order_by("seq").values()]


def test_the_chain_holds_over_archives_and_rows_and_can_be_read_and_exported(golem_id: UUID, tmp_path: Path) -> None:
    whole = list_rows(golem_id)
    before = verify_stored_chain(golem_id)
    first, second = lay_away(golem_id, 3)
    assert [(each.number, each.first_seq, each.last_seq) for each in (first, second)] == [(1, 1, 4), (2, 5, 9)]
    assert [row["seq"] for row in list_rows(golem_id)] == [10, 11]
    assert verify_stored_chain(golem_id) == before and before.broken is None and before.entries == 11
    assert AuditCheckpoint.objects.filter(golem_id=golem_id).count() == 3

    told = [each for archive in (first, second) for each in read_archive(archive)]
    assert [(each.seq, each.data, each.entry_hash) for each in told] == [
        (row["seq"], row["data"], row["entry_hash"]) for row in whole[:9]
    ]
    audit_log.append(golem_id=golem_id, event="Test", actor="t", data={}, now=clock.now())
    assert verify_stored_chain(golem_id).entries == 12
    path = tmp_path / "chain.jsonl"
    assert export_chain(golem_id=golem_id, path=path, now=clock.now()) == 12
    assert verify_file(path).broken is None


def test_what_is_young_or_not_signed_or_too_little_stays(golem_id: UUID) -> None:
    assert lay_away_entries(golem_id=golem_id, before=clock.now() - timedelta(hours=1), now=clock.now()) is None
    # Of the last two entries there are too few; one more is not signed.
    audit_log.append(golem_id=golem_id, event="Test", actor="t", data={}, now=clock.now())
    assert len(lay_away(golem_id, 5)) == 2
    assert [row["seq"] for row in list_rows(golem_id)] == [10, 11, 12]


def refuse(golem_id: UUID, do: Callable[[], object], words: str = "append-only") -> None:
    before = list_rows(golem_id), AuditArchive.objects.count()
    with pytest.raises(DatabaseError, match=words), transaction.atomic():
        do()
    assert (list_rows(golem_id), AuditArchive.objects.count()) == before


def run(sql: str, *values: Any) -> Callable[[], object]:
    def do() -> None:
        with connection.cursor() as cursor:
            cursor.execute(sql, values)

    return do


def test_the_database_lets_nothing_else_go(golem_id: UUID) -> None:
    (made,) = lay_away(golem_id)
    rows = AuditEntry.objects.filter(golem_id=golem_id)
    refuse(golem_id, rows.delete)
    refuse(golem_id, lambda: rows.update(event="Other"))
    for table in _TABLES:
        refuse(golem_id, run(f"TRUNCATE {table} CASCADE"))
    archives = AuditArchive.objects.filter(golem_id=golem_id)
    refuse(golem_id, archives.delete)
    refuse(golem_id, lambda: archives.update(last_seq=9))
    # Whoever knows how the function asks gets no row beyond what the archive has, and no other golem's.
    asked = f"{made.pk} {made.sha256}"
    refuse(golem_id, run("SELECT set_config('golem.audit_archive', %s, TRUE); DELETE FROM tools_app_auditentry", asked))
    other = factories.make_golem(owner=factories.make_owner(name="other"), name="Other")
    write(other.pk, 4)
    words = "does not say each of its entries"
    refuse(other.pk, run("SELECT lay_away_audit_entries(%s, %s)", made.pk, zlib.decompress(made.content)), words)
    refuse(golem_id, run("SELECT lay_away_audit_entries(%s, %s)", made.pk, b"{}\n"), "another fingerprint")
    assert verify_stored_chain(golem_id).broken is None


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"number": 3}, "begins where the one before it ended"),
        ({"first_seq": 6}, "begins where the one before it ended"),
        ({"first_seq": 1}, "begins where the one before it ended"),
        ({"last_seq": 8}, "ends at a checkpoint"),
        ({"last_hash": "0x00"}, "ends at a checkpoint"),
        ({"sha256": "none"}, "names its fingerprint"),
    ],
)
def test_the_database_takes_no_archive_out_of_order_or_without_checkpoint(
    golem_id: UUID, changes: dict[str, Any], words: str
) -> None:
    lay_away(golem_id)
    point = AuditCheckpoint.objects.get(golem_id=golem_id, seq=9)
    columns = {
        "golem_id": golem_id,
        "number": 2,
        "first_seq": 5,
        "last_seq": 9,
        "first_at_ms": 0,
        "last_at_ms": 0,
        "last_hash": point.entry_hash,
        "sha256": "0" * 64,
        "content": b"",
        "laid_away_at": clock.now(),
    }
    refuse(golem_id, lambda: AuditArchive.objects.create(**{**columns, **changes}), words)
    made = AuditArchive.objects.create(**columns)
    # One that says nothing lets nothing go.
    words = "another fingerprint"
    refuse(golem_id, run("SELECT lay_away_audit_entries(%s, %s)", made.pk, b""), words)


@pytest.mark.parametrize("member", ["data", "actor", "entry_hash", "timestamp_ms"])
def test_lines_that_say_an_entry_otherwise_let_no_row_go(golem_id: UUID, member: str) -> None:
    point = AuditCheckpoint.objects.get(golem_id=golem_id, seq=4)
    rows = AuditEntry.objects.filter(golem_id=golem_id, seq__lte=4).order_by("seq")
    told: list[dict[str, Any]] = [{name: getattr(row, name) for name in tell_entry(row)["entry"]} for row in rows]
    told[2][member] = 7 if member == "timestamp_ms" else "other"
    lines = b"".join(json.dumps({"entry": each}).encode() + b"\n" for each in told)
    made = AuditArchive.objects.create(
        golem_id=golem_id,
        number=1,
        first_seq=1,
        last_seq=4,
        first_at_ms=0,
        last_at_ms=0,
        last_hash=point.entry_hash,
        sha256=hashlib.sha256(lines).hexdigest(),
        content=zlib.compress(lines),
        laid_away_at=clock.now(),
    )
    words = "does not say each of its entries"
    refuse(golem_id, run("SELECT lay_away_audit_entries(%s, %s)", made.pk, lines), words)


def forge(content: bytes) -> bytes:
    return zlib.compress(zlib.decompress(content).replace(b'"Test"', b'"Best"', 1))


@pytest.mark.parametrize(
    ("fault", "seq", "words"),
    [
        ("content", 5, "another fingerprint"),
        ("unpacked", 5, "cannot be unpacked"),
        ("content and fingerprint", 5, "its content does not match its hash"),
        ("missing", 1, "one before it is missing"),
        ("last missing", 5, "archive 2 of the audit log: it is gone, and so are entries 5 to 9"),
        ("last missing, and nothing behind it", 5, "entries 5 to 11, which stand nowhere else"),
        ("order", 1, "out of order"),
        ("checkpoint", 9, "no checkpoint says the same"),
        ("twice", 3, "stands in the log again"),
    ],
)
def test_what_is_wrong_with_an_archive_is_told_with_code_reason_and_recovery(
    golem_id: UUID, fault: str, seq: int, words: str
) -> None:
    whole = list_rows(golem_id)
    _, second = lay_away(golem_id, 2)
    forged = forge(bytes(second.content))
    changed = hashlib.sha256(zlib.decompress(forged)).hexdigest()
    table = "tools_app_auditarchive"
    if fault == "content":
        tamper(f"UPDATE {table} SET content = %s WHERE number = 2", forged)
    elif fault == "unpacked":
        tamper(f"UPDATE {table} SET content = 'none' WHERE number = 2")
    elif fault == "content and fingerprint":
        tamper(f"UPDATE {table} SET content = %s, sha256 = %s WHERE number = 2", forged, changed)
    elif fault == "missing":
        tamper(f"DELETE FROM {table} WHERE number = 1")
    elif fault.startswith("last missing"):
        if fault != "last missing":
            tamper("DELETE FROM tools_app_auditentry WHERE golem_id = %s AND seq > 9", golem_id)
        tamper(f"DELETE FROM {table} WHERE number = 2")
    elif fault == "order":
        tamper(f"UPDATE {table} SET number = number + 7 WHERE number = 1")
    elif fault == "checkpoint":
        tamper("DELETE FROM tools_app_auditcheckpoint WHERE seq = 9")
    else:
        AuditEntry.objects.create(**{**whole[2], "id": None})
    broken = verify_stored_chain(golem_id).broken
    assert broken is not None and broken.seq == seq and words in broken.reason
    assert broken.reason.startswith("AUDIT_ARCHIVE_BROKEN: archive ") and "(ASK_OWNER)" in broken.reason
    assert "from a backup" in broken.reason
    with pytest.raises(CommandError, match="1 of 1 chains are broken"):
        call_command("verify_audit", str(golem_id), stderr=io.StringIO())


def test_a_chain_that_does_not_hold_is_not_laid_away(golem_id: UUID) -> None:
    tamper("UPDATE tools_app_auditentry SET actor = 'x' WHERE golem_id = %s AND seq = 2", golem_id)
    with pytest.raises(AuditArchiveBroken, match="entry 2: its content does not match"):
        lay_away(golem_id)
    tamper("UPDATE tools_app_auditentry SET actor = 't' WHERE golem_id = %s AND seq = 2", golem_id)
    tamper("UPDATE tools_app_auditcheckpoint SET signed_at_ms = signed_at_ms - 1 WHERE golem_id = %s", golem_id)
    with pytest.raises(AuditArchiveBroken, match="signature of its checkpoint"):
        lay_away(golem_id)
    assert len(list_rows(golem_id)) == 11 and not AuditArchive.objects.exists()


def test_entries_of_a_permit_and_one_by_number_are_found_wherever_they_are(golem_id: UUID) -> None:
    def look(since: timedelta, until: timedelta) -> list[int]:
        now = clock.now()
        found = list_about(golem_id, facts={"permit_id": "p1"}, since=now + since, until=now + until, most=50)
        return [entry.seq for entry in found]

    day = timedelta(days=1)
    asked = look(-day, day)
    assert asked == [2, 4, 6, 8, 10]
    lay_away(golem_id, 2)
    assert look(-day, day) == asked
    # Archives of other days are not opened.
    assert look(day, 2 * day) == [10]
    assert [getattr(find_entry(golem_id, seq), "seq", None) for seq in (1, 9, 10, 12)] == [1, 9, 10, None]
    assert [entry.seq for entry in list_newest([golem_id], most=6)] == [11, 10]


def test_each_owner_keeps_the_log_for_as_long_as_they_said_and_only_who_has_something_old_is_visited(
    golem_id: UUID, monkeypatch: pytest.MonkeyPatch, django_assert_num_queries: Any
) -> None:
    # What the statement was made with.
    monkeypatch.setattr(archive_audit_entries, "LEAST_ENTRIES", 200)
    golem = factories.make_golem(owner=factories.make_owner(name="busy"), name="Busy")
    now = clock.now().replace(microsecond=0)
    write(golem.pk, 201, now=now)
    with django_assert_num_queries(2):
        assert lay_away_old_entries(now=now + timedelta(days=2)).archives == 0
    RecordKeeping.objects.create(person=golem.owner, days=100)
    assert lay_away_old_entries(now=now + timedelta(days=100)).archives == 0
    assert lay_away_old_entries(now=now + timedelta(days=101), owner_id=golem.owner_id + 1).archives == 0
    with explain_all() as seen:
        done = lay_away_old_entries(now=now + timedelta(days=101))
    assert (done.archives, done.entries, done.broken) == (1, 201, 0)
    assert seen.list_long(more_than=300) == []
    with django_assert_num_queries(2):
        assert lay_away_old_entries(now=now + LATER).archives == 0


def test_nothing_is_laid_away_while_servers_may_run_beside_that_know_no_archive(
    golem_id: UUID, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(archive_audit_entries, "LEAST_ENTRIES", 200)
    write(golem_id, 200)
    rolled_out = clock.now() + LATER
    rows = MigrationRecorder.Migration.objects.filter(app="tools_app", name="0030_archives_of_the_audit_log")
    assert rows.update(applied=rolled_out) == 1
    moment = timedelta(microseconds=1)
    assert lay_away_old_entries(now=rolled_out + timedelta(days=1) - moment).archives == 0
    assert lay_away_old_entries(now=rolled_out + timedelta(days=1)).archives == 1


def test_a_part_of_two_hundred_entries_is_laid_away_and_a_smaller_one_stays(
    golem_id: UUID, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(archive_audit_entries, "LEAST_ENTRIES", 200)
    write(golem_id, 188)
    assert AuditHead.objects.get(golem_id=golem_id).seq == 199
    assert lay_away_old_entries(now=clock.now() + LATER).entries == 0 and lay_away(golem_id) == []
    write(golem_id, 1)
    assert lay_away_old_entries(now=clock.now() + LATER).entries == 200


def test_one_log_that_does_not_hold_keeps_no_other_waiting(
    golem_id: UUID, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(archive_audit_entries, "LEAST_ENTRIES", 200)
    owner = factories.make_owner(name="two")
    made = [factories.make_golem(owner=owner, name=name) for name in ("One", "Two")]
    first, second = sorted(made, key=lambda golem: golem.pk)
    for golem in (first, second):
        write(golem.pk, 200)
    tamper("UPDATE tools_app_auditentry SET actor = 'x' WHERE golem_id = %s AND seq = 2", first.pk)
    done = lay_away_old_entries(now=clock.now() + LATER)
    assert (done.archives, done.entries, done.broken) == (1, 200, 1)
    assert "AUDIT_ARCHIVE_BROKEN" in caplog.text and len(list_rows(first.pk)) == 200


def test_the_owner_and_the_operator_read_what_was_laid_away(golem_id: UUID) -> None:
    from archetypes_app.models import Golem

    golem = Golem.objects.get(pk=golem_id)
    golem.owner.groups.add(ensure_owner_group())
    browser, stranger = Client(), Client()
    browser.force_login(golem.owner)
    other = factories.make_owner(name="stranger")
    other.groups.add(ensure_owner_group())
    stranger.force_login(other)
    lay_away(golem_id)
    page = f"/admin/archetypes_app/golem/{golem_id}/statement/"
    assert "Archive of the audit log 1" in browser.get(page).content.decode()
    read = browser.get(f"{page}audit/1.jsonl")
    lines = [json.loads(line)["entry"]["seq"] for line in read.content.decode().splitlines()]
    assert lines == [1, 2, 3, 4] and "archive-of-audit-1-" in read["Content-Disposition"]
    assert browser.get(f"{page}audit/2.jsonl").status_code == browser.get(f"{page}other/1.jsonl").status_code == 404
    assert stranger.get(f"{page}audit/1.jsonl").status_code in {403, 404}

    def call(*words: str) -> str:
        out = io.StringIO()
        call_command("archive", *words, stdout=out)
        return out.getvalue()

    assert "audit 1: entries 1 to 4, " in call("list", str(golem_id))
    assert "1 archives of the audit log lead to what was signed" in call("verify", str(golem_id))
    assert json.loads(call("read", str(golem_id), "1", "--of", "audit").splitlines()[0])["entry"]["seq"] == 1
    tamper("UPDATE tools_app_auditarchive SET content = 'none'")
    assert browser.get(f"{page}audit/1.jsonl").status_code == AuditArchiveBroken.http_status
    with pytest.raises(CommandError, match="cannot be unpacked"):
        call("verify", str(golem_id))


def test_pages_look_through_no_more_of_a_long_log_than_they_show(golem_id: UUID) -> None:
    AuditEntry.objects.bulk_create(
        AuditEntry(
            golem_id=golem_id,
            seq=1_000 + number,
            prev_hash="0x",
            timestamp_ms=number,
            event="Test",
            actor="test",
            data={"permit_id": f"q{number}", "request_id": f"r{number}"} if number % 2 else {"of": "none"},
            entry_hash=f"0x{number}",
        )
        for number in range(5_000)
    )
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE tools_app_auditentry")
    now = clock.now()
    facts = {"request_id": "r7", "permit_id": "q9"}
    person = factories.make_owner(name="operator")
    person.is_superuser = True
    person.save()
    browser = Client()
    browser.force_login(person)
    with explain_all() as seen:
        assert [row.seq for row in list_about(golem_id, facts=facts, since=now, until=now, most=50)] == [1_007, 1_009]
        list_newest([golem_id], most=6)
        assert browser.get("/admin/").status_code == 200
    assert [scan for scan in seen.list_long(more_than=100) if scan.table == "tools_app_auditentry"] == []
    with explain_all() as seen:
        for chosen in ("", f"?of_golem={golem_id}"):
            assert browser.get(f"/admin/tools_app/auditentry/{chosen}").status_code == 200
    # A list counts two thousand.
    assert [scan for scan in seen.list_long(more_than=3_000) if scan.table == "tools_app_auditentry"] == []
