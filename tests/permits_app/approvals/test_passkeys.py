"""A passkey as second factor: added with proof, good for one action once, and refused in every other way."""

from __future__ import annotations

import json
import logging
import threading
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.urls import reverse
from django_otp.plugins.otp_totp.models import TOTPDevice
from webauthn.helpers import bytes_to_base64url as spell

from permits_app.approval_errors import PasskeyRefused
from permits_app.approval_pages.urls import NAME
from permits_app.approvals.passkey_challenges import LIVES_SECONDS, PasskeyAnswer
from permits_app.approvals.passkey_site import PasskeySite
from permits_app.approvals.passkeys import use_passkey
from permits_app.models import ChangeRequest, OwnerApproval, Passkey, PasskeyChallenge
from permits_app.models.approval import ChangeState
from tests import factories
from tests.passing_time import let_pass_until
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
from tools_app.core.events import EventType
from tools_app.core.models import AuditEntry, OutboxEvent

pytestmark = pytest.mark.django_db


@pytest.fixture
def owner() -> Any:
    return factories.make_owner()


@pytest.fixture
def browser(owner: Any) -> Client:
    return enter(owner)


@pytest.fixture
def request_(owner: Any) -> ChangeRequest:
    """What a single owner approves with a second factor."""
    request = factories.make_change_request(golem=factories.make_golem(owner=owner))
    assert request.needs_second_factor
    return request


@pytest.fixture
def key(owner: Any, browser: Client, request_: ChangeRequest) -> Authenticator:
    return give_passkey(owner, browser)


def about(request: ChangeRequest) -> str:
    return f"{request.pk}:{request.digest}"


def approve(browser: Client, request: ChangeRequest, passkey: str, **given: str) -> Any:
    # As a person who waited between two tries.
    Passkey.objects.update(throttling_failure_count=0)
    body = {"digest": request.digest, "verdict": "APPROVE", "passkey": passkey, **given}
    return browser.post(reverse(f"admin:{NAME}_decide", args=[request.pk]), body)


def is_open(request: ChangeRequest) -> bool:
    request.refresh_from_db()
    return request.state == ChangeState.OPEN and not OwnerApproval.objects.filter(request=request).exists()


def test_a_request_is_approved_with_a_passkey_and_the_audit_log_says_with_which(
    browser: Client, key: Authenticator, request_: ChangeRequest
) -> None:
    page = browser.get(reverse(f"admin:{NAME}_change", args=[request_.pk])).content.decode()
    assert "Approve with a passkey" in page and "Code of your authenticator" not in page
    answer = approve(browser, request_, key.answer(ask(browser, "approve", about(request_))))
    assert answer.status_code == 302
    request_.refresh_from_db()
    assert request_.state == ChangeState.APPROVED
    assert OwnerApproval.objects.get(request=request_).has_second_factor
    told = AuditEntry.objects.get(golem_id=request_.golem_id, event="OwnerDecided")
    assert told.data["second_factor"] == "passkey my key"
    row = Passkey.objects.get()
    assert (row.sign_count, row.last_used_at is not None) == (1, True)


def test_a_code_does_as_well_as_before_and_is_told_as_one(browser: Client, owner: Any, request_: ChangeRequest) -> None:
    give_device(owner)
    assert approve(browser, request_, "", code=next_code(owner)).status_code == 302
    told = AuditEntry.objects.get(golem_id=request_.golem_id, event="OwnerDecided")
    assert told.data["second_factor"] == "code"


def test_without_code_and_passkey_nothing_is_approved(
    browser: Client, key: Authenticator, request_: ChangeRequest
) -> None:
    assert approve(browser, request_, "").status_code == 403
    assert is_open(request_)


Lie = Callable[[Authenticator, dict[str, Any]], str]
LIES: dict[str, Lie] = {
    "another origin": lambda key, asked: key.answer(asked, origin="http://localhost:9000"),
    "a page that only looks like it": lambda key, asked: key.answer(asked, origin="https://localhost.evil.example"),
    "another relying party": lambda key, asked: key.answer(asked, rp_id="evil.example"),
    "within another page": lambda key, asked: key.answer(asked, framed=True),
    "nobody verified": lambda key, asked: key.answer(asked, flags=PRESENT),
    "nobody present": lambda key, asked: key.answer(asked, flags=4),
    "another key": lambda key, asked: Authenticator(credential_id=key.credential_id).answer(asked),
    "a credential nobody knows": lambda key, asked: Authenticator(key=key.key).answer(asked),
    "another account": lambda key, asked: key.answer(asked, handle=spell(b"somebody else")),
    "a new passkey's words": lambda key, asked: key.answer(asked, kind="webauthn.create"),
    "a challenge of its own": lambda key, asked: key.answer(asked, challenge=spell(bytes(32))),
    "no JSON": lambda key, asked: "passkey",
    "a list": lambda key, asked: "[]",
    "nothing in it": lambda key, asked: "{}",
    "brackets without end": lambda key, asked: "[" * 16_000,
    "a response that is none": lambda key, asked: json.dumps({"rawId": "AA", "response": [1]}),
    "client data without end": lambda key, asked: json.dumps({"response": {"clientDataJSON": spell(b"[" * 9_000)}}),
    "a challenge that is a number": lambda key, asked: json.dumps(
        {"response": {"clientDataJSON": spell(b'{"challenge": 7}')}}
    ),
}


@pytest.mark.parametrize("name", LIES)
def test_an_answer_that_lies_approves_nothing_and_makes_the_next_wait(
    browser: Client, key: Authenticator, request_: ChangeRequest, name: str
) -> None:
    asked = ask(browser, "approve", about(request_))
    answer = approve(browser, request_, LIES[name](key, asked))
    assert answer.status_code == 403
    assert "The passkey was not accepted" in answer.content.decode()
    assert is_open(request_)
    row = Passkey.objects.get()
    assert (row.sign_count, row.throttling_failure_count, row.suspected_at) == (0, 1, None)


def test_a_passkey_is_taken_while_codes_are_not_looked_at(
    browser: Client, key: Authenticator, owner: Any, request_: ChangeRequest
) -> None:
    give_device(owner)
    TOTPDevice.objects.update(throttling_failure_count=9, throttling_failure_timestamp=clock.now())
    asked = {"digest": request_.digest, "verdict": "APPROVE", "code": "123456"}
    told = browser.post(reverse(f"admin:{NAME}_decide", args=[request_.pk]), asked).content.decode()
    assert "codes are looked at again from" in told
    assert approve(browser, request_, key.answer(ask(browser, "approve", about(request_)))).status_code == 302
    request_.refresh_from_db()
    assert request_.state == ChangeState.APPROVED


def test_wrong_answers_never_keep_a_passkey_out_for_longer_than_two_seconds(
    browser: Client, key: Authenticator, owner: Any, request_: ChangeRequest
) -> None:
    name = next(iter(LIES))
    for _ in range(8):
        Passkey.objects.update(throttling_failure_timestamp=clock.now() - timedelta(hours=1))
        asked = ask(browser, "approve", about(request_))
        body = {"digest": request_.digest, "verdict": "APPROVE", "passkey": LIES[name](key, asked)}
        assert browser.post(reverse(f"admin:{NAME}_decide", args=[request_.pk]), body).status_code == 403
    assert Passkey.objects.get().throttling_failure_count == 2
    body = {
        "digest": request_.digest,
        "verdict": "APPROVE",
        "passkey": key.answer(ask(browser, "approve", about(request_))),
    }
    told = browser.post(reverse(f"admin:{NAME}_decide", args=[request_.pk]), body).content.decode()
    assert "try again in 2 s" in told or "try again in 1 s" in told
    Passkey.objects.update(throttling_failure_timestamp=clock.now() - timedelta(seconds=3))
    body["passkey"] = key.answer(ask(browser, "approve", about(request_)))
    assert browser.post(reverse(f"admin:{NAME}_decide", args=[request_.pk]), body).status_code == 302
    device = Passkey.objects.get()
    assert (device.throttling_failure_count, device.throttling_failure_timestamp) == (0, None)


@pytest.mark.parametrize("flaw", ["authenticatorData", "signature"])
def test_bytes_that_are_none_are_refused(
    browser: Client, key: Authenticator, request_: ChangeRequest, flaw: str
) -> None:
    for bad in (spell(b""), spell(b"\x81" * 5_000), "%%%", spell(bytes(37) + b"\xff" * 400)):
        given = json.loads(key.answer(ask(browser, "approve", about(request_))))
        given["response"][flaw] = bad
        assert approve(browser, request_, json.dumps(given)).status_code == 403
    assert is_open(request_)


def test_authenticator_data_with_bad_cbor_is_refused(
    browser: Client, key: Authenticator, request_: ChangeRequest
) -> None:
    asked = ask(browser, "approve", about(request_))
    # An extension is announced, and what follows is none; one nested without end.
    answer = json.loads(key.answer(asked, flags=PRESENT | 4 | 128))
    assert approve(browser, request_, json.dumps(answer)).status_code == 403
    assert is_open(request_)


def test_an_answer_is_used_once(browser: Client, key: Authenticator, owner: Any, request_: ChangeRequest) -> None:
    given = key.answer(ask(browser, "approve", about(request_)))
    assert approve(browser, request_, given).status_code == 302
    other = factories.make_change_request(golem=factories.make_golem(owner=owner, name="Beta"))
    answer = approve(browser, other, given)
    assert answer.status_code == 403 and "was used before" in answer.content.decode()
    assert is_open(other)


def test_an_answer_that_was_refused_is_not_tried_again_elsewhere(
    browser: Client, key: Authenticator, owner: Any, request_: ChangeRequest
) -> None:
    other = factories.make_change_request(golem=factories.make_golem(owner=owner, name="Beta"))
    given = key.answer(ask(browser, "approve", about(request_)))
    assert approve(browser, other, given).status_code == 403
    # Not even where it would have been right.
    assert approve(browser, request_, given).status_code == 403
    assert is_open(other) and is_open(request_)


@pytest.mark.parametrize("use", ["remove-passkey", "add-passkey", "set-up-code", "register"])
def test_an_answer_for_another_action_approves_nothing(
    browser: Client, key: Authenticator, request_: ChangeRequest, use: str
) -> None:
    asked = ask(browser, use, about(request_))
    challenge = {"challenge": asked["challenge"], "rpId": "localhost"}
    answer = approve(browser, request_, key.answer(challenge))
    assert answer.status_code == 403 and "for something else" in answer.content.decode()
    assert is_open(request_)


def test_an_answer_for_a_request_as_it_was_shown_is_for_no_other_text_of_it(
    browser: Client, key: Authenticator, request_: ChangeRequest
) -> None:
    given = key.answer(ask(browser, "approve", f"{request_.pk}:0x{'00' * 32}"))
    assert approve(browser, request_, given).status_code == 403
    assert is_open(request_)


def test_a_late_answer_is_refused(browser: Client, key: Authenticator, request_: ChangeRequest) -> None:
    begun = clock.now()
    given = key.answer(ask(browser, "approve", about(request_)))
    waits = PasskeyChallenge.objects.get()
    life = timedelta(seconds=LIVES_SECONDS)
    assert begun + life <= waits.expires_at <= clock.now() + life
    let_pass_until(waits.expires_at)
    answer = approve(browser, request_, given)
    assert answer.status_code == 403 and "it came later than" in answer.content.decode()
    assert is_open(request_)


def test_an_answer_of_another_session_is_refused(
    browser: Client, key: Authenticator, owner: Any, request_: ChangeRequest
) -> None:
    given = key.answer(ask(browser, "approve", about(request_)))
    answer = approve(enter(owner), request_, given)
    assert answer.status_code == 403 and "in another session" in answer.content.decode()
    assert is_open(request_)


def test_another_persons_passkey_is_refused(browser: Client, key: Authenticator, request_: ChangeRequest) -> None:
    ben = factories.make_owner(name="ben")
    his = enter(ben)
    theirs = give_passkey(ben, his)
    # His key on her challenge, and hers on his.
    assert approve(browser, request_, theirs.answer(ask(browser, "approve", about(request_)))).status_code == 403
    given = key.answer(ask(his, "approve", about(request_)))
    assert approve(browser, request_, given).status_code == 403
    assert is_open(request_)


def test_a_counter_that_goes_back_ends_the_passkey_and_is_told(
    browser: Client, key: Authenticator, owner: Any, request_: ChangeRequest
) -> None:
    key.count = 40
    assert approve(browser, request_, key.answer(ask(browser, "approve", about(request_)))).status_code == 302
    other = factories.make_change_request(golem=factories.make_golem(owner=owner, name="Beta"))
    copy = Authenticator(key=key.key, credential_id=key.credential_id, count=12)
    answer = approve(browser, other, copy.answer(ask(browser, "approve", about(other))))
    assert answer.status_code == 403 and "This passkey may have been copied" in answer.content.decode()
    assert set(AuditEntry.objects.filter(event="PasskeyCopied").values_list("golem_id", flat=True)) == {
        request_.golem_id,
        other.golem_id,
    }
    events = OutboxEvent.objects.filter(type=EventType.PASSKEY_COPIED)
    assert {row.golem_id for row in events} == {request_.golem_id, other.golem_id}
    # The one that was there first is no better: nobody knows which is whose.
    assert browser.post(reverse(ASK), {"use": "approve", "subject": about(other)}).status_code == 403
    assert is_open(other)
    page = browser.get(reverse(FACTORS)).content.decode()
    assert "may be copied, counts no more" in page and "reset_second_factor" in page
    # It does not become easier either to add another one.
    assert add(browser, Authenticator()).status_code == 403


def test_a_forged_counter_ends_nobodys_passkey(browser: Client, key: Authenticator, request_: ChangeRequest) -> None:
    Passkey.objects.update(sign_count=40)
    forged = Authenticator(credential_id=key.credential_id, count=1)
    assert approve(browser, request_, forged.answer(ask(browser, "approve", about(request_)))).status_code == 403
    assert Passkey.objects.get().suspected_at is None
    key.count = 40
    assert approve(browser, request_, key.answer(ask(browser, "approve", about(request_)))).status_code == 302


def test_a_passkey_that_does_not_count_is_used_again_and_again(
    browser: Client, key: Authenticator, owner: Any, request_: ChangeRequest
) -> None:
    key.step = 0
    for name in ("Beta", "Gamma"):
        each = factories.make_change_request(golem=factories.make_golem(owner=owner, name=name))
        assert approve(browser, each, key.answer(ask(browser, "approve", about(each)))).status_code == 302


def test_guessing_makes_the_passkeys_wait(browser: Client, key: Authenticator, request_: ChangeRequest) -> None:
    assert approve(browser, request_, "{}").status_code == 403
    # The first wait is one second, and a busy machine takes longer for the two requests to come.
    assert Passkey.objects.update(throttling_failure_timestamp=clock.now() + timedelta(minutes=1)) == 1
    right = key.answer(ask(browser, "approve", about(request_)))
    body = {"digest": request_.digest, "verdict": "APPROVE", "passkey": right}
    answer = browser.post(reverse(f"admin:{NAME}_decide", args=[request_.pk]), body)
    assert answer.status_code == 403 and "wait a little" in answer.content.decode()
    assert is_open(request_)


@pytest.mark.parametrize(("length", "status"), [(20_000, 422), (300_000, 400)])
def test_a_body_that_is_too_long_is_refused_unread(
    browser: Client, key: Authenticator, request_: ChangeRequest, length: int, status: int
) -> None:
    assert approve(browser, request_, "a" * length).status_code == status
    assert is_open(request_)
    assert Passkey.objects.get().throttling_failure_count == 0


def test_no_log_and_no_page_repeats_what_was_handed_in(
    browser: Client, key: Authenticator, request_: ChangeRequest, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    given = json.loads(key.answer(ask(browser, "approve", about(request_)), origin="https://evil.example"))
    page = approve(browser, request_, json.dumps(given)).content.decode()
    for secret in given["response"].values():
        assert not secret or (secret not in caplog.text and secret not in page)


@pytest.mark.django_db(transaction=True)
def test_one_answer_that_is_sent_to_many_at_once_is_used_once() -> None:
    owner = factories.make_owner()
    browser = enter(owner)
    key = give_passkey(owner, browser)
    row = Passkey.objects.get()
    given = key.answer(ask(browser, "remove-passkey", str(row.pk)))
    barrier = threading.Barrier(6)
    found: list[str] = []

    def use() -> None:
        try:
            answer = PasskeyAnswer(given, browser.session.session_key or "", PasskeySite("localhost", (ORIGIN,)))
            barrier.wait(20)
            use_passkey(user=owner, answer=answer, action=f"remove-passkey:{row.pk}", now=clock.now())
            found.append("used")
        except PasskeyRefused:
            found.append("refused")
        finally:
            connection.close()

    threads = [threading.Thread(target=use) for _ in range(6)]
    for each in threads:
        each.start()
    for each in threads:
        each.join(60)
    assert sorted(found) == ["refused"] * 5 + ["used"]
    row.refresh_from_db()
    assert row.sign_count == 1
