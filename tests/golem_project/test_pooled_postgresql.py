"""A pool that hands out connections which work, and seldom asks the server whether they do."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from django.db import DEFAULT_DB_ALIAS, connection, connections
from psycopg_pool import ConnectionPool

from golem_project.runtime.pooled_postgresql import base
from golem_project.runtime.pooled_postgresql.base import DatabaseWrapper, check_connection


@pytest.fixture
def pool(db: None) -> Iterator[ConnectionPool[Any]]:
    options = connection.get_connection_params()
    kept: dict[str, Any] = {
        name: options[name] for name in ("dbname", "user", "host", "port", "password") if name in options
    }
    with ConnectionPool(kwargs={**kept, "autocommit": True}, min_size=1, max_size=1, check=check_connection) as made:
        made.wait()
        yield made


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Connections the server was asked about."""
    about: list[Any] = []
    plain = ConnectionPool.check_connection

    def check(asked_about: Any) -> None:
        about.append(asked_about)
        plain(asked_about)

    monkeypatch.setattr(ConnectionPool, "check_connection", staticmethod(check))
    return about


def read_pid(pool: ConnectionPool[Any]) -> int:
    with pool.connection() as given:
        return int(given.info.backend_pid)


def test_the_product_takes_its_connections_from_such_a_pool(db: None) -> None:
    used = connections[DEFAULT_DB_ALIAS]
    assert isinstance(used, DatabaseWrapper)
    assert used.pool._check is check_connection


def test_the_server_is_asked_about_a_connection_once_in_a_while(
    pool: ConnectionPool[Any], asked: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    for _ in range(5):
        read_pid(pool)
    assert len(asked) == 1
    monkeypatch.setattr(base, "BELIEVED_MS", 0)
    read_pid(pool)
    assert len(asked) == 2


def test_a_connection_that_the_server_closed_meanwhile_is_not_handed_out(
    pool: ConnectionPool[Any], asked: list[Any]
) -> None:
    first = read_pid(pool)
    assert read_pid(pool) == first
    with connection.cursor() as cursor:
        # Waits until it is gone.
        cursor.execute("SELECT pg_terminate_backend(%s, 10000)", [first])
    second = read_pid(pool)
    assert second != first
    with pool.connection() as given:
        assert given.execute("SELECT 1").fetchone() == (1,)


def test_a_connection_that_is_closed_here_is_refused(pool: ConnectionPool[Any]) -> None:
    with pool.connection() as given:
        given.close()
        with pytest.raises(psycopg.OperationalError):
            check_connection(given)


def test_after_a_crash_of_the_server_the_first_who_asks_is_given_one_that_works(db: None) -> None:
    options = connection.get_connection_params()
    kept: dict[str, Any] = {
        name: options[name] for name in ("dbname", "user", "host", "port", "password") if name in options
    }
    kept["autocommit"] = True
    with ConnectionPool(kwargs=kept, min_size=8, max_size=8, check=check_connection) as pool:
        pool.wait()
        # As long as a server that ends all its processes at once, and no process of any other test.
        held = [pool.getconn() for _ in range(8)]
        pids = [each.info.backend_pid for each in held]
        for each in held:
            pool.putconn(each)
        with connection.cursor() as cursor:
            cursor.execute("SELECT bool_and(pg_terminate_backend(pid, 10000)) FROM unnest(%s::int[]) AS pid", [pids])
        # The library waits ever longer from one dead connection to the next, and gives up after a few of them.
        with pool.connection(timeout=5) as given:
            assert given.info.backend_pid not in pids


def test_the_product_s_pool_begins_anew_soon_instead_of_waiting_ever_longer(db: None) -> None:
    used: Any = connections[DEFAULT_DB_ALIAS]
    assert used.pool.reconnect_timeout <= 2
