"""A golem of two hundred thousand permits: every statement of what it does and of what its owner looks at is explained,
and no scan of any reads more rows than are open or recent.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from django.conf import settings
from django.db import connection
from django.test import Client

from golem_project.celery import app
from golem_project.runtime.future_times import mend_future_rows
from permits_app.limits.key_spends import sum_key_spends
from permits_app.models import ActionPermit
from tests.explained import Scan, explain_all, explain_second
from tests.golem_project.heartbeat.pulses import tick
from tests.golem_project.test_an_old_golem_is_as_quick import _BY_MEMORY, _CHANGES_WHAT_IT_FINDS, lived
from tests.live_golem import LiveGolem
from tests.old_life import give_life
from tests.permits_app.approvals.conftest import eager
from tools_app.core import clock

__all__ = ["eager", "lived"]
pytestmark = [pytest.mark.usefixtures("eager"), pytest.mark.timeout(1500), pytest.mark.locks_at_will]

_PERMITS = 200_000
_FULL = 1_000
_MOST_READ = 3_000
"""Rows that one scan of a statement may look at: a list counts two thousand, a chart takes some hundreds of points."""
_PAGES = (
    "/admin/",
    "/admin/cockpit/",
    "/admin/cockpit/{golem}/",
    "/admin/archetypes_app/golem/{golem}/change/",
    "/admin/archetypes_app/golem/{golem}/live/",
    "/admin/archetypes_app/golem/{golem}/halt/",
    "/admin/permits_app/actionpermit/",
    "/admin/permits_app/actionpermit/{permit}/change/",
    "/admin/permits_app/outboundtransaction/",
    "/admin/permits_app/spendentry/",
    "/admin/archetypes_app/heartbeattick/",
    "/admin/tools_app/auditentry/",
)


@pytest.fixture
def old(lived: LiveGolem) -> LiveGolem:
    """The golem that lived, with two hundred thousand permits and what belongs to each."""
    ended = ActionPermit.objects.filter(golem=lived.golem, status="COMMITTED").count()
    # What a golem remembers is bounded by forgetting.
    give_life(lived.golem, _PERMITS // ended, without={"memory_app.Episode"}, full=_FULL)
    assert ActionPermit.objects.filter(golem=lived.golem).count() >= _PERMITS
    # A year of hourly runs.
    while sum_key_spends(now=clock.now()):
        pass
    return lived


def test_no_statement_scans_the_life_of_a_golem(old: LiveGolem, monkeypatch: pytest.MonkeyPatch) -> None:
    # A round that asked a node gives its connection back; what is watched here would go with it.
    monkeypatch.setattr(connection, "close", lambda: None)
    browser = Client()
    browser.force_login(old.owner)
    amounts = itertools.count(100_000_000)

    def preview() -> str:
        return str(old.preview(amount=str(next(amounts)))["permit_id"])

    def load(address: str) -> None:
        assert browser.get(address).status_code == 200, address

    deeds: dict[str, Callable[[], Any]] = {
        "preview": preview,
        "commit": lambda: old.commit(preview()),
        "tick": lambda: tick(old.golem),
        "start of a worker": lambda: mend_future_rows(now=clock.now()),
    }
    for name, entry in settings.CELERY_BEAT_SCHEDULE.items():
        if name not in _CHANGES_WHAT_IT_FINDS and not name.startswith("pulse-"):
            deeds[name] = partial(app.tasks[entry["task"]], *entry.get("args", ()), **entry.get("kwargs", {}))
    permit = ActionPermit.objects.filter(golem=old.golem, status="COMMITTED").latest("created_at").pk
    for path in _PAGES:
        deeds[path] = partial(load, path.format(golem=old.golem.pk, permit=permit))

    long: list[str] = []
    explained = 0
    for name, do in deeds.items():
        found = explain_second(do)
        explained += found.statements
        long += [f"{name}: {_describe(scan)}" for scan in found.list_long(_MOST_READ) if scan.table not in _BY_MEMORY]
    assert not long, "\n".join(long)
    assert explained > 500


def _describe(scan: Scan) -> str:
    statement = " ".join(scan.statement.split())
    shown = statement if len(statement) < 1_500 else f"{statement[:300]} … {statement[-1_200:]}"
    return f"{scan.kind} of {scan.table} read {scan.read} for {scan.returned}: {shown}"


def test_a_scan_of_a_whole_table_is_told(db: None) -> None:
    with connection.cursor() as cursor:
        cursor.execute("CREATE TEMP TABLE many AS SELECT n FROM generate_series(1, 5000) AS n")
        with explain_all() as found:
            cursor.execute("SELECT n FROM many WHERE n = 17")
    assert found.statements == 1
    assert [(scan.table, scan.kind, scan.read, scan.returned) for scan in found.list_long(_MOST_READ)] == [
        ("many", "Seq Scan", 5_000, 1)
    ]
    assert found.list_long(5_000) == []
