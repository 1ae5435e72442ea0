"""Of situations that ticks recorded, the tools that each asks for are among the twelve that a model is shown.

`GOLEM_RECORD_SITUATIONS=1` with `-k recorded_anew` brings every story about again and writes the file.
"""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Any

import pytest

from archetypes_app.models import ToolProfile
from tests.catalogue.shelf import load_cases
from tests.catalogue.stage import open_stage
from tests.golem_project.heartbeat.pulses import turn_on
from tests.golem_project.heartbeat.thinking.recorded.held_out_stories import HELD_OUT
from tests.golem_project.heartbeat.thinking.recorded.judging import find_lacking, list_held_out
from tests.golem_project.heartbeat.thinking.recorded.recorder import (
    Recorder,
    Situation,
    read_situations,
    write_situations,
)
from tests.golem_project.heartbeat.thinking.recorded.stories import STORIES
from tests.live_golem import LiveGolem

RECORDS = os.environ.get("GOLEM_RECORD_SITUATIONS") == "1"
LOOKED_AT_AGAIN = ("liquidity", "asked 1", "pushed up", "silence")
ALL_STORIES = {**STORIES, **HELD_OUT}
CASES = load_cases()


def _tell(story: str, live: LiveGolem) -> list[Situation]:
    live.golem.profiles.set(ToolProfile.objects.filter(name="full"))
    turn_on(live.golem, rule={}, is_live=False)
    recorder = Recorder(story, open_stage(live, CASES), ("full",))
    ALL_STORIES[story][0](recorder)
    return recorder.seen


@pytest.mark.parametrize(
    "story",
    [
        pytest.param(name, marks=pytest.mark.protocols(*protocols))
        for name, (_, protocols) in ALL_STORIES.items()
        if RECORDS or name in LOOKED_AT_AGAIN
    ],
)
def test_what_was_recorded_anew_is_what_the_file_says(story: str, live_golem: LiveGolem) -> None:
    seen = _tell(story, live_golem)
    if RECORDS:
        write_situations(seen)
    kept = [each for each in read_situations() if each.name.rpartition(" ")[0] == story]
    assert [_outline(each) for each in seen] == [_outline(each) for each in kept]


def test_the_needed_tools_are_among_the_twelve_in_ninety_eight_of_a_hundred_situations() -> None:
    situations = read_situations()
    assert len(situations) >= 200
    assert len({(each.probes["block_number"], *each.anomalies, *each.words, each.phase) for each in situations}) > 150
    missed = {each.name: lacking for each in situations if (lacking := find_lacking(each))}
    assert (len(situations) - len(missed)) * 100 >= 98 * len(situations), missed


def test_in_situations_that_no_rule_was_made_for_they_are_in_nine_of_ten() -> None:
    """What the selection makes of words and holdings that nobody had in mind; `make bench ONLY=selection` says it."""
    held_out = list_held_out()
    assert len(held_out) >= 40 and {each.name.rpartition(" ")[0] for each in held_out} == set(HELD_OUT)
    missed = {each.name: lacking for each in held_out if (lacking := find_lacking(each))}
    assert (len(held_out) - len(missed)) * 10 >= 9 * len(held_out), missed


def test_the_figure_falls_when_the_probes_are_not_read() -> None:
    """As it was before: the task alone chose the tools."""
    missed = sum(bool(find_lacking(replace(each, probes={}))) for each in read_situations())
    assert missed > 40


def _outline(situation: Situation) -> Any:
    """What comes again: everything but figures that blocks and keys decide."""
    probes = situation.probes
    return (
        situation.name,
        situation.cause,
        situation.needs,
        situation.phase,
        situation.regime,
        situation.words,
        [each.partition(":")[0] for each in situation.anomalies],
        sorted(probes),
        [(sorted(each), each["in_range"], each["liquidity"] != "0") for each in probes["positions"]],
        [(sorted(each), each["position"].split("/")[0]) for each in probes["held_elsewhere"]],
        [(sorted(each), each["symbol"]) for each in probes["balances"]],
    )
