"""What golems are told of markets reaches both doors: streams of events that resume, and signed webhooks."""

from __future__ import annotations

import json

import pytest

from golem_project.stream import webhooks
from tests.evm.world import CHAIN_ID, World
from tests.golem_project.pi.conftest import MakeAgent
from tests.golem_project.stream.conftest import EventSource
from tests.golem_project.stream.delivering import deliver_all
from tests.golem_project.stream.test_webhooks import make_endpoint
from tests.receiver import Receiver
from tests.tools_app.subsystems.stream.test_new_pools import make_pair, make_token
from tests.tools_app.subsystems.stream.test_streams import Follower
from tools_app.core import clock
from tools_app.core.models import OutboxEvent

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.protocols("firepit")]

KINDS = ("price:update", "pool:created", "pool:event", "pool:state", "trade:executed", "tokenjar:update")


def test_prices_trades_pools_and_jars_are_streamed_and_resumed_and_sent_to_a_webhook_once(
    local_chain: World, web_port: int, make_agent: MakeAgent, receiver: Receiver
) -> None:
    agent, stranger = make_agent(), make_agent()
    follower = Follower(local_chain)
    follower.golem_id = agent.golem.pk
    pool = local_chain.pool("v3", "USDC", "WETH", 500).address
    jar = local_chain.protocols["firepit"]["jar"]
    for golem in (agent, stranger):
        make_endpoint(golem, receiver.url, KINDS)
    follower.call("stream_price_feed", token_a="WETH", token_b="USDC", chain_id=CHAIN_ID)
    follower.call("stream_pool_events", pool_address=pool, chain_id=CHAIN_ID, events=["swap"])
    follower.call("stream_pool_state", pool_address=pool, chain_id=CHAIN_ID)
    follower.call("stream_trades", wallet_address=follower.trader.address, chain_ids=[CHAIN_ID])
    follower.call("stream_tokenjar", jar_address=jar, chain_id=CHAIN_ID)
    follower.call("stream_new_pools", chain_id=CHAIN_ID)
    follower.poll()
    follower.swap(10**9)
    make_pair(local_chain, make_token(local_chain, "NEW"))
    follower.poll()
    told = OutboxEvent.objects.filter(golem_id=agent.golem.pk, type__in=KINDS).order_by("sequence")
    ids = [str(each.pk) for each in told]
    assert {each.type for each in told} == set(KINDS)
    # The line breaks after two, and the client comes back with the last one it saw.
    source = EventSource(web_port, token=agent.key.token, query=f"?types={','.join(KINDS)}&since=2020-01-01T00:00:00Z")
    received = source.take(2)
    source.close()
    again = EventSource(web_port, token=agent.key.token, query=f"?types={','.join(KINDS)}", last_id=source.last_id)
    received += again.take(len(ids) - 2)
    again.close()
    assert [each.data["event_id"] for each in received] == ids
    # The same events reach the receiver of their owner, each once, and nobody else's.
    while webhooks.spread_events(now=clock.now()):
        pass
    while deliver_all(clock.now()):
        pass
    sent = [json.loads(body) for _, body in receiver.got]
    assert sorted(each["data"]["event_id"] for each in sent) == sorted(ids)
