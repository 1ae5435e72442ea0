"""What a tick emits."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest
from django.test import Client

from permits_app.actions.cancel import cancel_permit
from permits_app.actions.query import query_state
from permits_app.models import DeniedCall, SpendingLimits
from tests.broken_link import find_broken_link
from tests.golem_project.heartbeat.pulses import tick, turn_on
from tests.live_golem import LiveGolem
from tools_app.core import clock
from tools_app.core.errors import GolemError
from tools_app.core.models import AuditEntry, OutboxEvent


def test_what_a_tick_does_is_told_with_its_number(live_golem: LiveGolem) -> None:
    golem = live_golem.golem
    turn_on(golem)
    record = tick(golem)
    kinds = set(
        OutboxEvent.objects.filter(golem_id=golem.pk, heartbeat_tick=record.heartbeat_tick).values_list(
            "type", flat=True
        )
    )
    assert {"heartbeat:tick", "permit:created", "tool:start", "heartbeat:complete"} <= kinds


def list_told(live: LiveGolem) -> dict[str, Any]:
    """What agents read of the newest tick."""
    told: dict[str, Any] = query_state(golem=live.golem, query="decisions", venue=None, params={}, now=clock.now())
    newest: dict[str, Any] = told["data"]["newest"]
    return newest


def test_what_an_agent_does_between_two_ticks_stands_in_the_audit_log_under_the_newest(live_golem: LiveGolem) -> None:
    golem = live_golem.golem
    turn_on(golem)
    before = AuditEntry.objects.filter(golem_id=golem.pk).order_by("-seq").values_list("seq", flat=True).first() or 0
    number = tick(golem).heartbeat_tick
    assert number > 0
    of_tick = AuditEntry.objects.filter(golem_id=golem.pk, seq__gt=before)
    assert set(of_tick.values_list("heartbeat_tick", flat=True)) == {number}
    last = of_tick.order_by("-seq").values_list("seq", flat=True)[0]
    live_golem.commit(live_golem.preview(amount="100000000")["permit_id"])
    asked = AuditEntry.objects.filter(golem_id=golem.pk, seq__gt=last)
    assert {"PermitCreated", "PermitConsumed"} <= set(asked.values_list("event", flat=True))
    assert set(asked.values_list("heartbeat_tick", flat=True)) == {number}
    assert find_broken_link(AuditEntry.objects.filter(golem_id=golem.pk).order_by("seq")) is None
    following = tick(golem).heartbeat_tick
    live_golem.preview(amount="200000000")
    assert AuditEntry.objects.filter(golem_id=golem.pk).order_by("-seq")[0].heartbeat_tick == following > number


def test_what_an_agent_does_between_two_ticks_is_part_of_the_record_of_the_first(live_golem: LiveGolem) -> None:
    golem = live_golem.golem
    turn_on(golem)
    own = tick(golem)
    done = live_golem.preview(amount="100000000")["permit_id"]
    live_golem.commit(done)
    dropped = live_golem.preview(amount="200000000")["permit_id"]
    cancel_permit(golem=golem, permit_id=UUID(dropped), reason="not now", actor="key:test", now=clock.now())
    SpendingLimits.objects.update_or_create(golem=golem, defaults={"per_transaction_micro_usd": 1_000_000})
    with pytest.raises(GolemError):
        live_golem.preview(amount="300000000")
    told = list_told(live_golem)
    assert told["heartbeat_tick"] == own.heartbeat_tick
    acts = told["agent_actions"]
    assert [(each["action_type"], each["tool"], each["state"]) for each in acts] == [
        ("swap", "uniswap_execute_swap", state) for state in ("EXECUTED", "DEFERRED", "BLOCKED")
    ]
    executed, deferred, blocked = acts
    assert executed["permit_id"] == done and executed["tx_hashes"] and executed["outcome"]["verified"]
    assert int(executed["gas_micro_usd"]) > 0
    assert (deferred["permit_id"], deferred["outcome"]) == (dropped, None)
    assert blocked["permit_id"] is None and DeniedCall.objects.get().code in blocked["block_reason"]
    # What the tick itself did is told among its own actions and not again.
    assert {each["permit_id"] for each in told["actions"]}.isdisjoint(each["permit_id"] for each in acts)
    # The next tick begins a record of its own, and the owner reads the first as it was.
    tick(golem)
    assert list_told(live_golem)["agent_actions"] == []
    client = Client()
    live_golem.owner.is_superuser = live_golem.owner.is_staff = True
    live_golem.owner.save()
    client.force_login(live_golem.owner)
    page = client.get(f"/admin/archetypes_app/decisioncyclerecord/{own.pk}/change/")
    assert page.status_code == 200 and done in page.content.decode()
