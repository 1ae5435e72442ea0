"""Two switches of a golem, at the agent's door: whether agent keys spend, and whether its heartbeat acts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from uuid import UUID

import pytest
from django.test import Client
from django.urls import reverse

from archetypes_app.models import ApiKey, Golem
from golem_project.celery import app
from permits_app.actions.announce_warden_actions import execute_announced, list_due_announcements
from permits_app.actions.keep_keys_from_spending import keep_keys_from_spending
from permits_app.actions.request_change import request_operation
from permits_app.models import ActionPermit, OutboundTransaction, Warden
from tests import factories
from tests.golem_project.pi.conftest import SWAP, Agent
from tests.live_golem import LiveGolem
from tests.permits_app.approvals.people import approve, carry_out, give_device
from tests.permits_app.approvals.test_warden import STANDARD_DELAY
from tools_app.core import clock
from tools_app.core.models import AuditEntry

pytestmark = pytest.mark.django_db(transaction=True)
PREVIEW = {"action_type": "swap", **SWAP}


@pytest.fixture
def agent(shared_golem: LiveGolem) -> Iterator[Agent]:
    """An agent over HTTP whose golem acts on the local chain; tasks run in the calling process."""
    was = app.conf.task_always_eager
    app.conf.task_always_eager = True
    yield Agent(golem=shared_golem.golem, key=shared_golem.key, client=Client())
    app.conf.task_always_eager = was


def keep(golem: Golem) -> None:
    keep_keys_from_spending(golem=golem, reason="look first", actor="owner:1", now=clock.now())


def commit(agent: Agent, permit_id: str) -> tuple[int, dict[str, Any]]:
    answer = agent.post("commit_action", {"permit_id": permit_id})
    return answer.status_code, answer.json()


def test_keys_that_only_preview_are_judged_and_sign_nothing(agent: Agent) -> None:
    keep(agent.golem)
    permit = agent.post("preview_action", PREVIEW).json()
    assert permit["status"] == "CREATED"
    status, told = commit(agent, permit["permit_id"])
    assert (status, told["code"], told["recovery"]) == (403, "KEYS_MAY_NOT_SPEND", "ASK_OWNER")
    assert not OutboundTransaction.objects.exists()
    # The permit is as it was: once its owner lets keys spend, it is committed within its life.
    Golem.objects.filter(pk=agent.golem.pk).update(may_keys_spend=True)
    assert commit(agent, permit["permit_id"])[1]["status"] == "COMMITTED"


def test_a_permit_of_before_the_switch_is_committed_no_more(agent: Agent) -> None:
    permit = agent.post("preview_action", PREVIEW).json()
    keep(agent.golem)
    assert commit(agent, permit["permit_id"])[1]["code"] == "KEYS_MAY_NOT_SPEND"
    assert AuditEntry.objects.filter(golem_id=agent.golem.pk, event="CommitDenied").count() == 1


def test_what_moves_no_money_goes_on(agent: Agent) -> None:
    keep(agent.golem)
    permit = agent.post("preview_action", {"action_type": "circuit_breaker", "action": "TRIGGER"}).json()
    assert commit(agent, permit["permit_id"])[0] == 200


def test_nothing_is_announced_and_what_was_is_not_carried_out(agent: Agent) -> None:
    Warden.objects.update_or_create(golem=agent.golem, defaults={"is_on": True})
    permit_id = agent.post("preview_action", PREVIEW).json()["permit_id"]
    assert commit(agent, permit_id)[1]["status"] == "ANNOUNCED"
    keep(agent.golem)
    later = clock.now() + STANDARD_DELAY
    assert list_due_announcements(now=later) == [UUID(permit_id)]
    execute_announced(permit_id=UUID(permit_id), now=later)
    row = ActionPermit.objects.get(pk=permit_id)
    assert row.status == "BLOCKED" and "agent keys" in row.status_reason
    second = agent.post("preview_action", PREVIEW).json()["permit_id"]
    assert commit(agent, second)[1]["code"] == "KEYS_MAY_NOT_SPEND"
    assert ActionPermit.objects.get(pk=second).status == "CREATED"


def test_only_owners_with_a_second_factor_let_keys_spend_again_and_a_stranger_does_not(agent: Agent) -> None:
    golem = agent.golem
    give_device(golem.owner)
    keep(golem)
    golem.refresh_from_db()
    asked = request_operation(
        golem=golem, name="keys_spend", arguments={}, owner=golem.owner, reason="seen enough", now=clock.now()
    )
    assert asked.needs_second_factor
    told = {line["words"]: (line["before"], line["after"]) for line in asked.shown["differences"]}
    assert told["Agent keys"] == ("preview only: nothing of it is signed", "may spend")
    assert told["Its agents spend in 24 h, at most"][0] == "nothing"
    assert carry_out(approve(asked, golem.owner)).state == "EXECUTED"
    golem.refresh_from_db()
    assert golem.may_keys_spend
    entries = AuditEntry.objects.filter(golem_id=golem.pk, event="KeysSpendSet").order_by("seq")
    assert [each.data["may_keys_spend"] for each in entries] == [False, True]
    stranger = Client()
    stranger.force_login(factories.make_owner(name="stranger"))
    for name in ("keys_spend", "keys_preview"):
        url = reverse(f"admin:archetypes_app_golem_{name}", args=[golem.pk])
        assert stranger.post(url, {"reason": "mine"}).status_code == 404, name
    golem.refresh_from_db()
    assert golem.may_keys_spend


def test_the_wizard_makes_a_golem_in_which_neither_is_on(agent: Agent) -> None:
    owner = factories.make_owner(name="careful")
    golem = factories.make_golem(owner=owner, name="Careful")
    golem.profiles.set(agent.golem.profiles.all())
    Golem.objects.filter(pk=golem.pk).update(archetype=agent.golem.archetype, address=agent.golem.address)
    browser = Client()
    browser.force_login(owner)
    page = reverse("admin:archetypes_app_golem_set_up_token", args=[golem.pk])
    assert "Agent keys may spend" in browser.get(page).content.decode()
    assert browser.post(page, {"scopes": ["read", "preview", "commit"]}).status_code == 302
    golem.refresh_from_db()
    assert (golem.may_keys_spend, golem.is_live) == (False, False)
    assert ApiKey.objects.filter(golem=golem).count() == 1
    told = browser.get(reverse("admin:archetypes_app_golem_change", args=[golem.pk])).content.decode()
    assert "agent keys only preview" in told and "heartbeat off" in told


def test_going_live_says_what_agent_keys_did_all_along(agent: Agent) -> None:
    asked = request_operation(
        golem=agent.golem, name="live", arguments={}, owner=agent.golem.owner, reason="go", now=clock.now()
    )
    told = {line["words"]: (line["before"], line["after"]) for line in asked.shown["differences"]}
    assert told["Agent keys"] == ("may spend", "as before")
    assert "Its heartbeat spends in 24 h, at most" in told
