"""What an operator's first page reads of everybody: figures of those that changed last, and counts."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.test import Client

from archetypes_app.models import Golem, Heartbeat
from golem_project.owner_pages import first_page
from golem_project.owner_pages.first_page import build_board
from tests import factories
from tests.explained import explain_second
from tools_app.core import clock

_MANY = 3_300
_MOST_READ = 3_000


@pytest.fixture
def fleet(db: None) -> list[Golem]:
    """Golems of several people, each with a heartbeat; every tenth is late."""
    now = clock.now()
    owners = [factories.make_owner(name=f"owner {number}") for number in range(3)]
    like = factories.make_golem(owner=owners[0], name="first")
    golems = Golem.objects.bulk_create(
        Golem(owner=owners[number % 3], name=f"golem {number}", archetype=like.archetype, home_chain_id=31_337)
        for number in range(_MANY)
    )
    Heartbeat.objects.bulk_create(
        Heartbeat(
            golem=golem,
            is_on=True,
            base_interval_seconds=60,
            next_tick_at=now - timedelta(seconds=181 if number % 10 == 0 else 179),
        )
        for number, golem in enumerate(golems)
    )
    return golems


def test_an_operator_s_figures_are_of_the_golems_that_changed_last_and_say_so(fleet: list[Golem]) -> None:
    operator = factories.make_operator()
    browser = Client()
    browser.force_login(operator)
    page = " ".join(browser.get("/admin/").content.decode().split())
    assert "owned by the 100 golems that changed last" in page
    beats = list(Heartbeat.objects.filter(is_on=True, golem__retired_at__isnull=True))
    now = clock.now()
    late = sum((now - beat.next_tick_at).total_seconds() > 2 * beat.base_interval_seconds + 60 for beat in beats)
    assert late >= _MANY // 10
    assert f"{late} of {len(beats)} golems that look by themselves are late" in page


def test_an_owner_of_few_reads_of_all_of_them(fleet: list[Golem]) -> None:
    owner = factories.make_owner(name="of few")
    factories.make_golem(owner=owner, name="mine")
    board = build_board(owner, now=clock.now())
    assert board.owned.whose == "all golems" and [line.golem.name for line in board.golems] == ["mine"]


def test_as_many_golems_as_are_counted_are_all_of_them(db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    owner = factories.make_owner()
    for number in range(3):
        factories.make_golem(owner=owner, name=f"golem {number}")
    monkeypatch.setattr(first_page, "COUNTED_GOLEMS", 3)
    assert not build_board(owner, now=clock.now()).owned.is_of_newest
    monkeypatch.setattr(first_page, "COUNTED_GOLEMS", 2)
    board = build_board(owner, now=clock.now())
    assert board.owned.is_of_newest and board.owned.reads_only == 2 and len(board.golems) == 2


@pytest.mark.parametrize("path", ["/admin/", "/admin/cockpit/"])
def test_no_statement_of_an_operator_s_page_reads_a_row_of_every_golem_but_their_own_table(
    fleet: list[Golem], path: str
) -> None:
    browser = Client()
    browser.force_login(factories.make_operator())
    found = explain_second(lambda: browser.get(path))
    long = {scan.table for scan in found.list_long(_MOST_READ)}
    # The golems themselves are looked through for those that changed last, heartbeats are counted.
    assert long <= {"archetypes_app_golem", "archetypes_app_archetype", "archetypes_app_heartbeat"}, long
