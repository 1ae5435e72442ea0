"""The audit chain: every kind of tampering is named by its row, in the database and in an exported file."""

from __future__ import annotations

import json
from datetime import timedelta
from io import StringIO
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import pytest
from Crypto.PublicKey import ECC
from django.core.management import CommandError, call_command
from django.db import DatabaseError, connection, transaction
from django.test.utils import CaptureQueriesContext

from golem_project.doctor.files import examine_files
from golem_project.doctor.findings import Health
from golem_project.status import _list_stuck
from tools_app.core import audit_key, audit_log, clock
from tools_app.core.audit_checkpoints import sign_checkpoint, sign_due_checkpoints, sign_head, verify_stored_chain
from tools_app.core.audit_export import export_chain, verify_file
from tools_app.core.audit_key import AuditKeyDiffers
from tools_app.core.models import AuditCheckpoint, AuditEntry, AuditHead
from tools_app.core.taint import Secret

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def own_key(settings: Any, tmp_path: Path) -> Path:
    settings.GOLEM_AUDIT_KEY_FILE = str(tmp_path / "audit_key.pem")
    settings.GOLEM_AUDIT_CHECKPOINT_ENTRIES = 5
    return tmp_path / "audit_key.pem"


@pytest.fixture
def golem_id() -> UUID:
    """A chain of seven entries, signed at the fifth."""
    found = uuid4()
    for index in range(5):
        audit_log.append(golem_id=found, event="Test", actor="t", data={"n": str(index)}, now=clock.now())
    sign_due_checkpoints(now=clock.now())
    for index in range(5, 7):
        audit_log.append(golem_id=found, event="Test", actor="t", data={"n": str(index)}, now=clock.now())
    return found


def tamper(sql: str, *values: Any) -> None:
    """What somebody does who may switch the triggers off."""
    with connection.cursor() as cursor:
        for table in ("tools_app_auditentry", "tools_app_auditcheckpoint"):
            cursor.execute(f"ALTER TABLE {table} DISABLE TRIGGER USER")
        cursor.execute(sql, values)
        for table in ("tools_app_auditentry", "tools_app_auditcheckpoint"):
            cursor.execute(f"ALTER TABLE {table} ENABLE TRIGGER USER")


@pytest.mark.parametrize("table", ["tools_app_auditentry", "tools_app_auditcheckpoint"])
def test_the_database_refuses_to_empty_the_log_at_once(golem_id: UUID, table: str) -> None:
    with pytest.raises(DatabaseError, match="append-only"), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(f"TRUNCATE {table} CASCADE")
    assert verify_stored_chain(golem_id).entries == 7


def test_a_whole_chain_holds(golem_id: UUID) -> None:
    report = verify_stored_chain(golem_id)
    assert (report.entries, report.checkpoints, report.broken) == (7, 1, None)


@pytest.mark.parametrize("seq", [1, 4, 7])
def test_a_changed_entry_is_named_the_first_one_too(golem_id: UUID, seq: int) -> None:
    tamper("UPDATE tools_app_auditentry SET data = '{}' WHERE golem_id = %s AND seq = %s", golem_id, seq)
    broken = verify_stored_chain(golem_id).broken
    assert broken is not None
    assert (broken.seq, broken.reason) == (seq, "its content does not match its hash")


@pytest.mark.parametrize("seq", [1, 4, 7])
def test_a_removed_entry_is_named_the_last_one_too(golem_id: UUID, seq: int) -> None:
    tamper("DELETE FROM tools_app_auditentry WHERE golem_id = %s AND seq = %s", golem_id, seq)
    broken = verify_stored_chain(golem_id).broken
    assert broken is not None
    assert broken.seq == seq


def test_a_chain_rewritten_with_all_its_hashes_fails_at_its_signature(golem_id: UUID) -> None:
    previous = audit_log.GENESIS_HASH
    for entry in AuditEntry.objects.filter(golem_id=golem_id).order_by("seq"):
        entry.prev_hash, entry.data = previous, {"n": "forged"}
        previous = audit_log.hash_entry(entry)
        tamper(
            "UPDATE tools_app_auditentry SET prev_hash=%s, data=%s, entry_hash=%s WHERE golem_id=%s AND seq=%s",
            entry.prev_hash,
            json.dumps(entry.data),
            previous,
            golem_id,
            entry.seq,
        )
    AuditHead.objects.filter(golem_id=golem_id).update(entry_hash=previous)
    broken = verify_stored_chain(golem_id).broken
    assert broken is not None
    assert (broken.seq, broken.reason) == (5, "the signed checkpoint holds another hash of it")


def test_a_checkpoint_signed_with_another_key_does_not_count(golem_id: UUID, own_key: Path) -> None:
    own_key.write_text(ECC.generate(curve="Ed25519").export_key(format="PEM"))
    broken = verify_stored_chain(golem_id).broken
    assert broken is not None
    assert broken.reason == "its checkpoint was signed with another key than this server's"


def test_a_forged_signature_is_named(golem_id: UUID) -> None:
    tamper("UPDATE tools_app_auditcheckpoint SET signed_at_ms = signed_at_ms + 1 WHERE golem_id = %s", golem_id)
    broken = verify_stored_chain(golem_id).broken
    assert broken is not None
    assert broken.reason == "the signature of its checkpoint does not hold"


def test_a_chain_cut_behind_a_checkpoint_is_shorter_than_what_was_signed(golem_id: UUID) -> None:
    tamper("DELETE FROM tools_app_auditentry WHERE golem_id = %s AND seq > 3", golem_id)
    last = AuditEntry.objects.get(golem_id=golem_id, seq=3)
    AuditHead.objects.filter(golem_id=golem_id).update(seq=3, entry_hash=last.entry_hash)
    broken = verify_stored_chain(golem_id).broken
    assert broken is not None
    assert "entry 5 was signed" in broken.reason


def test_the_database_refuses_to_change_or_delete_entries_and_checkpoints(golem_id: UUID) -> None:
    for rows in (AuditEntry.objects.filter(golem_id=golem_id), AuditCheckpoint.objects.filter(golem_id=golem_id)):
        with pytest.raises(DatabaseError, match="append-only"), transaction.atomic():
            rows.update(entry_hash="0x")
        with pytest.raises(DatabaseError, match="append-only"), transaction.atomic():
            rows.delete()
    assert verify_stored_chain(golem_id).broken is None


def have_passphrase(words: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """This process is on a machine with this passphrase."""
    monkeypatch.setattr(audit_key, "_seed", None)
    audit_key.configure(Secret(words))


def test_machines_with_one_passphrase_sign_with_one_key_and_none_stores_it(
    own_key: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = uuid4()
    for machine in ("first", "second"):
        have_passphrase("what both were given", monkeypatch)
        audit_log.append(golem_id=found, event="Test", actor="t", data={"machine": machine}, now=clock.now())
        assert sign_head(golem_id=found, now=clock.now())
    report = verify_stored_chain(found)
    assert (report.checkpoints, report.broken, len(report.public_keys)) == (2, None, 1)
    assert not own_key.exists()
    assert audit_key.find_other() is None


@pytest.mark.parametrize("has", ["another passphrase", "a file of its own"])
def test_a_machine_with_another_key_signs_nothing_and_says_so(
    golem_id: UUID, own_key: Path, has: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    [signed] = AuditCheckpoint.objects.filter(golem_id=golem_id)
    assert not [each for each in _list_stuck() or [] if each["what"] == "audit key"]
    if has == "another passphrase":
        have_passphrase("what nobody else has", monkeypatch)
    else:
        own_key.write_text(ECC.generate(curve="Ed25519").export_key(format="PEM"))
    audit_log.append(golem_id=uuid4(), event="Test", actor="t", data={}, now=clock.now())
    later = clock.now() + timedelta(days=2)
    with pytest.raises(AuditKeyDiffers) as refused:
        sign_due_checkpoints(now=later)
    assert refused.value.recovery and refused.value.data["signed_with"] == signed.public_key
    # What ends with a checkpoint does end: the next machine that has the key signs.
    assert sign_head(golem_id=golem_id, now=later) is False
    assert AuditCheckpoint.objects.count() == 1
    [told] = [each for each in _list_stuck() or [] if each["what"] == "audit key"]
    assert "signs nothing" in told["reason"] and told["since"]
    [found] = [each for each in examine_files(now=later, backups=None) if each.name == "audit key"]
    assert found.verdict is Health.BAD and "passphrase" in found.to_do


def test_a_checkpoint_is_signed_once_when_the_task_runs_twice(golem_id: UUID) -> None:
    head = AuditHead.objects.get(golem_id=golem_id)
    now = clock.now()
    signed = [sign_checkpoint(golem_id=golem_id, seq=head.seq, entry_hash=head.entry_hash, now=now) for _ in range(2)]
    assert signed == [True, False]
    assert sign_due_checkpoints(now=clock.now()) == 0


def test_a_round_looks_once_who_signed_last_however_many_it_signs(golem_id: UUID) -> None:
    for _ in range(4):
        audit_log.append(golem_id=uuid4(), event="Test", actor="t", data={}, now=clock.now())
    with CaptureQueriesContext(connection) as seen:
        assert sign_due_checkpoints(now=clock.now() + timedelta(days=2)) == 5
    looks = [row["sql"] for row in seen if row["sql"].startswith("SELECT") and '"public_key"' in row["sql"]]
    assert sum("LIMIT 1" in each and "WHERE" not in each for each in looks) == 1


def test_one_statement_finds_what_is_to_be_signed_however_many_chains_there_are(golem_id: UUID) -> None:
    asked: list[int] = []
    for _ in range(2):
        for _ in range(5):
            audit_log.append(golem_id=uuid4(), event="Test", actor="t", data={}, now=clock.now())
        later = clock.now() + timedelta(days=2)
        assert sign_due_checkpoints(now=later) == 5 + (not asked)
        with CaptureQueriesContext(connection) as seen:
            assert sign_due_checkpoints(now=later) == 0
        asked.append(len(seen))
    assert asked == [1, 1]


def test_an_export_verifies_alone_and_a_changed_line_is_named(golem_id: UUID, tmp_path: Path) -> None:
    path = tmp_path / "chain.jsonl"
    assert export_chain(golem_id=golem_id, path=path, now=clock.now()) == 7
    report = verify_file(path)
    assert (report.entries, report.checkpoints, report.broken) == (7, 1, None)
    lines = path.read_text().splitlines()
    lines[3] = lines[3].replace('"n": "2"', '"n": "9"')
    path.write_text("\n".join(lines) + "\n")
    broken = verify_file(path).broken
    assert broken is not None
    assert broken.seq == 3


def test_an_export_without_its_last_entry_is_noticed(golem_id: UUID, tmp_path: Path) -> None:
    path = tmp_path / "chain.jsonl"
    export_chain(golem_id=golem_id, path=path, now=clock.now())
    lines = [line for line in path.read_text().splitlines() if '"seq": 7' not in line]
    path.write_text("\n".join(lines) + "\n")
    broken = verify_file(path).broken
    assert broken is not None
    assert broken.reason == "the chain ends at 6, its head says 7"


def test_the_commands_tell_a_good_chain_and_fail_on_a_broken_one(golem_id: UUID, tmp_path: Path) -> None:
    out = StringIO()
    call_command("verify_audit", str(golem_id), stdout=out)
    assert "7 entries hold, 1 checkpoints" in out.getvalue()
    call_command("export_audit", str(golem_id), str(tmp_path / "x.jsonl"), stdout=out)
    call_command("verify_audit", file=tmp_path / "x.jsonl", stdout=out)
    with pytest.raises(CommandError, match="never overwritten"):
        call_command("export_audit", str(golem_id), str(tmp_path / "x.jsonl"), stdout=out)
    tamper("UPDATE tools_app_auditentry SET actor = 'x' WHERE golem_id = %s AND seq = 2", golem_id)
    err = StringIO()
    with pytest.raises(CommandError, match="1 of 1 chains are broken"):
        call_command("verify_audit", stdout=out, stderr=err)
    assert "broken at entry 2" in err.getvalue()


@pytest.mark.parametrize("name", ["A\x00B", "A\ud800B"])
def test_a_name_that_postgresql_cannot_keep_is_recorded_with_a_mark_and_breaks_nothing(
    golem_id: UUID, name: str
) -> None:
    entry = audit_log.append(
        golem_id=golem_id, event="Refused", actor="t", data={"observed": name, "names": [name]}, now=clock.now()
    )
    assert AuditEntry.objects.get(pk=entry.pk).data == {"observed": "A\ufffdB", "names": ["A\ufffdB"]}
    assert verify_stored_chain(golem_id).broken is None
