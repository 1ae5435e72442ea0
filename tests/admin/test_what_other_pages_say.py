"""What every page of the admin says that is no row's own and no list, beside rows in every state.

A golem has rows of every model in every state, made a minute apart. A page is told by its lines in the order of the
alphabet, for some stand in an order that chance decides; `what_other_pages_say.json` has them, and
GOLEM_WRITE_SNAPSHOTS=1 writes them anew.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import Any, Final

import pytest
from django.db import DatabaseError, connection, transaction

from archetypes_app.models import Golem
from tests import factories
from tests.admin.members import log_in
from tests.admin.rows import MAKERS
from tests.admin.rows_beside import BESIDE
from tests.admin.test_roles import list_pages
from tests.admin.test_what_lists_say import hide_chance
from tests.admin.test_what_pages_say import MADE, OF_THE_ROW, read_page
from tests.admin.test_whose_rows_in_which_order import list_addresses, look, make_person, set_clock
from tests.admin.written_lines import read_lines, write_lines
from tests.rows_in_every_state import list_others

pytestmark = [pytest.mark.django_db, pytest.mark.locks_at_will]
WRITTEN: Final = Path(__file__).with_name("what_other_pages_say.json")
# Pages of rows and lists, which others tell; texts of documents, and what tells of the machine.
_ENDINGS: Final = ("_change", "_changelist", "_history", "_delete", "_keep_filter", "_remove_filter")
_ELSEWHERE: Final = ("help", "jsi18n", "login", "logout", "find")
_PARTS: Final = ("archetypes_app_golem", "archetypes_app", "permits_app_changerequest", "permits_app")
# A secret of a second factor that is drawn when its page opens.
_SECRET: Final = re.compile(r"(?:[A-Z2-7]{4} ){7}[A-Z2-7]{4}")
_FIRST: Final = ("permits_app.policycage", "permits_app.spendinglimits", "permits_app.wallet")


def list_parts() -> list[str]:
    """The pages in parts, by the model or app their names begin with."""
    return sorted({part_of(name) for name, _ in list_pages() if is_asked(name)})


def part_of(name: str) -> str:
    return next((each for each in _PARTS if name.startswith(each)), "others")


def is_asked(name: str) -> bool:
    return bool(name) and not name.endswith(_ENDINGS) and not name.startswith(_ELSEWHERE)


def fill(golem: Golem, patch: pytest.MonkeyPatch) -> dict[str, Any]:
    """A row of every model in every state, each a minute after the one before; those as they are made, by model."""
    made, minutes = {}, 0

    def wait() -> None:
        nonlocal minutes
        minutes += 1
        set_clock(patch, MADE + timedelta(minutes=minutes))

    for model in sorted(MAKERS, key=lambda model: (model not in _FIRST, model)):
        wait()
        made[model] = MAKERS[model](golem)
        for name, value, _ in list_others(MAKERS[model], golem):
            wait()
            with suppress(DatabaseError, ValueError), transaction.atomic():
                row = MAKERS[model](golem)
                type(row)._base_manager.filter(pk=row.pk).update(**{name: value})
    for make in dict.fromkeys(BESIDE.values()):
        wait()
        make(golem)
    wait()
    return made


def hide(line: str, golem: Golem) -> str:
    """The line without what is drawn by chance."""
    return _SECRET.sub("…", OF_THE_ROW.sub("…", hide_chance(line.replace(golem.pk.hex[:12], "…"), golem)))


@pytest.fixture
def _counted_anew(db: None) -> None:
    """Rows that are numbered have the same numbers in every run."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT schemaname || '.' || quote_ident(sequencename) FROM pg_sequences")
        for (name,) in cursor.fetchall():
            cursor.execute(f"ALTER SEQUENCE {name} RESTART WITH 70001")


@pytest.mark.usefixtures("_counted_anew")
@pytest.mark.parametrize("part", list_parts())
def test_a_page_says_what_is_written_down_of_rows_in_every_state(part: str, monkeypatch: pytest.MonkeyPatch) -> None:
    set_clock(monkeypatch, MADE)
    golem = factories.make_golem(
        owner=make_person("ana"), name="Atlas", archetype=factories.make_archetype(name="kind")
    )
    rows, browser = fill(golem, monkeypatch), log_in(golem.owner)
    said: dict[str, list[str]] = {}
    for name, _, url in list_addresses(golem, rows):
        if is_asked(name) and part_of(name) == part:
            status, told = look(browser, url)
            lines = Counter(hide(each, golem) for each in read_page(told))
            counted = [f"{line} (×{count})" if count > 1 else line for line, count in sorted(lines.items())]
            said[name] = [f"status {status}", *counted]
    written = read_lines(WRITTEN)
    names = {name for name, _ in list_pages() if is_asked(name)}
    if os.environ.get("GOLEM_WRITE_SNAPSHOTS") == "1":
        write_lines(WRITTEN, {name: each for name, each in {**written, **said}.items() if name in names})
        return
    assert said == {name: written[name] for name in written if part_of(name) == part}
