"""A hook that reads the chain asks the node once for what it judges, and for nothing besides."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from permits_app.safety import bound_code, hook_chain
from permits_app.safety.hook import Allow, HookCall
from permits_app.safety.hooks.hallucination_detector import HallucinationDetector
from permits_app.safety.hooks.policy_cage import load_holdings
from tests.evm.world import CHAIN_ID
from tests.live_golem import LiveGolem
from tests.permits_app.safety.calls import swap_call
from tools_app import runner
from tools_app.chain.rpc import RpcReply, RpcRequest
from tools_app.chain.rpc_pool import RpcPool
from tools_app.core.clock import Deadline
from tools_app.toolkit.protocol import SHELF, ProtocolDef


@pytest.fixture
def call(live_golem: LiveGolem, monkeypatch: pytest.MonkeyPatch) -> HookCall:
    """A swap whose reader knows its block and nothing else, in a process that met none like it."""
    monkeypatch.setattr(bound_code, "_MEMORY", bound_code._Memory())
    made = swap_call(live_golem)
    reader = runner.open_reader(CHAIN_ID, now=made.now, deadline=Deadline.after_ms(10_000))
    assert reader.block.number > 0
    return replace(made, chain=reader)


@pytest.fixture
def round_trips(monkeypatch: pytest.MonkeyPatch) -> list[Counter[str]]:
    """How often each method was asked in each round trip."""
    seen: list[Counter[str]] = []
    real = RpcPool.send

    def send(pool: RpcPool, requests: list[RpcRequest], **options: Any) -> list[RpcReply]:
        seen.append(Counter(request.method for request in requests))
        return real(pool, requests, **options)

    monkeypatch.setattr(RpcPool, "send", send)
    return seen


def asks_unprompted(protocol: ProtocolDef) -> bool:
    """Whether it asks the chain for what an account may keep there that never told of anything."""
    assert protocol.positions is not None
    return bool(next(protocol.positions.list(CHAIN_ID, "0x" + "11" * 20, ()), ()))


def test_the_facts_of_two_tokens_and_their_router_are_one_round_trip(
    call: HookCall, round_trips: list[Counter[str]]
) -> None:
    assert isinstance(HallucinationDetector().check(call), Allow)
    # Balance and supply of each token; the code of both, of the router and of the signer; the coin.
    assert round_trips == [Counter({"eth_call": 4, "eth_getCode": 4, "eth_getBalance": 1})]


def test_the_portfolio_is_one_round_trip_with_every_price(
    call: HookCall, live_golem: LiveGolem, round_trips: list[Counter[str]]
) -> None:
    # A look before this one, after which the process knows which protocols are not on the chain.
    made = swap_call(live_golem)
    assert load_holdings(made).portfolio is not None
    round_trips.clear()
    assert load_holdings(call).portfolio is not None
    # Four contracts of the call, and of protocols that may keep something those that were not there: are they now?
    asked = [each for each in SHELF.on(CHAIN_ID) if each.positions is not None and asks_unprompted(each)]
    entries = [protocol.address(CHAIN_ID, protocol.entry) or "" for protocol in asked]
    absent = sum(1 for entry in entries if live_golem.world.rpc.call("eth_getCode", entry, "latest") == "0x")
    assert [trip["eth_getCode"] for trip in round_trips if trip["eth_getCode"]] == [4 + absent]
    # What a process learned of pairs before may ask for one more.
    assert len(round_trips) <= 2


def test_the_whole_chain_reads_the_rows_of_the_golem_once(call: HookCall) -> None:
    with CaptureQueriesContext(connection) as captured:
        report = hook_chain.recheck(call, simulate=False)
    asked = [row["sql"] for row in captured.captured_queries if "read_records" in str(row["sql"])]
    # Prepared on this connection perhaps, and asked once.
    assert sum(str(sql).count("EXECUTE read_records") for sql in asked) == 1
    assert report.facts
