"""An account that is deactivated stops at every door at once, and nothing starts by itself when it is back.

The doors are read from the server's addresses and its tasks, so that a new one is looked at, or named here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import httpx
import pytest
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver

from archetypes_app.actions.create_api_key import create_api_key
from archetypes_app.errors import OwnerGone
from archetypes_app.models import ApiKey, ChatTurn, Golem, GolemMember, Heartbeat
from archetypes_app.models.api_key import Scope
from archetypes_app.owner_group import ensure_owner_group
from archetypes_app.roles import Role
from golem_project.a2a import notifications
from golem_project.alerts import channels
from golem_project.alerts.models import Alert, AlertChannel, ChannelKind
from golem_project.chat.turn_states import ask_golem, begin_turn
from golem_project.heartbeat.tick_claims import begin_tick, claim_due
from golem_project.people.deactivated_accounts import stop_accounts
from golem_project.people.tasks import stop_accounts_task
from golem_project.stream import sse, webhooks
from golem_project.stream.models import WebhookDelivery, WebhookEndpoint
from permits_app.models import ChangeRequest, OutboundTransaction, OwnerApproval
from permits_app.models.permit import PermitStatus
from tests import factories
from tests.admin.members import log_in
from tests.golem_project.pi.conftest import Agent, MakeAgent
from tests.golem_project.pi.conftest import agent as agent
from tests.golem_project.pi.conftest import make_agent as make_agent
from tests.golem_project.stream.conftest import EventSource, emit
from tests.golem_project.stream.conftest import web_port as web_port
from tests.golem_project.test_registered_tasks import list_written
from tests.live_golem import LiveGolem
from tests.permits_app.approvals.people import make_owner_with_device
from tools_app.core import clock, event_log
from tools_app.core.models import AuditEntry, OutboxEvent

pytestmark = pytest.mark.django_db

PUBLIC = {
    "": "leads to the admin, which asks for a sign-in",
    "join/": "opens with an invitation, to whoever has none",
    "a2a/<uuid:golem_id>/paid/<str:venue>/<str:query>": "whoever pays is answered; no token is looked at",
    "manifest.webmanifest": "the name and picture of the app that a phone installs",
    "admin/worker.js": "the same script for everybody, which shows what is pushed",
    "healthz": "whether the server runs",
    "readyz": "whether the server works",
    "about": "what the server is",
    "llms.txt": "how it is used",
    "llms-full.txt": "how it is used",
    "support.json": "which tools there are",
    "skills/<slug:name>.md": "how it is used",
    "errors/": "what a code means",
    "errors/<slug:code>": "what a code means",
    "sign-in": "leads to the page on which an agent is signed in",
    "oauth/device_authorization": "an agent asks, which opens nothing by itself",
    "oauth/token": "a device code that its owner approved, or a refresh token; see test_sign_in.py",
    "oauth/revoke": "ends what a token opens",
    ".well-known/oauth-authorization-server": "where tokens come from",
    ".well-known/oauth-protected-resource": "where tokens come from",
    ".well-known/oauth-protected-resource/<path:path>": "where tokens come from",
    "admin/login/": "the sign-in itself",
    "admin/jsi18n/": "words of scripts",
    "api/v1/schema": "the interface as a document",
    "api/v1/schema.json": "the interface as a document",
    "api/v1/docs": "the interface as a page",
    ".well-known/agent-card.json": "which agents there are",
    ".well-known/agent.json": "which agents there are",
    ".well-known/agent-registration.json": "which agents there are",
    "a2a/keys.json": "keys that cards are signed with",
    "a2a/<uuid:golem_id>/.well-known/agent-card.json": "who an agent is",
    "a2a/<uuid:golem_id>/.well-known/agent.json": "who an agent is",
    "a2a/<uuid:golem_id>/challenge": "a nonce, which opens nothing by itself",
    "a2a/<uuid:golem_id>/visit": "refused without a signature; what a visit opens has its own test",
}
"""Doors that ask nobody who they are."""

_WEBHOOK, _ALERT = (
    "test_a_webhook_of_somebody_who_was_locked_gets_nothing",
    "test_an_alert_channel_of_somebody_who_was_locked_is_told_nothing",
)
_PUSH = "test_a_push_address_of_a_key_whose_maker_was_locked_is_told_nothing"
_TICK = "test_no_tick_begins_for_a_golem_that_nobody_owns"
_PERMIT = "test_a_permit_from_before_is_not_committed"
ACTS_FOR_A_PERSON = {
    "golem_project.chat.tasks.answer_turn_task": "test_a_message_of_somebody_who_was_locked_is_not_answered",
    "golem_project.heartbeat.tasks.tick_golem_task": _TICK,
    "golem_project.heartbeat.tasks.claim_heartbeats_task": _TICK,
    "golem_project.stream.tasks.": _WEBHOOK,
    "golem_project.alerts.tasks.": _ALERT,
    "golem_project.a2a.tasks.notify_": _PUSH,
    "golem_project.people.tasks.": "test_a_golem_whose_only_owner_was_locked_is_halted_and_told",
    "permits_app.tasks.commit_permit_task": _PERMIT,
    "permits_app.tasks.commit_announced_task": _PERMIT,
    "permits_app.tasks.commit_change_task": "test_approvals_end_with_the_account",
    "permits_app.tasks.preview_action_task": "test_every_address_refuses_a_token_whose_maker_was_locked",
}
"""Tasks, or all that begin so, and the test of what they do for an account that was locked."""

FOR_NOBODY_IN_PARTICULAR = (
    "memory_app.tasks.",
    "tools_app.tasks.",
    "golem_project.heartbeat.tasks.run_duties_task",
    "golem_project.heartbeat.tasks.value_",
    "golem_project.a2a.tasks.follow_tasks_task",
    "golem_project.a2a.tasks.forget_old_rows_task",
    "golem_project.a2a.tasks.watch_sales_task",
    "permits_app.tasks.lay_away_records_task",
    "permits_app.tasks.sum_key_spends_task",
    "permits_app.tasks.remember_outcomes_task",
    "permits_app.tasks.sweep_",
    "permits_app.tasks.commit_halt_task",
    "permits_app.tasks.commit_cage_changes_task",
    "permits_app.tasks.sync_policy_cages_task",
    "permits_app.tasks.commit_sessions_task",
    "permits_app.tasks.commit_openings_task",
    "permits_app.tasks.commit_reconciliation_task",
    "permits_app.tasks.follow_",
    "permits_app.tasks.commit_deaths_task",
    "permits_app.tasks.try_policy_task",
)
"""They keep what is there, end what lapsed, or carry out a halt; none begins anything that a person asked for."""


def _lock(person: Any) -> None:
    """Past every form and signal: the doors ask for themselves."""
    User.objects.filter(pk=person.pk).update(is_active=False)


def _list_addresses(patterns: list[Any], before: str = "") -> Iterator[tuple[str, Any]]:
    for each in patterns:
        route = before + str(each.pattern).removeprefix("^")
        if isinstance(each, URLResolver):
            yield from _list_addresses(each.url_patterns, route)
        elif isinstance(each, URLPattern):
            yield route, each


def _fill(route: str, golem: Golem) -> str:
    given = {"uuid": str(golem.pk), "int": "1", "slug": "x", "str": "x", "path": "x"}
    filled = re.sub(r"<(?:(\w+):)?\w+>", lambda found: given[found.group(1) or "str"], route)
    return "/" + re.sub(r"\(\?P<\w+>[^)]*\)|\\Z|\$", "x", filled).replace("\\", "")


def _addresses() -> list[str]:
    return sorted({route for route, _ in _list_addresses(get_resolver().url_patterns)})


def test_every_address_refuses_a_token_whose_maker_was_locked(agent: Agent) -> None:
    golem = agent.golem
    golem.co_owners.add(factories.make_owner(name="stays"))
    _lock(golem.owner)
    headers = {"Authorization": f"Bearer {agent.key.token}"}
    opened = []
    looked_at = 0
    for route in _addresses():
        if route in PUBLIC or route.startswith("admin/"):
            continue
        for method in ("get", "post"):
            answer = getattr(Client(), method)(_fill(route, golem), headers=headers)
            looked_at += 1
            if route == "metrics":
                # It knows an operator's token alone; to every other it is not there.
                if answer.status_code not in (404, 405):
                    opened.append((route, method, answer.status_code))
                continue
            if answer.status_code != 405 and (answer.status_code, answer.json().get("code")) != (
                401,
                "API_KEY_SUSPENDED",
            ):
                opened.append((route, method, answer.status_code))
    assert opened == []
    assert looked_at > 20


def test_every_page_asks_somebody_who_was_locked_to_sign_in(agent: Agent) -> None:
    person = agent.golem.owner
    User.objects.filter(pk=person.pk).update(is_staff=True, is_superuser=True)
    person.refresh_from_db()
    client = log_in(person)
    _lock(person)
    opened = []
    routes = [route for route in _addresses() if route.startswith("admin/") and route not in PUBLIC]
    for route in routes:
        path = _fill(route, agent.golem)
        answer = client.get(path)
        is_sent_away = answer.status_code in (301, 302) and (
            "/login/" in answer["Location"] or answer["Location"].startswith("/admin/")
        )
        if not is_sent_away and answer.status_code not in (401, 403):
            opened.append((route, answer.status_code))
    assert opened == []
    assert len(routes) > 100


def test_every_task_either_acts_for_nobody_or_has_its_test_here() -> None:
    here = set(globals())
    unnamed = [
        name
        for name in sorted(list_written())
        if not name.startswith(FOR_NOBODY_IN_PARTICULAR)
        and not any(name.startswith(start) and test in here for start, test in ACTS_FOR_A_PERSON.items())
    ]
    assert unnamed == []


def test_a_key_of_another_owner_goes_on_and_that_of_a_stranger_golem_too(make_agent: MakeAgent) -> None:
    mine, other = make_agent(), make_agent()
    stays = factories.make_owner(name="stays")
    mine.golem.co_owners.add(stays)
    kept = create_api_key(golem=mine.golem, scopes=Scope.values, label="kept", created_by=stays, now=clock.now())
    _lock(mine.golem.owner)
    for token in (kept.token, other.key.token):
        answer = Client().get("/api/v1/pi/manifest", headers={"Authorization": f"Bearer {token}"})
        assert answer.status_code == 200
    assert mine.get("manifest").status_code == 401


def test_no_key_opens_a_golem_that_nobody_with_an_active_account_owns(agent: Agent) -> None:
    operator = factories.make_owner(name="olga")
    GolemMember.objects.create(golem=agent.golem, person=operator, role=Role.OPERATOR, since=clock.now())
    made = create_api_key(golem=agent.golem, scopes=["read"], label="hers", created_by=operator, now=clock.now())
    _lock(agent.golem.owner)
    answer = Client().get("/api/v1/pi/manifest", headers={"Authorization": f"Bearer {made.token}"})
    assert (answer.status_code, answer.json()["code"]) == (403, "OWNER_NOT_ACTIVE")


@pytest.mark.django_db(transaction=True)
def test_other_protocols_refuse_it_as_the_interface_does(web_port: int, make_agent: MakeAgent, settings: Any) -> None:
    settings.GOLEM_MCP = True
    agent = make_agent()
    _lock(agent.golem.owner)
    base, headers = f"http://127.0.0.1:{web_port}", {"Authorization": f"Bearer {agent.key.token}"}
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
    accepts = {"Accept": "application/json, text/event-stream"}
    told = httpx.post(f"{base}/mcp", json=call, headers={**headers, **accepts}, timeout=60).text
    assert "API_KEY_SUSPENDED" in told
    send = {"jsonrpc": "2.0", "id": 1, "method": "message/send", "params": {}}
    answer = httpx.post(f"{base}/a2a/{agent.golem.pk}/", json=send, headers=headers, timeout=60)
    assert answer.status_code == 401, answer.text
    answer = httpx.get(f"{base}/a2a/{agent.golem.pk}/rest/tasks/x", headers=headers, timeout=60)
    assert answer.status_code == 401, answer.text


@pytest.mark.django_db(transaction=True)
def test_a_stream_that_is_open_tells_nothing_more(web_port: int, make_agent: MakeAgent, settings: Any) -> None:
    settings.GOLEM_STREAM_RECHECK_SECONDS = 0
    agent = make_agent()
    source = EventSource(web_port, token=agent.key.token)
    source.wait_until_live()
    emit(agent.golem.pk, 1)
    assert [event.event for event in source.take(1)] == ["tool:end"]
    _lock(agent.golem.owner)
    emit(agent.golem.pk, 2)
    [last] = source.take(1)
    source.close()
    assert (last.event, last.data["reason"]) == ("stream:resume", "not_allowed")


@pytest.mark.django_db(transaction=True)
def test_a_stream_that_still_catches_up_tells_nothing_more(
    web_port: int, make_agent: MakeAgent, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever reads slowly what they missed would be told what comes after their account was locked."""
    settings.GOLEM_STREAM_RECHECK_SECONDS = 0
    monkeypatch.setattr(sse, "_PAGE", 2)
    agent = make_agent()
    source = EventSource(web_port, token=agent.key.token)
    source.wait_until_live()
    emit(agent.golem.pk, 0)
    assert len(source.take(1)) == 1
    source.close()
    read_after, pages = event_log.read_after, list[int]()

    def read_and_lock(*args: Any, **options: Any) -> Any:
        page = read_after(*args, **options)
        pages.append(len(page.events))
        if len(pages) == 2:
            _lock(agent.golem.owner)
        return page

    emit(agent.golem.pk, 1, 2, 3, 4, 5)
    monkeypatch.setattr(event_log, "read_after", read_and_lock)
    source = EventSource(web_port, token=agent.key.token, last_id=source.last_id)
    told = source.take(3)
    source.close()
    assert [event.event for event in told] == ["tool:end", "tool:end", "stream:resume"]
    assert told[-1].data["reason"] == "not_allowed"


@pytest.mark.django_db(transaction=True)
def test_a_stream_in_a_browser_tells_nothing_more_once_its_persons_role_ended(
    web_port: int, make_agent: MakeAgent, settings: Any
) -> None:
    settings.GOLEM_STREAM_RECHECK_SECONDS = 0
    golem, vera = make_agent().golem, factories.make_owner(name="vera")
    row = GolemMember.objects.create(golem=golem, person=vera, role="VIEWER", since=clock.now())
    browser = Client()
    browser.force_login(vera)
    source = EventSource(web_port, Cookie=f"sessionid={browser.cookies['sessionid'].value}")
    source.wait_until_live()
    emit(golem.pk, 1)
    assert [event.event for event in source.take(1)] == ["tool:end"]
    row.delete()
    emit(golem.pk, 2)
    [last] = source.take(1)
    source.close()
    assert (last.event, last.data["reason"]) == ("stream:resume", "not_allowed")


def test_a_permit_from_before_is_not_committed(live_golem: LiveGolem) -> None:
    permit_id = live_golem.preview()["permit_id"]
    _lock(live_golem.owner)
    with pytest.raises(OwnerGone):
        live_golem.start(permit_id)
    assert live_golem.permit(permit_id).status == PermitStatus.CREATED
    assert not OutboundTransaction.objects.exists()


def test_no_tick_begins_for_a_golem_that_nobody_owns(agent: Agent) -> None:
    golem = agent.golem
    Heartbeat.objects.create(golem=golem, is_on=True, next_tick_at=clock.now() - timedelta(seconds=1))
    [claim] = claim_due(now=clock.now(), limit=10, lease_seconds=90, jitter_bps=500)
    _lock(golem.owner)
    assert begin_tick(claim=claim, lease_seconds=90, now=clock.now()) is None
    golem.co_owners.add(factories.make_owner(name="stays"))
    assert begin_tick(claim=claim, lease_seconds=90, now=clock.now()) is not None


def test_a_message_of_somebody_who_was_locked_is_not_answered(agent: Agent) -> None:
    turn = ask_golem(golem=agent.golem, owner=agent.golem.owner, words="hello", begins_anew=True, now=clock.now())
    _lock(agent.golem.owner)
    assert begin_turn(turn.pk, now=clock.now()) is None
    assert ChatTurn.objects.get(pk=turn.pk).state == "STOPPED"


def test_a_message_of_an_operator_who_became_a_viewer_is_not_answered(agent: Agent) -> None:
    operator = factories.make_owner(name="olga")
    row = GolemMember.objects.create(golem=agent.golem, person=operator, role=Role.OPERATOR, since=clock.now())
    turn = ask_golem(golem=agent.golem, owner=operator, words="hello", begins_anew=True, now=clock.now())
    GolemMember.objects.filter(pk=row.pk).update(role=Role.VIEWER)
    assert begin_turn(turn.pk, now=clock.now()) is None


def test_a_webhook_of_somebody_who_was_locked_gets_nothing(agent: Agent, settings: Any) -> None:
    settings.GOLEM_WEBHOOK_ALLOWS_PRIVATE_ADDRESSES = True
    viewer = factories.make_owner(name="vera")
    GolemMember.objects.create(golem=agent.golem, person=viewer, role=Role.VIEWER, since=clock.now())
    endpoint, _ = webhooks.create_endpoint(
        owner=viewer, golem=None, label="hook", url="http://127.0.0.1:9/", types=(), now=clock.now()
    )
    _lock(viewer)
    emit(agent.golem.pk, 1)
    webhooks.spread_events(now=clock.now())
    assert not WebhookDelivery.objects.exists()
    stop_accounts(now=clock.now())
    User.objects.filter(pk=viewer.pk).update(is_active=True)
    webhooks.spread_events(now=clock.now())
    assert not WebhookDelivery.objects.exists()
    assert "account" in WebhookEndpoint.objects.get(pk=endpoint.pk).disabled_reason


def test_an_alert_channel_of_somebody_who_was_locked_is_told_nothing(agent: Agent, settings: Any) -> None:
    settings.GOLEM_WEBHOOK_ALLOWS_PRIVATE_ADDRESSES = True
    channel = channels.create_channel(
        person=agent.golem.owner,
        kind=ChannelKind.WEBHOOK,
        target={"url": "http://127.0.0.1:9/"},
        label="chat",
        now=clock.now(),
    )
    emit(agent.golem.pk, 1)
    _lock(agent.golem.owner)
    stop_accounts(now=clock.now())
    channels.gather_alerts(now=clock.now())
    assert not Alert.objects.exists()
    assert AlertChannel.objects.get(pk=channel.pk).disabled_at is not None


def test_a_push_address_of_a_key_whose_maker_was_locked_is_told_nothing(agent: Agent) -> None:
    row = factories.make_a2a_notification(golem=agent.golem, url="http://127.0.0.1:9/")
    task = row.config.task
    type(task).objects.filter(pk=task.pk).update(api_key=agent.key.key, visitor="")
    _lock(agent.golem.owner)
    assert not notifications.notify(notification_id=row.pk, now=clock.now())
    row.refresh_from_db()
    assert (row.state, row.last_error) == ("DEAD", "the key it was asked with is no longer good")


def test_a_golem_whose_only_owner_was_locked_is_halted_and_told(agent: Agent) -> None:
    golem = agent.golem
    Heartbeat.objects.create(golem=golem, is_on=True, next_tick_at=clock.now())
    _lock(golem.owner)
    stop_accounts_task()
    golem.refresh_from_db()
    assert golem.is_halted
    for words in ("nobody with an active account owns it", "resume", "API keys", "heartbeat"):
        assert words in golem.halt_reason
    assert not Heartbeat.objects.get(golem=golem).is_on
    assert ApiKey.objects.get(pk=agent.key.key.pk).revoked_at is not None
    assert AuditEntry.objects.get(golem_id=golem.pk, event="AccountStopped").data["person"] == str(golem.owner_id)
    assert OutboxEvent.objects.filter(golem_id=golem.pk, type="account:stopped").count() == 1
    stop_accounts_task()
    golem.refresh_from_db()
    assert golem.halt_epoch == 1
    assert AuditEntry.objects.filter(golem_id=golem.pk, event="AccountStopped").count() == 1


def test_a_golem_with_another_active_owner_goes_on_and_is_told(agent: Agent) -> None:
    agent.golem.co_owners.add(factories.make_owner(name="stays"))
    _lock(agent.golem.owner)
    stop_accounts_task()
    agent.golem.refresh_from_db()
    assert not agent.golem.is_halted
    told = OutboxEvent.objects.get(golem_id=agent.golem.pk, type="account:stopped").payload
    assert "another owner keeps it running" in told["outcome"]


def test_the_last_of_two_owners_to_be_locked_halts_it(agent: Agent) -> None:
    other = factories.make_owner(name="second")
    agent.golem.co_owners.add(other)
    for person in (agent.golem.owner, other):
        _lock(person)
        stop_accounts_task()
    agent.golem.refresh_from_db()
    assert agent.golem.is_halted


def test_a_golem_whose_co_owner_left_while_its_owner_was_locked_is_halted(agent: Agent) -> None:
    other = factories.make_owner(name="second")
    agent.golem.co_owners.add(other)
    _lock(agent.golem.owner)
    stop_accounts_task()
    agent.golem.co_owners.remove(other)
    stop_accounts_task()
    agent.golem.refresh_from_db()
    assert agent.golem.is_halted


def test_the_form_that_locks_an_account_stops_it_at_once(agent: Agent, django_capture_on_commit_callbacks: Any) -> None:
    person = agent.golem.owner
    with django_capture_on_commit_callbacks(execute=True):
        person.is_active = False
        person.save()
    agent.golem.refresh_from_db()
    assert agent.golem.is_halted


def test_an_account_that_is_back_starts_nothing_and_is_told_what_comes_next(agent: Agent) -> None:
    golem, person = agent.golem, agent.golem.owner
    User.objects.filter(pk=person.pk).update(is_staff=True)
    person.refresh_from_db()
    person.groups.add(ensure_owner_group())
    browser = Client()
    browser.force_login(person)
    _lock(person)
    stop_accounts_task()
    User.objects.filter(pk=person.pk).update(is_active=True)
    stop_accounts_task()
    golem.refresh_from_db()
    assert golem.is_halted
    assert agent.get("manifest").json()["code"] == "API_KEY_REVOKED"
    assert browser.get("/admin/").status_code == 302
    assert not Session.objects.exists()
    told = OutboxEvent.objects.get(golem_id=golem.pk, type="account:back").payload
    assert "stays halted until its owners resume it" in told["outcome"]
    assert AuditEntry.objects.filter(golem_id=golem.pk, event="AccountBack").count() == 1


@pytest.mark.locks_at_will
def test_keys_of_an_account_that_is_deleted_are_revoked(agent: Agent) -> None:
    operator = factories.make_owner(name="olga")
    made = create_api_key(golem=agent.golem, scopes=["read"], label="hers", created_by=operator, now=clock.now())
    operator.delete()
    answer = Client().get("/api/v1/pi/manifest", headers={"Authorization": f"Bearer {made.token}"})
    assert (answer.status_code, answer.json()["code"]) == (401, "API_KEY_REVOKED")


def test_approvals_end_with_the_account(agent: Agent) -> None:
    golem, other = agent.golem, make_owner_with_device(name="second")
    golem.co_owners.add(other)
    request = factories.make_change_request(golem=golem)
    ChangeRequest.objects.filter(pk=request.pk).update(state="OPEN")
    given = OwnerApproval.objects.create(
        request=request,
        owner=other,
        verdict="APPROVE",
        digest=request.digest,
        has_second_factor=True,
        decided_at=clock.now(),
    )
    _lock(other)
    stop_accounts_task()
    given.refresh_from_db()
    assert given.ended_at is not None
