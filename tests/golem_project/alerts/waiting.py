"""A chat that cannot be told, with one event that waits for it."""

from __future__ import annotations

from django.test import override_settings

from archetypes_app.models import Golem
from golem_project.alerts.channels import create_channel
from golem_project.alerts.models import AlertChannel, ChannelKind
from tools_app.core import clock, event_bus
from tools_app.core.events import Event, EventType


def make_waiting_channel(golem: Golem) -> AlertChannel:
    """Set up where private addresses were allowed; trying it elsewhere is refused before anything is sent."""
    with override_settings(GOLEM_WEBHOOK_ALLOWS_PRIVATE_ADDRESSES=True):
        channel = create_channel(
            person=golem.owner,
            kind=ChannelKind.WEBHOOK,
            target={"url": "https://127.0.0.1:1/hook"},
            now=clock.now(),
            label="room",
            topics=["stopped"],
        )
    event_bus.emit(golem_id=golem.pk, event=Event(EventType.HALT_RESUMED, {"reason": "x"}), now=clock.now())
    return channel
