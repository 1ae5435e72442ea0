"""A golem whose Warden is on: its tick announces and leaves it, and no later tick wants the same again."""

from __future__ import annotations

from permits_app.actions.announce import turn_warden_on
from permits_app.models import ActionPermit, Announcement, OutboundTransaction
from permits_app.models.action_record import ActionRecord
from tests.golem_project.heartbeat.pulses import tick, turn_on
from tests.live_golem import LiveGolem
from tools_app.core import clock
from tools_app.core.models import OutboxEvent


def test_a_tick_announces_what_it_wants_once_and_sends_nothing(live_golem: LiveGolem) -> None:
    golem = live_golem.golem
    turn_warden_on(golem=golem, actor="owner", reason="I want to see it first", now=clock.now())
    turn_on(golem)
    first = tick(golem)
    action = ActionRecord.objects.get(tick_id=first.tick_id)
    assert action.permit_id is not None
    permit = ActionPermit.objects.get(pk=action.permit_id)
    assert permit.status == "ANNOUNCED" and Announcement.objects.filter(permit=permit).count() == 1
    assert action.state == "DEFERRED" and action.block_reason.startswith("ACTION_ANNOUNCED: it is carried out at ")
    second = tick(golem)
    assert not ActionRecord.objects.filter(tick_id=second.tick_id).exists()
    assert ActionPermit.objects.filter(golem=golem).count() == 1
    assert not OutboundTransaction.objects.filter(permit=permit).exists()


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
