"""What is under way between chains at the stations beside its own: pages, halts, the suggestion of a cage."""

from __future__ import annotations

from datetime import timedelta
from html import unescape

from django.test import Client

from permits_app.actions.halt import carry_out_halt, halt_golem, list_exits
from permits_app.models import HaltRecord, HaltSetting
from permits_app.policy_cage.contract import RuleKind, call_key, key_address
from permits_app.policy_cage.suggested_rules import call_rules, suggest_rules
from tests.evm.world import CHAIN_ID
from tests.made_up_bridge.effects import SEND
from tests.made_up_bridge.on_the_shelf import USD, Crossing
from tools_app import runner
from tools_app.chain.signatures import parse_signature
from tools_app.core import clock
from tools_app.core.clock import Deadline


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
    page = f"/admin/archetypes_app/golem/{crossing.live.golem.pk}/money/"
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
