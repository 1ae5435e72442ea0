"""Owners switch services on: keys are sealed and never shown, questions are counted, and what came last is told."""

from __future__ import annotations

import contextlib
import threading
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from django.db import IntegrityError, connection, transaction
from django.test import Client
from django.urls import reverse
from pydantic import BaseModel

from archetypes_app.models import KeptAnswer, ServiceAccess
from archetypes_app.owner_group import ensure_owner_group
from golem_project.outside.access import list_services, switch_on
from golem_project.outside.service_client import GuardedDoor
from golem_project.people.deactivated_accounts import stop_account
from tests import factories
from tests.stand_in import serve_stand_in
from tools_app.core import clock
from tools_app.core.clock import Deadline
from tools_app.core.errors import GolemError
from tools_app.toolkit.outside_services import (
    SERVICES,
    OutsideService,
    Question,
    ServiceNotSwitchedOn,
    ServiceQuotaUsedUp,
    declare_service,
)

KEY = "k-3f9d2c77aa51"


class Said(BaseModel):
    word: str


@pytest.fixture
def keyed(monkeypatch: pytest.MonkeyPatch) -> OutsideService:
    """A service that wants a key."""
    service = OutsideService(
        name="oracle_of_words",
        label="Oracle of words",
        url="https://words.example.org",
        lends="Words.",
        key_header="x-api-key",
        get_key_at="https://words.example.org/keys",
        questions_an_hour=3,
    )
    monkeypatch.setitem(SERVICES, service.name, service)
    return service


@pytest.fixture
def ana(db: None) -> Any:
    owner = factories.make_owner(name="ana")
    owner.groups.add(ensure_owner_group())
    return owner


def open_page(person: Any) -> Client:
    browser = Client()
    browser.force_login(person)
    return browser


def put_question(door: GuardedDoor, golem_id: UUID, service: OutsideService, kept: int = 0, at: Any = None) -> str:
    answer = door.ask(
        golem_id=golem_id,
        service=service,
        question=Question("POST", "/say", Said, body={"about": "life"}, kept_seconds=kept, oldest_seconds=90_000),
        now=at or clock.now(),
        deadline=Deadline.after_ms(5_000),
    )
    return answer.value.word


def test_an_owner_switches_a_service_on_with_a_key_that_is_never_shown_again(ana: Any, keyed: OutsideService) -> None:
    browser, page = open_page(ana), reverse("services")
    assert "Oracle of words" in browser.get(page).content.decode()
    form = {"service": keyed.name, "do": "on", f"{keyed.name}-questions_an_hour": "3"}
    refused = browser.post(page, form).content.decode()
    assert "wants a key; there is one at https://words.example.org/keys" in refused
    assert browser.post(page, {**form, f"{keyed.name}-key": KEY}).status_code == 302
    access = ServiceAccess.objects.get(person=ana)
    assert KEY.encode() not in bytes(access.sealed_key) and access.questions_an_hour == 3
    shown = browser.get(page).content.decode()
    assert KEY not in shown and "0 of 3 questions" in shown and "none yet" in shown
    # Without a key the one that is there stays.
    assert browser.post(page, {**form, f"{keyed.name}-questions_an_hour": "7"}).status_code == 302
    kept, access.sealed_key = bytes(access.sealed_key), b""
    access.refresh_from_db()
    assert bytes(access.sealed_key) == kept and access.questions_an_hour == 7
    assert browser.post(page, {"service": keyed.name, "do": "off"}).status_code == 302
    assert not ServiceAccess.objects.exists()


@pytest.mark.parametrize(
    ("key", "quota", "words"),
    [
        ("short", "3", "8 to 500"),
        ("with a space", "3", "8 to 500"),
        (KEY, "", "required"),
    ],
)
def test_what_is_no_key_or_no_quota_is_refused_in_words(
    ana: Any, keyed: OutsideService, key: str, quota: str, words: str
) -> None:
    form = {"service": keyed.name, "do": "on", f"{keyed.name}-key": key, f"{keyed.name}-questions_an_hour": quota}
    answer = open_page(ana).post(reverse("services"), form)
    assert words in answer.content.decode() and not ServiceAccess.objects.exists()


@pytest.mark.parametrize(("quota", "is_taken"), [("0", False), ("1", True), ("10000", True), ("10001", False)])
def test_a_quota_is_from_one_to_ten_thousand_questions_an_hour(
    ana: Any, keyed: OutsideService, quota: str, is_taken: bool
) -> None:
    form = {"service": keyed.name, "do": "on", f"{keyed.name}-key": KEY, f"{keyed.name}-questions_an_hour": quota}
    open_page(ana).post(reverse("services"), form)
    assert ServiceAccess.objects.exists() is is_taken
    with pytest.raises(GolemError) if not is_taken else contextlib.nullcontext():
        switch_on(person=ana, name=keyed.name, key=KEY, questions_an_hour=int(quota), now=clock.now())


def test_an_owner_sees_and_changes_their_own_services_alone(ana: Any, keyed: OutsideService) -> None:
    ben = factories.make_owner(name="ben")
    ben.groups.add(ensure_owner_group())
    switch_on(person=ana, name=keyed.name, key=KEY, questions_an_hour=None, now=clock.now())
    browser = open_page(ben)
    assert "0 of 3 questions" not in browser.get(reverse("services")).content.decode()
    browser.post(reverse("services"), {"service": keyed.name, "do": "off"})
    assert ServiceAccess.objects.filter(person=ana).exists()


def test_the_key_goes_in_its_header_and_nowhere_else_and_the_page_tells_quota_age_and_error(
    ana: Any, keyed: OutsideService
) -> None:
    golem = factories.make_golem(owner=ana)
    got: list[tuple[dict[str, str], bytes]] = []
    answers: list[Any] = [(200, {"word": "yes", "more": 1}), (500, {})]

    def answer(method: str, path: str, headers: dict[str, str], body: bytes) -> Any:
        got.append((headers, body))
        return answers[len(got) - 1]

    with serve_stand_in(answer) as url:
        door = GuardedDoor({keyed.name: url}, allows_private=True)
        with pytest.raises(ServiceNotSwitchedOn):
            put_question(door, golem.pk, keyed)
        switch_on(person=ana, name=keyed.name, key=KEY, questions_an_hour=None, now=clock.now())
        assert put_question(door, golem.pk, keyed) == "yes"
        with pytest.raises(GolemError) as refused:
            put_question(door, golem.pk, keyed)
    headers, body = got[0]
    assert headers["x-api-key"] == KEY and body == b'{"about":"life"}'
    assert KEY not in str(refused.value.as_problem())
    shown = open_page(ana).get(reverse("services")).content.decode()
    assert "2 of 3 questions" in shown and "seconds ago" in shown and "Oracle of words answered 500" in shown


def test_a_private_address_is_not_asked_unless_an_operator_says_so(ana: Any, keyed: OutsideService) -> None:
    golem = factories.make_golem(owner=ana)
    switch_on(person=ana, name=keyed.name, key=KEY, questions_an_hour=None, now=clock.now())
    got: list[str] = []

    def answer(method: str, path: str, headers: dict[str, str], body: bytes) -> Any:
        got.append(path)
        return 200, {"word": "x"}

    with serve_stand_in(answer) as url:
        with pytest.raises(GolemError) as refused:
            put_question(GuardedDoor({keyed.name: url}), golem.pk, keyed)
    assert refused.value.code == "SERVICE_FAILED" and got == []


def test_a_quota_holds_by_the_clock_hour_and_a_clock_that_goes_back_does_not_stop_it(
    ana: Any, keyed: OutsideService
) -> None:
    golem = factories.make_golem(owner=ana)
    at = clock.now().replace(minute=30, second=0, microsecond=0)
    switch_on(person=ana, name=keyed.name, key=KEY, questions_an_hour=2, now=at)
    with serve_stand_in(lambda *given: (200, {"word": "x"})) as url:
        door = GuardedDoor({keyed.name: url}, allows_private=True)
        for moment in (at, at):
            put_question(door, golem.pk, keyed, at=moment)
        with pytest.raises(ServiceQuotaUsedUp) as refused:
            put_question(door, golem.pk, keyed, at=at)
        assert refused.value.data["retry_after_seconds"] == 1_801
        ahead = at + timedelta(hours=1)
        put_question(door, golem.pk, keyed, at=ahead)
        put_question(door, golem.pk, keyed, at=ahead)
        # The clock is set back: the hour is another one, and begins anew.
        put_question(door, golem.pk, keyed, at=at)
    (line,) = [each for each in list_services(person=ana, now=at) if each.service == keyed]
    assert line.asked == 1


@pytest.mark.django_db(transaction=True)
def test_questions_at_once_do_not_pass_the_quota_together(keyed: OutsideService) -> None:
    owner = factories.make_owner(name="ana")
    golem = factories.make_golem(owner=owner)
    switch_on(person=owner, name=keyed.name, key=KEY, questions_an_hour=3, now=clock.now())
    at, outcomes = clock.now(), []

    def once(door: GuardedDoor) -> None:
        try:
            outcomes.append(put_question(door, golem.pk, keyed, at=at))
        except ServiceQuotaUsedUp as error:
            outcomes.append(error.code)
        finally:
            connection.close()

    with serve_stand_in(lambda *given: (200, {"word": "x"})) as url:
        door = GuardedDoor({keyed.name: url}, allows_private=True)
        threads = [threading.Thread(target=once, args=(door,)) for _ in range(8)]
        for each in threads:
            each.start()
        for each in threads:
            each.join(30)
    assert sorted(outcomes) == ["SERVICE_QUOTA_USED_UP"] * 5 + ["x"] * 3


def test_the_database_itself_refuses_more_than_the_quota(ana: Any, keyed: OutsideService) -> None:
    access = switch_on(person=ana, name=keyed.name, key=KEY, questions_an_hour=2, now=clock.now())
    with pytest.raises(IntegrityError), transaction.atomic():
        ServiceAccess.objects.filter(pk=access.pk).update(asked=3)


def test_an_answer_is_kept_for_its_moment_and_one_from_a_future_that_did_not_come_is_not_believed(
    ana: Any, keyed: OutsideService
) -> None:
    golem = factories.make_golem(owner=ana)
    switch_on(person=ana, name=keyed.name, key=KEY, questions_an_hour=100, now=clock.now())
    words, at = iter("abcdef"), clock.now()
    with serve_stand_in(lambda *given: (200, {"word": next(words)})) as url:
        door = GuardedDoor({keyed.name: url}, allows_private=True)
        asked = [
            put_question(door, golem.pk, keyed, kept=60, at=at + timedelta(seconds=after)) for after in (0, 59, 61)
        ]
        assert asked == ["a", "a", "b"]
        assert put_question(door, golem.pk, keyed, kept=60, at=at) == "c"
        # What nobody asks for again goes with the next that is kept.
        KeptAnswer.objects.update(question="old", answered_at=at - timedelta(hours=2))
        put_question(door, golem.pk, keyed, kept=60, at=at)
    assert KeptAnswer.objects.count() == 1


def test_an_account_that_is_stopped_leaves_no_key_behind(ana: Any, keyed: OutsideService) -> None:
    golem = factories.make_golem(owner=ana)
    switch_on(person=ana, name=keyed.name, key=KEY, questions_an_hour=None, now=clock.now())
    ana.is_active = False
    type(ana).objects.filter(pk=ana.pk).update(is_active=False)
    with pytest.raises(ServiceNotSwitchedOn):
        put_question(GuardedDoor(), golem.pk, keyed)
    stop_account(person=ana, now=clock.now())
    assert not ServiceAccess.objects.exists()


def test_two_services_cannot_have_one_name(keyed: OutsideService) -> None:
    with pytest.raises(TypeError):
        declare_service(OutsideService(keyed.name, "Another", "https://example.org", "Other words."))
