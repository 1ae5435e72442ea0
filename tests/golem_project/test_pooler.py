"""Between the product and its database: a line that is cut, and one with another connection for each transaction."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import psycopg
import pytest
from django.db import InterfaceError, OperationalError, connection
from django.test import Client

from archetypes_app.models import Golem
from golem_project.backups.make_backup import make_backup
from permits_app.models import ActionPermit
from tests import factories
from tests.architecture.sources import ROOT, list_sources
from tests.coding_agent import CodingAgent
from tests.coding_agent import coder as coder
from tests.coding_agent import coding_folder as coding_folder
from tests.dropping_proxy import DroppingProxy
from tools_app.core import audit_log, clock
from tools_app.core.audit_checkpoints import verify_stored_chain

ENTRIES = 2_500
PLACES = f"{os.environ.get('PATH', os.defpath)}:/usr/sbin"


@pytest.fixture
def line(transactional_db: None) -> Iterator[DroppingProxy]:
    """The database of this process, reached by a line that can be cut."""
    wrapper: Any = connection
    straight = {name: wrapper.settings_dict[name] for name in ("HOST", "PORT")}
    proxy = DroppingProxy(str(straight["HOST"] or "127.0.0.1"), int(straight["PORT"] or 5432))

    def lead(to: dict[str, Any]) -> None:
        wrapper.close()
        wrapper.close_pool()
        wrapper.settings_dict.update(to)

    lead({"HOST": "127.0.0.1", "PORT": proxy.port})
    yield proxy
    lead(straight)
    proxy.close()


def test_a_session_that_was_dropped_between_two_requests_is_noticed_and_nobody_is_told(line: DroppingProxy) -> None:
    browser = Client()
    for _ in range(3):
        assert browser.get("/readyz").json()["checks"][0] | {"ms": 0} == {
            "name": "database",
            "ok": True,
            "detail": "answers",
            "ms": 0,
        }
        line.drop_all()
        end_request()
    assert line.count >= 3


def end_request() -> None:
    """What ends a request or a task: its connection goes back to the pool, which looks at it before the next one."""
    connection.close()


def test_sessions_that_drop_while_a_permit_is_committed_lose_nothing_and_do_nothing_twice(
    line: DroppingProxy, coder: CodingAgent
) -> None:
    for at in range(6):
        permit = coder.preview("bash", command=f"echo {at} >> done.txt; sleep 0.4")
        cut = threading.Timer(0.08 * at, line.drop_all)
        cut.start()
        # Over REST this is DATABASE_UNAVAILABLE, or the worker's next try.
        with suppress(OperationalError, InterfaceError):
            coder.commit(permit)
        cut.join()
        end_request()
        row = ActionPermit.objects.get(pk=permit["permit_id"])
        assert row.status in {"CREATED", "COMMITTING", "COMMITTED", "UNKNOWN"}
        if row.status == "COMMITTED":
            assert str(at) in (coder.folder / "done.txt").read_text().split()
    assert coder.run("echo whole")["content"][0]["text"] == "whole"
    lines = (coder.folder / "done.txt").read_text().split()
    assert sorted(set(lines)) == sorted(lines)
    assert verify_stored_chain(coder.golem.pk).broken is None


@pytest.fixture
def bouncer(transactional_db: None) -> Iterator[str]:
    """The URL of this run's database behind PgBouncer: two connections, another one for each transaction."""
    program = shutil.which("pgbouncer", path=PLACES)
    if program is None:
        pytest.skip("not run: pgbouncer is not installed (make test as root installs it)")
    known = connection.settings_dict
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    # Its own user reads it, who cannot look into the folders of a test.
    made = Path(tempfile.mkdtemp())
    made.chmod(0o755)
    options = made / "pgbouncer.ini"
    options.write_text(
        f"[databases]\n* = host={known['HOST']} port={known['PORT']} user={known['USER']}"
        f" password={known['PASSWORD']}\n"
        f"[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = {port}\nauth_type = any\nunix_socket_dir =\n"
        "pool_mode = transaction\ndefault_pool_size = 2\nserver_round_robin = 1\n"
    )
    options.chmod(0o644)
    become = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"] if os.geteuid() == 0 else []
    with subprocess.Popen([*become, program, "-q", str(options)], stderr=subprocess.STDOUT) as running:
        try:
            url = f"postgres://{known['USER']}@127.0.0.1:{port}/{known['NAME']}"
            _wait_until_it_answers(url, running)
            yield url
        finally:
            running.terminate()
            shutil.rmtree(made)


def _wait_until_it_answers(url: str, running: subprocess.Popen[bytes]) -> None:
    deadline = clock.Deadline.after_ms(30_000)
    while True:
        try:
            psycopg.connect(url, autocommit=True, connect_timeout=5).close()
        except psycopg.OperationalError:
            assert running.poll() is None and not deadline.is_over
            time.sleep(0.05)
        else:
            return


def _fill_chain() -> Golem:
    golem = factories.make_golem(owner=factories.make_owner(), name="Atlas")
    for number in range(ENTRIES):
        audit_log.append(
            golem_id=golem.pk, event="AdminEdit", actor="owner:test", data={"n": str(number)}, now=clock.now()
        )
    return golem


def test_long_chains_are_verified_where_each_transaction_has_another_connection(bouncer: str) -> None:
    golem = _fill_chain()
    command = [sys.executable, "manage.py", "verify_audit", str(golem.pk)]
    environment = {**os.environ, "DATABASE_URL": bouncer, "GOLEM_DATABASE_PREPARES": "0"}
    is_over = threading.Event()
    others = [threading.Thread(target=_take_turns, args=(bouncer, is_over)) for _ in range(3)]
    for each in others:
        each.start()
    try:
        told = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=120)
    finally:
        is_over.set()
        for each in others:
            each.join()
    assert told.returncode == 0, told.stderr
    assert f"{ENTRIES} entries hold" in told.stdout


def _take_turns(url: str, is_over: threading.Event) -> None:
    with psycopg.connect(url, autocommit=True, prepare_threshold=None) as other:
        while not is_over.is_set():
            other.execute("SELECT 1")


def test_nothing_reads_by_a_cursor_of_the_server() -> None:
    read = {path: (ROOT / path).read_text() for path in list_sources()}
    assert [path for path, text in read.items() if ".iterator(" in text or "WITH HOLD" in text] == []
    assert connection.settings_dict["DISABLE_SERVER_SIDE_CURSORS"] is True


@pytest.mark.parametrize("command", ["backup", "restore"])
def test_backup_and_restore_leave_no_session_of_a_pooler_without_its_tables(
    bouncer: str, tmp_path: Path, command: str
) -> None:
    made = tmp_path / "made"
    make_backup(folder=made, keys=None, now=clock.now())
    told = run_by_hand([command, str(made if command == "restore" else tmp_path / "new")], DATABASE_URL=bouncer)
    assert told.returncode != 0 and not (tmp_path / "new").exists()
    assert "BACKUP_FAILED" in told.stderr and "DATABASE_URL" in told.stderr and "Traceback" not in told.stderr
    with psycopg.connect(bouncer, autocommit=True, prepare_threshold=None) as other:
        for _ in range(4):
            assert other.execute("SELECT to_regclass('django_migrations')").fetchone() != (None,)
    # The same command, to PostgreSQL itself.
    if command == "backup":
        known = connection.settings_dict
        straight = f"postgres://{known['USER']}:{known['PASSWORD']}@{known['HOST']}:{known['PORT']}/{known['NAME']}"
        assert run_by_hand([command, str(tmp_path / "new")], DATABASE_URL=straight).returncode == 0


def run_by_hand(words: list[str], **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "manage.py", *words],
        cwd=ROOT,
        env={**os.environ, "GOLEM_DATABASE_PREPARES": "0", **variables},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
