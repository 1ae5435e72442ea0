"""A made-up bridge is dropped in: what is sent on one chain and arrives on the other counts once, wherever it is."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from archetypes_app.models import Golem, ToolOverride
from archetypes_app.models.override import OverrideMode
from permits_app.actions.allow_addresses import allow_addresses
from permits_app.actions.follow_requests import follow_requests
from permits_app.actions.halt import carry_out_halt, halt_golem, list_exits
from permits_app.actions.value_golem import value_golem
from permits_app.approvals.statement import describe_permit
from permits_app.limits.suggested_allowlist import suggest_allowlist
from permits_app.models import AllowlistEntry, HaltRecord, HaltSetting, HighWaterMark, NavSnapshot, PendingRequest
from permits_app.performance.profit_days import read_worth
from permits_app.policy_cage.contract import RuleKind, call_key, key_address
from permits_app.policy_cage.suggested_rules import call_rules, suggest_rules
from tests.evm.world import CHAIN_ID, World
from tests.live_golem import LiveGolem
from tests.made_up_bank.dropped_in import dropped_in
from tests.made_up_bridge.effects import SEND
from tests.permits_app.tools.test_wallet import read
from tests.second_chain import SECOND_ID, make_spread_golem, wire
from tools_app import runner
from tools_app.chain.abi import checksum
from tools_app.chain.signatures import parse_signature
from tools_app.core import clock
from tools_app.core.clock import Deadline
from tools_app.core.errors import GolemError
from tools_app.core.models import OutboxEvent
from tools_app.core.units import usd_to_micro

NAME = "made_up_bridge"
_FILES = ("__init__", "addresses", "positions", "effects", "tools", "protocol")
_SOURCE = Path(__file__).parents[1] / "made_up_bridge"
USDC = 10**6
USD = 1_000_000
SENT = 5_000 * USDC
LEAST = SENT - SENT // 1_000
FEE = 6 * USD


class Crossing:
    """A golem of both chains, the bridge on each, and a relayer with money on the second."""

    def __init__(self, live: LiveGolem, worlds: tuple[World, World], bridges: tuple[str, str], slips: Any) -> None:
        self.live, self.worlds, self.bridges, self.slips = live, worlds, bridges, slips
        self.relayer = worlds[1].new_account(10**18, {"USDC": 100_000 * USDC})

    def ask(self, **more: Any) -> dict[str, Any]:
        body = {"token_in": None, "token_out": None, "venue": NAME, "action_type": "bridge_send", "token": "USDC"}
        return self.live.preview(**{**body, "amount": str(SENT), "to_chain_id": SECOND_ID, **more})

    def send(self) -> PendingRequest:
        done = self.live.commit(self.ask()["permit_id"])
        assert done["status"] == "COMMITTED", done
        return PendingRequest.objects.get(golem=self.live.golem)

    def worth(self, after: timedelta = timedelta()) -> int | None:
        held = value_golem(golem=self.live.golem, now=clock.now() + after)
        return None if held is None else held.nav_micro_usd

    def relay(self, row: PendingRequest) -> None:
        """As its relayer does, in a thread of its own with connections of its own."""
        world = World(self.worlds[1].rpc_url, chain_id=SECOND_ID)
        sent_on, number, token, least, by = row.ref.rpartition("/")[2].split("-")
        errors: list[BaseException] = []

        def pay() -> None:
            try:
                fill = "fill(uint256,uint256,address,uint256,address,uint256)"
                world.transact(self.relayer, token, "approve(address,uint256)", self.bridges[1], int(least))
                target = (int(sent_on), int(number), token, int(least), checksum(self.live.golem.address), int(by))
                world.transact(self.relayer, self.bridges[1], fill, *target)
            except BaseException as error:
                errors.append(error)

        thread = threading.Thread(target=pay)
        thread.start()
        thread.join(timeout=60)
        assert not thread.is_alive() and not errors, errors
        world.rpc.close()

    def look(self, after: timedelta = timedelta()) -> None:
        PendingRequest.objects.update(next_check_at=clock.now() - timedelta(seconds=1))
        follow_requests(now=clock.now() + after)


@pytest.fixture
def crossing(db: None, both_chains: tuple[World, World], tmp_path: Path) -> Iterator[Crossing]:
    with dropped_in(NAME, _SOURCE, _FILES, tmp_path) as modules:
        bridges = tuple(each.deploy(each.actors.deployer, "MadeUpBridge") for each in both_chains)
        for chain_id, address in zip((CHAIN_ID, SECOND_ID), bridges, strict=True):
            modules["addresses"].DEPLOYED[chain_id] = {"bridge": address}
        live = make_spread_golem(both_chains[0])
        ToolOverride.objects.create(golem=live.golem, tool_name="bridge_send", mode=OverrideMode.INCLUDE)
        for chain_id in (CHAIN_ID, SECOND_ID):
            allow_addresses(golem=live.golem, choices=suggest_allowlist(chain_id), actor="system:test", now=clock.now())
        yield Crossing(live, both_chains, (bridges[0], bridges[1]), modules["tools"].SLIPS)


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


def _page(client: Client, crossing: Crossing, path: str) -> str:
    """A page of the admin as the golem's owner sees it."""
    owner = crossing.live.owner
    owner.is_superuser = owner.is_staff = True
    owner.save()
    client.force_login(owner)
    return unescape(client.get(path).content.decode())


def test_the_pages_show_what_is_under_way_with_both_chains_and_when_it_is_expected(
    crossing: Crossing, client: Client
) -> None:
    page = f"/admin/archetypes_app/golem/{crossing.live.golem.pk}/change/"
    row = crossing.send()
    crossing.look()
    way = "The made-up bridge (simulated contract), Local chain (31337) to Second local chain (31338)"
    told = _page(client, crossing, page)
    assert way in told and "4,995 USDC" in told, "the golem's page"
    assert f"Transfer {row.ref.split('-')[1]} from chain 31337" in told, "among its positions"
    assert way in _page(client, crossing, f"/admin/permits_app/pendingrequest/{row.pk}/change/")
    assert way in _page(client, crossing, "/admin/permits_app/pendingrequest/")


def test_a_halt_waits_for_what_is_under_way_and_is_done_once_it_arrived(crossing: Crossing) -> None:
    golem = crossing.live.golem
    row = crossing.send()
    crossing.look()
    HaltSetting.objects.create(golem=golem, unwind_on_halt=True)
    told = halt_golem(golem=golem, reason="its owner leaves", actor="user:owner", now=clock.now())
    [line] = [each for each in list_exits(golem=golem, now=clock.now()) if each["position"] == row.ref]
    assert "its relayer" in str(line), line
    steps = carry_out_halt(golem_id=golem.pk, epoch=told["epoch"], now=clock.now())
    assert "its relayer" in str(steps) and HaltRecord.objects.get(golem=golem).completed_at is None
    crossing.relay(row)
    crossing.look()
    crossing.worlds[1].rpc.call("evm_mine")
    crossing.look(timedelta(minutes=1))
    row.refresh_from_db()
    assert row.state == "DONE"
    carry_out_halt(golem_id=golem.pk, epoch=told["epoch"], now=clock.now() + timedelta(minutes=2))
    assert HaltRecord.objects.get(golem=golem).completed_at is not None


def test_a_halt_hands_what_nobody_delivers_to_its_owner(crossing: Crossing) -> None:
    golem = crossing.live.golem
    row = crossing.send()
    crossing.worlds[1].rpc.call("evm_increaseTime", 3_700)
    crossing.worlds[1].rpc.call("evm_mine")
    crossing.look(timedelta(hours=1, minutes=2))
    HaltSetting.objects.create(golem=golem, unwind_on_halt=True)
    told = halt_golem(golem=golem, reason="its owner leaves", actor="user:owner", now=clock.now())
    steps = carry_out_halt(golem_id=golem.pk, epoch=told["epoch"], now=clock.now())
    assert "no relayer paid it in its time" in str(steps) and row.ref in str(steps)


def test_no_cage_is_suggested_a_call_that_sends_to_a_chain_where_its_account_is_nobodys(crossing: Crossing) -> None:
    chain = runner.open_reader(CHAIN_ID, now=clock.now(), deadline=Deadline.after_ms(10_000))
    rules = suggest_rules(
        golem=crossing.live.golem, chain=chain, high_water_mark_micro_usd=USD, guardian=None, valuers={}
    )
    sends = parse_signature(SEND).selector
    bridge = crossing.bridges[0]
    assert call_key(bridge, sends) not in {rule.key for rule in rules}
    assert not [
        rule for rule in rules if rule.kind is RuleKind.SPENDER and key_address(rule.key) == crossing.bridges[0]
    ]
    assert call_rules(CHAIN_ID, {crossing.bridges[0]}, valued=None) == []
