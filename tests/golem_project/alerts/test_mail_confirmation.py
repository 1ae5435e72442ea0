"""A mailbox is told nothing until its addressee agreed, and gets no more codes than a day allows."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from archetypes_app.models import Golem
from golem_project.alerts.errors import CodeRefused, TooManyCodes
from golem_project.alerts.mail_confirmation import confirm_channel, mail_code
from golem_project.alerts.models import AlertChannel, ConfirmationMail
from tests import factories
from tests.golem_project.alerts.room import MailServer, make_mailbox, refuse, run
from tools_app.core import clock


def press(golem: Golem, do: str, channel: AlertChannel, **fields: str) -> str:
    browser = Client()
    browser.force_login(golem.owner)
    given = {"do": do, "channel": str(channel.pk), **fields}
    return browser.post(reverse("alerts"), given, follow=True).content.decode()


def read_code(mail: str) -> str:
    return mail.partition("The code is ")[2][:8]


@pytest.mark.django_db(transaction=True)
def test_a_mailbox_gets_nothing_but_a_code_until_its_addressee_agrees(golem: Golem, mail_server: MailServer) -> None:
    browser = Client()
    browser.force_login(golem.owner)
    given = {"do": "make", "kind": "EMAIL", "address": "eve@example.org", "label": "Buy now at evil.example"}
    shown = browser.post(
        reverse("alerts"), given | {"digest_minutes": "0", "time_zone": "UTC"}, follow=True
    ).content.decode()
    channel = AlertChannel.objects.get()
    assert "A code was mailed" in shown and "not confirmed" in shown
    refuse(golem)
    assert run() == 0
    assert "is not confirmed yet" in press(golem, "try", channel)
    [mail] = mail_server.got
    assert "To: eve@example.org" in mail and "Buy now" not in mail and golem.name not in mail and "ana" not in mail
    assert "that is not the code" in press(golem, "confirm", channel, code="AAAAAAAA")
    stranger = factories.make_golem(owner=factories.make_owner(name="bob"))
    assert "There is no such channel" in press(stranger, "confirm", channel, code=read_code(mail))
    assert "Alerts go to " in press(golem, "confirm", channel, code=f" {read_code(mail).lower()} ")
    assert run() == 0, "what happened before is not told late"
    refuse(golem)
    assert run() == 1
    assert "refused" in mail_server.got[-1]
    assert "no code for this channel" in press(golem, "confirm", channel, code=read_code(mail))


@pytest.mark.django_db
def test_where_no_mail_can_be_sent_a_channel_is_no_success(golem: Golem, settings: Any) -> None:
    settings.GOLEM_EMAIL_HOST = ""
    browser = Client()
    browser.force_login(golem.owner)
    given = {"do": "make", "kind": "EMAIL", "address": "ana@example.org", "label": "mine", "digest_minutes": "0"}
    answer = browser.post(reverse("alerts"), given | {"time_zone": "UTC"}, follow=True)
    told = {(each.level_tag, str(each)) for each in answer.context["messages"]}
    assert [level for level, words in told if "this server sends no mail" in words] == ["error"]
    assert "success" not in {level for level, _ in told}


@pytest.mark.django_db(transaction=True)
def test_a_code_ends_with_its_hour_its_tries_and_the_next_code(
    golem: Golem, mail_server: MailServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    channel = make_mailbox(golem)
    start = clock.now()
    mail_code(channel=channel, now=start)
    for _ in range(5):
        with pytest.raises(CodeRefused, match="not the code"):
            confirm_channel(channel=channel, code="AAAAAAAA", now=start)
    with pytest.raises(CodeRefused, match="have another one sent"):
        confirm_channel(channel=channel, code=read_code(mail_server.got[0]), now=start)
    mail_code(channel=channel, now=start)
    first, second = (read_code(mail) for mail in mail_server.got)
    with pytest.raises(CodeRefused, match="not the code"):
        confirm_channel(channel=channel, code=first, now=start)
    for late in (timedelta(hours=1), timedelta(days=300)):
        with pytest.raises(CodeRefused, match="have another one sent"):
            confirm_channel(channel=channel, code=second, now=start + late)
    confirm_channel(channel=channel, code=second, now=start + timedelta(minutes=59, seconds=59))
    channel.refresh_from_db()
    assert channel.confirmed_at == start + timedelta(minutes=59, seconds=59)


@pytest.mark.django_db(transaction=True)
def test_nobody_has_a_strangers_mailbox_filled_whoever_asks_and_however_often(
    golem: Golem, mail_server: MailServer
) -> None:
    now = clock.now()
    people = [golem, *(factories.make_golem(owner=factories.make_owner(name=f"p{number}")) for number in range(3))]
    for number, one in enumerate(people):
        channel = make_mailbox(one, " Eve@Example.org" if number else "eve@example.org")
        if number < 3:
            mail_code(channel=channel, now=now)
        else:
            with pytest.raises(TooManyCodes):
                mail_code(channel=channel, now=now)
        channel.delete()
    for number in range(9):
        channel = make_mailbox(golem, f"somebody{number}@example.org")
        mail_code(channel=channel, now=now)
        channel.delete()
    last = make_mailbox(golem, "another@example.org")
    assert "the next one goes out tomorrow" in press(golem, "code", last)
    assert len(mail_server.got) == 12
    mail_code(channel=last, now=now + timedelta(days=1))
    assert ConfirmationMail.objects.filter(day=now.date()).count() == 12
