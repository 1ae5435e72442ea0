"""What old permits were judged on is laid away: statements stay, and it can be read, trusted and brought back."""

from __future__ import annotations

import hashlib
import io
import json
import zlib
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.test import Client

from archetypes_app.owner_group import ensure_owner_group
from permits_app.errors import ArchiveBroken, ReceiptArchived
from permits_app.execution import record_archives
from permits_app.execution.payload_states import decode_receipt
from permits_app.execution.reconcile import reconcile_transactions
from permits_app.execution.record_archives import JUDGED_ON, lay_away_old_records
from permits_app.models import ActionPermit, OutboundTransaction, RecordArchive, RecordKeeping
from permits_app.models.transaction import TransactionState
from permits_app.performance.csv_exports import EXPORTS
from permits_app.performance.monthly_statement import build_statement, list_months
from permits_app.permits import read_record_archives
from permits_app.permits.read_record_archives import read_permit
from permits_app.tasks import lay_away_records_task
from tests import factories
from tests.explained import explain_all
from tests.live_golem import LiveGolem
from tests.permits_app.execution.chain_tricks import mine
from tools_app.core import clock
from tools_app.core.audit_checkpoints import sign_head, verify_stored_chain
from tools_app.core.models import AuditEntry

LATER = timedelta(days=800)
"""Beyond what is kept at hand unless somebody chose."""


@pytest.fixture
def traded(live_golem: LiveGolem) -> LiveGolem:
    """Two trades that are final, one that was only previewed and lapsed, and one that is still open."""
    for amount in ("100000000", "110000000"):
        live_golem.commit(live_golem.preview(amount=amount)["permit_id"])
    mine(live_golem.world, 3)
    reconcile_transactions(now=clock.now())
    lapsed = live_golem.preview(amount="120000000")["permit_id"]
    ActionPermit.objects.filter(pk=lapsed).update(status="EXPIRED")
    live_golem.preview(amount="130000000")
    states = set(OutboundTransaction.objects.values_list("state", flat=True))
    assert states == {str(TransactionState.FINAL)}
    return live_golem


def read_rows() -> dict[str, Any]:
    """Everything that an archive may touch, as it stands."""
    permits = ActionPermit.objects.order_by("pk").values("pk", "status", "plan_hash", *JUDGED_ON)
    sent = OutboundTransaction.objects.order_by("pk").values("pk", "raw", "receipt")
    return {str(row["pk"]): row for row in (*permits, *sent)}


def read_statements(golem: LiveGolem) -> list[Any]:
    exports = [[list(row.values()) for row in export.list_rows(golem.golem, None)] for export in EXPORTS.values()]
    months = list_months(golem.golem, now=clock.now())
    return [*exports, *(build_statement(golem.golem, begins=month) for month in months)]


def measure_bytes() -> int:
    columns = " + ".join(f"pg_column_size({name})" for name in JUDGED_ON)
    with connection.cursor() as cursor:
        cursor.execute(
            f"SELECT (SELECT sum({columns}) FROM permits_app_actionpermit)"
            " + (SELECT sum(pg_column_size(receipt)) FROM permits_app_outboundtransaction)"
        )
        (found,) = cursor.fetchone()
    return int(found)


def test_old_records_are_laid_away_statements_stay_and_all_of_it_comes_back(traded: LiveGolem) -> None:
    rows, statements, before = read_rows(), read_statements(traded), measure_bytes()
    done = lay_away_old_records(now=clock.now() + LATER)
    archive = RecordArchive.objects.get()
    assert (done.archives, done.permits) == (1, 3) and archive.number == 1
    assert archive.transactions == OutboundTransaction.objects.count()
    assert read_statements(traded) == statements
    kept = measure_bytes() + len(bytes(archive.content))
    assert kept < before * 0.7, (before, kept)

    (trade, *_) = OutboundTransaction.objects.filter(receipt__archive=1)
    assert trade.permit is not None and trade.permit.simulation == {}
    # What the reconciler and pages read of a receipt is there; its logs are told as laid away.
    assert trade.receipt["block_hash"].startswith("0x") and "logs" not in trade.receipt
    with pytest.raises(ReceiptArchived, match="archive 1 of its golem"):
        decode_receipt(trade.receipt)
    assert "problem" not in " ".join(reconcile_transactions(now=clock.now()))
    found = read_permit(trade.permit.pk)
    assert found is not None and found[0]["simulation"] == rows[str(trade.permit.pk)]["simulation"]
    receipts = {line["transaction"]: line["receipt"] for line in found[1:]}
    assert receipts[trade.tx_hash] == rows[str(trade.pk)]["receipt"]

    record_archives.bring_back(golem_id=traded.golem.pk, number=1, actor="test", now=clock.now())
    assert read_rows() == rows
    # And is not laid away again behind the back of who wanted it.
    assert lay_away_old_records(now=clock.now() + LATER).archives == 0
    sign_head(golem_id=traded.golem.pk, now=clock.now())
    assert verify_stored_chain(traded.golem.pk).broken is None
    events = AuditEntry.objects.filter(golem_id=traded.golem.pk).order_by("-seq").values_list("event", flat=True)
    assert list(events[:2]) == ["RecordsBroughtBack", "RecordsLaidAway"]


def test_what_is_open_and_what_is_young_stays_whole(traded: LiveGolem) -> None:
    rows = read_rows()
    assert lay_away_records_task() == 0 and read_rows() == rows
    lay_away_old_records(now=clock.now() + LATER)
    (open_permit,) = ActionPermit.objects.filter(status="CREATED")
    assert open_permit.simulation == rows[str(open_permit.pk)]["simulation"] != {}


def test_an_owner_chooses_how_long_and_others_are_not_touched(traded: LiveGolem) -> None:
    soon = clock.now() + timedelta(days=100)
    assert lay_away_old_records(now=soon).permits == 0
    RecordKeeping.objects.create(person=traded.owner, days=99)
    assert lay_away_old_records(now=soon, owner_id=traded.owner.pk + 1).permits == 0
    assert lay_away_old_records(now=soon, owner_id=traded.owner.pk).permits == 3


def test_records_stay_whole_for_as_long_as_is_said_and_not_a_moment_longer(traded: LiveGolem) -> None:
    now = clock.now()
    edge = now - timedelta(days=731)
    first, *others = ActionPermit.objects.filter(status="COMMITTED")
    ActionPermit.objects.filter(pk=first.pk).update(created_at=edge)
    assert lay_away_old_records(now=now).permits == 0
    ActionPermit.objects.filter(pk=first.pk).update(created_at=edge - timedelta(microseconds=1))
    assert lay_away_old_records(now=now).permits == 1
    assert [row.simulation != {} for row in (ActionPermit.objects.get(pk=each.pk) for each in others)] == [True]


def test_archives_follow_one_another_without_a_gap(traded: LiveGolem, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(record_archives, "_BATCH", 1)
    assert lay_away_old_records(now=clock.now() + LATER).permits == 3
    rows = list(RecordArchive.objects.order_by("number"))
    assert [row.number for row in rows] == [1, 2, 3, 4] and [row.permits for row in rows] == [1, 1, 1, 0]


@pytest.mark.parametrize("what", ["content", "sha256", "unpacked"])
def test_an_archive_that_somebody_changed_is_neither_read_nor_brought_back(traded: LiveGolem, what: str) -> None:
    lay_away_old_records(now=clock.now() + LATER)
    row = RecordArchive.objects.get()
    lines = zlib.decompress(bytes(row.content)).replace(b"uniswap", b"sushisw")
    if what == "content":
        RecordArchive.objects.update(content=zlib.compress(lines))
    elif what == "unpacked":
        RecordArchive.objects.update(content=b"none")
    else:
        RecordArchive.objects.update(content=zlib.compress(lines), sha256=hashlib.sha256(lines).hexdigest())
    before = read_rows()
    with pytest.raises(ArchiveBroken):
        record_archives.bring_back(golem_id=traded.golem.pk, number=1, actor="test", now=clock.now())
    assert read_rows() == before
    with pytest.raises(CommandError, match="archive 1 of golem"):
        call_command("archive", "verify", str(traded.golem.pk))


def test_the_operator_reads_verifies_and_brings_back_by_command(traded: LiveGolem) -> None:
    def run(*words: str) -> str:
        out = io.StringIO()
        call_command("archive", *words, stdout=out)
        return out.getvalue().strip()

    golem, owner = str(traded.golem.pk), traded.owner.username
    with pytest.raises(CommandError, match="at least 90 days"):
        run("keep", owner, "89")
    assert run("list", golem) == "nothing of it was laid away yet: beat looks every hour for what is old enough"
    (young, *_) = ActionPermit.objects.all()
    with pytest.raises(
        CommandError, match=f"nothing of it was laid away. Fix: .*/admin/permits_app/actionpermit/{young.pk}/change/"
    ):
        run("show", str(young.pk))
    assert run("keep", owner, "90").endswith("for 90 days")
    ActionPermit.objects.update(created_at=clock.now() - timedelta(days=91))
    assert run("now", "--owner", owner).startswith("3 permits laid away in 1 archives")
    assert "3 permits" in run("list", golem) and run("verify", golem).startswith("1 archives are as the audit log says")
    (committed, *_) = ActionPermit.objects.filter(status="COMMITTED")
    assert UUID(json.JSONDecoder().raw_decode(run("show", str(committed.pk)))[0]["permit"]) == committed.pk
    assert run("back", golem, "1").endswith("are whole again")
    for words in (("back", golem, "7"), ("back", golem, "7", "--of", "ticks"), ("read", golem, "7", "--of", "audit")):
        with pytest.raises(CommandError, match=f"no archive.* 7.*Fix: `manage.py archive list {golem}`"):
            run(*words)


@pytest.mark.django_db
def test_a_golem_permit_or_owner_that_is_not_there_is_said_with_where_its_name_stands() -> None:
    nobody = str(UUID(int=7))
    for words, told in (
        (("list", nobody), f"there is no golem {nobody}. Fix: .* /admin/"),
        (("verify", nobody), f"there is no golem {nobody}. Fix: "),
        (("read", nobody, "1"), f"there is no golem {nobody}. Fix: "),
        (("back", nobody, "1"), f"there is no golem {nobody}. Fix: "),
        (("show", nobody), f"there is no permit {nobody}. Fix: "),
        (("keep", "ann@golem.example", "90"), "no user has the name ann@golem.example. Fix: .*not an e-mail address"),
    ):
        with pytest.raises(CommandError, match=told):
            call_command("archive", *words)


def test_only_golems_with_something_old_are_visited(traded: LiveGolem, django_assert_num_queries: Any) -> None:
    for number in range(20):
        factories.make_golem(owner=traded.owner, name=f"Young {number}")
    with django_assert_num_queries(1):
        assert lay_away_old_records(now=clock.now()).permits == 0
    later = clock.now() + LATER
    with explain_all() as seen:
        assert lay_away_old_records(now=later).permits == 3
    assert seen.list_long(more_than=100) == []
    # What ended is behind its archive, and is not looked at again.
    with django_assert_num_queries(1):
        assert lay_away_old_records(now=later).permits == 0


def test_an_archive_is_held_against_its_entry_without_looking_at_others(traded: LiveGolem) -> None:
    lay_away_old_records(now=clock.now() + LATER)
    row = RecordArchive.objects.get()
    AuditEntry.objects.bulk_create(
        AuditEntry(
            golem_id=traded.golem.pk,
            seq=1_000 + number,
            prev_hash="0x",
            timestamp_ms=0,
            event="RecordsLaidAway",
            actor="test",
            data={"archive": 7},
            entry_hash=f"0x{number}",
        )
        for number in range(2_000)
    )
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE tools_app_auditentry")
    with explain_all() as seen:
        assert read_record_archives.read_lines(row)
    assert [scan for scan in seen.scans if scan.read > 1] == []
    # One of before archives named their entry is read as well.
    RecordArchive.objects.update(audit_seq=None)
    assert read_record_archives.read_lines(RecordArchive.objects.get())
    RecordArchive.objects.update(audit_seq=1)
    with pytest.raises(ArchiveBroken):
        read_record_archives.read_lines(RecordArchive.objects.get())


def test_an_owner_says_on_the_statement_how_long_records_stay_and_reads_what_was_laid_away(traded: LiveGolem) -> None:
    def sign_in(person: Any) -> Client:
        person.groups.add(ensure_owner_group())
        browser = Client()
        browser.force_login(person)
        return browser

    page = f"/admin/archetypes_app/golem/{traded.golem.pk}/statement/"
    owner, other = sign_in(traded.owner), factories.make_owner(name="other")
    told = owner.get(page).content.decode()
    assert "at hand for 731 days, unless the owner chooses" in told and "Nothing of this golem is so old" in told
    for wrong in ("89", "36501", "soon"):
        assert owner.post(page, {"days": wrong}).status_code == 200
    assert sign_in(other).post(page, {"days": "100"}).status_code in {403, 404}
    assert not RecordKeeping.objects.exists()
    assert owner.post(page, {"days": "100"}).status_code == 302
    assert RecordKeeping.objects.get().person == traded.owner
    assert AuditEntry.objects.get(event="RecordDaysChanged").golem_id == traded.golem.pk
    traded.golem.co_owners.add(other)
    assert sign_in(other).post(page, {"days": "90"}).status_code == 403

    lay_away_old_records(now=clock.now() + timedelta(days=101))
    told = owner.get(page).content.decode()
    assert "at hand for 100 days." in told and "Archive 1" in told
    read = owner.get(f"{page}1.jsonl")
    lines = [json.loads(line) for line in read.content.decode().splitlines()]
    assert read["Content-Disposition"].startswith("attachment") and lines == read_record_archives.read_lines(
        RecordArchive.objects.get()
    )
    assert owner.get(f"{page}2.jsonl").status_code == 404
    assert sign_in(factories.make_owner(name="stranger")).get(f"{page}1.jsonl").status_code in {403, 404}
    RecordArchive.objects.update(content=zlib.compress(b"{}"))
    assert owner.get(f"{page}1.jsonl").status_code == ArchiveBroken.http_status
