"""Passwords are hashed one at a time in a process that gives way, to what Django makes of them."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import psutil
import pytest
from django.contrib.auth.hashers import PBKDF2PasswordHasher, check_password, make_password
from django.test import Client
from django.urls import reverse

from golem_project.front import password_hashing
from golem_project.front.password_hashing import GivingWayHasher, HashPlace
from golem_project.front.password_process import NICENESS
from golem_project.settings.logins import PASSWORD_HASHERS
from tests import factories

WORDS = "pässwörd \"with' a\nline"


@pytest.fixture(autouse=True)
def place(monkeypatch: pytest.MonkeyPatch, settings: Any) -> Iterator[HashPlace]:
    settings.PASSWORD_HASHERS = PASSWORD_HASHERS
    monkeypatch.setattr(PBKDF2PasswordHasher, "iterations", 1_000)
    made = HashPlace()
    monkeypatch.setattr(password_hashing, "PLACE", made)
    yield made
    made._end()


def test_a_hash_is_djangos_own_and_made_by_a_process_that_gives_way(place: HashPlace) -> None:
    ours = GivingWayHasher().encode(WORDS, "salt", 2_000)
    assert ours == PBKDF2PasswordHasher().encode(WORDS, "salt", 2_000)
    assert place.pid is not None and place.pid != os.getpid()
    child = psutil.Process(place.pid)
    assert child.nice() == min(19, psutil.Process().nice() + NICENESS), "however nice the run is"
    # Of its own session, by which processors are shared out first.
    assert os.getsid(child.pid) == child.pid
    assert check_password(WORDS, make_password(WORDS)) and not check_password("another", make_password(WORDS))


def test_the_passwords_of_a_crowd_are_hashed_by_one_process(place: HashPlace) -> None:
    before = {child.pid for child in psutil.Process().children()}
    with ThreadPoolExecutor(16) as crowd:
        hashed = list(crowd.map(lambda number: GivingWayHasher().encode(str(number), "salt", 500), range(48)))
    assert hashed == [PBKDF2PasswordHasher().encode(str(number), "salt", 500) for number in range(48)]
    assert {child.pid for child in psutil.Process().children()} - before == {place.pid}


def test_a_password_is_hashed_though_that_process_was_killed(place: HashPlace) -> None:
    first = GivingWayHasher().encode(WORDS, "salt")
    killed = place.pid
    assert killed is not None
    os.kill(killed, signal.SIGKILL)
    assert GivingWayHasher().encode(WORDS, "salt") == first
    assert GivingWayHasher().encode(WORDS, "salt") == first
    assert place.pid not in (None, killed)


@pytest.mark.django_db
def test_somebody_signs_in_with_a_password_that_django_stored_before(place: HashPlace) -> None:
    person = factories.make_owner(name="ana")
    person.password = PBKDF2PasswordHasher().encode(WORDS, "salt")
    person.save()
    answer = Client().post(reverse("admin:login"), {"username": "ana", "password": WORDS})
    assert answer.status_code == 302, answer.content
    assert place.pid is not None
