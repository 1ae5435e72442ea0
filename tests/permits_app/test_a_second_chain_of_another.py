"""The node of a golem's second chain answers for another one: nothing of it counts, nothing grows, and it is told.

The bridge is made up; the node stands before the real second chain and hands on what the first one says.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest

from permits_app.execution.reconcile import reconcile_transactions
from permits_app.models import ActionPermit, ChainMark
from permits_app.models.permit import PermitStatus
from tests.evm.world import CHAIN_ID
from tests.made_up_bridge.on_the_shelf import NAME, SENT, Crossing
from tests.proof.lying_node import Answers, Ask, LyingNode, Request, serve_lying_node
from tests.second_chain import SECOND_ID, wire
from tools_app.core import clock
from tools_app.core.errors import GolemError, Recovery
from tools_app.core.models import AuditEntry, OutboxEvent

HERE = {"token_in": None, "token_out": None, "venue": NAME, "action_type": "bridge_send", "token": "USDC"}


@pytest.fixture
def between(crossing: Crossing, settings: Any) -> Iterator[LyingNode]:
    """Stands before the second chain, which is as long as the first one is and has blocks of its own."""
    for world in crossing.worlds:
        world.rpc.call("anvil_mine", hex(4))
    with serve_lying_node(crossing.worlds[1].rpc_url) as node:
        wire(settings, {CHAIN_ID: os.environ["GOLEM_RPC_URL_31337"], SECOND_ID: node.url})
        yield node


@pytest.fixture
def first() -> Iterator[LyingNode]:
    """The first chain's node, to ask."""
    with serve_lying_node(os.environ["GOLEM_RPC_URL_31337"]) as node:
        yield node


def of_the_first(node: LyingNode, *, but: frozenset[str] = frozenset()) -> Any:
    """Every answer is the first chain's, but those to these methods."""

    def lie(requests: list[Request], ask: Ask) -> Answers:
        real, other = ask(requests), node.ask_real(requests)
        return [real[at] if each["method"] in but else other[at] for at, each in enumerate(requests)]

    return lie


def pass_a_second(monkeypatch: pytest.MonkeyPatch) -> None:
    """Later by more than an answer to "which chain are you" is believed."""
    real = clock.monotonic_ms
    monkeypatch.setattr(clock, "monotonic_ms", lambda: real() + 1_500)


def refused(call: Any) -> GolemError:
    with pytest.raises(GolemError) as caught:
        call()
    return caught.value


def send_back(crossing: Crossing) -> Any:
    """From the second chain to the first."""
    return crossing.live.preview(**HERE, amount=str(SENT // 10), chain_id=SECOND_ID, to_chain_id=CHAIN_ID)


def test_a_second_node_that_says_the_first_chains_id_is_not_counted_not_sent_to_and_told(
    crossing: Crossing, between: LyingNode, first: LyingNode, monkeypatch: pytest.MonkeyPatch
) -> None:
    golem = crossing.live.golem
    start = crossing.worth()
    row = crossing.send()
    reconcile_transactions(now=clock.now())
    with between.lying(of_the_first(first)):
        pass_a_second(monkeypatch)
        assert refused(lambda: send_back(crossing)).code == "RPC_WRONG_CHAIN"
        error = refused(crossing.ask)
        assert (error.code, error.next_step) == ("CHAIN_NOT_COUNTED", Recovery.WAIT), error.data
        assert crossing.worth(timedelta(minutes=1)) is None
        crossing.look(timedelta(minutes=1))
        row.refresh_from_db()
        assert (row.state, row.arrived_block) == ("REQUESTED", None) and row.last_error
        assert "eth_sendRawTransaction" not in between.asked
        reconcile_transactions(now=clock.now())
        told = OutboxEvent.objects.get(golem_id=golem.pk, type="chain:stopped").payload
        assert (told["chain_id"], told["code"]) == (SECOND_ID, "RPC_WRONG_CHAIN") and told["clears"]
    pass_a_second(monkeypatch)
    reconcile_transactions(now=clock.now())
    assert OutboxEvent.objects.filter(golem_id=golem.pk, type="chain:resumed").exists()
    assert AuditEntry.objects.filter(golem_id=golem.pk, event__in=["ChainStopped", "ChainResumed"]).count() == 2
    crossing.relay(row)
    crossing.look(timedelta(minutes=2))
    crossing.worlds[1].rpc.call("evm_mine")
    crossing.look(timedelta(minutes=3))
    row.refresh_from_db()
    worth = crossing.worth(timedelta(minutes=4))
    assert row.state == "DONE" and start is not None and worth is not None and worth <= start


def test_a_second_node_with_its_own_id_and_the_first_chains_blocks_counts_nothing_twice(
    crossing: Crossing, between: LyingNode, first: LyingNode
) -> None:
    start = crossing.worth()
    reconcile_transactions(now=clock.now())
    assert ChainMark.objects.get(chain_id=SECOND_ID).mark_hash
    with between.lying(of_the_first(first, but=frozenset({"eth_chainId"}))):
        assert crossing.worth(timedelta(minutes=1)) is None
        error = refused(crossing.ask)
        assert (error.code, error.next_step) == ("CHAIN_NOT_COUNTED", Recovery.WAIT), error.data
        assert error.data["cause"] == "CHAIN_OF_ANOTHER", error.data
        assert not ActionPermit.objects.filter(golem=crossing.live.golem, status=PermitStatus.CREATED).exists()
    assert crossing.worth(timedelta(minutes=2)) == start
    assert crossing.ask()["status"] == PermitStatus.CREATED
