"""The short form of the proof of the pulse."""

from __future__ import annotations

import pytest

from archetypes_app.actions.sync_builtins import sync_builtins
from archetypes_app.models import HeartbeatTick
from tests.proof.heartbeat import walk_at_random


@pytest.mark.parametrize("seed", range(12))
def test_beats_deaths_and_clock_jumps_never_run_a_tick_twice_or_stop_a_golem(db: None, seed: int) -> None:
    sync_builtins()
    walk_at_random(seed)
    ended = set(HeartbeatTick.objects.exclude(ended_at=None).values_list("status", flat=True))
    assert "COMPLETE" in ended
    assert not HeartbeatTick.objects.filter(ended_at=None).exists()
