"""A second local chain, 31338, beside the first: started where a test asks for it, and once a run.

It is a twin of the first: the same contracts at the same addresses, and a past of its own from there on.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import pytest

from archetypes_app.models import Golem
from golem_project import wiring
from permits_app.actions.allow_addresses import allow_addresses
from permits_app.limits.suggested_allowlist import suggest_allowlist
from tests.evm.world import CHAIN_ID, World, as_before
from tests.live_golem import LiveGolem, make_live_golem
from tests.services import SERVERS
from tools_app.core import clock

SECOND_ID = 31338
ON_BOTH = frozenset({"across"})
"""Protocols between two chains, which have a contract on each."""


@pytest.fixture(scope="session")
def second_world() -> Iterator[World]:
    """The second chain of this run."""
    found = World(SERVERS.start_second_chain(), chain_id=SECOND_ID)
    yield found
    found.rpc.close()


@pytest.fixture
def second_chain(second_world: World, request: pytest.FixtureRequest) -> Iterator[World]:
    """The second chain inside a snapshot, at the machine's time, with what a test's `protocols` need on both."""
    named = {key for mark in request.node.iter_markers("protocols") for key in mark.args}
    second_world.provide_protocols(*sorted(named & ON_BOTH))
    with as_before(second_world.rpc):
        yield second_world


@pytest.fixture
def both_chains(local_chain: World, second_chain: World, settings: Any) -> Iterator[tuple[World, World]]:
    """Both of them, wired into the product."""
    wire(settings, {CHAIN_ID: os.environ["GOLEM_RPC_URL_31337"], SECOND_ID: second_chain.rpc_url})
    yield local_chain, second_chain


@pytest.fixture
def spread_golem(db: None, both_chains: tuple[World, World]) -> LiveGolem:
    """A golem of both chains, with nothing on the second one."""
    return make_spread_golem(both_chains[0])


def make_spread_golem(world: World, **names: str) -> LiveGolem:
    """A live golem whose owner allowed the second chain, and there what is suggested."""
    live = make_live_golem(world, **names)
    Golem.objects.filter(pk=live.golem.pk).update(other_chain_ids=[SECOND_ID])
    live.golem.refresh_from_db()
    allow_addresses(golem=live.golem, choices=suggest_allowlist(SECOND_ID), actor="system:test", now=clock.now())
    return live


def put_token(world: World, at: str) -> None:
    """A token that its deployer mints at an address where nothing is: what a bridge would have brought there."""
    like = world.tokens["DAI"].address
    world.rpc.call("anvil_setCode", at, world.rpc.call("eth_getCode", like, "latest"))
    for slot in range(12):
        word = world.rpc.call("eth_getStorageAt", like, hex(slot), "latest")
        world.rpc.call("anvil_setStorageAt", at, "0x" + slot.to_bytes(32, "big").hex(), word)


def wire(settings: Any, urls: dict[int, str]) -> None:
    """Have the product reach these nodes, by chain."""
    settings.GOLEM_RPC_URLS = {chain_id: (url,) for chain_id, url in urls.items()}
    wiring.configure_networks(settings.GOLEM_RPC_URLS)
