"""Who decides for a golem changes how they prove who they are: those who are told of it hear that."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.urls import reverse

from archetypes_app.models import Golem
from archetypes_app.owner_group import ensure_owner_group
from permits_app.models import Passkey
from tests import factories
from tests.golem_project.alerts.room import QUIET, make_channel, read_texts, run
from tests.permits_app.approvals.authenticators import Authenticator, ask, enter, give_passkey
from tests.permits_app.approvals.people import give_device, next_code
from tests.receiver import Receiver
from tools_app.core import clock


@pytest.fixture
def golem(db: None) -> Golem:
    owner = factories.make_owner(name="ana")
    owner.groups.add(ensure_owner_group())
    return factories.make_golem(owner=owner, name="Atlas")


@pytest.mark.django_db(transaction=True)
def test_a_copied_passkey_is_told_through_a_channel_and_at_night_too(golem: Golem, receiver: Receiver) -> None:
    browser = enter(golem.owner)
    key = give_passkey(golem.owner, browser)
    asked = factories.make_change_request(golem=golem)
    make_channel(golem, receiver.url, **QUIET)
    Passkey.objects.update(sign_count=40)
    copy = Authenticator(key=key.key, credential_id=key.credential_id, count=12)
    answer = copy.answer(ask(browser, "approve", f"{asked.pk}:{asked.digest}"))
    body = {"digest": asked.digest, "verdict": "APPROVE", "passkey": answer}
    decide = reverse("admin:permits_app_changerequest_decide", args=[asked.pk])
    assert browser.post(decide, body).status_code == 403
    night = clock.now().replace(hour=23, minute=30) + timedelta(days=1)
    assert (run(night), run(night)) == (1, 0)
    told = "Atlas: a passkey of somebody who decides for it may have been copied; it counts no more"
    assert read_texts(receiver) == [told]


@pytest.mark.django_db(transaction=True)
def test_a_second_factor_that_comes_or_goes_is_told_to_who_decides_with_them(golem: Golem, receiver: Receiver) -> None:
    ben = factories.make_owner(name="ben")
    golem.co_owners.add(ben)
    golem.save()
    make_channel(golem, receiver.url)
    browser = enter(ben)
    give_passkey(ben, browser)
    give_device(ben)
    Passkey.objects.all().delete()
    page = reverse("admin:permits_app_changerequest_second_factor_remove")
    assert "It is your last second factor" in browser.get(page).content.decode()
    assert browser.post(page, {"old_code": next_code(ben)}).status_code == 302
    assert run() == 1
    [text] = read_texts(receiver)
    changed = "Atlas: the second factors of somebody who decides for it changed:"
    assert text.splitlines() == [
        f"{changed} a passkey was added",
        f"{changed} the authenticator was removed, and none is left",
    ]
