"""A made-up bridge is dropped in: what is sent on one chain and arrives on the other counts once, wherever it is."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import pytest

from archetypes_app.models import Golem
from permits_app.actions.value_golem import value_golem
from permits_app.approvals.approval_statement import describe_permit
from permits_app.models import (
    AllowlistEntry,
    HighWaterMark,
    NavSnapshot,
    PendingRequest,
    PolicyCage,
    SpendingLimits,
)
from permits_app.performance.profit_days import read_worth
from tests.evm.world import CHAIN_ID
from tests.factories.golems import make_golem
from tests.factories.permits import make_permit
from tests.factories.requests import make_pending_request
from tests.golem_project.heartbeat.pulses import tick, turn_on
from tests.made_up_bridge.on_the_shelf import LEAST, NAME, SENT, USD, Crossing
from tests.permits_app.tools.test_wallet import read
from tests.second_chain import SECOND_ID, wire
from tools_app.core import clock
from tools_app.core.errors import GolemError, Recovery
from tools_app.core.models import OutboxEvent
from tools_app.core.units import usd_to_micro

FEE = 6 * USD


@contextmanager
def away(crossing: Crossing, settings: Any) -> Iterator[None]:
    """The second chain stops, and goes on."""
    first = os.environ["GOLEM_RPC_URL_31337"]
    wire(settings, {CHAIN_ID: first, SECOND_ID: "http://127.0.0.1:9"})
    yield
    wire(settings, {CHAIN_ID: first, SECOND_ID: crossing.worlds[1].rpc_url})


def refused(call: Any) -> GolemError:
    with pytest.raises(GolemError) as caught:
        call()
    return caught.value


def test_what_is_sent_over_the_bridge_counts_once_at_every_station(crossing: Crossing) -> None:
    golem = crossing.live.golem
    start = crossing.worth()
    assert start is not None
    permit = crossing.ask()
    told = describe_permit(crossing.live.permit(permit["permit_id"]))
    [promise] = [each for each in told["bounds"]["promises"] if "Second local chain (31338)" in each]
    assert promise.startswith("at least 4995 USDC arrives") and golem.address in promise, promise
    row = crossing.send()
    assert (row.chain_id, row.expects_chain_id, row.state) == (CHAIN_ID, SECOND_ID, "REQUESTED")
    assert row.amounts[0]["raw"] == str(LEAST)
    under_way = crossing.worth(timedelta(minutes=11))
    assert under_way is not None and start - FEE < under_way < start
    crossing.look()
    row.refresh_from_db()
    assert row.state == "REQUESTED" and row.expected_at is not None
    crossing.relay(row)
    arrived = crossing.worth(timedelta(minutes=22))
    assert arrived == under_way
    crossing.look(timedelta(minutes=23))
    row.refresh_from_db()
    assert row.state == "REQUESTED" and row.arrived_block is not None
    crossing.worlds[1].rpc.call("evm_mine")
    crossing.look(timedelta(minutes=24))
    row.refresh_from_db()
    assert row.state == "DONE"
    assert OutboxEvent.objects.filter(golem_id=golem.pk, type="request:done").exists()
    assert crossing.worth(timedelta(minutes=33)) == arrived
    held = read(crossing.live, "wallet_get_status", chain_id=SECOND_ID)
    assert usd_to_micro(held["total_value_usd"]) >= LEAST
    worth = read_worth(golem_id=golem.pk, now=clock.now() + timedelta(minutes=34))
    assert worth is not None and worth.value == arrived and abs(worth.parts.moved) < USD


def test_while_its_outcome_is_not_seen_no_fall_is_recorded(crossing: Crossing) -> None:
    crossing.worth()
    before = HighWaterMark.objects.get(golem=crossing.live.golem)
    permit = crossing.ask()
    crossing.live.start(permit["permit_id"])
    assert crossing.worth(timedelta(minutes=1)) is None
    assert refused(crossing.live.preview).code == "CHAIN_NOT_COUNTED"
    crossing.live.work(permit["permit_id"])
    assert crossing.worth(timedelta(minutes=2)) is not None
    assert HighWaterMark.objects.get(golem=crossing.live.golem).violated_at == before.violated_at is None


def test_what_left_a_chain_that_rolled_back_is_not_counted_on_both(crossing: Crossing) -> None:
    world = crossing.worlds[0]
    start = crossing.worth()
    snapshot = world.rpc.call("evm_snapshot")
    crossing.send()
    world.rpc.call("evm_revert", snapshot)
    world.rpc.call("anvil_dropAllTransactions")
    # Another past: the block that sent it is another one.
    world.rpc.call("anvil_mine", hex(6))
    rolled = crossing.worth(timedelta(minutes=1))
    assert start is not None and rolled is not None and abs(rolled - start) < USD


def test_a_node_that_is_behind_what_was_sent_is_not_counted(crossing: Crossing) -> None:
    world = crossing.worlds[0]
    crossing.worth()
    snapshot = world.rpc.call("evm_snapshot")
    crossing.send()
    world.rpc.call("evm_revert", snapshot)
    world.rpc.call("anvil_dropAllTransactions")
    assert crossing.worth(timedelta(minutes=1)) is None
    assert refused(crossing.live.preview).data["cause"] == "CHAIN_BEHIND"


def test_the_other_chain_stops_while_something_is_under_way_and_goes_on(crossing: Crossing, settings: Any) -> None:
    crossing.worth()
    row = crossing.send()
    with away(crossing, settings):
        crossing.look()
        row.refresh_from_db()
        assert row.state == "REQUESTED" and row.last_error
        assert crossing.worth(timedelta(minutes=1)) is None
        assert refused(crossing.live.preview).code == "CHAIN_NOT_COUNTED"
    crossing.relay(row)
    crossing.look()
    crossing.worlds[1].rpc.call("evm_mine")
    crossing.look(timedelta(minutes=1))
    row.refresh_from_db()
    assert row.state == "DONE" and crossing.worth(timedelta(minutes=2)) is not None


def test_an_arrival_that_leaves_the_chain_again_is_under_way_again(crossing: Crossing) -> None:
    row = crossing.send()
    second = crossing.worlds[1]
    under_way = crossing.worth()
    snapshot = second.rpc.call("evm_snapshot")
    crossing.relay(row)
    crossing.look()
    row.refresh_from_db()
    assert row.arrived_block is not None
    second.rpc.call("evm_revert", snapshot)
    second.rpc.call("anvil_dropAllTransactions")
    crossing.look(timedelta(minutes=1))
    row.refresh_from_db()
    assert (row.state, row.arrived_block) == ("REQUESTED", None)
    assert crossing.worth(timedelta(minutes=2)) == under_way


def test_what_no_relayer_pays_is_stuck_told_and_counted_no_more(crossing: Crossing) -> None:
    start = crossing.worth()
    row = crossing.send()
    crossing.worlds[1].rpc.call("evm_increaseTime", 3_700)
    crossing.worlds[1].rpc.call("evm_mine")
    crossing.look(timedelta(hours=1, minutes=2))
    row.refresh_from_db()
    assert row.state == "STUCK" and "no relayer" in row.last_error
    assert OutboxEvent.objects.filter(golem_id=crossing.live.golem.pk, type="request:stuck").exists()
    left = crossing.worth()
    assert start is not None and left is not None and start - left >= SENT


def test_nothing_is_sent_to_a_chain_that_is_none_of_the_golems(crossing: Crossing) -> None:
    Golem.objects.filter(pk=crossing.live.golem.pk).update(other_chain_ids=[])
    error = refused(crossing.ask)
    assert (error.code, error.data["rule"]) == ("CHAIN_NOT_ALLOWED", "policy_cage.arrival_chain")
    assert error.data["would_pass"]


@pytest.mark.parametrize(
    ("slip", "value", "rule"),
    [
        ("recipient", "0x" + "52" * 20, "policy_cage.arrival_recipient"),
        ("least", str(SENT // 2), "policy_cage.arrival_worth"),
        ("seconds", 90_000, "policy_cage.arrival_time"),
    ],
)
def test_a_transfer_that_pays_others_or_too_little_or_too_late_is_refused(
    crossing: Crossing, slip: str, value: Any, rule: str
) -> None:
    crossing.slips[slip] = value
    assert refused(crossing.ask).data["rule"] == rule


@pytest.mark.parametrize(("short", "rule"), [(0, None), (1, "policy_cage.arrival_worth")])
def test_what_arrives_is_less_by_what_an_exchange_may_lose_and_by_no_base_unit_more(
    crossing: Crossing, short: int, rule: str | None
) -> None:
    SpendingLimits.objects.filter(golem=crossing.live.golem).update(max_slippage_bps=100, max_price_impact_bps=200)
    crossing.slips["least"] = str(SENT * 97 // 100 - short)
    if rule is None:
        assert crossing.ask()["status"] == "CREATED"
        return
    told = refused(crossing.ask).data
    assert (told["rule"], told["limit"]) == (rule, "300 bps (3%)")
    assert told["observed"] == "300 bps (3%)" and "$4,850.00 arriving" in told["would_pass"], told


def test_what_would_be_lost_on_the_way_is_told_by_its_share(crossing: Crossing) -> None:
    crossing.slips["least"] = str(SENT * 3 // 4)
    told = refused(crossing.ask)
    assert told.data["observed"] == "2500 bps (25%)" and "$5,000.00 would be sent" in told.detail, told.data


def test_a_day_is_the_longest_that_something_may_be_on_its_way(crossing: Crossing) -> None:
    crossing.slips["seconds"] = 86_400
    assert crossing.ask()["status"] == "CREATED"
    crossing.slips["seconds"] = 86_402
    assert refused(crossing.ask).data["rule"] == "policy_cage.arrival_time"


def test_a_plan_that_says_another_recipient_than_its_bytes_is_vetoed(crossing: Crossing) -> None:
    crossing.slips["recipient"] = "0x" + "52" * 20
    crossing.slips["said"] = crossing.live.golem.address
    error = refused(crossing.ask)
    assert error.code == "REVIEW_VETOED" and "which is not the golem" in error.detail


def test_a_token_that_its_owner_did_not_allow_there_does_not_arrive(crossing: Crossing) -> None:
    token = crossing.worlds[0].tokens["USDC"].address
    AllowlistEntry.objects.filter(golem=crossing.live.golem, chain_id=SECOND_ID, address=token).delete()
    assert refused(crossing.ask).data["rule"] == "policy_cage.arrival_asset"
    assert not NavSnapshot.objects.filter(golem=crossing.live.golem, chain_id=SECOND_ID, value_micro_usd__gt=0).exists()


def test_what_is_under_way_over_one_bridge_has_one_share(crossing: Crossing) -> None:
    worth = crossing.worth()
    assert worth is not None
    cage = PolicyCage.objects.filter(golem=crossing.live.golem)
    cage.update(max_bridge_bps=SENT * 3 // 2 * 10_000 // worth)
    crossing.send()
    error = refused(crossing.ask)
    assert error.data["rule"] == "policy_cage.max_bridge", error.data
    cage.update(max_bridge_bps=10_000)
    assert crossing.ask()["status"] == "CREATED"


def test_a_bridge_that_is_late_is_told_by_the_tick_is_not_liquid_and_is_entered_no_more(crossing: Crossing) -> None:
    golem = crossing.live.golem
    turn_on(golem, is_live=False)
    crossing.worth()
    crossing.send()
    tick(golem)
    assert not list_told(golem)
    crossing.worlds[1].rpc.call("evm_increaseTime", 3_700)
    crossing.worlds[1].rpc.call("evm_mine")
    tick(golem)
    assert [rule.partition(":")[0] for rule in list_told(golem)] == ["cannot be taken out now"]
    held = value_golem(golem=golem, now=clock.now() + timedelta(minutes=11))
    assert held is not None
    at = int(clock.now().timestamp()) + 3_800
    assert held.nav_micro_usd - held.liquid_micro_usd(at) > LEAST - 10 * USD
    error = refused(crossing.ask)
    assert (error.data["rule"], error.next_step) == ("policy_cage.bridge_failed", Recovery.WAIT), error.data
    # Once it counts no more it is no reason to send more.
    crossing.look(timedelta(hours=1, minutes=2))
    error = refused(crossing.ask)
    assert (error.data["rule"], error.next_step) == ("policy_cage.bridge_failed", Recovery.WAIT), error.data
    assert crossing.live.preview(amount="1000000")["status"] == "CREATED", "what goes elsewhere is not stopped"


def test_what_is_stuck_for_another_golem_or_elsewhere_keeps_nobody_from_the_bridge(crossing: Crossing) -> None:
    """The bridge is entered no more by the golem for which it did not deliver."""
    golem = crossing.live.golem
    other = make_golem(owner=golem.owner, name="Borea")
    for whose, protocol in ((other, NAME), (golem, "queue")):
        row = make_pending_request(permit=make_permit(golem=whose), ref=f"{protocol}/request/31337/7")
        PendingRequest.objects.filter(pk=row.pk).update(protocol=protocol, state="STUCK", last_error="late")
    assert crossing.ask()["status"] == "CREATED"
    PendingRequest.objects.filter(golem=other).update(golem=golem)
    error = refused(crossing.ask)
    assert (error.data["rule"], error.next_step) == ("policy_cage.bridge_failed", Recovery.WAIT), error.data


def list_told(golem: Golem) -> list[str]:
    rows = OutboxEvent.objects.filter(
        golem_id=golem.pk, type="heartbeat:alert", payload__source="locked-positions"
    ).order_by("sequence")
    return [alert["rule"] for row in rows for alert in row.payload["alerts"]]
