"""Of situations that ticks recorded, the tools that each asks for are among the twelve that a model is shown.

`GOLEM_RECORD_SITUATIONS=1` with `-k recorded_anew` brings every story about again and writes the file.
"""

from __future__ import annotations

import os
from typing import Any

import pytest

from archetypes_app.models import ToolProfile
from tests.catalogue.shelf import load_cases
from tests.catalogue.stage import open_stage
from tests.golem_project.heartbeat.pulses import turn_on
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
CASES = load_cases()


def _tell(story: str, live: LiveGolem) -> list[Situation]:
    live.golem.profiles.set(ToolProfile.objects.filter(name="full"))
    turn_on(live.golem, rule={}, is_live=False)
    recorder = Recorder(story, open_stage(live, CASES), ("full",))
    STORIES[story][0](recorder)
    return recorder.seen


@pytest.mark.parametrize(
    "story",
    [
        pytest.param(name, marks=pytest.mark.protocols(*protocols))
        for name, (_, protocols) in STORIES.items()
        if RECORDS or name in LOOKED_AT_AGAIN
    ],
)
def test_what_was_recorded_anew_is_what_the_file_says(story: str, live_golem: LiveGolem) -> None:
    seen = _tell(story, live_golem)
    if RECORDS:
        write_situations(seen)
    kept = [each for each in read_situations() if each.name.rpartition(" ")[0] == story]
    assert [_outline(each) for each in seen] == [_outline(each) for each in kept]


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
