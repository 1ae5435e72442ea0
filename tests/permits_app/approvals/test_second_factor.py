"""The second factor: set up with a password, replaced with the old one, never shown again, slow against guessing."""

from __future__ import annotations

from datetime import datetime, timedelta
from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client
from django.urls import reverse
from django_otp.plugins.otp_totp.models import TOTPDevice

from archetypes_app.owner_group import ensure_owner_group
from golem_project.alerts.topics import tell_event
from permits_app.approval_errors import SecondFactorLocked, SecondFactorWrong
from permits_app.approvals.second_factor import check_code, has_second_factor, start_enrolment
from tests import factories
from tests.admin.test_whose_rows_in_which_order import set_clock
from tests.factories.golems import PASSWORD
from tests.permits_app.approvals.people import current_code, give_device, next_code
from tools_app.core import clock
from tools_app.core.models import AuditEntry, OutboxEvent

pytestmark = pytest.mark.django_db
URL = "admin:permits_app_changerequest_second_factor"


def _code_of(device: TOTPDevice) -> str:
    device.confirmed = True
    device.save()
    code = next_code(device.user)
    device.confirmed = False
    device.save()
    return code


@pytest.fixture
def owner() -> Any:
    return factories.make_owner()


@pytest.fixture
def client(owner: Any) -> Client:
    client = Client()
    client.force_login(owner)
    return client


def test_a_device_counts_only_after_its_first_code_and_the_password(client: Client, owner: Any) -> None:
    shown = client.get(reverse(URL))
    device = TOTPDevice.objects.get(user=owner)
    assert "no-store" in shown["Cache-Control"]
    assert "<svg" in shown.content.decode()
    assert not has_second_factor(owner)
    client.post(reverse(URL), {"proof": "wrong", "code": _code_of(device)})
    assert not has_second_factor(owner)
    answer = client.post(reverse(URL), {"proof": PASSWORD, "code": _code_of(device)})
    assert answer.status_code == 302
    assert has_second_factor(owner)


@pytest.mark.parametrize(
    ("asked", "back"),
    [
        ("?request=7f0c2c0e-6f0a-4d5e-9d1c-3b7a2a4d9e11", "7f0c2c0e-6f0a-4d5e-9d1c-3b7a2a4d9e11/change/"),
        ("?request=//evil.example", "/inbox/"),
        ("", "/inbox/"),
    ],
)
def test_it_leads_back_to_the_request_that_asked_for_it(client: Client, owner: Any, asked: str, back: str) -> None:
    client.get(reverse(URL))
    device = TOTPDevice.objects.get(user=owner)
    answer = client.post(reverse(URL) + asked, {"proof": PASSWORD, "code": _code_of(device)})
    assert answer["Location"].startswith("/admin/") and answer["Location"].endswith(back)


def test_a_wrong_first_code_sets_nothing_up(client: Client, owner: Any) -> None:
    client.get(reverse(URL))
    answer = client.post(reverse(URL), {"proof": PASSWORD, "code": "000000"})
    assert answer.status_code == 403
    assert not has_second_factor(owner)


def test_a_device_is_replaced_only_with_a_code_of_the_old_one(client: Client, owner: Any) -> None:
    old = give_device(owner)
    client.get(reverse(URL))
    new = TOTPDevice.objects.get(user=owner, confirmed=False)
    refused = client.post(reverse(URL), {"proof": PASSWORD, "old_code": "000000", "code": "000000"})
    assert refused.status_code == 403
    assert TOTPDevice.objects.filter(pk=old.pk).exists()
    TOTPDevice.objects.filter(pk=old.pk).update(throttling_failure_count=0)
    fresh = start_enrolment(user=owner)
    TOTPDevice.objects.filter(user=owner, confirmed=True).update(confirmed=False)
    TOTPDevice.objects.filter(pk=fresh.pk).update(confirmed=True)
    new_code = next_code(owner)
    TOTPDevice.objects.filter(pk=fresh.pk).update(confirmed=False)
    TOTPDevice.objects.filter(pk=old.pk).update(confirmed=True)
    answer = client.post(reverse(URL), {"proof": PASSWORD, "old_code": next_code(owner), "code": new_code})
    assert answer.status_code == 302
    assert not TOTPDevice.objects.filter(pk__in=[old.pk, new.pk]).exists()
    assert TOTPDevice.objects.get(user=owner).pk == fresh.pk


def test_an_authenticator_that_comes_is_replaced_and_goes_is_told_in_the_audit_log(client: Client, owner: Any) -> None:
    golem = factories.make_golem(owner=owner)
    client.get(reverse(URL))
    answer = client.post(reverse(URL), {"proof": PASSWORD, "code": _code_of(TOTPDevice.objects.get(user=owner))})
    assert answer.status_code == 302
    client.get(reverse(URL))
    old, new = TOTPDevice.objects.filter(user=owner).order_by("-confirmed")
    TOTPDevice.objects.filter(pk=old.pk).update(confirmed=False)
    new_code = _code_of(new)
    TOTPDevice.objects.filter(pk=old.pk).update(confirmed=True)
    given = {"proof": PASSWORD, "code": new_code, "old_code": next_code(owner)}
    assert client.post(reverse(URL), given).status_code == 302
    assert client.post(reverse(f"{URL}_remove"), {"old_code": next_code(owner)}).status_code == 302
    told = AuditEntry.objects.filter(golem_id=golem.pk).order_by("pk")
    names = ["AuthenticatorSetUp", "AuthenticatorReplaced", "AuthenticatorRemoved"]
    assert list(told.filter(event__in=names).values_list("event", "actor")) == [
        (name, f"owner:{owner.pk}") for name in names
    ]


def test_an_authenticator_is_removed_with_a_fresh_second_factor_alone_and_the_last_one_never_silently(
    client: Client, owner: Any
) -> None:
    page = reverse(f"{URL}_remove")
    assert client.get(page).status_code == 404
    assert client.post(page, {}).status_code == 404
    give_device(owner)
    code = next_code(owner)
    assert client.post(page, {"old_code": "000000"}).status_code == 403
    assert client.post(page, {}).status_code == 403
    assert has_second_factor(owner)
    assert "Without one you approve nothing of high or critical risk" in client.get(page).content.decode()
    TOTPDevice.objects.update(throttling_failure_count=0)
    check_code(user=owner, code=code, now=clock.now())
    # Used once, it is no fresh one.
    assert client.post(page, {"old_code": code}).status_code == 403
    assert has_second_factor(owner)
    stranger = Client()
    stranger.force_login(factories.make_owner(name="ben"))
    assert stranger.post(page, {"old_code": next_code(owner)}).status_code == 404
    assert client.post(page, {"old_code": next_code(owner)}).status_code == 302
    assert not has_second_factor(owner)


def _wrong(owner: Any) -> str:
    return f"{(int(next_code(owner)) + 1) % 1_000_000:06d}"


def _fail(owner: Any, times: int) -> None:
    """Wrong codes, each typed as soon as it is looked at."""
    wrong = _wrong(owner)
    for _ in range(times):
        TOTPDevice.objects.filter(user=owner).update(throttling_failure_timestamp=clock.now() - timedelta(hours=1))
        with pytest.raises(SecondFactorWrong):
            check_code(user=owner, code=wrong, now=clock.now())


def test_a_right_code_during_the_pause_is_not_called_wrong_and_is_told_until_when(
    owner: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    at = clock.now()
    set_clock(monkeypatch, at)
    device = give_device(owner)
    _fail(owner, 6)
    TOTPDevice.objects.filter(pk=device.pk).update(last_t=-1)
    right = current_code(owner)
    for _ in range(3):
        with pytest.raises(SecondFactorLocked) as refused:
            check_code(user=owner, code=right, now=at)
    assert refused.value.data["retry_after_seconds"] == 32
    assert datetime.fromisoformat(refused.value.data["locked_until"]) == at + timedelta(seconds=32)
    assert "UTC, in 32" in refused.value.detail
    assert "passkey" in refused.value.detail and "wrong or was used" not in refused.value.detail
    # Nothing was counted and nothing used up: when the pause is over that same code is taken.
    assert TOTPDevice.objects.get(pk=device.pk).throttling_failure_count == 6
    set_clock(monkeypatch, at + timedelta(seconds=32))
    check_code(user=owner, code=right, now=clock.now())
    assert TOTPDevice.objects.get(pk=device.pk).throttling_failure_count == 0


def test_nobody_can_make_the_pause_longer_than_four_minutes(owner: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    set_clock(monkeypatch, clock.now())
    give_device(owner)
    _fail(owner, 30)
    with pytest.raises(SecondFactorLocked) as refused:
        check_code(user=owner, code="000000", now=clock.now())
    assert refused.value.data["retry_after_seconds"] == 256


def test_many_guesses_within_one_pause_lengthen_nothing(owner: Any) -> None:
    give_device(owner)
    _fail(owner, 1)
    before = TOTPDevice.objects.get(user=owner)
    for number in range(100):
        with pytest.raises(SecondFactorLocked):
            check_code(user=owner, code=f"{number:06d}", now=clock.now())
        if number == 0:
            TOTPDevice.objects.update(throttling_failure_timestamp=clock.now() + timedelta(seconds=30))
    assert TOTPDevice.objects.get(user=owner).throttling_failure_count == before.throttling_failure_count == 1


def test_its_owner_is_told_of_wrong_codes_and_that_the_password_is_known(owner: Any) -> None:
    golem = factories.make_golem(owner=owner)
    give_device(owner)
    _fail(owner, 12)
    entries = AuditEntry.objects.filter(golem_id=golem.pk, event="SecondFactorGuessed").order_by("seq")
    assert [entry.data["wrong_codes"] for entry in entries] == ["5", "9"]
    told = (
        OutboxEvent.objects.filter(golem_id=golem.pk, type="approval:second_factor_guessed")
        .order_by("sequence")
        .first()
    )
    assert told is not None
    sentence, is_urgent = tell_event(told.type, told.payload, golem="Ana")
    assert is_urgent and "5 wrong codes" in sentence and "password" in sentence


def test_the_page_of_a_decision_says_until_when_codes_are_not_looked_at(owner: Any) -> None:
    golem = factories.make_golem(owner=owner)
    request = factories.make_change_request(golem=golem)
    owner.groups.add(ensure_owner_group())
    give_device(owner)
    _fail(owner, 9)
    client = Client()
    client.force_login(owner)
    given = {"digest": request.digest, "verdict": "APPROVE", "code": "123456", "reason": ""}
    answer = client.post(reverse("admin:permits_app_changerequest_decide", args=[request.pk]), given, follow=True)
    assert "codes are looked at again from" in answer.content.decode()


def test_no_page_of_the_admin_shows_a_secret(client: Client, owner: Any) -> None:
    device = give_device(owner)
    root = Client()
    root.force_login(factories.make_operator())
    assert root.get("/admin/otp_totp/totpdevice/").status_code == 404
    for browser in (client, root):
        assert device.key not in browser.get(reverse("admin:permits_app_changerequest_inbox")).content.decode()


def test_a_lost_device_is_forgotten_by_who_runs_the_server_and_told_in_the_audit_log(owner: Any) -> None:
    golem = factories.make_golem(owner=owner)
    give_device(owner)
    call_command("reset_second_factor", owner.username, reason="lost", stdout=StringIO())
    assert not has_second_factor(owner)
    assert AuditEntry.objects.get(golem_id=golem.pk, event="SecondFactorReset").data["reason"] == "lost"
