"""The map is of the house that stands."""

from __future__ import annotations

import itertools

import grimp
import pytest

from tests.architecture.map_page import APPS, COMMIT, PAGE, PREVIEW, find_named, write_page


def test_the_map_is_what_its_command_writes_today() -> None:
    assert PAGE.read_text() == write_page(), "run .venv/bin/python -m tests.architecture.map_page"


@pytest.mark.parametrize("way", [PREVIEW, COMMIT], ids=["preview", "commit"])
def test_every_step_of_the_way_is_reached_from_the_steps_before_it(way: tuple[str, ...]) -> None:
    graph = grimp.build_graph(*APPS, cache_dir=None)
    modules = [name.rpartition(".")[0] for name in way]
    for number, module in enumerate(modules[1:], 1):
        find_named(way[number])
        before = set(modules[:number])
        assert module in before or any(graph.chain_exists(importer=each, imported=module) for each in before), module
    assert len({*itertools.chain(way)}) == len(way)
