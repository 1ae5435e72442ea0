"""What a test that commits leaves behind for the next one."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import Permission, User
from django.core.management import call_command
from django.db import connection

from tests.emptied_database import EmptiedDatabase
from tests.factories import make_golem, make_owner
from tools_app.core import audit_log, clock
from tools_app.core.models import AuditEntry

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def database(tests_that_commit_are_cleared_away_after: EmptiedDatabase, transactional_db: None) -> EmptiedDatabase:
    call_command("flush", verbosity=0, interactive=False)
    return tests_that_commit_are_cleared_away_after


def test_what_was_written_goes_and_what_migrate_made_stays(database: EmptiedDatabase) -> None:
    permissions = Permission.objects.count()
    golem = make_golem(owner=make_owner())
    audit_log.append(golem_id=golem.pk, event="Tried", actor="key:test", data={}, now=clock.now())
    assert database.empty(connection)
    assert not User.objects.exists() and not AuditEntry.objects.exists()
    assert Permission.objects.count() == permissions > 100
    with connection.cursor() as cursor:
        cursor.execute("SHOW session_replication_role")
        assert cursor.fetchone() == ("origin",), "triggers are off for the clearing alone"


def test_a_row_of_migrate_that_was_changed_asks_for_the_whole_flush(database: EmptiedDatabase) -> None:
    permissions = Permission.objects.count()
    Permission.objects.filter(codename="view_golem").update(name="something else")
    assert not database.empty(connection)
    Permission.objects.all().delete()
    assert not database.empty(connection)
    call_command("flush", verbosity=0, interactive=False)
    assert Permission.objects.count() == permissions
    assert database.empty(connection)


def test_a_large_table_is_cut_to_nothing(database: EmptiedDatabase) -> None:
    User.objects.bulk_create(User(username=f"somebody-{number}") for number in range(4_000))
    assert _size() > 512 * 1024
    assert database.empty(connection)
    assert not User.objects.exists() and _size() < 128 * 1024


def _size() -> int:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_total_relation_size('auth_user')")
        return int(cursor.fetchone()[0])
