"""A new database begins with the last release's tables at once; an older one goes its own way to the same tables, and
one that was filled by the last release is read by this version.
"""

from __future__ import annotations

import gzip
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

import psycopg
import pytest
from django.db import connection
from psycopg import sql

from golem_project.embedded.paths import CHECKOUT
from golem_project.embedded.postgres_binaries import find_binaries
from golem_project.upgrades.columns import load_last_release

pytestmark = [pytest.mark.django_db, pytest.mark.timeout(600)]

# What version 0.2.0 wrote in an hour of its demo's golem, without the parts of the index of logs.
ROWS: Final = Path(__file__).with_name("rows_of_0_2_0.sql.gz")
# What may differ between two dumps of the same tables: a word that pg_dump draws, and what stands behind a last column.
_DRAWN = re.compile(r"^\\(un)?restrict .*$|,$", re.MULTILINE)

MakeDatabase = Callable[[str], str]


@pytest.fixture
def make_database() -> Iterator[MakeDatabase]:
    """Make empty databases on the server of the tests; each is told by its address and gone afterwards."""
    given = connection.settings_dict
    server = f"postgresql://{given['USER']}:{given['PASSWORD']}@{given['HOST']}:{given['PORT']}"
    made: list[str] = []

    def ask(words: str, name: str) -> None:
        with psycopg.connect(f"{server}/postgres", autocommit=True) as session:
            session.execute(sql.SQL(words).format(sql.Identifier(name)))

    def make(name: str) -> str:
        unique = f"{given['NAME']}_{name}"
        ask("CREATE DATABASE {} TEMPLATE template0", unique)
        made.append(unique)
        return f"{server}/{unique}"

    yield make
    for name in made:
        ask("DROP DATABASE {} WITH (FORCE)", name)


def run(address: str, *arguments: str) -> str:
    """What a process of the product says that works on that database; fails the test where it fails."""
    environment = {**os.environ, "DATABASE_URL": address, "DJANGO_SETTINGS_MODULE": "golem_project.settings.test"}
    done = subprocess.run(
        [sys.executable, *arguments], env=environment, cwd=CHECKOUT, capture_output=True, text=True, timeout=400
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def describe(address: str) -> list[str]:
    """The lines of its schema in an order of their own: columns stand as they were added."""
    dump = subprocess.run(
        [str(find_binaries() / "pg_dump"), "--schema-only", "--no-owner", address],
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    return sorted(_DRAWN.sub("", dump.stdout).splitlines())


def count_rows(address: str, tables: list[str]) -> dict[str, int]:
    with psycopg.connect(address) as session:
        return {
            table: session.execute(sql.SQL("SELECT count(*) FROM {}").format(sql.Identifier(table))).fetchall()[0][0]
            for table in tables
        }


def fill(address: str) -> list[str]:
    """Put in what the last release wrote, as a restore does: no trigger asks; the tables that have rows then."""
    text = gzip.decompress(ROWS.read_bytes()).decode()
    head = "SET session_replication_role = replica; DELETE FROM tools_app_eventhead;\n"
    subprocess.run(
        [str(find_binaries() / "psql"), "-qX", "-v", "ON_ERROR_STOP=1", address],
        input=head + text,
        text=True,
        check=True,
        stdout=subprocess.DEVNULL,
        timeout=120,
    )
    return re.findall(r"^COPY public\.(\w+) ", text, re.MULTILINE)


def test_rows_are_kept_of_the_last_release() -> None:
    assert ROWS.name == f"rows_of_{load_last_release().version.replace('.', '_')}.sql.gz"


def test_a_new_database_and_one_of_the_last_release_come_to_the_same_tables_and_its_rows_are_read(
    make_database: MakeDatabase,
) -> None:
    new, old = make_database("new"), make_database("old")
    run(new, "manage.py", "migrate", "--verbosity=0")
    run(old, "-m", "tests.golem_project.upgrades.migrate_by_old_files")
    tables = fill(old)
    before = count_rows(old, tables)
    assert before["permits_app_actionpermit"] > 5 and before["tools_app_auditentry"] > 50

    run(old, "manage.py", "migrate", "--verbosity=0")

    assert describe(old) == describe(new)
    after = count_rows(old, tables)
    # Rights and kinds of rows that are new are written by `migrate` itself.
    growing = {"auth_permission", "django_content_type", "auth_group_permissions"}
    assert {table: after[table] for table in tables if table not in growing} == {
        table: count for table, count in before.items() if table not in growing
    }
    assert "broken" not in run(old, "manage.py", "verify_audit")
    assert int(run(old, "-m", "tests.golem_project.upgrades.read_as_operator").split()[0]) > 40
