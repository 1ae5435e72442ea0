"""The Warden: a commit announces, the delay runs, then it is executed, cancelled or expired; on the real contracts."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from django.test import Client

from archetypes_app.actions.create_api_key import create_api_key
from archetypes_app.actions.sync_builtins import sync_builtins
from archetypes_app.models import Archetype, Golem, ToolOverride
from archetypes_app.models.api_key import Scope
from archetypes_app.models.override import OverrideMode
from archetypes_app.tool_loadout import Loadout
from archetypes_app.toolset import resolve_toolset
from golem_project.heartbeat.thinking.tool_calls import ToolDesk
from golem_project.pi.definitions import define_tools
from golem_project.pi.token_count import cost_little
from permits_app.actions.announce_warden_actions import (
    announce_permit,
    cancel_announced,
    cancel_as_watchdog,
    execute_announced,
    expire_announced,
    list_due_announcements,
    turn_warden_on,
)
from permits_app.actions.execute_change import execute_change
from permits_app.actions.query import query_state
from permits_app.actions.start_commit import start_commit
from permits_app.approval_errors import ActionAnnounced
from permits_app.doors.request_commit import request_commit
from permits_app.errors import PermitNotCommittable, PermitNotFound
from permits_app.models import Announcement, ChangeRequest, OutboundTransaction, SpendEntry, SpendingLimits
from tests import factories
from tests.concurrency.test_sixty_four_at_once import at_once
from tests.live_golem import SWAP, LiveGolem, make_live_golem
from tests.permits_app.approvals.people import approve
from tools_app.core import clock
from tools_app.core.clock import Deadline
from tools_app.core.models import AuditEntry, OutboxEvent

pytestmark = pytest.mark.usefixtures("eager")
STANDARD_DELAY = timedelta(minutes=10)


@pytest.fixture
def watched(live_golem: LiveGolem) -> LiveGolem:
    """A live golem whose Warden is on."""
    turn_warden_on(golem=live_golem.golem, actor="owner:1", reason="careful", now=clock.now())
    return live_golem


def _announce(live: LiveGolem, **changes: Any) -> str:
    permit = live.preview(**changes)
    assert permit["missing"] == ["delay"]
    answer = request_commit(
        golem=live.golem, api_key=live.key.key, permit_id=permit["permit_id"], wait_seconds=0, request_id="test"
    )
    assert not answer.is_done
    assert (answer.permit["status"], answer.permit["missing"]) == ("ANNOUNCED", ["delay"])
    return str(permit["permit_id"])


def _row(permit_id: str) -> Announcement:
    return Announcement.objects.get(permit_id=UUID(permit_id))


def test_a_second_commit_of_what_is_announced_says_when_it_is_carried_out(watched: LiveGolem) -> None:
    permit_id = _announce(watched)
    with pytest.raises(PermitNotCommittable) as refused:
        watched.start(permit_id)
    problem = refused.value.as_problem()
    assert (problem["recovery"], problem["cleared_by"]) == ("WAIT", "its delay ends")
    assert problem["resets_at"] == _row(permit_id).executes_at.isoformat()


def test_what_stops_the_golem_waits_for_no_delay_nor_limit_and_the_other_golems_go_on(watched: LiveGolem) -> None:
    other = make_live_golem(watched.world, name="Other", owner_name="owner-b")
    waiting = _announce(watched)
    ToolOverride.objects.create(golem=watched.golem, tool_name="safety_set_circuit_breaker", mode=OverrideMode.INCLUDE)
    SpendingLimits.objects.filter(golem=watched.golem).update(writes_per_hour=0, per_day_micro_usd=0)
    permit = watched.preview(**{**dict.fromkeys(SWAP), "action_type": "circuit_breaker", "action": "TRIGGER"})
    assert (permit["status"], permit["missing"]) == ("CREATED", [])
    permit_id = UUID(permit["permit_id"])
    assert announce_permit(permit_id=permit_id, golem=watched.golem, actor="key:test", now=clock.now()) is None
    assert watched.commit(permit["permit_id"])["status"] == "COMMITTED"
    watched.golem.refresh_from_db()
    other.golem.refresh_from_db()
    assert (watched.golem.is_halted, other.golem.is_halted) == (True, False)
    assert watched.permit(waiting).status == "CANCELLED"
    assert other.preview()["status"] == "CREATED"


def test_a_commit_is_announced_and_executed_when_the_delay_is_over(watched: LiveGolem) -> None:
    permit_id = _announce(watched)
    now = clock.now()
    row = _row(permit_id)
    assert row.executes_at - row.announced_at == STANDARD_DELAY
    assert execute_announced(permit_id=row.permit_id, now=now) is None
    assert list_due_announcements(now=now) == []
    assert list_due_announcements(now=now + STANDARD_DELAY) == [row.permit_id]
    execute_announced(permit_id=row.permit_id, now=now + STANDARD_DELAY)
    assert watched.permit(permit_id).status == "COMMITTED"
    row.refresh_from_db()
    assert row.state == "EXECUTED"
    assert OutboxEvent.objects.filter(type="approval:announced").count() == 1


def test_nothing_is_announced_while_the_warden_is_off(live_golem: LiveGolem) -> None:
    permit = live_golem.preview()
    assert live_golem.commit(permit["permit_id"])["status"] == "COMMITTED"
    assert not Announcement.objects.exists()


def test_a_commit_started_past_the_announcement_is_refused(watched: LiveGolem) -> None:
    permit = watched.preview()
    with pytest.raises(ActionAnnounced):
        start_commit(golem=watched.golem, permit_id=permit["permit_id"], actor="key:test", now=clock.now())
    assert watched.mined_nonce() == 0


def test_the_deadline_on_chain_outlives_the_announcement(watched: LiveGolem) -> None:
    permit = watched.permit(_announce(watched))
    due = Announcement.objects.get(permit=permit).executes_at
    assert permit.bounds["deadline"] > int(due.timestamp()) + 3_600


def test_an_owner_cancels_what_is_announced(watched: LiveGolem) -> None:
    permit_id = _announce(watched)
    row = _row(permit_id)
    cancel_announced(golem=watched.golem, permit_id=row.permit_id, reason="no", actor="owner:1", now=clock.now())
    assert watched.permit(permit_id).status == "CANCELLED"
    assert SpendEntry.objects.get(permit=watched.permit(permit_id)).state == "RELEASED"
    assert execute_announced(permit_id=row.permit_id, now=clock.now() + STANDARD_DELAY) is None
    assert watched.mined_nonce() == 0


def test_a_vault_watchdog_of_the_same_owner_cancels_and_nobody_else_s_golem_does(watched: LiveGolem) -> None:
    sync_builtins()
    permit_id = _row(_announce(watched)).permit_id
    kind = Archetype.objects.get(name="vault-watchdog")
    dog = factories.make_golem(owner=watched.owner, name="Dog", archetype=kind)
    strange_dog = factories.make_golem(owner=factories.make_owner(name="x"), name="Dog", archetype=kind)
    plain = factories.make_golem(owner=watched.owner, name="Cat")
    halted = factories.make_golem(owner=watched.owner, name="Halted", archetype=kind)
    halted.halted_at = clock.now()
    for caller in (strange_dog, plain, halted):
        with pytest.raises(PermitNotFound):
            cancel_as_watchdog(watchdog=caller, permit_id=permit_id, reason="odd", actor="key:x", now=clock.now())
    cancel_as_watchdog(watchdog=dog, permit_id=permit_id, reason="odd", actor="key:dog", now=clock.now())
    assert watched.permit(str(permit_id)).status == "CANCELLED"
    assert AuditEntry.objects.get(golem_id=watched.golem.pk, event="PermitCancelled").actor == "key:dog"


def _think(dog: Golem, name: str, **arguments: Any) -> dict[str, Any]:
    """One tool call of a watchdog's model within its tick."""
    toolset = resolve_toolset(dog)
    desk = ToolDesk(
        golem=dog,
        toolset=toolset,
        loadout=Loadout(most=None),
        write_tools=lambda shown: define_tools(toolset=shown, permit_ttl_seconds=60),
        cost_little=cost_little,
        actor="system:heartbeat",
        is_live=True,
    )
    return desk.run(name=name, arguments=arguments, deadline=Deadline.after_ms(5_000))


def test_a_watchdog_sees_what_is_announced_and_cancels_it_over_rest(watched: LiveGolem) -> None:
    sync_builtins()
    permit_id = _announce(watched)
    kind = Archetype.objects.get(name="vault-watchdog")
    dog = factories.make_golem(owner=watched.owner, name="Dog", archetype=kind)
    made = create_api_key(golem=dog, scopes=Scope.values, label="dog", created_by=watched.owner, now=clock.now())

    def post(tool: str, body: dict[str, Any]) -> dict[str, Any]:
        answer = Client().post(
            f"/api/v1/pi/{tool}",
            json.dumps(body),
            content_type="application/json",
            headers={"Authorization": f"Bearer {made.token}"},
        )
        assert answer.status_code == 200, answer.content
        told: dict[str, Any] = answer.json()
        return told

    seen = post("query_state", {"query": "permits"})["data"]["announced_by_others"]
    assert [each["permit_id"] for each in seen] == [permit_id]
    assert (
        post("cancel_action", {"permit_id": permit_id, "reason": "it would drain the vault"})["status"] == "CANCELLED"
    )
    assert watched.permit(permit_id).status == "CANCELLED"


def test_a_watchdogs_tools_show_what_is_announced_and_cancel_it(watched: LiveGolem) -> None:
    sync_builtins()
    permit_id = _announce(watched)
    kind = Archetype.objects.get(name="vault-watchdog")
    dog = factories.make_golem(owner=watched.owner, name="Dog", archetype=kind)
    strange = factories.make_golem(owner=factories.make_owner(name="x"), name="Stranger", archetype=kind)
    seen = query_state(golem=dog, query="permits", venue=None, params={}, now=clock.now())["data"]
    assert [each["permit_id"] for each in seen["announced_by_others"]] == [permit_id]
    assert not query_state(golem=strange, query="permits", venue=None, params={}, now=clock.now())["data"][
        "announced_by_others"
    ]
    assert "announced_by_others" not in str(
        query_state(golem=watched.golem, query="permits", venue=None, params={}, now=clock.now())
    )
    with pytest.raises(PermitNotFound):
        _think(strange, "cancel_action", permit_id=permit_id, reason="not mine")
    assert _think(dog, "cancel_action", permit_id=permit_id, reason="it would drain the vault")["status"] == "CANCELLED"
    assert watched.permit(permit_id).status == "CANCELLED"


def test_an_announcement_whose_window_is_over_expires(watched: LiveGolem) -> None:
    permit_id = _announce(watched)
    late = clock.now() + STANDARD_DELAY + timedelta(hours=1, seconds=5)
    assert list_due_announcements(now=late) == []
    assert expire_announced(now=late) == 1
    assert watched.permit(permit_id).status == "EXPIRED"


def test_a_policy_that_moved_meanwhile_blocks_the_announced_action(watched: LiveGolem) -> None:
    permit_id = _announce(watched)
    SpendingLimits.objects.filter(golem=watched.golem).update(writes_per_hour=5)
    row = _row(permit_id)
    execute_announced(permit_id=row.permit_id, now=clock.now() + STANDARD_DELAY)
    assert watched.permit(permit_id).status == "BLOCKED"
    assert watched.mined_nonce() == 0


def test_silence_never_approves_what_needs_an_owner(
    two_owners: tuple[LiveGolem, Any, Any], critical_swap: None
) -> None:
    live, _, other = two_owners
    turn_warden_on(golem=live.golem, actor="owner:1", reason="careful", now=clock.now())
    request = ChangeRequest.objects.get(permit_id=live.preview()["permit_id"])
    assert list_due_announcements(now=clock.now() + timedelta(days=9)) == []
    approve(request, other)
    execute_change(request_id=request.pk, now=clock.now())
    row = Announcement.objects.get(permit_id=request.permit_id)
    assert live.permit(str(request.permit_id)).status == "ANNOUNCED"
    assert row.executes_at - row.announced_at == timedelta(hours=48)
    execute_announced(permit_id=row.permit_id, now=row.executes_at)
    assert live.permit(str(request.permit_id)).status == "COMMITTED"


@pytest.mark.parametrize("count", [1, 8])
def test_an_announced_commit_that_workers_take_up_twice_and_at_once_is_sent_once(
    shared_golem: LiveGolem, count: int
) -> None:
    turn_warden_on(golem=shared_golem.golem, actor="owner:1", reason="careful", now=clock.now())
    row = _row(_announce(shared_golem))
    due = clock.now() + STANDARD_DELAY
    at_once(lambda _: execute_announced(permit_id=row.permit_id, now=due) and None, count=count)
    assert execute_announced(permit_id=row.permit_id, now=due) is None
    assert shared_golem.permit(str(row.permit_id)).status == "COMMITTED"
    row.refresh_from_db()
    assert row.state == "EXECUTED"
    assert shared_golem.mined_nonce() == 2 == OutboundTransaction.objects.filter(permit_id=row.permit_id).count()
