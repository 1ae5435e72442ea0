"""Alerts pushed to a browser: sealed as RFC 8291 says, signed by the server's key, sent to no address of ours."""

from __future__ import annotations

import json
from typing import Any

import jwt
import pytest
from Crypto.PublicKey import ECC
from django.test import Client
from django.urls import reverse

from archetypes_app.models import Golem
from golem_project.alerts import channels, push_key
from golem_project.alerts.errors import ChannelRefused
from golem_project.alerts.models import AlertChannel, ChannelKind
from golem_project.alerts.push_message import NoBrowserKey, seal_message
from golem_project.alerts.sending import NotSent
from permits_app.actions.halt import halt_golem
from permits_app.actions.request_change import request_operation
from tests.golem_project.alerts.browsers import BrowserKeys
from tests.golem_project.alerts.room import MailServer, make_channel, make_mailbox, read_texts, refuse, run
from tests.receiver import Receiver
from tools_app.core import clock

ANSWER_OF_THE_RFC = (
    "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl"
    "7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN"
)


def subscribe(golem: Golem, url: str, keys: BrowserKeys, **columns: Any) -> AlertChannel:
    given = {"label": "phone", "topics": [], **columns}
    return channels.create_channel(
        person=golem.owner, kind=ChannelKind.PUSH, target=keys.target(url), now=clock.now(), **given
    )


def test_a_message_is_sealed_as_the_example_of_the_rfc() -> None:
    own = ECC.construct(
        curve="p256", d=int.from_bytes(push_key.to_bytes("yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw"))
    )
    sealed = seal_message(
        b"When I grow up, I want to be a watermelon",
        browser_key=push_key.to_bytes(
            "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4"
        ),
        auth=push_key.to_bytes("BTBZMqHH6r4Tts7J_aSIgg"),
        own=own,
        salt=push_key.to_bytes("DGv6ra1nlYgDCS1FRnbzlw"),
    )
    assert push_key.to_text(sealed) == ANSWER_OF_THE_RFC


@pytest.mark.parametrize("raw", [b"", b"\x04" + b"\x01" * 64, b"\x02" + b"\x01" * 32, b"\x05" + b"\x00" * 64])
def test_what_is_no_point_of_the_curve_is_refused(raw: bytes) -> None:
    with pytest.raises(NoBrowserKey):
        seal_message(b"x", browser_key=raw, auth=b"\x00" * 16, own=ECC.generate(curve="p256"), salt=b"\x00" * 16)


@pytest.mark.django_db(transaction=True)
def test_a_request_is_pushed_with_the_page_on_which_it_is_decided(golem: Golem, receiver: Receiver) -> None:
    keys = BrowserKeys()
    channel = subscribe(golem, receiver.url, keys)
    asked = request_operation(golem=golem, name="live", arguments={}, owner=golem.owner, now=clock.now(), reason="seen")
    begun = int(clock.now().timestamp())
    assert run() == 1
    [(headers, body)] = receiver.got
    told = keys.open(body)
    assert told["path"] == reverse("admin:permits_app_changerequest_short", args=[asked.pk])
    assert asked.title in told["body"] and b"waits" not in body
    assert (headers["content-encoding"], headers["urgency"]) == ("aes128gcm", "high") and int(headers["ttl"]) > 0
    scheme, _, given = headers["authorization"].partition(" ")
    parts = dict(each.strip().split("=", 1) for each in given.split(","))
    assert scheme == "vapid" and parts["k"] == push_key.read_public_key()
    key = jwt.PyJWK(
        {
            "kty": "EC",
            "crv": "P-256",
            "x": push_key.to_text(push_key.to_bytes(parts["k"])[1:33]),
            "y": push_key.to_text(push_key.to_bytes(parts["k"])[33:]),
        }
    )
    claims = jwt.decode(parts["t"], key, algorithms=["ES256"], audience=receiver.url.partition("/hook")[0])
    assert claims["sub"].startswith(("mailto:", "https:"))
    # Push services refuse what is good for more than a day; ours is for half of one.
    signed_at, ended = claims["exp"] - 12 * 3_600, int(clock.now().timestamp())
    assert begun <= signed_at <= ended
    channel.refresh_from_db()
    assert channel.last_sent_at is not None and receiver.url.encode() not in bytes(channel.sealed_target)


@pytest.mark.django_db(transaction=True)
def test_many_lines_of_the_longest_words_fit_into_one_record(golem: Golem, receiver: Receiver) -> None:
    keys = BrowserKeys()
    subscribe(golem, receiver.url, keys)
    Golem.objects.filter(pk=golem.pk).update(name="Ä" * 64)
    for _ in range(12):
        refuse(golem, "X" * 250)
    assert run() == 1
    body = receiver.got[0][1]
    assert len(body) <= 4_096 and keys.open(body)["body"].endswith("and 8 more")


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(("status", "words"), [(410, "takes no alerts any more"), (500, "answered 500")])
def test_a_browser_that_is_gone_is_a_channel_that_fails_and_says_so(
    golem: Golem, receiver: Receiver, status: int, words: str
) -> None:
    channel = subscribe(golem, receiver.url, BrowserKeys())
    receiver.statuses = [status]
    with pytest.raises(NotSent, match=words):
        channels.try_channel(channel=channel)


@pytest.mark.django_db
@pytest.mark.parametrize(
    "change",
    [{"url": "http://169.254.169.254/latest"}, {"url": "https://10.0.0.1/x"}, {"p256dh": "AAAA"}, {"auth": "AAAA"}],
    ids=["metadata", "inside", "no key", "no secret"],
)
def test_what_is_no_subscription_or_leads_inside_is_refused(
    golem: Golem, settings: Any, change: dict[str, str]
) -> None:
    settings.GOLEM_WEBHOOK_ALLOWS_PRIVATE_ADDRESSES = False
    keys = BrowserKeys()
    target = {**keys.target("https://[2606:4700::1111]/push"), **change}
    with pytest.raises(ChannelRefused):
        channels.create_channel(
            person=golem.owner, kind=ChannelKind.PUSH, target=target, now=clock.now(), label="x", topics=[]
        )
    assert not AlertChannel.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_mail_and_chat_lead_to_the_page_where_the_server_knows_its_own_address(
    golem: Golem, receiver: Receiver, mail_server: MailServer, settings: Any
) -> None:
    settings.GOLEM_PUBLIC_URL = "https://golem.example"
    make_channel(golem, receiver.url)
    make_mailbox(golem, confirmed_at=clock.now())
    asked = request_operation(golem=golem, name="live", arguments={}, owner=golem.owner, now=clock.now(), reason="seen")
    assert run() == 2
    page = "https://golem.example" + reverse("admin:permits_app_changerequest_short", args=[asked.pk])
    [text] = read_texts(receiver)
    assert text.endswith(page) and page in mail_server.got[0].replace("=\r\n", "")
    halt_golem(golem=golem, reason="x", actor="owner:1", now=clock.now())
    run()
    assert read_texts(receiver)[-1].endswith(reverse("admin:archetypes_app_golem_change", args=[golem.pk]))


@pytest.mark.django_db
def test_the_manifest_says_how_to_install_and_the_worker_reaches_the_admin_alone(client: Client) -> None:
    told = json.loads(client.get("/manifest.webmanifest").content)
    assert (told["display"], told["start_url"]) == ("standalone", "/admin/")
    assert {each["sizes"] for each in told["icons"]} == {"192x192", "512x512"}
    worker = client.get("/admin/worker.js")
    assert worker.status_code == 200 and worker["Content-Type"].startswith("text/javascript")
    assert "Service-Worker-Allowed" not in worker
