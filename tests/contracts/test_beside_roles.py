"""What the docs say of the cage beside Zodiac Roles v2 is what comes of the same batches today."""

from __future__ import annotations

from collections.abc import Iterator
from io import StringIO

import pytest
from django.core.management import call_command

from tests.architecture.sources import ROOT
from tests.proof.heist import run_scene
from tests.proof.heists import beside
from tests.proof.heists.beside import HEAD, ROWS, Besides, render_row
from tests.proof.heists.command import Command
from tests.proof.heists.roles import ANY_SIZE

PAGE = (ROOT / "docs" / "history" / "policy-cage-findings.md").read_text(encoding="utf-8")
# Those that tell the fences apart, and one that does not; the command makes all of them.
TRIED = ("_take", "_run_strange_code", "_change_what_is_owned", "_withdraw_to_whom")


@pytest.fixture(scope="module")
def besides() -> Iterator[Besides]:
    with run_scene(ANY_SIZE) as scene:
        yield Besides(scene)


@pytest.mark.parametrize("move", TRIED)
def test_a_row_of_the_comparison_is_what_comes_of_the_batches(besides: Besides, move: str) -> None:
    assert render_row(besides, move) in PAGE


def test_every_move_of_the_thief_has_a_row(besides: Besides) -> None:
    assert HEAD in PAGE
    assert [move.__name__ for _, move in besides.thief.moves] == list(ROWS)
    assert all(f"| {text} |" in PAGE for text in ROWS.values())


def test_the_command_prints_what_the_page_holds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(beside, "ROWS", {"_send_coins": ROWS["_send_coins"]})
    out = StringIO()
    call_command(Command(), stdout=out)
    head, row = out.getvalue().removesuffix("\n").rsplit("\n", 1)
    assert head + "\n" == HEAD
    assert row in PAGE.splitlines()
