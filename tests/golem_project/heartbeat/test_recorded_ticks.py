"""Ticks that are recorded at a real pool, and the five hundred of them that the repository keeps.

`GOLEM_KEEP_TICKS=500` on a run of this file records the five hundred anew; it takes a quarter of an hour.
"""

from __future__ import annotations

import os
from itertools import pairwise
from pathlib import Path
from typing import Any

from tests.bench.recorded import HOURS_BETWEEN, read_recording, replay_recording, write_recording
from tests.golem_project.heartbeat.recording import record
from tests.live_golem import LiveGolem

TICKS = 500


def test_ticks_are_recorded_at_a_real_pool_and_read_again_as_they_were(
    live_golem: LiveGolem, settings: Any, tmp_path: Path
) -> None:
    kept = int(os.environ.get("GOLEM_KEEP_TICKS", "0"))
    recording = record(live_golem, settings, **({"ticks": kept} if kept else {"ticks": 2, "before_hours": 33}))
    write_recording(recording, tmp_path / "ticks.json")
    assert read_recording(tmp_path / "ticks.json") == recording
    assert all(tick.wishes and tick.known is not None and tick.known.regime for tick in recording.ticks)
    assert replay_recording(recording).differs == 0
    assert recording.limits_before == recording.limits_after
    if kept:
        write_recording(recording)


def test_the_kept_ticks_are_five_hundred_in_a_row_and_the_present_code_decides_as_they_did() -> None:
    recording = read_recording()
    ticks = recording.ticks
    assert len(ticks) == TICKS
    assert all(after.number == before.number + 1 and after.block > before.block for before, after in pairwise(ticks))
    assert {(after.at - before.at) // 3_600 for before, after in pairwise(ticks)} == {HOURS_BETWEEN}
    assert replay_recording(recording).differs == 0


def test_over_the_kept_ticks_fewer_entries_are_bad_with_what_is_known_and_no_limit_moved() -> None:
    recording = read_recording()
    counted = replay_recording(recording)
    assert counted.careful_bad < counted.bad <= counted.entries and counted.moved == 0
    assert recording.limits_before == recording.limits_after != []
