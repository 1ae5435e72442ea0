"""A chat room that is told: its channel, a round of the schedule, and the texts that came."""

from __future__ import annotations

import json
import socketserver
import threading
from datetime import datetime
from typing import Any

from archetypes_app.models import Golem
from golem_project.alerts import channels
from golem_project.alerts.models import AlertChannel, ChannelKind
from tests.receiver import Receiver
from tools_app.core import clock, event_bus
from tools_app.core.events import Event, EventType

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
    return sum(channels.send_channel(channel_id=each.receiver, now=at) for each in channels.list_wanting(now=at))


def read_texts(receiver: Receiver) -> list[str]:
    return [json.loads(body)["text"] for _, body in receiver.got]


def make_mailbox(golem: Golem, address: str = "ana@example.org", **columns: Any) -> AlertChannel:
    confirmed_at = columns.pop("confirmed_at", None)
    made = channels.create_channel(
        person=golem.owner,
        kind=ChannelKind.EMAIL,
        target={"address": address},
        now=clock.now(),
        label=columns.pop("label", "mail"),
        **{"topics": [], **columns},
    )
    AlertChannel.objects.filter(pk=made.pk).update(confirmed_at=confirmed_at)
    return made


class MailServer:
    """As much of SMTP as a client of the standard library speaks; keeps what it got."""

    def __init__(self) -> None:
        self.got: list[str] = []
        mails = self.got

        class Handler(socketserver.StreamRequestHandler):
            def handle(self) -> None:
                self.wfile.write(b"220 here\r\n")
                while line := self.rfile.readline().strip().upper():
                    if line == b"DATA":
                        self.wfile.write(b"354 go on\r\n")
                        text = b""
                        while not text.endswith(b"\r\n.\r\n"):
                            text += self.rfile.readline()
                        mails.append(text.decode())
                    self.wfile.write(b"250 fine\r\n" if line != b"QUIT" else b"221 bye\r\n")
                    if line == b"QUIT":
                        return

        self.server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()


def refuse(golem: Golem, code: str = "SPENDING_LIMIT") -> None:
    event_bus.emit(
        golem_id=golem.pk,
        event=Event(EventType.POLICY_LIMIT_HIT, {"code": code, "action_type": "swap"}),
        now=clock.now(),
    )
