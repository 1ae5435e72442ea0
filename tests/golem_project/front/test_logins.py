"""Passwords have a pace, told to the person, the same for every name, and of no use against an owner."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from axes.models import AccessAttempt, AccessLog
from django.test import Client
from django.urls import reverse

from tests import factories
from tests.golem_project.front.conftest import Served, write_head
from tools_app.core import clock

PASSWORD = "a long enough password"
OWNERS, STRANGERS = "203.0.113.7", "198.51.100.9"

pytestmark = pytest.mark.django_db


@pytest.fixture
def ana() -> Any:
    person = factories.make_owner(name="ana")
    person.set_password(PASSWORD)
    person.save()
    return person


def sign_in(name: str, password: str, *, address: str = STRANGERS, **extra: Any) -> Any:
    return Client(REMOTE_ADDR=address).post(reverse("admin:login"), {"username": name, "password": password}, **extra)


def test_after_five_wrong_passwords_even_the_right_one_waits_and_is_told_how_long(ana: Any) -> None:
    for _ in range(4):
        assert sign_in("ana", "wrong").status_code == 200
    assert sign_in("ana", "wrong").status_code == 429
    answer = sign_in("ana", PASSWORD)
    assert answer.status_code == 429
    assert 0 < int(answer["Retry-After"]) <= 300
    assert "Try again in 5 minutes" in answer.content.decode()


def test_a_name_that_is_not_there_is_answered_word_for_word_as_one_that_is(ana: Any) -> None:
    answers = {
        name: [(each.status_code, each.content) for each in (sign_in(name, "wrong") for _ in range(7))]
        for name in ("ana", "nobody")
    }
    known, unknown = ([(status, _without_marks(body, name)) for status, body in answers[name]] for name in answers)
    assert known == unknown


def test_a_stranger_who_tries_an_owners_name_does_not_keep_the_owner_out(ana: Any) -> None:
    assert sign_in("ana", PASSWORD, address=OWNERS).status_code == 302
    for _ in range(20):
        sign_in("ana", "wrong", address=STRANGERS)
    assert sign_in("ana", PASSWORD, address=STRANGERS).status_code == 429
    assert sign_in("ana", PASSWORD, address=OWNERS).status_code == 302


def test_many_addresses_together_have_a_bound_too_that_spares_where_the_owner_was_before(ana: Any) -> None:
    assert sign_in("ana", PASSWORD, address=OWNERS).status_code == 302
    for number in range(10):
        for _ in range(4):
            sign_in("ana", "wrong", address=f"198.51.100.{number}")
    assert sign_in("ana", PASSWORD, address="198.51.100.200").status_code == 429
    assert sign_in("ana", PASSWORD, address=OWNERS).status_code == 302


def test_the_bound_of_many_addresses_ends_a_minute_after_they_stop(ana: Any) -> None:
    for number in range(10):
        for _ in range(4):
            sign_in("ana", "wrong", address=f"198.51.100.{number}")
    elsewhere = "192.0.2.55"
    assert sign_in("ana", PASSWORD, address=elsewhere).status_code == 429
    AccessAttempt.objects.update(attempt_time=clock.now() - timedelta(seconds=61))
    assert sign_in("ana", PASSWORD, address=elsewhere).status_code == 302


@pytest.mark.parametrize(("failures", "status"), [(19, 302), (20, 429)])
def test_the_bound_of_many_addresses_is_twenty_wrong_passwords(ana: Any, failures: int, status: int) -> None:
    for number in range(failures):
        sign_in("ana", "wrong", address=f"198.51.100.{number // 4}")
    assert sign_in("ana", PASSWORD, address="198.51.100.200").status_code == status


@pytest.mark.parametrize(("days", "status"), [(29, 302), (31, 429)])
def test_where_an_owner_was_signed_in_to_is_remembered_for_thirty_days(ana: Any, days: int, status: int) -> None:
    assert sign_in("ana", PASSWORD, address=OWNERS).status_code == 302
    AccessLog.objects.update(attempt_time=clock.now() - timedelta(days=days))
    for number in range(20):
        sign_in("ana", "wrong", address=f"198.51.100.{number // 4}")
    assert sign_in("ana", PASSWORD, address=OWNERS).status_code == status


def test_what_is_tried_while_it_is_locked_makes_it_no_longer(ana: Any) -> None:
    for _ in range(5):
        sign_in("ana", "wrong")
    AccessAttempt.objects.update(attempt_time=clock.now() - timedelta(seconds=299))
    sign_in("ana", "wrong")
    AccessAttempt.objects.update(attempt_time=clock.now() - timedelta(seconds=301))
    assert sign_in("ana", PASSWORD).status_code == 302


def test_failures_that_a_clock_wrote_in_the_future_lock_nobody(ana: Any) -> None:
    for _ in range(5):
        sign_in("ana", "wrong")
    AccessAttempt.objects.update(attempt_time=clock.now() + timedelta(hours=2))
    assert sign_in("ana", PASSWORD).status_code == 302


def test_a_right_password_forgets_the_wrong_ones_before_it(ana: Any) -> None:
    for _ in range(3):
        for _ in range(4):
            assert sign_in("ana", "wrong").status_code == 200
        assert sign_in("ana", PASSWORD).status_code == 302


def test_an_address_behind_a_proxy_that_is_trusted_is_the_one_it_names_and_nobody_elses_word_counts(ana: Any) -> None:
    for number in range(6):
        sign_in("ana", "wrong", address=STRANGERS, HTTP_X_FORWARDED_FOR=f"192.0.2.{number}")
    assert sign_in("ana", PASSWORD, address=STRANGERS).status_code == 429, "who is no proxy chose an address"
    for _ in range(6):
        sign_in("ana", "wrong", address="127.0.0.1", HTTP_X_FORWARDED_FOR="203.0.113.99, 192.0.2.77")
    assert sign_in("ana", PASSWORD, address="127.0.0.1", HTTP_X_FORWARDED_FOR="192.0.2.77").status_code == 429
    assert sign_in("ana", PASSWORD, address="127.0.0.1", HTTP_X_FORWARDED_FOR="192.0.2.78").status_code == 302


def test_an_address_that_tries_many_names_is_slowed_down_before_a_password_is_looked_at(
    served: Served, settings: Any
) -> None:
    settings.GOLEM_LOGINS_A_MINUTE_PER_ADDRESS = 3
    form = b"username=a&password=b"
    head = ("POST /admin/login/ HTTP/1.1", f"Content-Length: {len(form)}")
    found = []
    for _ in range(5):
        with served.call(from_address="127.0.0.4") as caller:
            caller.say(write_head(*head) + form)
            found.append(caller.hear())
    assert [answer.status for answer in found] == [403, 403, 403, 429, 429]
    assert found[-1].problem()["code"] == "LOGINS_TOO_FAST" and int(found[-1].headers["retry-after"]) <= 20
    with served.call(from_address="127.0.0.5") as caller:
        caller.say(write_head(*head) + form)
        assert caller.hear().status == 403


def _without_marks(body: bytes, name: str) -> str:
    """The page without the marks that differ from one answer to the next, and without the name that was typed."""
    lines = body.decode().replace(f'"{name}"', '"NAME"').split("\n")
    return "\n".join(line for line in lines if "csrf" not in line.lower() and "nonce" not in line)
