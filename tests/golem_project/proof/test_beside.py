"""The bench beside an older commit says which of two values is the better one, and compares nothing that differs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from tests.bench.beside import compare, read_topics, run_make
from tests.bench.command import Command
from tests.bench.figures import MEASURES


def figure(**changes: Any) -> dict[str, Any]:
    return {"id": "one.p50", "unit": "ms", "value": 10.0, "target": 20.0, "ok": True, **changes}


@pytest.mark.parametrize(
    ("here", "there", "ratio", "is_as_good"),
    [
        (figure(), figure(value=20.0), 2.0, True),
        (figure(), figure(value=5.0), 0.5, False),
        # Within the noise of two runs.
        (figure(), figure(value=9.5), 0.95, True),
        # Over its target, and still less is better.
        (figure(value=30.0, ok=False), figure(value=15.0), 0.5, False),
        # A rate: above its target is well, and below is not.
        (figure(unit="/s", value=30.0), figure(unit="/s", value=15.0), 2.0, True),
        (figure(unit="%", value=95.0, target=98.0, ok=False), figure(unit="%", value=50.0), 1.9, True),
        (figure(unit="/s", target=None), figure(unit="/s", value=20.0), 0.5, False),
        (figure(value=0.0), figure(value=0.0), None, True),
    ],
)
def test_a_figure_is_compared_in_the_direction_in_which_it_is_better(
    here: dict[str, Any], there: dict[str, Any], ratio: float | None, is_as_good: bool
) -> None:
    [pair] = compare([here], [there])
    assert pair.ratio == ratio
    assert pair.is_as_good is is_as_good


def test_what_only_one_of_both_measures_or_measures_in_another_unit_is_left_out() -> None:
    assert list(compare([figure(), figure(id="two")], [figure(unit="s"), figure(id="three")])) == []


def test_what_make_was_told_here_is_not_told_again_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "Makefile").write_text("told:\n\t@echo beside=[$(BESIDE)] only=[$(ONLY)]\n", encoding="utf-8")
    # As `make bench BESIDE=abc ONLY=old` passes them on to whatever it starts.
    monkeypatch.setenv("MAKEFLAGS", " -- BESIDE=abc ONLY=old")
    monkeypatch.setenv("BESIDE", "abc")
    monkeypatch.setenv("ONLY", "old")
    assert run_make(tmp_path, "told", "ONLY=new").strip() == "beside=[] only=[new]"


@pytest.mark.django_db
def test_the_topics_are_those_that_the_bench_names_when_it_refuses_one() -> None:
    with pytest.raises(CommandError) as refused:
        call_command(Command(), only="?")
    assert read_topics(str(refused.value)) == sorted(MEASURES)
    with pytest.raises(RuntimeError, match="make: \\*\\*\\*"):
        read_topics("make: *** No rule to make target")
