"""One served product for a whole file of journeys: a chain with a lending market, a server, golems made as needed.

What a journey does to its own golem stays there until the file is over; no journey reads another's. Building a chain's
people and a server for each of two dozen journeys would take longer than walking them.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import httpx
import pytest
from django.conf import settings
from django.core.management import call_command
from django.test import override_settings
from playwright.sync_api import Browser

from archetypes_app.models import Golem
from golem_project import wiring
from golem_project.celery import app
from permits_app.models import ChainWatch, ChangeRequest, NavSnapshot
from tests.browser.conftest import PATIENCE_MS, PHONE, WIDE, Visit
from tests.browser.holder import ETH, USDC, do, give_tools
from tests.browser.journeys import Journey, make_person
from tests.browser.served import Server
from tests.evm.world import CHAIN_ID, World, as_before
from tests.golem_project.heartbeat.pulses import tick, turn_on
from tests.live_golem import SWAP, LiveGolem, make_live_golem
from tools_app.core import clock, liveness

PROTOCOLS = ("aave_v3",)


@dataclass
class Product:
    """What is served, and who walks through it."""

    world: World
    server: Server
    browser: Browser
    journeys: list[Journey] = field(default_factory=list)

    def pulse(self) -> None:
        """As beat, workers and the chain's follower do every few seconds where the product is served."""
        now = clock.now()
        for name in (liveness.BEAT, *liveness.list_queues()):
            liveness.beat(name, now=now)
        ChainWatch.objects.update_or_create(chain_id=CHAIN_ID, defaults={"looked_at": now + timedelta(hours=1)})

    def make(self, owner_name: str, name: str) -> LiveGolem:
        """A golem with money on the chain, tools to lend and borrow, and an owner who can log in and approve."""
        live = make_live_golem(self.world, name=name, owner_name=owner_name)
        make_person(live)
        give_tools(live)
        return live

    def set_out(self, size: str, username: str = "", *, is_dark: bool = False) -> Journey:
        """A window of its own, logged in without the login's page where somebody is named."""
        context = self.browser.new_context(
            viewport=WIDE if size == "wide" else PHONE,  # type: ignore[arg-type]
            color_scheme="dark" if is_dark else "light",
        )
        page = context.new_page()
        page.set_default_timeout(PATIENCE_MS)
        journey = Journey(Visit(page, self.server.url), size)
        self.journeys.append(journey)
        if username:
            journey.visit.log_in(username)
        return journey

    def ask(self, live: LiveGolem, **wish: Any) -> dict[str, Any]:
        """What the agent asks for over REST, and what it is told."""
        clean = {name: value for name, value in wish.items() if value is not None}
        answer = httpx.post(
            f"{self.server.url}/api/v1/pi/preview_action",
            json=clean,
            timeout=60,
            headers={"Authorization": f"Bearer {live.key.token}"},
        )
        found: dict[str, Any] = answer.json()
        return found

    def wait_for_owner(self, live: LiveGolem, **wish: Any) -> ChangeRequest:
        """The request that what the agent asks for becomes."""
        told = self.ask(live, **wish)
        assert told.get("status") == "AWAITING_APPROVAL", told
        return ChangeRequest.objects.get(permit_id=told["permit_id"])


@contextmanager
def serve_product(world: World, browser: Browser) -> Iterator[Product]:
    """From the chain to the server, with the database of tests in reach; all of it is as before afterwards."""
    world.provide_protocols(*PROTOCOLS)
    world.open_doors(*PROTOCOLS)
    urls = {CHAIN_ID: (world.rpc_url,)}
    server, was_eager = Server(), app.conf.task_always_eager
    with as_before(world.rpc), override_settings(GOLEM_RPC_URLS=urls):
        wiring.configure_networks(settings.GOLEM_RPC_URLS)
        app.conf.task_always_eager = True
        server.start()
        product = Product(world, server, browser)
        try:
            yield product
        finally:
            for journey in product.journeys:
                journey.page.context.close()
            server.stop()
            app.conf.task_always_eager = was_eager
            wiring.configure_networks({})
            call_command("flush", verbosity=0, interactive=False)
    world.open_doors()


@pytest.fixture
def db() -> None:
    """Stands for pytest-django's own, which would undo after each test what the product of all of them needs."""


@pytest.fixture(scope="module")
def product(world: World, browser: Browser, django_db_setup: None, django_db_blocker: Any) -> Iterator[Product]:
    with django_db_blocker.unblock(), serve_product(world, browser) as served:
        yield served


def look_back(live: LiveGolem, hours: int) -> None:
    """One measure of what it is worth, as if it had been taken some hours ago."""
    live.world.rpc.call("evm_mine")
    tick(live.golem)
    newest = NavSnapshot.objects.filter(golem=live.golem).latest("block_number")
    NavSnapshot.objects.filter(pk=newest.pk).update(at=clock.now() - timedelta(hours=hours))


def live_a_while(product: Product, live: LiveGolem) -> tuple[ChangeRequest, dict[str, Any]]:
    """Ten days of a golem that swapped, took out a loan, was refused once, and waits for its owner: what waits, and
    what the agent was told when it was refused.
    """

    golem = live.golem
    Golem.objects.filter(pk=golem.pk).update(created_at=clock.now() - timedelta(days=10))
    turn_on(golem, is_live=False, rule={})
    for hours in (9 * 24, 6 * 24, 3 * 24, 23):
        look_back(live, hours)
    live.commit(live.preview()["permit_id"])
    do(live, "supply", None, asset="WETH", amount=str(ETH))
    do(live, "borrow", None, asset="USDC", amount=str(900 * USDC))
    tick(golem)
    refused = product.ask(live, **{**SWAP, "amount": str(15_000 * USDC)})
    clean = dict.fromkeys(("token_in", "token_out"))
    waits = product.wait_for_owner(
        live, **{**clean, "action_type": "borrow", "asset": "USDC", "amount": str(300 * USDC)}
    )
    return waits, refused
