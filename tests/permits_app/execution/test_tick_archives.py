"""What old ticks saw and thought is laid away: pages and programs read it as before, and it comes back as it was."""

from __future__ import annotations

import io
import json
import zlib
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.core.management import call_command
from django.db import connection
from django.test import Client

from archetypes_app.models import DecisionCycleRecord, Golem, HeartbeatTick
from permits_app.errors import ArchiveBroken
from permits_app.execution import tick_archives
from permits_app.execution.tick_archives import bring_ticks_back, lay_away_old_ticks
from permits_app.models import RecordKeeping, TickArchive
from permits_app.permits.read_tick_archives import MARK, SEEN, TICKS_LAID_AWAY
from permits_app.permits.tick_decisions import list_decisions
from tests import factories
from tests.explained import explain_all
from tools_app.core import clock
from tools_app.core.models import AuditEntry

pytestmark = pytest.mark.django_db

LATER = timedelta(days=800)
"""Beyond what is kept at hand unless somebody chose."""


def add_tick(golem: Golem, number: int, *, at: datetime) -> DecisionCycleRecord:
    tick = HeartbeatTick.objects.create(
        golem=golem, number=number, fence=number, status="COMPLETE", scheduled_at=at, started_at=at, ended_at=at
    )
    return DecisionCycleRecord.objects.create(
        tick=tick,
        golem=golem,
        heartbeat_tick=number,
        decided_at=at,
        is_live=True,
        tier="T1",
        phase="THRIVING",
        observation=f"saw {number}",
        probes={"eth": str(number)},
        anomalies=["the price fell"],
        pad_before={"pleasure": 1},
        pad_after={"pleasure": 2},
        context_summary="much",
        interventions=[{"kind": "none"}],
        deliberation={"model": "some", "told": [["Holdings", 7]]},
        episodes_written=["one"],
        outcome={"error_code": ""},
        costs={"model_micro_usd": "5", "input_llm_tokens": 3, "output_llm_tokens": 2},
    )


@pytest.fixture
def golem() -> Golem:
    """Five ticks that thought."""
    owner = factories.make_owner()
    owner.is_superuser = True
    owner.save()
    made: Golem = factories.make_golem(owner=owner)
    for number in range(1, 6):
        add_tick(made, number, at=clock.now() + timedelta(seconds=number))
    return made


def read_rows(golem: Golem) -> list[dict[str, Any]]:
    return [dict(row) for row in DecisionCycleRecord.objects.filter(golem=golem).order_by("heartbeat_tick").values()]


def test_old_ticks_are_laid_away_read_as_before_and_come_back_as_they_were(golem: Golem) -> None:
    rows, told = read_rows(golem), list_decisions(golem=golem, with_agents=True)
    page = f"/admin/archetypes_app/decisioncyclerecord/{rows[0]['id']}/change/"
    browser = Client()
    browser.force_login(golem.owner)
    assert "the price fell" in browser.get(page).content.decode()
    done = lay_away_old_ticks(now=clock.now() + LATER, owner_id=golem.owner_id)
    assert (done.archives, done.decisions) == (1, 5)
    kept = read_rows(golem)
    assert {name: kept[0][name] for name in SEEN if kept[0][name]} == {"deliberation": {MARK: 1}}
    assert kept[0] == {**rows[0], **{name: kept[0][name] for name in SEEN}}
    assert HeartbeatTick.objects.filter(golem=golem).count() == 5
    noted = AuditEntry.objects.get(golem_id=golem.pk, event=TICKS_LAID_AWAY)
    assert noted.data["sha256"] == TickArchive.objects.get(golem=golem).sha256
    # Whoever asks is told as before.
    assert list_decisions(golem=golem, with_agents=True) == told
    read = browser.get(page).content.decode()
    assert "the price fell" in read and "saw 1" in read
    statement = f"/admin/archetypes_app/golem/{golem.pk}/statement/"
    assert "Archive of ticks 1" in browser.get(statement).content.decode()
    lines = [json.loads(line) for line in browser.get(f"{statement}ticks/1.jsonl").content.decode().splitlines()]
    assert [(line["tick"], line["observation"]) for line in lines][:2] == [(1, "saw 1"), (2, "saw 2")]

    bring_ticks_back(golem_id=golem.pk, number=1, actor="test", now=clock.now())
    assert read_rows(golem) == rows
    # And is not laid away again behind the back of who wanted it.
    assert lay_away_old_ticks(now=clock.now() + LATER, owner_id=golem.owner_id).archives == 0


def test_young_ticks_stay_and_each_owner_chooses(golem: Golem, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tick_archives, "_BATCH", 2)
    first = read_rows(golem)[0]["decided_at"]
    soon = first + timedelta(days=100, seconds=3)
    assert lay_away_old_ticks(now=soon).archives == 0
    RecordKeeping.objects.create(person=golem.owner, days=100)
    assert lay_away_old_ticks(now=soon, owner_id=golem.owner_id + 1).archives == 0
    # The fourth is exactly as old as is kept.
    done = lay_away_old_ticks(now=soon)
    assert (done.archives, done.decisions) == (2, 3)
    assert [(row.number, row.first_tick, row.last_tick) for row in TickArchive.objects.order_by("number")] == [
        (1, 1, 2),
        (2, 3, 3),
    ]
    assert [row["observation"] for row in read_rows(golem)] == ["", "", "", "saw 4", "saw 5"]


@pytest.mark.parametrize("fault", ["content", "audit", "gone"])
def test_an_archive_that_somebody_changed_is_neither_shown_nor_brought_back(golem: Golem, fault: str) -> None:
    lay_away_old_ticks(now=clock.now() + LATER)
    if fault == "content":
        TickArchive.objects.update(content=zlib.compress(b"{}\n"))
    elif fault == "audit":
        TickArchive.objects.update(decisions=4)
    else:
        TickArchive.objects.all().delete()
    before = read_rows(golem)
    with pytest.raises(ArchiveBroken):
        bring_ticks_back(golem_id=golem.pk, number=1, actor="test", now=clock.now())
    with pytest.raises(ArchiveBroken):
        list_decisions(golem=golem)
    assert read_rows(golem) == before


def test_only_golems_with_something_old_are_visited_by_one_look_each(
    golem: Golem, django_assert_num_queries: Any
) -> None:
    for number in range(20):
        add_tick(factories.make_golem(owner=golem.owner, name=f"Young {number}"), 1, at=clock.now() + LATER)
    with django_assert_num_queries(1):
        assert lay_away_old_ticks(now=clock.now()).archives == 0
    later = clock.now() + LATER
    with connection.cursor() as cursor:
        # A table of a few dozen rows is read whole by itself; what is asked is whether an index leads to them.
        cursor.execute("SET LOCAL enable_seqscan = off")
    with explain_all() as seen:
        assert lay_away_old_ticks(now=later, owner_id=golem.owner_id).decisions == 5
    assert seen.list_long(more_than=100) == []
    with django_assert_num_queries(1):
        assert lay_away_old_ticks(now=later, owner_id=golem.owner_id).archives == 0


def test_the_operator_lays_away_reads_verifies_and_brings_back_by_command(golem: Golem) -> None:
    def run(*words: str) -> str:
        out = io.StringIO()
        call_command("archive", *words, stdout=out)
        return out.getvalue()

    DecisionCycleRecord.objects.filter(golem=golem).update(decided_at=clock.now() - LATER)
    assert "5 ticks laid away in 1 archives" in run("now", "--owner", golem.owner.username)
    assert "5 ticks" in run("list", str(golem.pk))
    assert "1 archives of ticks are as the audit log says" in run("verify", str(golem.pk))
    assert json.loads(run("read", str(golem.pk), "1", "--of", "ticks").splitlines()[4])["observation"] == "saw 5"
    assert "5 ticks are whole again" in run("back", str(golem.pk), "1", "--of", "ticks")
