"""An order over time from its permit to its end: its limit is held meanwhile, fillers end it, and a halt cancels it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from eth_account.signers.local import LocalAccount

from archetypes_app.models import Golem, ToolOverride
from archetypes_app.models.override import OverrideMode
from golem_project.celery import app
from permits_app.actions.allow_addresses import allow_addresses
from permits_app.actions.check_pending_requests import check_pending_requests
from permits_app.actions.halt import carry_out_halt, halt_golem
from permits_app.limits.pending_requests import MISSED_FOR
from permits_app.limits.suggested_allowlist import suggest_allowlist
from permits_app.models import PendingRequest, SpendEntry
from tests.evm.world import CHAIN_ID, World
from tests.golem_project.pi.conftest import Agent
from tests.live_golem import LiveGolem, make_live_golem
from tools_app.core import clock
from tools_app.protocols.uniswap_twamm.protocol import PROTOCOL
from tools_app.toolkit.registry import REGISTRY

pytestmark = pytest.mark.protocols("uniswap_twamm")
WAD, HOUR = 10**18, 3_600
ORDERS = str(PROTOCOL.address(CHAIN_ID, "orders"))


@dataclass
class Asker:
    """A golem whose agent sells 300 DAI for WETH over an hour, and somebody who fills."""

    live: LiveGolem
    agent: Agent
    filler: LocalAccount

    def order(self) -> PendingRequest:
        terms = {"token_in": "DAI", "token_out": "WETH", "amount": str(300 * WAD), "duration": "1h"}
        body = {"action_type": "submit_twamm_order", "venue": "uniswap_twamm", **terms}
        permit = self.agent.post("preview_action", body).json()
        assert permit.get("status") == "CREATED", permit
        done = self.agent.post("commit_action", {"permit_id": permit["permit_id"]}).json()
        assert done["status"] == "COMMITTED", done
        return PendingRequest.objects.get(permit_id=permit["permit_id"])

    def fill(self, row: PendingRequest, part: int, paid: int) -> None:
        number = int(row.ref.rpartition("/")[2])
        self.live.world.transact(self.filler, ORDERS, "fill(uint256,uint256,uint256)", number, part, paid)

    def close(self, row: PendingRequest) -> None:
        self.live.world.transact(self.filler, ORDERS, "close(uint256)", int(row.ref.rpartition("/")[2]))

    def follow(self, row: PendingRequest) -> PendingRequest:
        """Two looks, far enough apart."""
        for after in (timedelta(0), 2 * MISSED_FOR):
            PendingRequest.objects.update(next_check_at=clock.now() - timedelta(seconds=1))
            check_pending_requests(now=clock.now() + after)
        row.refresh_from_db()
        return row


@pytest.fixture
def asker(transactional_db: None, local_chain: World) -> Iterator[Asker]:
    live_golem = make_live_golem(local_chain)
    for tool in [tool for tool in REGISTRY if tool.venue == "uniswap_twamm"]:
        ToolOverride.objects.create(golem=live_golem.golem, tool_name=tool.name, mode=OverrideMode.INCLUDE)
    allow_addresses(golem=live_golem.golem, choices=suggest_allowlist(CHAIN_ID), actor="system:test", now=clock.now())
    world: World = live_golem.world
    filler = world.new_account(WAD, {"WETH": WAD})
    world.transact(filler, world.tokens["WETH"].address, "approve(address,uint256)", ORDERS, 2**255)
    was_eager, app.conf.task_always_eager = app.conf.task_always_eager, True
    try:
        yield Asker(live_golem, Agent(golem=live_golem.golem, key=live_golem.key, client=Client()), filler)
    finally:
        app.conf.task_always_eager = was_eager


def pass_time(asker: Asker, seconds: int) -> None:
    asker.live.world.rpc.call("evm_increaseTime", seconds)
    asker.live.world.rpc.call("evm_mine")


def tokens(rows: list[dict[str, Any]]) -> dict[str, int]:
    return {each["token"]: int(each["raw"]) for each in rows}


def test_an_order_over_time_stands_with_its_limit_held_until_it_is_sold_and_paid_out(asker: Asker) -> None:
    row = asker.order()
    assert row.is_order and SpendEntry.objects.get(permit_id=row.permit_id).state == "RESERVED"
    assert asker.follow(row).state == "REQUESTED"
    pass_time(asker, HOUR + 1)
    asker.fill(row, 300 * WAD, WAD // 10)
    assert asker.follow(row).state == "READY", "what was bought lies with the order until somebody closes it"
    asker.close(row)
    row = asker.follow(row)
    weth = asker.live.world.tokens["WETH"].address
    assert row.state == "EXECUTED" and tokens(row.came) == {weth: WAD // 10}
    assert SpendEntry.objects.get(permit_id=row.permit_id).state == "SETTLED"


def test_an_order_that_nobody_buys_at_its_least_price_ends_by_time_and_everything_comes_back(asker: Asker) -> None:
    row = asker.order()
    pass_time(asker, HOUR + 1)
    asker.close(row)
    row = asker.follow(row)
    assert row.state == "EXPIRED" and tokens(row.came) == {asker.live.world.tokens["DAI"].address: 300 * WAD}


def test_a_halt_cancels_an_order_over_time_that_is_filled_in_part(asker: Asker) -> None:
    row = asker.order()
    pass_time(asker, HOUR // 2)
    asker.fill(row, 100 * WAD, WAD // 30)
    asker.follow(row)
    golem = Golem.objects.get(pk=asker.live.golem.pk)
    told = halt_golem(golem=golem, reason="test", actor="system:test", now=clock.now())
    carry_out_halt(golem_id=golem.pk, epoch=told["epoch"], now=clock.now())
    row = asker.follow(row)
    dai, weth = (asker.live.world.tokens[symbol].address for symbol in ("DAI", "WETH"))
    assert row.state == "CANCELLED", row.last_error
    assert tokens(row.came) == {dai: 200 * WAD, weth: WAD // 30}
    with pytest.raises(Exception, match="revert"):
        asker.fill(row, WAD, WAD)
