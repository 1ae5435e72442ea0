"""Prepared statements answer as their text does, on every connection, after errors, and with preparing switched off."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, timezone
from typing import Any
from uuid import uuid4

import pytest
from django.db import DataError, OperationalError, ProgrammingError, connection, connections, transaction

from permits_app.models import ActionPermit, SpendEntry
from tools_app.core.prepared_statements import Prepared, fetch_together

SUM = Prepared("add", "SELECT %(left)s::bigint + %(right)s::bigint, %(left)s::bigint, 100 %% 30")
PARTS = Prepared("divide", "SELECT 10 / %(by)s::int")


def list_known() -> set[str]:
    with connection.cursor() as cursor:
        cursor.execute("SELECT name FROM pg_prepared_statements")
        return {name for (name,) in cursor.fetchall()}


@pytest.fixture(params=[True, False], ids=["prepared", "as text"])
def both_ways(request: pytest.FixtureRequest, settings: Any, db: None) -> Iterator[bool]:
    settings.GOLEM_DATABASE_PREPARES = request.param
    yield request.param


def test_a_statement_answers_the_same_prepared_and_as_text(both_ways: bool) -> None:
    assert SUM.fetch(left=2, right=3) == [(5, 2, 10)]
    assert SUM.fetch(right=-(2**40), left=1, unused="x") == [(1 - 2**40, 1, 10)]
    assert SUM.name in list_known() or not both_ways


def test_statements_travel_together_and_answer_in_their_order(both_ways: bool, django_assert_num_queries: Any) -> None:
    nothing = Prepared("nothing", "SELECT 1 WHERE %(never)s::bool")
    silent = Prepared("silent", "DELETE FROM tools_app_outboxevent WHERE version = %(version)s")
    with django_assert_num_queries(1):
        answers = fetch_together(
            SUM.fill(left=1, right=1), nothing.fill(never=False), silent.fill(version=77), PARTS.fill(by=5)
        )
    assert answers == [[(2, 1, 10)], [], [], [(2,)]]


def test_a_value_is_never_text_of_the_statement(both_ways: bool) -> None:
    echo = Prepared("echo", "SELECT %(said)s::text")
    said = "'); DROP TABLE x; -- %s %(said)s $1"
    assert echo.fetch(said=said) == [(said,)]


def test_a_connection_prepares_a_statement_once_and_knows_it_after_a_rollback(db: None) -> None:
    fresh = Prepared("fresh", "SELECT %(n)s::int + 1")
    with pytest.raises(DataError), transaction.atomic():
        fresh.fetch(n=1)
        PARTS.fetch(by=0)
    assert fresh.name in list_known()
    assert fresh.fetch(n=1) == [(2,)]


def test_what_was_prepared_beside_an_error_is_not_prepared_twice(db: None) -> None:
    beside, after = Prepared("beside", "SELECT %(n)s::int + 2"), Prepared("after", "SELECT %(n)s::int + 3")
    with pytest.raises(DataError), transaction.atomic():
        fetch_together(beside.fill(n=1), PARTS.fill(by=0), after.fill(n=1))
    assert (beside.name in list_known(), after.name in list_known()) == (True, False)
    assert fetch_together(beside.fill(n=1), after.fill(n=1)) == [[(3,)], [(4,)]]


def test_a_limit_of_time_holds_for_preparing_what_follows_it(db: None) -> None:
    limit = Prepared("limit", "SELECT set_config('statement_timeout', '1ms', true)")
    slow = Prepared("slow", "SELECT pg_sleep(%(seconds)s)")
    with pytest.raises(OperationalError, match="statement timeout"), transaction.atomic():
        fetch_together(limit.fill(), slow.fill(seconds=5))


def test_a_statement_that_the_server_refuses_is_refused_again(db: None) -> None:
    wrong = Prepared("wrong", "SELECT no_such_column")
    for _ in range(2):
        with pytest.raises(ProgrammingError, match="no_such_column"), transaction.atomic():
            wrong.fetch()


def test_two_texts_under_one_label_are_two_statements() -> None:
    assert Prepared("same", "SELECT 1").name != Prepared("same", "SELECT 2").name


@pytest.mark.django_db(transaction=True)
def test_every_thread_prepares_on_its_own_connection() -> None:
    found: list[Any] = []

    def ask() -> None:
        try:
            found.append((SUM.fetch(left=1, right=2)[0][0], SUM.name in list_known()))
        finally:
            connections.close_all()

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [(3, True)] * 4


@pytest.mark.django_db(transaction=True)
def test_a_new_connection_prepares_anew() -> None:
    assert SUM.fetch(left=1, right=2)[0][0] == 3
    raw = connection.connection
    raw.close()
    connection.close()
    assert SUM.fetch(left=1, right=2)[0][0] == 3
    assert connection.connection is not raw


def test_a_statement_over_joined_tables_is_planned_once_for_a_connection_and_never_for_its_values(db: None) -> None:
    # By its estimates, planning this one for its values looks cheaper to the server than one plan for all values.
    permits, entries = ActionPermit._meta.db_table, SpendEntry._meta.db_table
    asked = Prepared(
        "planned",
        f"""SELECT COUNT(*) FROM {permits} AS permit JOIN {entries} AS entry ON entry.permit_id = permit.id
             WHERE permit.golem_id = %(golem)s AND (entry.counted_at > %(since)s OR permit.id = ANY(%(ids)s::uuid[]))
             LIMIT %(most)s""",
    )
    for _ in range(8):
        asked.fetch(golem=uuid4(), since=datetime.now(UTC), ids=[uuid4()], most=10)
    with connection.cursor() as cursor:
        cursor.execute("SELECT generic_plans, custom_plans FROM pg_prepared_statements WHERE name = %s", [asked.name])
        assert cursor.fetchone() == (8, 0)


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        ("bigint", -5),
        ("bigint", 2**62),
        ("boolean", True),
        ("boolean", False),
        ("timestamptz", datetime(2026, 3, 1, 23, 59, 59, 999_999, tzinfo=timezone(timedelta(hours=-3, minutes=-30)))),
        ("timestamptz", datetime(1, 1, 1, tzinfo=UTC)),
        ("uuid", uuid4()),
        ("text", None),
        ("text", "plain"),
        ("text", 'it\'s a \\ in "quotes" and ünïcode'),
        ("text[]", []),
        ("text[]", ["a", "", "NULL", "{b,c}", " d "]),
        ("text[]", ["it's", 'a "quote"', "a \\ too", None]),
        ("uuid[]", [uuid4(), uuid4()]),
    ],
)
def test_a_value_comes_back_as_it_was_given(both_ways: bool, kind: str, value: Any) -> None:
    echo = Prepared("echo_of_a_kind", f"SELECT %(said)s::{kind}, 3 -%(least)s")
    ((said, difference),) = echo.fetch(said=value, least=-1)
    assert (said, difference) == (value, 4)
