"""A person's passkeys: added, named and removed with proof, by nobody else, and only at the name they count under."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from io import StringIO
from typing import Any

import cbor2
import pytest
from django.core.management import call_command
from django.db import IntegrityError, connection, transaction
from django.test import Client
from django.urls import reverse

from permits_app.approval_errors import PasskeyRefused
from permits_app.approval_pages.urls import NAME
from permits_app.approvals.passkey_challenges import PasskeyAnswer
from permits_app.approvals.passkey_site import PasskeySite
from permits_app.approvals.passkeys import MOST, add_passkey
from permits_app.approvals.second_factor import has_second_factor
from permits_app.models import Passkey, PasskeyChallenge
from tests import factories
from tests.factories.golems import PASSWORD
from tests.permits_app.approvals.authenticators import (
    ASK,
    FACTORS,
    ORIGIN,
    PRESENT,
    Authenticator,
    add,
    ask,
    enter,
    give_passkey,
)
from tests.permits_app.approvals.people import give_device, next_code
from tools_app.core import clock
from tools_app.core.models import AuditEntry

pytestmark = pytest.mark.django_db


@pytest.fixture
def owner() -> Any:
    return factories.make_owner()


@pytest.fixture
def browser(owner: Any) -> Client:
    return enter(owner)


@pytest.fixture
def key(owner: Any, browser: Client) -> Authenticator:
    return give_passkey(owner, browser)


def remove(browser: Client, row: Passkey, **given: str) -> Any:
    Passkey.objects.update(throttling_failure_count=0)
    return browser.post(reverse(f"admin:{NAME}_passkey_remove", args=[row.pk]), given)


def test_the_first_passkey_needs_the_password_and_is_told_in_the_audit_log(browser: Client, owner: Any) -> None:
    golem = factories.make_golem(owner=owner)
    authenticator = Authenticator()
    assert add(browser, authenticator, proof="wrong").status_code == 200
    assert not has_second_factor(owner)
    assert add(browser, authenticator).status_code == 302
    assert has_second_factor(owner)
    told = AuditEntry.objects.get(golem_id=golem.pk, event="PasskeyAdded")
    assert (told.actor, told.data["passkey"]) == (f"owner:{owner.pk}", "my key")


def test_a_further_passkey_needs_a_second_factor_that_is_there(browser: Client, owner: Any) -> None:
    first, second = give_passkey(owner, browser), Authenticator()
    assert add(browser, second).status_code == 403
    assert Passkey.objects.count() == 1
    given = first.answer(ask(browser, "add-passkey"))
    assert add(browser, second, passkey=given).status_code == 302
    assert Passkey.objects.count() == 2


def test_an_owner_with_codes_adds_a_passkey_with_one(browser: Client, owner: Any) -> None:
    give_device(owner)
    assert add(browser, Authenticator()).status_code == 403
    assert add(browser, Authenticator(), old_code=next_code(owner)).status_code == 302


def test_an_owner_with_a_passkey_sets_up_an_authenticator_with_it_alone(browser: Client, owner: Any) -> None:
    key = give_passkey(owner, browser)
    page = reverse(f"admin:{NAME}_second_factor")
    browser.get(page)
    device = owner.totpdevice_set.get()
    device.confirmed = True
    device.save()
    code = next_code(owner)
    device.confirmed = False
    device.save()
    body = {"proof": PASSWORD, "code": code}
    assert browser.post(page, body).status_code == 403
    assert not owner.totpdevice_set.filter(confirmed=True).exists()
    given = key.answer(ask(browser, "set-up-code"))
    Passkey.objects.update(throttling_failure_count=0)
    assert browser.post(page, {**body, "passkey": given}).status_code == 302
    assert owner.totpdevice_set.filter(confirmed=True).exists()


@pytest.mark.parametrize(
    "lies",
    [
        {"origin": "https://evil.example"},
        {"rp_id": "evil.example"},
        {"flags": PRESENT},
        {"framed": True},
        {"kind": "webauthn.get"},
        {"attestation": b"\x81" * 9_000},
        {"attestation": cbor2.dumps({"fmt": "none", "attStmt": {}, "authData": b"\x00" * 37})},
        {"attestation": cbor2.dumps({"fmt": "packed", "attStmt": {}, "authData": b""})},
        {"attestation": b"\xa1\xff"},
    ],
    ids=lambda lies: next(iter(lies)),
)
def test_a_new_passkey_that_lies_is_not_kept(browser: Client, owner: Any, lies: dict[str, Any]) -> None:
    made = Authenticator().make(ask(browser, "register"), **lies)
    answer = browser.post(reverse(FACTORS), {"name": "x", "proof": PASSWORD, "new_passkey": made})
    assert answer.status_code == 403
    assert not has_second_factor(owner)


@pytest.mark.django_db(transaction=True)
def test_of_two_passkeys_added_at_once_none_is_one_too_many() -> None:
    owner = factories.make_owner()
    browser = enter(owner)
    give_passkey(owner, browser)
    first = Passkey.objects.get()
    Passkey.objects.bulk_create(
        Passkey(user=owner, name=f"key {at}", credential_id=bytes([at]), sign_count=0, added_at=first.added_at)
        for at in range(MOST - 2)
    )
    site = PasskeySite("localhost", (ORIGIN,))
    session = browser.session.session_key or ""
    asked = [ask(browser, "register") for _ in range(4)]
    barrier = threading.Barrier(len(asked))
    found: list[str] = []

    def add_one(question: dict[str, Any]) -> None:
        answer = PasskeyAnswer(Authenticator().make(question), session, site)
        barrier.wait(20)
        try:
            add_passkey(user=owner, name="new", answer=answer, action="register:", now=clock.now())
            found.append("added")
        except PasskeyRefused as refusal:
            found.append(refusal.detail)
        finally:
            connection.close()

    threads = [threading.Thread(target=add_one, args=(question,)) for question in asked]
    for each in threads:
        each.start()
    for each in threads:
        each.join(60)
    assert sorted(found) == ["added"] + [f"you have {MOST} passkeys; remove one first"] * 3
    assert Passkey.objects.filter(user=owner).count() == MOST


def test_a_credential_is_one_persons_also_in_the_database(browser: Client, owner: Any) -> None:
    key = give_passkey(owner, browser)
    ben = factories.make_owner(name="ben")
    answer = add(enter(ben), Authenticator(key=key.key, credential_id=key.credential_id))
    assert answer.status_code == 403 and "known here already" in answer.content.decode()
    assert not has_second_factor(ben)
    row = Passkey.objects.get()
    row.pk, row.user = None, ben
    with pytest.raises(IntegrityError, match="passkey_credential_once"), transaction.atomic():
        row.save(force_insert=True)


def test_a_passkey_is_renamed_and_removed_by_its_owner_alone(browser: Client, owner: Any) -> None:
    key = give_passkey(owner, browser)
    golem = factories.make_golem(owner=owner)
    row = Passkey.objects.get()
    stranger = enter(factories.make_owner(name="ben"))
    for page in ("rename", "remove"):
        url = reverse(f"admin:{NAME}_passkey_{page}", args=[row.pk])
        assert stranger.post(url, {"name": "mine"}).status_code == 404
    assert "my key" not in stranger.get(reverse(FACTORS)).content.decode()
    browser.post(reverse(f"admin:{NAME}_passkey_rename", args=[row.pk]), {"name": "telephone"})
    row.refresh_from_db()
    assert row.name == "telephone"
    # One that counts no more is no second factor that is left.
    Passkey.objects.create(user=owner, name="old", sign_count=0, added_at=row.added_at, suspected_at=row.added_at)
    page = browser.get(reverse(f"admin:{NAME}_passkey_remove", args=[row.pk])).content.decode()
    assert "It is your last second factor" in page
    Passkey.objects.filter(name="old").delete()
    assert remove(browser, row).status_code == 403
    other = key.answer(ask(browser, "remove-passkey", str(row.pk + 1)))
    assert remove(browser, row, passkey=other).status_code == 403
    assert Passkey.objects.exists()
    given = key.answer(ask(browser, "remove-passkey", str(row.pk)))
    assert remove(browser, row, passkey=given).status_code == 302
    assert not has_second_factor(owner)
    assert AuditEntry.objects.get(golem_id=golem.pk, event="PasskeyRemoved").data["passkey"] == "telephone"


def test_lost_passkeys_are_forgotten_by_who_runs_the_server(browser: Client, key: Authenticator, owner: Any) -> None:
    ask(browser, "add-passkey")
    call_command("reset_second_factor", owner.username, reason="lost", stdout=StringIO())
    assert not has_second_factor(owner)
    assert not PasskeyChallenge.objects.exists()


def test_challenges_do_not_pile_up(browser: Client, owner: Any, key: Authenticator) -> None:
    for _ in range(11):
        ask(browser, "add-passkey")
    assert PasskeyChallenge.objects.filter(person=owner).count() == 8


@pytest.mark.parametrize(
    ("rp_id", "origins", "host", "said"),
    [
        ("", None, "localhost:8000", "GOLEM_PASSKEY_RP_ID"),
        ("localhost", None, "127.0.0.1:8000", "open this page at http://localhost:8000"),
        ("localhost", None, "[::1]:8000", "open this page at http://localhost:8000"),
        ("golem.example", ["https://golem.example"], "localhost:8000", "open this page at https://golem.example"),
        ("golem.example", [], "localhost:8000", "GOLEM_PASSKEY_ORIGINS"),
    ],
)
def test_a_page_where_no_passkey_counts_says_so_and_asks_for_none(
    owner: Any, settings: Any, rp_id: str, origins: list[str] | None, host: str, said: str
) -> None:
    settings.GOLEM_PASSKEY_RP_ID, settings.GOLEM_PASSKEY_ORIGINS = rp_id, origins
    browser = Client(headers={"host": host})
    browser.force_login(owner)
    page = browser.get(reverse(FACTORS)).content.decode()
    assert said in page and "Add this passkey" not in page
    answer = browser.post(reverse(ASK), {"use": "register"})
    assert (answer.status_code, said in answer.json()["detail"]) == (409, True)


@pytest.mark.parametrize(
    ("hosts", "given", "rp_id", "origins"),
    [
        ("golem.example", {}, "golem.example", ["https://golem.example"]),
        ("golem.example,www.example", {}, "", []),
        (".golem.example", {}, "", []),
        (
            "admin.golem.example,golem.example,api.example",
            {"GOLEM_PASSKEY_RP_ID": "golem.example"},
            "golem.example",
            ["https://admin.golem.example", "https://golem.example"],
        ),
        (
            "golem.example",
            {"GOLEM_PASSKEY_ORIGINS": "https://golem.example:8443"},
            "golem.example",
            ["https://golem.example:8443"],
        ),
    ],
)
def test_production_counts_passkeys_under_its_one_host_or_not_before_it_is_said(
    hosts: str, given: dict[str, str], rp_id: str, origins: list[str]
) -> None:
    script = (
        "import json; from golem_project.settings import production as s;"
        " print(json.dumps([s.GOLEM_PASSKEY_RP_ID, s.GOLEM_PASSKEY_ORIGINS]))"
    )
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GOLEM_PASSKEY")}
    environment = {**kept, "GOLEM_SECRET_KEY": "x" * 50, "GOLEM_ALLOWED_HOSTS": hosts, **given}
    told = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True, timeout=60)
    assert json.loads(told.stdout.splitlines()[-1]) == [rp_id, origins], told.stderr
