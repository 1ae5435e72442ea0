"""A process forks while its other threads open and close connections: each child has its own.

A thread that ends, however it ends, leaves none behind.
"""

from __future__ import annotations

import gc
import os
import threading
import traceback
from typing import Any

import pytest
from django.db import connection, connections

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.filterwarnings("ignore:.*multi-threaded, use of fork.*:DeprecationWarning"),
]


def _ask() -> int:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        return int(cursor.fetchone()[0])


def _ask_in_fork() -> str:
    """What a child read of its session, or why it could not."""
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            os.write(writer, str(_ask()).encode())
        except BaseException:
            os.write(writer, traceback.format_exc().encode())
        finally:
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as told:
        word = told.read().decode()
    os.waitpid(pid, 0)
    return word


def test_a_child_has_its_own_session_and_its_parent_keeps_the_one_it_had() -> None:
    before = _ask()
    child = _ask_in_fork()
    assert child.isdigit(), child
    assert int(child) != before
    assert _ask() == before


def test_a_child_forked_while_another_thread_opens_the_pool_is_served() -> None:
    is_over = threading.Event()

    def come_and_go() -> None:
        while not is_over.is_set():
            _ask()
            connections.close_all()

    threads = [threading.Thread(target=come_and_go) for _ in range(2)]
    for thread in threads:
        thread.start()
    try:
        for _ in range(30):
            word = _ask_in_fork()
            assert word.isdigit(), word
    finally:
        is_over.set()
        for thread in threads:
            thread.join()


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_threads_that_end_without_a_word_leave_no_session_behind(settings: Any) -> None:
    """More of them than the pool has sessions, and Python's collector does not come by."""
    most = settings.DATABASES["default"]["OPTIONS"]["pool"]["max_size"]
    answers: list[int] = []
    gc.collect()
    gc.disable()
    try:
        for number in range(most + 4):

            def run(dies: bool = number % 2 == 0) -> None:
                answers.append(_ask())
                if dies:
                    raise SystemExit

            thread = threading.Thread(target=run)
            thread.start()
            thread.join()
    finally:
        gc.enable()
    assert len(answers) == most + 4


def test_a_fork_does_not_end_the_sessions_of_its_parents_threads() -> None:
    is_asked, is_over = threading.Event(), threading.Event()
    told: list[int] = []

    def stay() -> None:
        told.append(_ask())
        is_asked.set()
        is_over.wait(timeout=60)
        told.append(_ask())

    thread = threading.Thread(target=stay)
    thread.start()
    try:
        assert is_asked.wait(timeout=30)
        assert _ask_in_fork().isdigit()
    finally:
        is_over.set()
        thread.join()
    assert len(told) == 2
    assert told[0] == told[1]
