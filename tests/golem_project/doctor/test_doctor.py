"""`manage.py doctor` names what is not as it has to be, with what to do; `migrate` asks before it begins."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import psycopg
import pytest
from django.core.management import CommandError, call_command
from django.db import connection

from golem_project.backups.make_backup import make_backup
from golem_project.doctor import database, files, nodes
from golem_project.doctor.findings import Health
from golem_project.doctor.run_examinations import Finding, examine
from permits_app.models import Wallet
from tests import factories
from tests.architecture.sources import ROOT
from tests.evm.world import World
from tests.golem_project.test_pooler import bouncer, run_by_hand
from tools_app.core import clock

__all__ = ["bouncer"]
pytestmark = pytest.mark.django_db


def look(**options: Any) -> dict[str, Finding]:
    return {finding.name: finding for finding in examine(now=clock.now(), **options)}


def test_a_deployment_is_looked_at_from_version_to_nodes(local_chain: World) -> None:
    found = look()
    assert list(found)[:2] == ["version", "postgresql"] and "chain 31337" in found
    assert found["chain 31337"].verdict is Health.GOOD, found["chain 31337"]
    assert {
        "clock",
        "pgvector",
        "migrations",
        "columns",
        "indexes",
        "connections",
        "pooler",
        "durability",
        "broker",
        "keys",
        "audit key",
        "disk",
    } < set(found)
    # The databases of tests are quick and not durable, and nobody backs them up.
    assert {name for name, each in found.items() if each.verdict is Health.BAD} == {"durability"}
    assert [each for each in found.values() if (each.verdict is Health.GOOD) is bool(each.to_do)] == []


def test_the_command_ends_with_an_error_that_names_what_is_bad(local_chain: World) -> None:
    out = io.StringIO()
    with pytest.raises(CommandError, match="not as it has to be: durability"):
        call_command("doctor", json=True, stdout=out)
    rows = json.loads(out.getvalue())
    (bad,) = [row for row in rows if row["verdict"] == "bad"]
    assert bad["name"] == "durability" and bad["to_do"].startswith("switch it on")


def test_a_database_that_another_version_migrated_and_an_index_that_is_not_whole_are_told() -> None:
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE tools_app_frozenregistry RENAME previous TO earlier")
        cursor.execute("UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'outbound_newest'::regclass")
    found = {each.name: each for each in database.examine_database()}
    assert found["columns"].verdict is Health.BAD
    assert found["columns"].words.startswith("tools_app_frozenregistry.previous is gone, and this version reads it")
    assert found["indexes"].words == "not whole: outbound_newest" and "CONCURRENTLY" in found["indexes"].to_do


def test_a_server_that_is_away_is_one_finding_and_the_others_go_on(settings: Any) -> None:
    settings.REDIS_URL = "redis://127.0.0.1:1/0"
    found = look()
    assert found["broker"].verdict is Health.BAD and "set REDIS_URL" in found["broker"].to_do
    assert found["pgvector"].verdict is Health.GOOD


def test_a_node_without_a_method_is_named_with_it(local_chain: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(nodes.METHODS, "eth_getCode", ("no address", "latest"))
    chain = look()["chain 31337"]
    assert chain.verdict is Health.BAD and "does not answer eth_getCode" in chain.words


def test_a_pooler_by_transactions_is_noticed_while_statements_are_prepared(bouncer: str) -> None:
    environment = {**os.environ, "DATABASE_URL": bouncer, "GOLEM_DATABASE_PREPARES": "1"}
    told = {}
    for prepares in ("1", "0"):
        done = subprocess.run(
            [sys.executable, "manage.py", "doctor", "--json"],
            cwd=ROOT,
            env={**environment, "GOLEM_DATABASE_PREPARES": prepares},
            capture_output=True,
            text=True,
            check=False,
        )
        rows = json.loads(done.stdout)
        told[prepares] = next(row for row in rows if row["name"] == "pooler")
    assert told["1"]["verdict"] == "bad" and "GOLEM_DATABASE_PREPARES=0" in told["1"]["to_do"]
    assert told["0"]["verdict"] == "good"


def test_keys_that_others_may_read_and_keys_that_are_elsewhere_are_bad(settings: Any, tmp_path: Path) -> None:
    settings.GOLEM_KEYSTORE_DIR = tmp_path / "keystore"
    settings.GOLEM_KEYSTORE_DIR.mkdir(mode=0o755)
    golem = factories.make_golem(owner=factories.make_owner(), address="0x" + "22" * 20)
    Wallet.objects.create(golem=golem, address="0x" + "22" * 20)
    found = look()
    assert found["keys"].verdict is Health.BAD and "keystore" in found["keys"].words
    assert found["wallets"].verdict is Health.BAD and "1 of 1 keys are not in the keystore" in found["wallets"].words
    settings.GOLEM_KEYSTORE_DIR.chmod(0o700)
    (settings.GOLEM_KEYSTORE_DIR / f"0x{'22' * 20}.json").write_text("{}")
    found = look()
    assert found["keys"].verdict is found["wallets"].verdict is Health.GOOD


def test_a_backup_of_a_day_and_an_hour_is_recent_and_an_older_one_is_not(tmp_path: Path) -> None:
    now = clock.now()
    assert look(backups=str(tmp_path))["backups"].verdict is Health.BAD
    make_backup(folder=tmp_path / "one", keys=None, now=now - files.OLD_BACKUP)
    (recent,) = [each for each in files.examine_files(now=now, backups=str(tmp_path)) if each.name == "backups"]
    (old,) = [
        each
        for each in files.examine_files(now=now + timedelta(seconds=1), backups=str(tmp_path))
        if each.name == "backups"
    ]
    assert (recent.verdict, old.verdict) == (Health.GOOD, Health.BAD)


def test_postgresql_15_is_new_enough_and_14_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    for number, verdict in ((150_000, Health.GOOD), (149_999, Health.BAD)):
        monkeypatch.setattr(database, "_ask", lambda *_, number=number: number)
        assert database._look_at_version().verdict is verdict


def test_an_extension_that_is_too_old_is_named_with_how_to_renew_it() -> None:
    with connection.cursor() as cursor:
        cursor.execute("UPDATE pg_extension SET extversion = '0.7.4' WHERE extname = 'vector'")
    found = look()["pgvector"]
    assert (found.verdict, found.words) == (Health.BAD, "version 0.7.4 is too old")
    assert "postgresql-18-pgvector" in found.to_do and "ALTER EXTENSION vector UPDATE" in found.to_do


@pytest.mark.parametrize(
    ("words", "begins", "code"),
    [(["migrate"], "nothing was applied", ""), (["restore", "/nowhere"], "nothing was changed", "RESTORE_REFUSED: ")],
)
def test_a_password_that_is_wrong_is_said_by_who_asks_first(words: list[str], begins: str, code: str) -> None:
    known = connection.settings_dict
    place = f"{known['HOST']}:{known['PORT']}/{known['NAME']}"
    done = run_by_hand(words, DATABASE_URL=f"postgres://{known['USER']}:wrong@{place}")
    last = done.stderr.splitlines()[-1]
    assert done.returncode != 0 and "Traceback" not in done.stderr
    assert last.startswith(f"CommandError: {code}{begins}: postgresql cannot be asked: ")
    assert "password authentication failed" in last and last.endswith("Fix: start PostgreSQL, or mend DATABASE_URL")


@pytest.fixture
def without_rights() -> Iterator[str]:
    """The URL of an empty database whose owner is no superuser, on a server that lets only those make the extension."""
    known = connection.settings_dict
    password = known["PASSWORD"]
    where = f"host={known['HOST']} port={known['PORT']} dbname=postgres user={known['USER']} password={password}"
    with psycopg.connect(where, autocommit=True) as server:
        server.execute("DROP DATABASE IF EXISTS nobodys")
        server.execute("DROP ROLE IF EXISTS nobody_much")
        server.execute("CREATE ROLE nobody_much LOGIN PASSWORD 'only-here'")
        server.execute("CREATE DATABASE nobodys OWNER nobody_much TEMPLATE template0")
        yield f"postgres://nobody_much:only-here@{known['HOST']}:{known['PORT']}/nobodys"
        server.execute("DROP DATABASE nobodys WITH (FORCE)")
        server.execute("DROP ROLE nobody_much")


def test_migrate_asks_for_the_extension_before_it_applies_anything(without_rights: str) -> None:
    done = run_by_hand(["migrate", "-v", "0"], DATABASE_URL=without_rights)
    with psycopg.connect(without_rights) as here:
        tables = here.execute("SELECT count(*) FROM pg_tables WHERE schemaname = 'public'").fetchone()
    assert done.returncode != 0
    assert "nothing was applied: pgvector" in done.stderr and "CREATE EXTENSION vector" in done.stderr
    assert tables == (0,)


def test_restore_asks_for_the_extension_before_it_changes_anything(without_rights: str, tmp_path: Path) -> None:
    done = run_by_hand(["restore", str(tmp_path)], DATABASE_URL=without_rights)
    with psycopg.connect(without_rights) as here:
        tables = here.execute("SELECT count(*) FROM pg_tables WHERE schemaname = 'public'").fetchone()
    assert done.returncode != 0
    assert "RESTORE_REFUSED: nothing was changed: pgvector" in done.stderr and "CREATE EXTENSION vector" in done.stderr
    assert tables == (0,)
