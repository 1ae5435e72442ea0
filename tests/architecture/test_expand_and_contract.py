"""A version follows another on a running database: what it changes there, the one before it can live with.

It adds first (expand), and takes away only what the last release no longer knows (contract): so a removal or a new name
takes two releases. What locks a table of many rows is made beside its writers, or checked after it stands.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.contrib.postgres.operations import AddConstraintNotValid, AddIndexConcurrently
from django.db import connection, migrations, models
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.operations.base import Operation

from golem_project.pi.released_shapes import FOLDER as SHAPES
from golem_project.upgrades.columns import (
    FOLDER,
    KnownSchema,
    StoredColumn,
    describe_columns,
    find_misfits,
    load_last_release,
    read_stored,
    write_schema,
)
from tests.old_life import _COPIED

RELEASE = load_last_release()
# Rows that grow with the life of golems: those of the test of a long life, and what every act writes beside them.
MANY_ROWS = {label.lower() for label, _, _ in _COPIED} | {
    "permits_app.actionrecord",
    "permits_app.signedpromise",
    "tools_app.auditentry",
    "tools_app.outboxevent",
    "tools_app.chainlog",
    "tools_app.pricebar",
    "memory_app.insight",
    "archetypes_app.decisioncyclerecord",
}
# Made before there was this rule, on a table of many rows: it is held while its rows are looked through once.
LOOKED_THROUGH = {"permits_app.spendentry: spend_cost_not_negative"}


def judge(operation: Operation, *, app: str, before: Any) -> Iterator[str]:
    """What of an operation a table of many rows would stand still for; `before` is the state that it begins with."""
    model = getattr(operation, "model_name_lower", "")
    label = f"{app}.{model}"
    if label not in MANY_ROWS:
        return
    if isinstance(operation, migrations.AddIndex) and not isinstance(operation, AddIndexConcurrently):
        yield f"{label}: the index {operation.index.name} is made while nobody can write; use AddIndexConcurrently"
    if isinstance(operation, migrations.AddConstraint) and not isinstance(operation, AddConstraintNotValid):
        name = f"{label}: {operation.constraint.name}"
        if isinstance(operation.constraint, models.CheckConstraint) and name not in LOOKED_THROUGH:
            yield f"{name} looks through all rows under a lock; use AddConstraintNotValid, then ValidateConstraint"
        if isinstance(operation.constraint, models.UniqueConstraint):
            yield f"{name} is made while nobody can write; make a unique index by AddIndexConcurrently"
    if isinstance(operation, migrations.AlterField):
        was = before.models[app, model].fields[operation.name].db_type(connection)
        now = operation.field.db_type(connection)
        if was != now and not (was or "").startswith("varchar"):
            yield f"{label}.{operation.name} from {was} to {now} writes every row anew; add another column"


def list_new() -> list[tuple[str, str]]:
    """The migrations of our apps since the last release."""
    loader = MigrationLoader(None)
    graph = loader.graph
    # A new database has the squashed one in place of those that the release knew.
    squashed = {old: new for new, migration in loader.replacements.items() for old in migration.replaces}
    newest = [squashed.get(node, node) for node in RELEASE.migrations.items()]
    known = {node for last in newest for node in graph.forwards_plan(last)}
    return sorted(node for node in graph.nodes if node not in known)


@pytest.mark.parametrize("node", list_new(), ids=".".join)
def test_no_migration_since_the_last_release_lets_writers_wait(node: tuple[str, str]) -> None:
    loader = MigrationLoader(None)
    migration = loader.graph.nodes[node]
    # Not its own list, which may name what a squashed one replaces.
    before = [parent.key for parent in loader.graph.node_map[node].parents]
    state = loader.project_state(before or None, at_end=True)
    told: list[str] = []
    for operation in migration.operations:
        told += judge(operation, app=node[0], before=state)
        operation.state_forwards(node[0], state)
    assert told == []
    beside = [each for each in migration.operations if "Concurrently" in type(each).__name__]
    assert not beside or not migration.atomic


@pytest.mark.django_db
def test_the_last_release_works_on_the_tables_as_they_are_now() -> None:
    assert find_misfits(RELEASE, list(read_stored())) == []


@pytest.mark.django_db
def test_this_version_fits_its_own_tables() -> None:
    assert find_misfits(KnownSchema("this", {}, describe_columns()), list(read_stored())) == []


def stored(**changes: Any) -> list[StoredColumn]:
    kept = StoredColumn("permits", "state", "character varying(8)", is_filled=False, may_be_null=False)
    return [dataclasses.replace(kept, **changes)]


OLD = KnownSchema("0.1", {}, {"permits": {"state": "varchar(8)"}})


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        ([], "permits is gone"),
        (stored(name="status"), "permits.state is gone"),
        (stored(type="character varying(7)"), "is character varying(7), and 0.1 writes varchar(8)"),
        (stored(type="integer"), "is integer"),
        ([*stored(), *stored(name="venue")], "permits.venue has no default in the database"),
    ],
)
def test_what_an_older_version_cannot_live_with_is_named(columns: list[StoredColumn], words: str) -> None:
    (told, *_) = find_misfits(OLD, columns)
    assert words in told


@pytest.mark.parametrize(
    "columns",
    [
        stored(type="character varying(9)"),
        stored(type="text"),
        stored(may_be_null=True),
        [*stored(), *stored(name="venue", is_filled=True)],
        [*stored(), *stored(table="new_ones", name="venue")],
    ],
)
def test_what_an_older_version_does_not_notice_is_allowed(columns: list[StoredColumn]) -> None:
    assert find_misfits(OLD, columns) == []


def test_a_column_that_an_older_version_leaves_empty_stays_so() -> None:
    old = KnownSchema("0.1", {}, {"permits": {"state": "varchar(8) null"}})
    assert "leaves it empty" in find_misfits(old, stored())[0]


@pytest.mark.parametrize(
    ("operation", "words"),
    [
        (migrations.AddIndex("actionpermit", models.Index(fields=["status"], name="one")), "AddIndexConcurrently"),
        (
            migrations.AddConstraint("actionpermit", models.CheckConstraint(condition=models.Q(id=1), name="one")),
            "ValidateConstraint",
        ),
        (
            migrations.AddConstraint("actionpermit", models.UniqueConstraint(fields=["status"], name="one")),
            "unique index",
        ),
        (migrations.AlterField("actionpermit", "status", models.IntegerField()), ""),
        (migrations.AlterField("spendentry", "heartbeat_tick", models.TextField()), "add another column"),
    ],
)
def test_what_lets_writers_of_many_rows_wait_is_named(operation: Operation, words: str) -> None:
    before = MigrationLoader(None).project_state()
    told = list(judge(operation, app="permits_app", before=before))
    assert bool(told) is bool(words) and all(words in each for each in told)


def test_every_table_of_many_rows_is_one_of_ours() -> None:
    known = {f"{app}.{model}" for app, model in MigrationLoader(None).project_state().models}
    assert known >= MANY_ROWS


def test_the_last_release_has_its_columns_kept_beside_its_answers(tmp_path: Path) -> None:
    newest = max(SHAPES.glob("*.json"), key=lambda path: [int(part) for part in path.stem.split(".")])
    assert RELEASE.version == newest.stem and (FOLDER / newest.name).exists()
    text = write_schema(version="0.10.0", migrations=RELEASE.migrations, columns=RELEASE.columns)
    (tmp_path / "0.10.0.json").write_text(text)
    (tmp_path / "0.9.0.json").write_text(text.replace("0.10.0", "0.9.0"))
    assert load_last_release(tmp_path) == dataclasses.replace(RELEASE, version="0.10.0")
