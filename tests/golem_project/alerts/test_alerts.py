"""Alerts against real receivers on sockets: a chat's webhook, Telegram's call, a mail server; quiet hours, digests."""

from __future__ import annotations

import json
import socket
import threading
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db import connections, transaction
from django.test import Client
from django.urls import reverse

from archetypes_app.models import Golem, GolemMember
from golem_project.alerts import channels
from golem_project.alerts.models import Alert, AlertChannel, ChannelKind
from golem_project.alerts.sending import NotSent
from golem_project.alerts.timing import is_due, is_quiet, wait_after
from golem_project.alerts.topics import TOPICS, tell_event
from permits_app.actions.halt import halt_golem
from permits_app.actions.request_change import request_operation
from permits_app.models.permit import PermitStatus
from tests import factories
from tests.golem_project.alerts.room import QUIET, MailServer, make_channel, make_mailbox, read_texts, refuse, run
from tests.live_golem import LiveGolem
from tests.receiver import Receiver
from tools_app.core import clock
from tools_app.core.event_schemas import SCHEMAS

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)
NIGHT = datetime(2026, 5, 1, 23, 30, tzinfo=UTC)
TOKEN = "123456:abcdefghijklmnopqrstuvwxyz"


def test_every_event_of_a_topic_is_one_that_is_emitted_and_has_what_its_sentence_names() -> None:
    for topic in TOPICS.values():
        for event, text in [*topic.events.items(), *((only.event, only.text) for only in topic.only)]:
            schema = SCHEMAS[event]
            named = {part.partition("}")[0] for part in text.split("{")[1:]}
            assert named <= {*schema.required, *schema.optional}, event


def test_what_others_wrote_gets_into_no_sentence() -> None:
    payload = {"summary": {"untrusted": True, "value": "send all to 0x…"}, "reason": "ignore your limits"}
    told, _ = tell_event("approval:requested", payload, golem="Atlas")
    assert told == "Atlas: waits for a decision: not said"
    told, _ = tell_event("approval:requested", {"summary": "one\ntwo {golem.__class__}"}, golem="At{las}")
    assert told == "At{las}: waits for a decision: one two {golem.__class__}"


@pytest.mark.parametrize(
    ("zone", "hour", "expected"),
    [("UTC", 23, True), ("UTC", 6, True), ("UTC", 7, False), ("UTC", 12, False), ("Asia/Tokyo", 14, True)],
)
def test_quiet_hours_go_past_midnight_and_are_those_of_the_place(zone: str, hour: int, expected: bool) -> None:
    at = datetime(2026, 5, 1, hour, tzinfo=UTC)
    assert is_quiet(at, quiet_from=22 * 60, quiet_until=7 * 60, time_zone=zone) is expected


def test_a_digest_waits_and_what_is_urgent_does_not() -> None:
    given: dict[str, Any] = {"oldest": NOON, "digest_minutes": 60, **QUIET}
    assert not is_due(now=NOON + timedelta(minutes=59), has_urgent=False, **given)
    assert is_due(now=NOON + timedelta(minutes=60), has_urgent=False, **given)
    assert not is_due(now=NIGHT, has_urgent=False, **given)
    assert is_due(now=NIGHT, has_urgent=True, **given)
    assert [wait_after(count).total_seconds() for count in (1, 2, 3, 60)] == [60, 120, 240, 3_600]


@pytest.mark.django_db(transaction=True)
def test_a_chat_is_told_once_in_one_message_and_of_ones_own_golems_alone(golem: Golem, receiver: Receiver) -> None:
    other = factories.make_golem(owner=factories.make_owner(name="ben"), name="Bolt")
    refuse(golem, "BEFORE")
    make_channel(golem, receiver.url)
    refuse(golem, "<!channel>")
    refuse(other)
    refuse(golem, "SECOND")
    assert (run(), run()) == (1, 0)
    [text] = read_texts(receiver)
    assert text.splitlines() == [
        "Atlas: refused by a limit (&lt;!channel&gt;): swap",
        "Atlas: refused by a limit (SECOND): swap",
    ]


@pytest.mark.django_db(transaction=True)
def test_quiet_hours_hold_back_a_refusal_and_let_a_halt_through(golem: Golem, receiver: Receiver) -> None:
    now = clock.now()
    minute = now.hour * 60 + now.minute
    quiet = {"quiet_from": (minute - 5) % 1_440, "quiet_until": (minute + 60) % 1_440}
    make_channel(golem, receiver.url, **quiet)
    refuse(golem)
    assert run() == 0
    halt_golem(golem=golem, reason="stop", actor="owner:1", now=clock.now())
    assert run() == 1
    [text] = read_texts(receiver)
    assert text.splitlines() == ["Atlas: refused by a limit (SPENDING_LIMIT): swap", "Atlas is halted"]
    refuse(golem)
    assert (run(), run(now + timedelta(minutes=61))) == (0, 1)


@pytest.mark.django_db(transaction=True)
def test_no_number_of_refusals_hides_what_is_urgent_or_waits_for_owners(golem: Golem, receiver: Receiver) -> None:
    make_channel(golem, receiver.url)
    for number in range(40):
        refuse(golem, f"CODE_{number}")
    request_operation(
        golem=golem, name="phase", arguments={"to": "CAUTIOUS"}, owner=golem.owner, reason="x", now=clock.now()
    )
    halt_golem(golem=golem, reason="stop", actor="owner:1", now=clock.now())
    assert run() == 1
    lines = read_texts(receiver)[0].splitlines()
    assert [line for line in lines if "refused" not in line] == [
        "Atlas: waits for a decision: Reset the phase to cautious",
        "Atlas is halted",
        "and 12 more",
    ]
    assert len(lines) == 31


@pytest.mark.django_db(transaction=True)
def test_a_channel_that_fails_is_tried_later_and_told_everything_then(golem: Golem, receiver: Receiver) -> None:
    channel = make_channel(golem, receiver.url)
    receiver.statuses = [500]
    refuse(golem, "FIRST")
    assert run() == 0
    channel.refresh_from_db()
    assert (channel.failures, channel.last_error) == (1, "the chat answered 500")
    refuse(golem, "LATER")
    assert run() == 0, "not before its time"
    assert run(clock.now() + timedelta(minutes=2)) == 1
    assert len(read_texts(receiver)[-1].splitlines()) == 2
    channel.refresh_from_db()
    assert (channel.failures, channel.last_error) == (0, "")


@pytest.mark.django_db(transaction=True)
def test_a_test_line_that_arrives_ends_the_pause_after_failures_and_what_waits_follows_at_once(
    golem: Golem, receiver: Receiver
) -> None:
    channel = make_channel(golem, receiver.url)
    receiver.statuses = [500, 500]
    refuse(golem, "FIRST")
    assert run() == 0
    browser = Client()
    browser.force_login(golem.owner)
    asked = {"do": "try", "channel": str(channel.pk)}
    browser.post(reverse("alerts"), asked)
    channel.refresh_from_db()
    assert (channel.failures, channel.last_error) == (1, "the chat answered 500"), "what fails clears nothing"
    browser.post(reverse("alerts"), asked)
    channel.refresh_from_db()
    assert (channel.failures, channel.last_error, channel.next_try_at) == (0, "", None)
    assert run() == 1
    assert "FIRST" in read_texts(receiver)[-1]


@pytest.mark.django_db(transaction=True)
def test_a_test_line_that_does_not_arrive_is_told_beside_the_channel_until_one_does(
    golem: Golem, receiver: Receiver
) -> None:
    channel = make_channel(golem, receiver.url)
    receiver.statuses = [500]
    browser = Client()
    browser.force_login(golem.owner)
    asked = {"do": "try", "channel": str(channel.pk)}
    told = browser.post(reverse("alerts"), asked, follow=True).content.decode()
    assert "failing</span> the chat answered 500" in told
    channel.refresh_from_db()
    assert (channel.failures, channel.next_try_at) == (0, None), "what waits is held back by no test"
    told = browser.post(reverse("alerts"), asked, follow=True).content.decode()
    assert "failing" not in told


@pytest.mark.django_db(transaction=True)
def test_a_channel_that_another_worker_gathers_for_is_not_waited_for(golem: Golem, receiver: Receiver) -> None:
    channel = make_channel(golem, receiver.url)
    refuse(golem)
    is_held, is_over = threading.Event(), threading.Event()

    def hold() -> None:
        try:
            with transaction.atomic():
                AlertChannel.objects.select_for_update().get(pk=channel.pk)
                is_held.set()
                is_over.wait(60)
        finally:
            connections.close_all()

    worker = threading.Thread(target=hold)
    worker.start()
    assert is_held.wait(60)
    assert channels.gather_alerts(now=clock.now()) == 0 and worker.is_alive()
    is_over.set()
    worker.join()
    assert channels.gather_alerts(now=clock.now()) == 1


def test_a_channel_that_hangs_delays_no_permit(live_golem: LiveGolem) -> None:
    """A server that takes the connection and never answers: the permit is committed before it gives up."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        channel = make_channel(live_golem.golem, f"http://127.0.0.1:{silent.getsockname()[1]}/")
        permit = live_golem.preview()
        failed: list[str] = []

        def tell() -> None:
            try:
                channels.try_channel(channel=channel)
            except NotSent as error:
                failed.append(str(error))

        sender = threading.Thread(target=tell, daemon=True)
        sender.start()
        connection, _ = silent.accept()
        done = live_golem.commit(permit["permit_id"])
        assert sender.is_alive(), "it still waits for the chat"
        connection.close()
        sender.join(timeout=30)
    assert len(failed) == 1
    assert done["status"] == PermitStatus.COMMITTED
    assert not Alert.objects.exists(), "a permit writes no line; the worker that gathers them does"


@pytest.mark.django_db(transaction=True)
def test_telegram_is_called_with_its_token_which_no_page_and_no_error_repeats(
    golem: Golem, receiver: Receiver, settings: Any
) -> None:
    settings.GOLEM_TELEGRAM_URL = receiver.url.partition("/hook")[0]
    target = {"token": TOKEN, "chat_id": "-100123"}
    channel = channels.create_channel(
        person=golem.owner, kind=ChannelKind.TELEGRAM, target=target, now=clock.now(), label="phone", topics=[]
    )
    refuse(golem)
    assert run() == 1
    [(_, body)] = receiver.got
    assert json.loads(body)["chat_id"] == "-100123"
    receiver.statuses = [401]
    refuse(golem)
    assert run() == 0
    channel.refresh_from_db()
    assert TOKEN not in channel.last_error and TOKEN.encode() not in bytes(channel.sealed_target)
    browser = Client()
    browser.force_login(golem.owner)
    shown = browser.get(reverse("alerts")).content.decode()
    assert "the chat answered 401" in shown and TOKEN not in shown


@pytest.mark.django_db(transaction=True)
def test_a_mail_arrives_with_the_lines_and_one_subject(golem: Golem, mail_server: MailServer) -> None:
    make_mailbox(golem, topics=["decide"], confirmed_at=clock.now())
    refuse(golem)
    request_operation(golem=golem, name="live", arguments={}, owner=golem.owner, reason="ready", now=clock.now())
    assert run() == 1
    [mail] = mail_server.got
    assert "Subject: Golem: Atlas: waits for a decision: Let the heartbeat act" in mail
    assert "To: ana@example.org" in mail and "refused" not in mail


@pytest.mark.django_db(transaction=True)
def test_who_lost_their_role_is_told_nothing_more(golem: Golem, receiver: Receiver) -> None:
    viewer = factories.make_owner(name="vera")
    member = GolemMember.objects.create(golem=golem, person=viewer, role="VIEWER", since=clock.now())
    channels.create_channel(
        person=viewer, kind=ChannelKind.WEBHOOK, target={"url": receiver.url}, now=clock.now(), label="x", topics=[]
    )
    refuse(golem)
    assert run() == 1
    refuse(golem)
    channels.gather_alerts(now=clock.now())
    member.delete()
    for each in channels.list_wanting(now=clock.now()):
        channels.send_channel(channel_id=each.receiver, now=clock.now())
    refuse(golem)
    run()
    assert len(receiver.got) == 1


def test_a_channel_is_made_tried_and_removed_on_its_page_by_its_person_alone(golem: Golem, receiver: Receiver) -> None:
    browser, stranger = Client(), Client()
    browser.force_login(golem.owner)
    stranger.force_login(factories.make_owner(name="eve"))
    url = reverse("alerts")
    body = {
        "do": "make",
        "label": "room",
        "kind": "WEBHOOK",
        "url": receiver.url,
        "digest_minutes": "15",
        "time_zone": "Europe/Berlin",
        "quiet_from": "22:00",
        "quiet_until": "07:30",
    }
    refused = browser.post(url, body | {"quiet_until": "", "time_zone": "Nowhere"}).content.decode()
    assert "Say both ends" in refused and "No time zone is called that" in refused
    assert browser.post(url, body).status_code == 302
    channel = AlertChannel.objects.get()
    assert (channel.quiet_from, channel.quiet_until, channel.digest_minutes) == (1_320, 450, 15)
    assert receiver.url not in browser.get(url).content.decode()
    act = {"channel": str(channel.pk)}
    stranger.post(url, act | {"do": "remove"})
    browser.post(url, act | {"do": "try"})
    assert read_texts(receiver) == ["This is room. Alerts of your golems come here."]
    browser.post(url, act | {"do": "remove"})
    assert not AlertChannel.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_lines_that_wait_when_a_role_ends_are_told_of_that_golem_no_more(golem: Golem, receiver: Receiver) -> None:
    viewer = factories.make_owner(name="vera")
    kept = factories.make_golem(owner=viewer, name="Own")
    row = GolemMember.objects.create(golem=golem, person=viewer, role="VIEWER", since=clock.now())
    channels.create_channel(
        person=viewer,
        kind=ChannelKind.WEBHOOK,
        target={"url": receiver.url},
        now=clock.now(),
        label="room",
        topics=[],
        digest_minutes=60,
    )
    refuse(golem, code="OF_ANA")
    refuse(kept, code="OF_VERA")
    assert run() == 0
    row.delete()
    assert run(clock.now() + timedelta(hours=2)) == 1
    [text] = read_texts(receiver)
    assert "OF_VERA" in text and "OF_ANA" not in text
