"""What was measured and proven is kept when the servers it ran on are thrown away."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.core.management import call_command

from golem_project.embedded.throwaway import throwaway_paths
from golem_project.proof.registry import Progress, load_rows


def test_reports_lie_outside_of_what_is_thrown_away() -> None:
    with throwaway_paths() as paths:
        assert not settings.GOLEM_REPORT_DIR.is_relative_to(paths.var_dir)


@pytest.mark.django_db
def test_a_figure_is_written_where_reports_are_kept(settings: Any, tmp_path: Path) -> None:
    settings.GOLEM_REPORT_DIR = tmp_path
    call_command("bench", only="toolset.")
    assert [figure["id"].split(".")[0] for figure in json.loads((tmp_path / "bench.json").read_text())] == ["toolset"]


def test_an_interrupted_proof_goes_on_where_it_stopped(tmp_path: Path) -> None:
    first = Progress(id="p", what="w", rounds=3, path=tmp_path / "proof.json")
    rounds = first.remaining()
    assert [next(rounds), next(rounds)] == [0, 1]
    again = Progress(id="p", what="w", rounds=3, path=first.path, done=load_rows(first.path)["p"]["done"])
    assert list(again.remaining()) == [1, 2]
    assert load_rows(first.path)["p"]["ok"]
