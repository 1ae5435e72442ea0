"""What a golem asks of keepers, from its submission to its end: half, never, twice, after a halt, at another price."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import pytest
from django.db import IntegrityError, transaction
from django.test import Client

from archetypes_app.models import AlertBatch, Golem, ToolOverride
from archetypes_app.models.override import OverrideMode
from golem_project.celery import app
from golem_project.heartbeat.duties.request_alerts import tell_requests
from permits_app.actions.allow_addresses import allow_addresses
from permits_app.actions.check_pending_requests import check_pending_requests
from permits_app.actions.halt import carry_out_halt, halt_golem
from permits_app.limits.ledger import read_usage
from permits_app.limits.pending_requests import LONGEST, MISSED_FOR, UNTOLD_FOR
from permits_app.limits.suggested_allowlist import suggest_allowlist
from permits_app.models import ActionPermit, PendingRequest, SpendEntry
from tests.evm.world import CHAIN_ID
from tests.golem_project.pi.conftest import Agent
from tests.live_golem import LiveGolem, make_live_golem
from tests.made_up_keeper.on_the_shelf import NAME, Keepers
from tools_app.core import clock
from tools_app.core.models import AuditEntry, OutboxEvent
from tools_app.toolkit.registry import REGISTRY

DAI = 10**18
GIVE = 300 * DAI


@dataclass
class Asker:
    """A golem whose agent asks keepers to give WETH for 300 DAI."""

    live: LiveGolem
    agent: Agent
    keepers: Keepers

    def ask(self, tool: str, **body: Any) -> tuple[int, dict[str, Any]]:
        response = self.agent.post(tool, body)
        return response.status_code, response.json()

    def preview(self) -> tuple[int, dict[str, Any]]:
        return self.ask("preview_action", action_type="keeper_order", venue=NAME, give=str(GIVE), want=str(DAI // 10))

    def order(self) -> PendingRequest:
        status, permit = self.preview()
        assert status == 200, permit
        _, done = self.ask("commit_action", permit_id=permit["permit_id"])
        assert done["status"] == "COMMITTED", done
        return PendingRequest.objects.get(permit_id=permit["permit_id"])

    def cancel(self, row: PendingRequest) -> None:
        status, permit = self.ask(
            "preview_action", action_type="keeper_cancel", venue=NAME, order_id=row.ref.rpartition("/")[2]
        )
        assert status == 200, permit
        assert self.ask("commit_action", permit_id=permit["permit_id"])[1]["status"] == "COMMITTED"

    def look(self, row: PendingRequest, after: timedelta = timedelta(0)) -> PendingRequest:
        PendingRequest.objects.update(next_check_at=clock.now() - timedelta(seconds=1))
        check_pending_requests(now=clock.now() + after)
        row.refresh_from_db()
        return row

    def follow(self, row: PendingRequest) -> PendingRequest:
        """Two looks, far enough apart."""
        self.look(row)
        return self.look(row, 2 * MISSED_FOR)

    def held(self, after: timedelta = timedelta(0)) -> int:
        usage = read_usage(golem_id=self.live.golem.pk, api_key_id=None, heartbeat_tick=0, now=clock.now() + after)
        return usage.day_micro_usd


def number(row: PendingRequest) -> int:
    return int(row.ref.rpartition("/")[2])


def entry_of(row: PendingRequest) -> SpendEntry:
    return SpendEntry.objects.get(permit_id=row.permit_id)


def spent_of(row: PendingRequest) -> int:
    assert row.spent_micro_usd is not None
    return int(row.spent_micro_usd)


def events(kind: str) -> int:
    return OutboxEvent.objects.filter(type=f"request:{kind}").count()


@pytest.fixture
def asker(transactional_db: None, keepers: Keepers) -> Iterator[Asker]:
    live = make_live_golem(keepers.world)
    for tool in [tool for tool in REGISTRY if tool.venue == NAME]:
        ToolOverride.objects.create(golem=live.golem, tool_name=tool.name, mode=OverrideMode.INCLUDE)
    allow_addresses(golem=live.golem, choices=suggest_allowlist(CHAIN_ID), actor="system:test", now=clock.now())
    was_eager, app.conf.task_always_eager = app.conf.task_always_eager, True
    try:
        yield Asker(live, Agent(golem=live.golem, key=live.key, client=Client()), keepers)
    finally:
        app.conf.task_always_eager = was_eager


def test_an_order_that_no_keeper_carries_out_stands_for_months_and_holds_its_limit(asker: Asker) -> None:
    row = asker.order()
    assert row.is_order and row.gave == [{"token": asker.keepers.world.tokens["DAI"].address, "raw": str(GIVE)}]
    assert entry_of(row).state == "RESERVED"
    PendingRequest.objects.update(created_at=clock.now() - LONGEST - timedelta(days=30))
    row = asker.look(row)
    assert (row.state, row.awaits) == ("REQUESTED", "any keeper carries it out, whole or in parts")
    assert row.ends_at is not None and row.brings[0]["raw"] == str(DAI // 10)
    # What is held counts against the day however old it is.
    assert asker.held(timedelta(days=3)) > 290_000_000


def test_an_order_that_a_keeper_carries_out_becomes_its_successor_and_is_never_lost(asker: Asker) -> None:
    row = asker.order()
    asker.look(row)
    asker.keepers.execute(number(row), GIVE, DAI // 10)
    assert (asker.look(row).state, row.seen_state) == ("REQUESTED", "EXECUTED"), "one look is not enough"
    row = asker.look(row, 2 * MISSED_FOR)
    assert (row.state, row.successor) == ("EXECUTED", f"{NAME}/lot/{CHAIN_ID}/1")
    assert entry_of(row).state == "SETTLED" and entry_of(row).settled_micro_usd == row.spent_micro_usd
    assert spent_of(row) > 290_000_000
    assert (events("executed"), events("lost")) == (1, 0)
    assert AuditEntry.objects.filter(golem_id=row.golem_id, event="OrderExecuted").count() == 1
    _, told = asker.ask("query_state", query="requests")
    assert [each["successor"] for each in told["data"]["ended"]] == [row.successor]


def test_an_order_that_is_half_carried_out_and_then_cancelled_frees_the_other_half(asker: Asker) -> None:
    row = asker.order()
    asker.keepers.execute(number(row), GIVE // 2, DAI // 20)
    row = asker.look(row)
    assert (row.state, row.amounts[0]["raw"]) == ("REQUESTED", str(GIVE // 2))
    assert row.successor == f"{NAME}/lot/{CHAIN_ID}/1"
    asker.cancel(row)
    row = asker.follow(row)
    assert (row.state, row.came[0]["raw"]) == ("CANCELLED", str(GIVE // 2))
    assert 145_000_000 < spent_of(row) < 160_000_000
    assert entry_of(row).settled_micro_usd == row.spent_micro_usd
    assert events("cancelled") == 1


def test_an_order_whose_time_is_over_frees_what_came_back(asker: Asker) -> None:
    row = asker.order()
    asker.look(row)
    asker.keepers.world.rpc.call("evm_increaseTime", 40_000)
    asker.keepers.world.rpc.call("evm_mine")
    row = asker.look(row)
    assert (row.state, row.last_error) == ("READY", "its time is over, and what it holds waits to be taken back")
    asker.keepers.expire(number(row))
    row = asker.follow(row)
    assert (row.state, row.came[0]["raw"]) == ("EXPIRED", str(GIVE))
    assert spent_of(row) < 20_000_000 and entry_of(row).state == "SETTLED"


def test_an_order_that_says_more_came_back_than_transfers_show_frees_only_that(asker: Asker) -> None:
    row = asker.order()
    asker.keepers.set_mood(4)
    asker.keepers.modules["tools"].HALF.append("yes")
    asker.keepers.world.rpc.call("anvil_impersonateAccount", asker.live.golem.address)
    asker.keepers.world.rpc.call(
        "eth_sendTransaction",
        {
            "from": asker.live.golem.address,
            "to": asker.keepers.address,
            "data": "0x40e58ee5" + hex(number(row))[2:].rjust(64, "0"),
        },
    )
    row = asker.follow(row)
    assert (row.state, row.came[0]["raw"]) == ("CANCELLED", str(GIVE // 2))
    assert spent_of(row) > 145_000_000


def test_an_order_that_is_carried_out_twice_ends_once(asker: Asker) -> None:
    row = asker.order()
    asker.keepers.execute(number(row), GIVE, DAI // 10)
    asker.keepers.set_mood(2)
    asker.keepers.execute(number(row), 0, 1)
    row = asker.follow(row)
    assert row.state == "EXECUTED"
    asker.look(row, timedelta(hours=1))
    assert events("executed") == 1
    assert SpendEntry.objects.filter(permit_id=row.permit_id).count() == 1


def test_an_order_at_another_price_is_told_with_what_it_became(asker: Asker) -> None:
    row = asker.look(asker.order())
    asker.keepers.set_mood(1)
    asker.keepers.execute(number(row), GIVE, 1)
    row = asker.follow(row)
    assert (row.state, row.last_error) == ("EXECUTED", "it was carried out for less than it asked for")
    assert row.spent_micro_usd == entry_of(row).settled_micro_usd
    tell_requests(now=clock.now())
    [batch] = AlertBatch.objects.filter(golem_id=row.golem_id, source="pending-requests")
    assert batch.alerts[0]["observed"] == row.ref


def test_an_end_that_leaves_the_chain_again_ends_nothing(asker: Asker) -> None:
    row = asker.order()
    snapshot = asker.keepers.world.rpc.call("evm_snapshot")
    asker.keepers.execute(number(row), GIVE, DAI // 10)
    assert asker.look(row).seen_state == "EXECUTED"
    asker.keepers.world.rpc.call("evm_revert", snapshot)
    row = asker.look(row, 2 * MISSED_FOR)
    assert (row.state, row.seen_state, row.missed_at) == ("REQUESTED", "", None)


def test_an_order_of_which_nobody_says_anything_is_its_owners_to_look_at_and_never_lost(asker: Asker) -> None:
    row = asker.order()
    asker.keepers.execute(number(row), GIVE, DAI // 10)
    silent = asker.keepers.modules["positions"].SILENT
    silent.append("yes")
    assert asker.follow(row).state == "REQUESTED"
    row = asker.look(row, UNTOLD_FOR + timedelta(minutes=1))
    assert row.state == "STUCK" and entry_of(row).state == "RESERVED"
    silent.clear()
    assert asker.follow(row).state == "EXECUTED"


def test_an_order_whose_result_would_be_somebody_elses_is_refused(asker: Asker) -> None:
    asker.keepers.set_mood(3)
    status, problem = asker.preview()
    assert (status >= 400, problem.get("rule")) == (True, "simulator.order_heir"), problem
    assert not ActionPermit.objects.exists()


def test_an_order_that_its_own_plan_gives_to_somebody_else_is_refused(asker: Asker) -> None:
    asker.keepers.modules["tools"].HEIR.append("0x000000000000000000000000000000000000dEaD")
    status, problem = asker.preview()
    assert status >= 400 and problem["code"] in ("REVIEW_VETOED", "SAFETY_SIMULATION_FAILED"), problem


def test_a_successor_that_the_golem_does_not_hold_is_no_success(asker: Asker) -> None:
    row = asker.order()
    asker.keepers.set_mood(1)
    # Nothing is paid: the lot is empty, and the golem holds nothing.
    asker.keepers.execute(number(row), GIVE, 0)
    row = asker.follow(row)
    assert (row.state, row.successor) == ("LOST", "")
    assert "does not hold" in row.last_error and entry_of(row).state == "SETTLED"


def test_a_halt_cancels_standing_orders_and_one_that_a_keeper_was_quicker_with_is_followed(asker: Asker) -> None:
    first, second = asker.order(), asker.order()
    asker.look(first)
    golem = Golem.objects.get(pk=asker.live.golem.pk)
    told = halt_golem(golem=golem, reason="test", actor="system:test", now=clock.now())
    assert told["on_chain"]
    asker.keepers.execute(number(first), GIVE, DAI // 10)
    steps = carry_out_halt(golem_id=golem.pk, epoch=told["epoch"], now=clock.now())
    [step] = [step for step in steps if step["step"] == "standing orders cancelled"]
    assert [each["outcome"][:9] for each in step["orders"]] == ["it is gon", "CANCELLED"], step
    assert asker.follow(first).state == "EXECUTED"
    second.refresh_from_db()
    assert second.state == "CANCELLED" and second.came[0]["raw"] == str(GIVE)


def test_a_keeper_comes_too_late_after_a_halt(asker: Asker) -> None:
    row = asker.order()
    golem = Golem.objects.get(pk=asker.live.golem.pk)
    told = halt_golem(golem=golem, reason="test", actor="system:test", now=clock.now())
    carry_out_halt(golem_id=golem.pk, epoch=told["epoch"], now=clock.now())
    with pytest.raises(Exception, match="revert"):
        asker.keepers.execute(number(row), GIVE, DAI // 10)
    assert asker.follow(row).state == "CANCELLED"


def test_the_database_takes_no_end_of_an_order_without_its_time_and_none_of_a_request(asker: Asker) -> None:
    row = asker.order()
    for wrong in (
        {"state": "EXECUTED"},
        {"state": "CANCELLED", "is_order": False, "ended_at": clock.now()},
        {"state": "DONE"},
        {"spent_micro_usd": 1},
        {"is_order": False, "successor": "x"},
    ):
        with pytest.raises(IntegrityError), transaction.atomic():
            PendingRequest.objects.filter(pk=row.pk).update(**wrong)


def test_an_owner_reads_what_may_still_come_of_an_order_and_until_when(asker: Asker) -> None:
    row = asker.order()
    asker.look(row)
    asker.live.owner.is_superuser = True
    asker.live.owner.save()
    client = Client()
    client.force_login(asker.live.owner)
    page = client.get(f"/admin/permits_app/pendingrequest/{row.pk}/change/").content.decode()
    assert "any keeper carries it out" in page and "a halt cancels it" in page and "0.1 WETH" in page
    listed = client.get(f"/admin/archetypes_app/golem/{row.golem_id}/money/").content.decode()
    assert "any keeper carries it out" in listed and "stands until" in listed
    asker.cancel(row)
    assert asker.follow(row).state == "CANCELLED"
    page = client.get(f"/admin/permits_app/pendingrequest/{row.pk}/change/").content.decode()
    assert "cancelled" in page.lower()
    assert "300 DAI" in page


def test_a_stranger_cannot_see_an_order(asker: Asker) -> None:
    row = asker.order()
    stranger = make_live_golem(asker.keepers.world, name="Other", owner_name="owner-b")
    client = Client()
    client.force_login(stranger.owner)
    assert client.get(f"/admin/permits_app/pendingrequest/{row.pk}/change/").status_code != 200
