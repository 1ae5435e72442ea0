"""What may cost an owner money is told at once, in words of its own, and to whoever chose to hear of dangers alone."""

from __future__ import annotations

import pytest

from archetypes_app.owner_group import ensure_owner_group
from golem_project.alerts.models import Alert
from golem_project.alerts.topics import TOPICS, find_topic, list_events, rank_topic
from golem_project.embedded.world.accounts import derive_account
from tests.evm.world import CHAIN_ID
from tests.golem_project.alerts.room import make_channel, read_texts, run
from tests.golem_project.heartbeat.loans import include, lend_out, set_price
from tests.golem_project.heartbeat.pulses import tick, turn_on
from tests.live_golem import LiveGolem, make_live_golem
from tests.receiver import Receiver
from tools_app.protocols.aave_v3.protocol import PROTOCOL as AAVE


@pytest.mark.django_db(transaction=True)
@pytest.mark.protocols("aave_v3")
def test_a_debt_under_its_floor_is_told_to_whoever_hears_of_dangers_alone(
    live_golem: LiveGolem, receiver: Receiver
) -> None:
    name = live_golem.golem.name
    live_golem.owner.groups.add(ensure_owner_group())
    make_channel(live_golem.golem, receiver.url, topics=["danger"], digest_minutes=60)
    include(live_golem, "aave_repay")
    turn_on(live_golem.golem, rule={})
    lend_out(live_golem)
    tick(live_golem.golem)
    set_price(live_golem, 2_100)
    tick(live_golem.golem)
    assert run() == 1
    assert f"{name}: 1 of its debts fell under the floor of health that its owner set" in read_texts(receiver)[0]


@pytest.mark.django_db(transaction=True)
def test_a_fall_of_the_holdings_is_a_danger_and_no_refused_action(live_golem: LiveGolem, receiver: Receiver) -> None:
    name = live_golem.golem.name
    live_golem.owner.groups.add(ensure_owner_group())
    make_channel(live_golem.golem, receiver.url, topics=["danger"], digest_minutes=60)
    turn_on(live_golem.golem, rule={})
    tick(live_golem.golem)
    live_golem.world.rpc.call("anvil_setBalance", live_golem.golem.address, hex(5 * 10**18))
    tick(live_golem.golem)
    assert run() == 1
    [line] = [line for line in read_texts(receiver)[0].splitlines() if "holdings" in line]
    assert line.startswith(f"{name}: its holdings fell further below $") and "positions are only left" in line
    assert Alert.objects.get(text=line).is_urgent


@pytest.mark.django_db(transaction=True)
@pytest.mark.protocols("aave_v3")
def test_a_lender_that_froze_its_market_is_told_to_whoever_hears_of_dangers_alone_and_to_nobody_else(
    live_golem: LiveGolem, receiver: Receiver
) -> None:
    name = live_golem.golem.name
    live_golem.owner.groups.add(ensure_owner_group())
    stranger = make_live_golem(live_golem.world, name="Elsewhere", owner_name="owner-b")
    stranger.owner.groups.add(ensure_owner_group())
    others = make_channel(stranger.golem, receiver.url, topics=["danger"])
    make_channel(live_golem.golem, receiver.url, topics=["danger"], digest_minutes=60)
    turn_on(live_golem.golem, rule={})
    lend_out(live_golem)
    tick(live_golem.golem)
    assert run() == 0
    world, configurator = live_golem.world, str(AAVE.address(CHAIN_ID, "pool_configurator"))
    weth = world.tokens["WETH"].address
    world.transact(derive_account("aave_v3 deployer"), configurator, "setReserveFreeze(address,bool)", weth, True)
    tick(live_golem.golem)
    assert run() == 1
    assert f"{name}: what can be taken out of its positions" in read_texts(receiver)[0]
    tick(live_golem.golem)
    assert run() == 0, "it was told twice"
    assert not others.alerts.exists()


@pytest.mark.django_db(transaction=True)
def test_a_breaker_that_an_agent_pulls_is_told_at_once_and_to_that_golems_owner_alone(
    live_golem: LiveGolem, receiver: Receiver
) -> None:
    live_golem.owner.groups.add(ensure_owner_group())
    include(live_golem, "safety_set_circuit_breaker")
    stranger = make_live_golem(live_golem.world, name="Elsewhere", owner_name="owner-b")
    stranger.owner.groups.add(ensure_owner_group())
    others = make_channel(stranger.golem, receiver.url, topics=["stopped"])
    mine = make_channel(live_golem.golem, receiver.url, topics=["stopped"], digest_minutes=60)
    asked = {"action_type": "circuit_breaker", "venue": "golem", "action": "TRIGGER", "reason": "obey <b>me</b>"}
    body = dict.fromkeys(("token_in", "token_out", "amount")) | asked
    live_golem.commit(live_golem.preview(**body)["permit_id"])
    assert run() == 1
    (line,) = mine.alerts.values_list("text", "is_urgent")
    assert line == (f"{live_golem.golem.name} is halted", True)
    assert "obey" not in read_texts(receiver)[0] and not others.alerts.exists()


def test_of_an_event_that_two_topics_share_each_gets_its_own() -> None:
    refused = {"code": "SPENDING_LIMIT", "rule": "policy_cage.drawdown", "action_type": "swap"}
    assert find_topic("policy:violation", refused) == "refused"
    assert find_topic("heartbeat:alert", {"alerts": [{}], "source": "monitor"}) == "noticed"
    assert {"policy:violation", "heartbeat:alert"} <= list_events(["danger"]) & list_events([])
    assert "heartbeat:alert" not in list_events(["refused"])


def test_every_topic_has_its_place_in_a_message_that_is_too_long() -> None:
    assert sorted(TOPICS, key=rank_topic)[0] == "stopped"
