"""The desk of the local chain's people: what pays is filled, what does not waits, and nonsense is refused."""

from __future__ import annotations

import http.client
import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from django.test import Client

from archetypes_app.models import ToolOverride
from archetypes_app.models.override import OverrideMode
from golem_project.celery import app
from golem_project.embedded.process import free_port
from golem_project.embedded.supervisor import LOCAL_DESK, offer_order_desk
from golem_project.embedded.world.people import uniswap_x as people
from golem_project.embedded.world.people import work_once
from golem_project.settings.orders import _read_desks
from permits_app.actions.allow_addresses import allow_addresses
from permits_app.limits.suggested_allowlist import suggest_allowlist
from tests.evm.world import CHAIN_ID, World
from tests.golem_project.pi.conftest import Agent
from tests.live_golem import make_live_golem
from tests.tools_app.protocols.uniswap_x.test_orders import DAI, GIVE, Maker
from tools_app import runner
from tools_app.core import clock
from tools_app.protocols.uniswap_x.addresses import NAME
from tools_app.toolkit.order_desks import OrderDesk, OrderDesks
from tools_app.toolkit.registry import REGISTRY

PAYS = 99 * DAI // 1_000
"""Of WETH for 300 DAI: a hundredth less than they are worth."""
pytestmark = pytest.mark.protocols("uniswap_x")


@pytest.fixture
def port(monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """Where the desk of this test listens; closed when the test is over."""
    found = free_port()
    monkeypatch.setenv("GOLEM_ORDER_DESKS", LOCAL_DESK.format(port=found))
    desk = people.find_desk()
    assert desk is not None and people.find_desk() is desk
    yield found
    people._desks.pop(found)
    desk.server.shutdown()
    desk.server.server_close()


@pytest.fixture
def maker(transactional_db: None, local_chain: World, port: int) -> Iterator[Maker]:
    """A golem whose orders are handed to the local desk, as `make run` sets it."""
    live = make_live_golem(local_chain)
    for tool in [tool for tool in REGISTRY if tool.venue == NAME]:
        ToolOverride.objects.create(golem=live.golem, tool_name=tool.name, mode=OverrideMode.INCLUDE)
    allow_addresses(golem=live.golem, choices=suggest_allowlist(CHAIN_ID), actor="system:test", now=clock.now())
    desks = _read_desks(LOCAL_DESK.format(port=port))
    found = OrderDesks({place: OrderDesk(*desk) for place, desk in desks.items()}, allows_private=True)
    environment = runner._get_environment()
    runner.configure(replace(environment, services={**environment.services, OrderDesks: found}))
    was_eager, app.conf.task_always_eager = app.conf.task_always_eager, True
    try:
        # Nobody of the test fills: the desk's own people do.
        yield Maker(live, Agent(golem=live.golem, key=live.key, client=Client()), None)  # type: ignore[arg-type]
    finally:
        app.conf.task_always_eager = was_eager
        runner.configure(environment)


def work(world: World) -> list[str]:
    """One look of those who fill."""
    told: list[str] = []
    work_once(world.rpc, (people.PEOPLE,), say=told.append)
    return told


def post(port: int, body: bytes) -> int:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    connection.request("POST", "/v2/order", body, {"Content-Type": "application/json"})
    status = connection.getresponse().status
    connection.close()
    return status


def test_an_order_that_pays_is_filled_and_its_owner_sees_it_end(maker: Maker) -> None:
    world = maker.live.world
    maker.approve()
    row = maker.sign(limit_amount_out=str(PAYS))
    assert row.handed_in_at is not None, row.hand_in_error
    assert maker.status(row)["status"] == "open"
    had = maker.live.balance("WETH")
    assert work(world) == ["uniswap_x (simulated): an order of DAI for WETH is filled"]
    assert maker.live.balance("WETH") - had == PAYS
    assert work(world) == [], "nothing is filled twice"
    assert maker.status(row)["status"] == "filled" and maker.follow(row).state == "FILLED"


def test_an_order_that_does_not_pay_waits_and_one_that_was_cancelled_is_filled_by_nobody(
    maker: Maker, port: int
) -> None:
    maker.approve()
    dear = maker.sign(limit_amount_out=str(DAI))
    assert work(maker.live.world) == [] and maker.status(dear)["status"] in ("open", "pending")
    assert len(people._desks[port].waiting) == 1
    cheap = maker.sign(limit_amount_out=str(PAYS // 2), amount=str(GIVE // 2))
    maker.cancel(cheap)
    assert work(maker.live.world) == []
    assert maker.follow(cheap).state == "CANCELLED"


def test_an_order_whose_time_is_over_is_forgotten(maker: Maker, port: int) -> None:
    maker.approve()
    maker.sign(limit_amount_out=str(DAI))
    maker.live.world.rpc.call("evm_increaseTime", 8 * 86_400)
    maker.live.world.rpc.call("evm_mine")
    work(maker.live.world)
    assert people._desks[port].waiting == {}


@pytest.mark.parametrize(
    "body",
    [
        b"no json",
        b"[]",
        b'{"orderType": "Dutch_V2"}',
        b'{"orderType": "Limit", "encodedOrder": "0x00", "signature": "0x"}',
    ],
    ids=["no JSON", "no object", "an auction", "no order"],
)
def test_what_is_no_limit_order_is_refused_and_the_desk_goes_on(port: int, body: bytes) -> None:
    assert post(port, body) == 400
    assert post(port, b"0" * (people.MOST_BYTES + 1)) == 413
    assert people._desks[port].waiting == {}


def test_a_desk_takes_no_more_than_it_looks_at(port: int) -> None:
    desk = people._desks[port]
    orders = [people.Order(b"", bytes([0, each]), "", 0, "", 0, "", 0) for each in range(people.MOST_WAITING)]
    assert all(map(desk.take, orders))
    assert not desk.take(replace(orders[0], signature=b"new")) and desk.take(orders[0])


@pytest.mark.parametrize(
    ("given", "is_offered"),
    [
        ({}, True),
        ({"GOLEM_RPC_URL_31337": "http://127.0.0.1:1"}, False),
        ({"GOLEM_ORDER_DESKS": "uniswap_x:1=https://desk.example"}, False),
    ],
    ids=["our chain", "another's chain", "a desk of the operator"],
)
def test_the_local_desk_is_offered_where_the_chain_is_ours_and_nobody_set_another(
    given: dict[str, str], is_offered: bool
) -> None:
    environment: dict[str, Any] = dict(given)
    offer_order_desk(environment)
    if not is_offered:
        assert environment == given
        return
    [(place, (url, cosigner))] = _read_desks(environment["GOLEM_ORDER_DESKS"]).items()
    assert place == (NAME, CHAIN_ID) and cosigner == "" and url.startswith("http://127.0.0.1:")
    assert environment["GOLEM_ORDER_DESKS_ALLOW_PRIVATE_ADDRESSES"] == "1"


def test_people_who_were_named_no_desk_open_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GOLEM_ORDER_DESKS", json.dumps({}))
    assert people.find_desk() is None
