"""What a tick emits."""

from __future__ import annotations

from tests.golem_project.heartbeat.pulses import tick, turn_on
from tests.live_golem import LiveGolem
from tools_app.core.models import OutboxEvent


def test_what_a_tick_does_is_told_with_its_number(live_golem: LiveGolem) -> None:
    golem = live_golem.golem
    turn_on(golem)
    record = tick(golem)
    kinds = set(
        OutboxEvent.objects.filter(golem_id=golem.pk, heartbeat_tick=record.heartbeat_tick).values_list(
            "type", flat=True
        )
    )
    assert {"heartbeat:tick", "permit:created", "tool:start", "heartbeat:complete"} <= kinds
