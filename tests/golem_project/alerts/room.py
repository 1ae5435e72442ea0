"""A chat room that is told: its channel, a round of the schedule, and the texts that came."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any

from archetypes_app.models import Golem
from golem_project.alerts import channels
from golem_project.alerts.models import AlertChannel, ChannelKind
from tests.receiver import Receiver
from tools_app.core import clock

QUIET = {"quiet_from": 22 * 60, "quiet_until": 7 * 60, "time_zone": "UTC"}


def make_channel(golem: Golem, url: str, **columns: Any) -> AlertChannel:
    given = {"label": "room", "topics": [], **columns}
    return channels.create_channel(
        person=golem.owner, kind=ChannelKind.WEBHOOK, target={"url": url}, now=clock.now(), **given
    )


def run(now: datetime | None = None) -> int:
    """As the schedule does; how many channels were told."""
    at = now or clock.now()
    channels.gather_alerts(now=at)
    return sum(channels.send_channel(channel_id=pk, now=at) for pk in channels.list_due(now=at))


def read_texts(receiver: Receiver) -> list[str]:
    return [json.loads(body)["text"] for _, body in receiver.got]
