"""What a golem's past costs its present: the database reads as many rows after years as on a first day.

PostgreSQL counts the rows it reads, in each table, by whatever way a statement was sent; what is counted before a long
life was written is compared with what is counted after it.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from django.conf import settings
from django.db import connection, transaction
from django.test import Client

from archetypes_app.models import Golem
from golem_project.celery import app
from golem_project.runtime.future_times import mend_future_rows
from permits_app.backtest import past_decisions
from permits_app.limits.key_spends import sum_key_spends
from permits_app.models import ActionPermit, OutboundTransaction, SpendEntry, SpendingLimits
from tests import factories
from tests.admin.owner_day import MOST
from tests.golem_project.heartbeat.pulses import tick, turn_on
from tests.live_golem import LiveGolem
from tests.old_life import give_life
from tests.permits_app.approvals.conftest import eager
from tools_app.admin import long_lists
from tools_app.admin.long_lists import MOST_COUNTED
from tools_app.core import clock

__all__ = ["eager"]
# One transaction holds all of a test, so that what it read can be told: its locks are in no order.
pytestmark = [pytest.mark.usefixtures("eager"), pytest.mark.timeout(600), pytest.mark.locks_at_will]

_COPIES = 800
"""Of each row: some 2,500 permits and 5,000 transactions."""
_MORE_ROWS = 150
"""So many more may be read of a table: figures take the newest of a fixed number, which a new golem lacks."""
_COUNTED = 100
_MORE_ROWS_ON_A_PAGE = 1_000
"""The golem's charts look through a few hundred points; a list counts _COUNTED rows here, a few times."""
_LEFT_OUT = {
    "/admin/archetypes_app/golem/{golem}/cage/",  # this golem is under no cage
    "/admin/cage/{golem}/",
    "/admin/memory_app/episode/memory/",  # counts what a golem remembers, which forgetting bounds
    "/admin/archetypes_app/golem/{golem}/statement/",  # a month's values, and the newest before it
}
_BY_MEMORY = {"memory_app_episode"}
"""Looked through by what asks the memory: forgetting bounds it, and a time limit ends it."""
_CHANGES_WHAT_IT_FINDS = {"dream", "scan-memory", "consolidate-memory", "forget-episodes", "embed-episodes"}
"""Works through a backlog once; what it has done it finds no more."""


@pytest.fixture
def lived(live_golem: LiveGolem) -> LiveGolem:
    """A golem that traded and ticked a few times, and carries a high number of ticks."""
    app.loader.import_default_modules()
    live_golem.owner.is_superuser = True
    live_golem.owner.save(update_fields=["is_superuser"])
    Golem.objects.filter(pk=live_golem.golem.pk).update(heartbeat_tick=2_000_000)
    live_golem.golem.refresh_from_db()
    # What its key spent in the long life to come is no reason to refuse.
    SpendingLimits.objects.filter(golem=live_golem.golem).update(per_session_micro_usd=10**15)
    turn_on(live_golem.golem)
    for _ in range(2):
        live_golem.commit(live_golem.preview()["permit_id"])
    tick(live_golem.golem)
    return live_golem


def test_a_preview_a_commit_and_a_tick_read_no_more_rows_after_a_long_life(lived: LiveGolem) -> None:
    amounts = itertools.count(100_000_000)

    def preview() -> str:
        return str(lived.preview(amount=str(next(amounts)))["permit_id"])

    deeds: dict[str, Callable[[], Any]] = {
        "preview": preview,
        "commit": lambda: lived.commit(preview()),
        "tick": lambda: tick(lived.golem),
    }
    assert find_growth(lived, deeds, _MORE_ROWS) == {}
    assert ActionPermit.objects.filter(golem=lived.golem).count() > 2_000
    assert OutboundTransaction.objects.filter(sender=lived.golem.address).count() > 2_000


def test_no_round_of_the_schedule_reads_more_rows_after_a_long_life(
    lived: LiveGolem, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A round that asked a node gives its connection back; what this one counts would go with it.
    monkeypatch.setattr(connection, "close", lambda: None)
    deeds: dict[str, Callable[[], Any]] = {}
    for name, entry in settings.CELERY_BEAT_SCHEDULE.items():
        if name not in _CHANGES_WHAT_IT_FINDS and not name.startswith("pulse-"):
            task, args, named = app.tasks[entry["task"]], entry.get("args", ()), entry.get("kwargs", {})
            deeds[name] = partial(task, *args, **named)
    assert len(deeds) > 25
    assert find_growth(lived, deeds, _MORE_ROWS) == {}


def test_a_worker_that_starts_looks_for_times_of_the_future_without_reading_a_whole_life(lived: LiveGolem) -> None:
    assert find_growth(lived, {"start of a worker": lambda: mend_future_rows(now=clock.now())}, _MORE_ROWS) == {}


def test_no_page_of_an_owner_s_day_reads_a_whole_life(lived: LiveGolem, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(long_lists, "MOST_COUNTED", _COUNTED)
    monkeypatch.setattr(long_lists, "_RECENT", _COUNTED)
    monkeypatch.setattr(past_decisions, "MOST_DECISIONS", _COUNTED)
    browser = Client()
    browser.force_login(lived.owner)
    decision = tick(lived.golem)
    names = {
        "golem": lived.golem.pk,
        "permit": ActionPermit.objects.filter(golem=lived.golem, status="COMMITTED").latest("created_at").pk,
        "request": factories.make_change_request(golem=lived.golem).pk,
        "decision": decision.pk,
        "episode": factories.make_episode(golem=lived.golem).pk,
        "refusal": factories.make_denied_call(golem=lived.golem).pk,
    }
    pages = {path: path.format(**names) for path in MOST if path not in _LEFT_OUT}

    def load(address: str) -> None:
        assert browser.get(address).status_code == 200, address

    deeds: dict[str, Callable[[], Any]] = {path: partial(load, address) for path, address in pages.items()}
    assert find_growth(lived, deeds, _MORE_ROWS_ON_A_PAGE) == {}


def test_a_list_longer_than_it_counts_says_so(lived: LiveGolem) -> None:
    browser = Client()
    browser.force_login(lived.owner)
    path = "/admin/permits_app/actionpermit/"
    assert ": filter or search for others" not in browser.get(path).content.decode()
    give_life(lived.golem, _COPIES)
    page = browser.get(path).content.decode()
    assert f"the first {MOST_COUNTED} action permits: filter or search for others" in " ".join(page.split())


def find_growth(lived: LiveGolem, deeds: dict[str, Callable[[], Any]], more: int) -> dict[str, dict[str, Any]]:
    """The deeds that read over `more` rows more of a table after a long life than before it, with both counts."""
    few = {name: count_second(do) for name, do in deeds.items()}
    give_life(lived.golem, _COPIES)
    assert sum_key_spends(now=clock.now()) >= _COPIES
    with connection.cursor() as cursor:
        # As PostgreSQL does by itself once so many rows changed.
        cursor.execute(f"ANALYZE {SpendEntry._meta.db_table}")
    grown: dict[str, dict[str, Any]] = {}
    for name, do in deeds.items():
        lots = count_second(do)
        found = {
            table: (few[name].get(table, 0), count)
            for table, count in lots.items()
            if count > few[name].get(table, 0) + more and (name.startswith("/") or table not in _BY_MEMORY)
        }
        if found:
            grown[name] = found
    return grown


def count_second(do: Callable[[], Any]) -> dict[str, int]:
    """Rows of each table that a second round of `do` reads; the first one fills what is kept in memory."""
    with transaction.atomic():
        do()
    before = _count_rows()
    with transaction.atomic():
        do()
    return {name: count - before.get(name, 0) for name, count in _count_rows().items()}


def _count_rows() -> dict[str, int]:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT relname, COALESCE(seq_tup_read, 0) + COALESCE(idx_tup_fetch, 0) FROM pg_stat_xact_user_tables"
        )
        return dict(cursor.fetchall())
