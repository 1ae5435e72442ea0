"""Agents sign in by a code their owner types, act with tokens that live for minutes, and renew them without a pause."""

from __future__ import annotations

import json
import logging
import threading
from datetime import timedelta
from typing import Any

import httpx2
import pytest
from django.db import connections
from django.urls import reverse

from archetypes_app.actions.ask_sign_in import MINUTES, MOST_OF_AN_ADDRESS
from archetypes_app.actions.hand_out_access import ACCESS_MINUTES, LOST_ANSWER_SECONDS
from archetypes_app.actions.revoke_api_key import revoke_api_key
from archetypes_app.models import AccessToken, AgentSignIn, ApiKey
from golem_project.people.deactivated_accounts import stop_account
from permits_app.actions.retire_golem import retire_golem
from tests.golem_project.oauth.conftest import Clock, Person, Signing
from tools_app.core.models import AuditEntry

pytestmark = pytest.mark.django_db


def test_an_agent_is_signed_in_by_the_code_that_its_owner_types_and_acts_for_that_golem(
    person: Person, agent: Signing, moving: Clock
) -> None:
    assert agent.ask().status_code == 200
    assert (agent.told["verification_uri"], agent.told["expires_in"]) == ("http://127.0.0.1:8000/sign-in", MINUTES * 60)
    assert "verification_uri_complete" not in agent.told
    assert agent.poll().json()["error"] == "authorization_pending"
    page = person.type_code(agent.told["user_code"].lower().replace("-", " "))
    assert (
        "trader" in page and "203.0.113.7" in page and "You are at 127.0.0.1" in page and "nobody has checked" in page
    )
    assert person.decide(agent.told["user_code"]).status_code == 302
    moving.move(seconds=6)
    token = agent.collect()
    assert (token["token_type"], token["expires_in"], token["scope"]) == ("Bearer", ACCESS_MINUTES * 60, "preview read")
    assert agent.read().json()["golem"]["golem_id"] == str(person.golem.pk)
    key = ApiKey.objects.get(golem=person.golem)
    assert (key.label, key.scopes, key.created_by) == ("trader", ["preview", "read"], person.user)
    events = AuditEntry.objects.filter(golem_id=person.golem.pk).order_by("seq").values_list("event", flat=True)
    assert [each for each in events if "Agent" in each or "Key" in each] == [
        "AgentSignInApproved",
        "ApiKeyCreated",
        "AgentSignedIn",
    ]


def test_no_text_of_a_code_or_token_is_stored_logged_or_shown(
    person: Person, agent: Signing, moving: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    agent.ask()
    person.decide(agent.told["user_code"])
    first = agent.collect()
    second = agent.renew().json()
    secrets = [
        agent.told["device_code"],
        *(each[name] for each in (first, second) for name in ("access_token", "refresh_token")),
    ]
    kept = json.dumps(list(AgentSignIn.objects.values()) + list(AccessToken.objects.values()), default=str)
    kept += json.dumps(list(AuditEntry.objects.values()) + list(ApiKey.objects.values()), default=str)
    pages = person.browser.get(reverse("admin:archetypes_app_apikey_changelist")).content.decode()
    said = caplog.text
    assert [each for each in secrets if each in kept or each in pages or each in said] == []


def test_an_access_token_lives_for_minutes_and_the_refusal_says_how_to_renew_it(
    signed_in: Signing, moving: Clock
) -> None:
    moving.move(minutes=ACCESS_MINUTES, seconds=-1)
    assert signed_in.read().status_code == 200
    moving.move(seconds=1)
    answer = signed_in.read()
    assert (answer.status_code, answer.json()["code"]) == (401, "ACCESS_TOKEN_EXPIRED")
    assert answer.json()["token_endpoint"] == "/oauth/token"
    assert (
        'resource_metadata="http://127.0.0.1:8000/.well-known/oauth-protected-resource"'
        in answer.headers["WWW-Authenticate"]
    )


def test_the_library_renews_by_itself_and_the_token_before_stays_good_for_its_minutes(
    signed_in: Signing, moving: Clock
) -> None:
    before = dict(signed_in.client.token)
    moving.move(minutes=ACCESS_MINUTES - 1)
    fresh = signed_in.client.refresh_token("http://127.0.0.1:8000/oauth/token")
    assert fresh["access_token"] != before["access_token"] and fresh["refresh_token"] != before["refresh_token"]
    assert [signed_in.read(each["access_token"]).status_code for each in (before, fresh)] == [200, 200]
    moving.move(minutes=1)
    assert [signed_in.read(each["access_token"]).status_code for each in (before, fresh)] == [401, 200]


def test_an_agent_that_loses_the_answer_renews_once_more_and_gets_the_same_refresh_token(
    signed_in: Signing, moving: Clock
) -> None:
    first = signed_in.client.token["refresh_token"]
    lost = signed_in.renew(first).json()
    moving.move(seconds=LOST_ANSWER_SECONDS - 1)
    again = signed_in.renew(first)
    assert (again.status_code, again.json()["refresh_token"]) == (200, lost["refresh_token"])
    assert signed_in.renew(again.json()["refresh_token"]).status_code == 200


def test_a_refresh_token_that_comes_again_later_is_in_two_hands_and_ends_the_key(
    signed_in: Signing, person: Person, moving: Clock
) -> None:
    stolen = signed_in.client.token["refresh_token"]
    fresh = signed_in.renew(stolen).json()
    moving.move(seconds=LOST_ANSWER_SECONDS + 1)
    assert signed_in.renew(stolen).json()["error"] == "invalid_grant"
    assert signed_in.read(fresh["access_token"]).json()["code"] == "API_KEY_REVOKED"
    assert signed_in.renew(fresh["refresh_token"]).json()["error"] == "invalid_grant"
    told = AuditEntry.objects.get(golem_id=person.golem.pk, event="ApiKeyRevoked")
    assert told.actor == "system:used-refresh-token"


def test_a_refresh_token_of_long_ago_is_known_no_more(signed_in: Signing, moving: Clock) -> None:
    oldest = signed_in.client.token["refresh_token"]
    token = oldest
    for _ in range(3):
        moving.move(minutes=5)
        token = signed_in.renew(token).json()["refresh_token"]
    assert signed_in.renew(oldest).json()["error"] == "invalid_grant"
    assert signed_in.renew(token).status_code == 200


def test_a_code_holds_for_minutes_and_one_agent_collects_it_once(person: Person, agent: Signing, moving: Clock) -> None:
    agent.ask()
    moving.move(minutes=MINUTES)
    assert "No agent waits with this code" in person.type_code(agent.told["user_code"])
    assert agent.poll().json()["error"] == "expired_token"
    agent.ask()
    person.decide(agent.told["user_code"])
    assert agent.poll().status_code == 200
    assert agent.poll().json()["error"] == "invalid_grant"
    assert ApiKey.objects.filter(golem=person.golem).count() == 1


def test_what_was_approved_and_not_collected_in_time_is_over(person: Person, agent: Signing, moving: Clock) -> None:
    agent.ask()
    person.decide(agent.told["user_code"])
    moving.move(minutes=MINUTES)
    assert agent.poll().json()["error"] == "expired_token"
    assert not ApiKey.objects.exists()


def test_a_code_and_a_token_of_a_future_that_did_not_come_are_over(
    person: Person, agent: Signing, moving: Clock
) -> None:
    moving.move(days=1)
    agent.ask()
    waiting = agent.told
    other = Signing(address="203.0.113.8")
    other.ask()
    person.decide(other.told["user_code"])
    token = other.collect()
    moving.move(days=-1)
    assert "No agent waits with this code" in person.type_code(waiting["user_code"])
    assert agent.poll().json()["error"] == "expired_token"
    assert other.read(token["access_token"]).json()["code"] == "ACCESS_TOKEN_EXPIRED"


def test_who_asks_too_often_is_told_to_slow_down(person: Person, agent: Signing, moving: Clock) -> None:
    agent.ask()
    assert [agent.poll().json()["error"] for _ in range(2)] == ["authorization_pending", "slow_down"]
    moving.move(seconds=5)
    assert agent.poll().json()["error"] == "authorization_pending"


def test_an_address_keeps_so_many_waiting_and_no_more_and_another_is_not_held_up(
    person: Person, agent: Signing, moving: Clock
) -> None:
    assert [agent.ask().status_code for _ in range(MOST_OF_AN_ADDRESS + 1)] == [200] * MOST_OF_AN_ADDRESS + [429]
    refused = agent.ask()
    assert (refused.json()["error"], refused.headers["Retry-After"]) == ("slow_down", str(MINUTES * 60))
    assert Signing(address="198.51.100.4").ask().status_code == 200
    moving.move(minutes=MINUTES, days=2)
    assert agent.ask().status_code == 200
    assert AgentSignIn.objects.count() == 1


def test_a_denied_agent_is_told_so_and_gets_nothing(person: Person, agent: Signing, moving: Clock) -> None:
    agent.ask()
    person.decide(agent.told["user_code"], "deny")
    assert agent.poll().json()["error"] == "access_denied"
    assert not ApiKey.objects.exists()


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"is_mine": ""}, "required"),
        ({"scopes": ["read", "halt"]}, "not one of the available choices"),
        ({"scopes": []}, "required"),
        ({"lifetime_days": "91"}, "less than or equal to 90"),
        ({"golem": ""}, "required"),
    ],
)
def test_nobody_is_let_in_by_a_form_that_says_too_much_or_too_little(
    person: Person, agent: Signing, changes: dict[str, Any], why: str
) -> None:
    agent.ask()
    answer = person.decide(agent.told["user_code"], **changes)
    assert answer.status_code == 200 and why in answer.content.decode()
    assert agent.poll().json()["error"] == "authorization_pending"


def test_a_person_lets_an_agent_act_for_golems_of_their_own_alone(
    person: Person, stranger: Person, agent: Signing
) -> None:
    agent.ask()
    answer = stranger.decide(agent.told["user_code"], golem=str(person.golem.pk))
    assert answer.status_code == 200 and "Select a valid choice" in answer.content.decode()
    stranger.decide(agent.told["user_code"])
    agent.collect()
    assert agent.read().json()["golem"]["golem_id"] == str(stranger.golem.pk)


def test_a_code_in_a_link_is_not_taken(person: Person, agent: Signing) -> None:
    agent.ask()
    page = person.browser.get(reverse("sign_in_agent"), {"code": agent.told["user_code"], "user_code": "x"})
    assert agent.told["user_code"] not in page.content.decode() and "trader" not in page.content.decode()


def test_the_device_code_of_one_agent_is_of_no_use_under_another_name(person: Person, agent: Signing) -> None:
    agent.ask()
    person.decide(agent.told["user_code"])
    assert agent.poll(client_id="other").json()["error"] == "unauthorized_client"
    token = agent.collect()
    thief = Signing(name="other")
    assert thief.renew(token["refresh_token"]).json()["error"] == "invalid_grant"
    assert agent.read().status_code == 200


def test_who_revokes_the_key_ends_the_agent_at_once(signed_in: Signing, person: Person, moving: Clock) -> None:
    revoke_api_key(key=ApiKey.objects.get(), revoked_by=person.user, now=moving.now())
    assert signed_in.read().json()["code"] == "API_KEY_REVOKED"
    assert signed_in.renew().json()["error"] == "invalid_grant"


def test_an_agent_signs_itself_out(signed_in: Signing) -> None:
    body = {"token": signed_in.client.token["access_token"], "client_id": "trader"}
    assert signed_in.client.request("POST", "/oauth/revoke", data=body, withhold_token=True).status_code == 200
    assert signed_in.read().json()["code"] == "API_KEY_REVOKED"


def test_an_account_that_ends_takes_its_agents_with_it(signed_in: Signing, person: Person, moving: Clock) -> None:
    person.user.is_active = False
    person.user.save()
    assert signed_in.read().json()["code"] == "API_KEY_SUSPENDED"
    assert signed_in.renew().json()["error"] == "invalid_grant"
    stop_account(person=person.user, now=moving.now())
    assert signed_in.read().json()["code"] == "API_KEY_REVOKED"


def test_who_approved_and_lost_the_right_meanwhile_gave_nothing(person: Person, agent: Signing, moving: Clock) -> None:
    agent.ask()
    person.decide(agent.told["user_code"])
    retire_golem(golem=person.golem, reason="over", actor=f"owner:{person.user.pk}", now=moving.now())
    assert agent.poll().json()["error"] == "invalid_grant"
    other = Signing(address="198.51.100.4")
    person.golem.refresh_from_db()
    assert other.ask().status_code == 200
    assert "Select a valid choice" in person.decide(other.told["user_code"]).content.decode()


def test_the_days_of_a_sign_in_end_and_no_token_outlives_them(signed_in: Signing, moving: Clock) -> None:
    token = signed_in.client.token["refresh_token"]
    moving.move(days=30, seconds=-30)
    fresh = signed_in.renew(token).json()
    moving.move(seconds=29)
    assert signed_in.read(fresh["access_token"]).status_code == 200
    moving.move(seconds=1)
    assert signed_in.read(fresh["access_token"]).json()["code"] == "API_KEY_EXPIRED"
    assert signed_in.renew(fresh["refresh_token"]).json()["error"] == "invalid_grant"


def test_an_agent_that_renews_in_a_loop_leaves_no_rows_behind(signed_in: Signing, moving: Clock) -> None:
    for _ in range(12):
        moving.move(minutes=1)
        signed_in.client.refresh_token("http://127.0.0.1:8000/oauth/token")
    assert AccessToken.objects.count() <= 4
    assert (ApiKey.objects.count(), AgentSignIn.objects.count()) == (1, 1)
    assert signed_in.read().status_code == 200


@pytest.mark.parametrize("name", ["", "a b", "<b>", "x" * 65, "émile", "trader\u202e"])
def test_a_name_is_plain_or_refused(db: None, name: str) -> None:
    agent = Signing()
    answer = agent.client.request("POST", "/oauth/device_authorization", data={"client_id": name}, withhold_token=True)
    assert (answer.status_code, answer.json()["error"]) == (400, "invalid_client")
    assert not AgentSignIn.objects.exists()


@pytest.mark.parametrize(
    ("path", "body", "error"),
    [
        ("token", {"grant_type": "password", "username": "a", "password": "b"}, "unsupported_grant_type"),
        ("token", {}, "unsupported_grant_type"),
        ("token", {"grant_type": "refresh_token"}, "invalid_request"),
        ("token", {"grant_type": "refresh_token", "refresh_token": "golem_rt_x"}, "invalid_grant"),
        ("device_authorization", {"scope": "everything"}, "invalid_scope"),
    ],
)
def test_what_is_not_in_the_protocol_is_refused_in_its_words(
    person: Person, path: str, body: dict[str, str], error: str
) -> None:
    answer = Signing().client.request(
        "POST", f"/oauth/{path}", data={"client_id": "trader", **body}, withhold_token=True
    )
    assert (answer.status_code, answer.json()["error"]) == (400, error)
    assert "no-store" in answer.headers["Cache-Control"]


def test_without_tls_no_token_is_given(person: Person, agent: Signing, settings: Any) -> None:
    settings.ALLOWED_HOSTS = ["golem.example"]
    answer = agent.client.request(
        "POST", "http://golem.example/oauth/token", data={"client_id": "trader"}, withhold_token=True
    )
    assert (answer.status_code, answer.json()["error"]) == (400, "insecure_transport")


def test_clients_learn_where_tokens_come_from(agent: Signing) -> None:
    resource = agent.client.request("GET", "/.well-known/oauth-protected-resource/mcp", withhold_token=True).json()
    assert resource["resource"] == "http://127.0.0.1:8000/mcp"
    assert resource["authorization_servers"] == ["http://127.0.0.1:8000"]
    server = agent.client.request("GET", "/.well-known/oauth-authorization-server", withhold_token=True).json()
    assert server["token_endpoint"] == "http://127.0.0.1:8000/oauth/token"
    assert agent.client.request("GET", "/sign-in", withhold_token=True).headers["Location"] == reverse("sign_in_agent")


def test_a_key_that_renews_itself_is_not_rotated_into_one_that_lives_for_months(
    signed_in: Signing, person: Person
) -> None:
    key = ApiKey.objects.get()
    answer = person.browser.post(reverse("admin:archetypes_app_apikey_rotate", args=[key.pk]), follow=True)
    assert "renews its own tokens" in answer.content.decode()
    assert ApiKey.objects.count() == 1 and signed_in.read().status_code == 200


@pytest.mark.django_db(transaction=True)
def test_two_that_collect_or_renew_at_once_end_with_one_key_and_tokens_that_work(
    person: Person, agent: Signing
) -> None:
    agent.ask()
    person.decide(agent.told["user_code"])
    answers: list[httpx2.Response] = []
    gate = threading.Barrier(2)

    def do(call: Any) -> None:
        gate.wait()
        answers.append(call())
        connections.close_all()

    def at_once(call: Any) -> list[httpx2.Response]:
        answers.clear()
        threads = [threading.Thread(target=do, args=(call,)) for _ in range(2)]
        for each in threads:
            each.start()
        for each in threads:
            each.join(60)
        return list(answers)

    collected = at_once(agent.poll)
    assert sorted(each.status_code for each in collected) == [200, 400]
    token = next(each.json() for each in collected if each.status_code == 200)
    renewed = at_once(lambda: agent.renew(token["refresh_token"]))
    assert [each.status_code for each in renewed] == [200, 200]
    assert len({each.json()["refresh_token"] for each in renewed}) == 1
    assert all(agent.read(each.json()["access_token"]).status_code == 200 for each in renewed)
    assert ApiKey.objects.count() == 1
    assert ApiKey.objects.get().expires_at - ApiKey.objects.get().created_at == timedelta(days=30)
