"""sUSDS as it is known on Ethereum: at which addresses and which feed, refused without it, and where it is not known.

The second local chain stands in for Ethereum under its number: at the public addresses are the local contracts' code
and words, so that the product asks what it would ask there.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import pytest
from django.test import Client

from archetypes_app.models import Golem, ToolOverride
from archetypes_app.models.override import OverrideMode
from golem_project import wiring
from golem_project.celery import app
from permits_app.actions.allow_addresses import allow_addresses
from permits_app.limits.suggested_allowlist import suggest_allowlist
from tests.evm.world import CHAIN_ID, World
from tests.golem_project.pi.conftest import Agent
from tests.live_golem import LiveGolem, make_live_golem
from tests.second_chain import SECOND_ID, second_chain, second_world, wire
from tools_app.chain.deployments import load_deployment
from tools_app.chain.networks import KNOWN_NETWORKS
from tools_app.core import clock
from tools_app.protocols.erc4626.addresses import CHAINS, SAVINGS, deployments, find_savings, known_vaults
from tools_app.toolkit.views import NATIVE

__all__ = ["second_chain", "second_world"]
pytestmark = pytest.mark.protocols("erc4626")
WAD = 10**18
ETHEREUM = 1
SAVED = 1_000 * WAD
_WORDS = 12
"""So many first words of a contract's storage hold what it needs here; its mappings begin anew."""


def put(world: World, at: str, local: World, like: str, *, instead: tuple[str, str] | None = None) -> None:
    """The code of a contract of `local` at an address of `world`, with another address in it, and its first words."""
    code = local.rpc.call("eth_getCode", like, "latest").lower()
    if instead is not None:
        was, now = (each[2:].lower() for each in instead)
        assert was in code
        code = code.replace(was, now)
    world.rpc.call("anvil_setCode", at, code)
    for slot in range(_WORDS):
        word = local.rpc.call("eth_getStorageAt", like, hex(slot), "latest")
        world.rpc.call("anvil_setStorageAt", at, "0x" + slot.to_bytes(32, "big").hex(), word)


@pytest.fixture
def ethereum(chain: World, second_chain: World, settings: Any) -> Iterator[World]:
    """A chain under Ethereum's number with USDS, sUSDS and the feeds of USDS and of ether where they really are."""
    vault, feeds = find_savings(ETHEREUM), load_deployment(KNOWN_NETWORKS[ETHEREUM]).feeds
    assert vault is not None
    savings, dai = chain.protocols["erc4626"][SAVINGS], chain.tokens["DAI"]
    put(second_chain, vault.asset, chain, dai.address)
    put(second_chain, vault.address, chain, savings, instead=(dai.address, vault.asset))
    for other in known_vaults(ETHEREUM):
        if other != vault:
            put(second_chain, other.address, chain, savings)
    put(second_chain, feeds[vault.asset].address, chain, dai.feed)
    put(second_chain, feeds[NATIVE].address, chain, chain.tokens["WETH"].feed)
    for key in (vault.asset, NATIVE):
        price = 10**8 if key == vault.asset else 2_000 * 10**8
        second_chain.transact(second_chain.actors.deployer, feeds[key].address, "setAnswer(int256)", price)
    second_chain.rpc.call("anvil_setChainId", ETHEREUM)
    wire(settings, {CHAIN_ID: os.environ["GOLEM_RPC_URL_31337"], ETHEREUM: second_chain.rpc_url})
    yield second_chain
    wiring.configure_networks({})
    second_chain.rpc.call("anvil_setChainId", SECOND_ID)


@pytest.fixture
def saver(transactional_db: None, ethereum: World, chain: World) -> Iterator[tuple[LiveGolem, Agent]]:
    """A golem that may act on Ethereum, and has two thousand USDS there."""
    live, vault = make_live_golem(chain), find_savings(ETHEREUM)
    assert vault is not None
    Golem.objects.filter(pk=live.golem.pk).update(other_chain_ids=[ETHEREUM])
    live.golem.refresh_from_db()
    allow_addresses(golem=live.golem, choices=suggest_allowlist(ETHEREUM), actor="system:test", now=clock.now())
    for tool in ("vault_deposit", "vault_withdraw", "vault_get_savings"):
        ToolOverride.objects.create(golem=live.golem, tool_name=tool, mode=OverrideMode.INCLUDE)
    ethereum.rpc.call("anvil_setBalance", live.golem.address, hex(10 * WAD))
    ethereum.chain_id = ETHEREUM
    mint = "mint(address,uint256)"
    ethereum.transact(ethereum.actors.deployer, vault.asset, mint, live.golem.address, 2 * SAVED)
    was_eager = app.conf.task_always_eager
    app.conf.task_always_eager = True
    yield live, Agent(golem=live.golem, key=live.key, client=Client())
    app.conf.task_always_eager = was_eager
    ethereum.chain_id = SECOND_ID


def ask_for(agent: Agent, **changes: Any) -> tuple[int, dict[str, Any]]:
    vault = find_savings(ETHEREUM)
    assert vault is not None
    body = {"action_type": "deposit", "venue": "erc4626", "vault": vault.address, "amount": str(SAVED)}
    response = agent.post("preview_action", {**body, "chain_id": ETHEREUM, **changes})
    return response.status_code, response.json()


def test_what_is_saved_on_ethereum_counts_at_the_feed_of_usds(saver: tuple[LiveGolem, Agent], ethereum: World) -> None:
    _, agent = saver
    status, permit = ask_for(agent)
    assert status == 200, permit
    assert agent.post("commit_action", {"permit_id": permit["permit_id"]}).json()["status"] == "COMMITTED"
    told = agent.post("query_state", {"query": "vault_savings", "chain_id": ETHEREUM}).json()["data"]
    assert told["name"] == "sUSDS (Sky savings)" and told["is_simulated"] is False
    assert abs(int(told["assets"]) - SAVED) < WAD


def test_without_the_feed_of_usds_nothing_is_saved_and_the_refusal_says_so(
    saver: tuple[LiveGolem, Agent], ethereum: World
) -> None:
    _, agent = saver
    vault = find_savings(ETHEREUM)
    assert vault is not None
    feed = load_deployment(KNOWN_NETWORKS[ETHEREUM]).feeds[vault.asset].address
    ethereum.rpc.call("anvil_setCode", feed, "0x")
    status, problem = ask_for(agent)
    assert (status, problem["code"]) == (503, "PRICE_UNAVAILABLE"), problem
    assert "USDS" in problem["detail"]


def test_savings_are_known_on_ethereum_and_here_and_asked_for_elsewhere_they_are_refused_before_any_call(
    saver: tuple[LiveGolem, Agent],
) -> None:
    _, agent = saver
    assert CHAINS > {ETHEREUM, CHAIN_ID}
    for chain_id in KNOWN_NETWORKS:
        assert (find_savings(chain_id) is not None) == (chain_id in {ETHEREUM, CHAIN_ID})
        assert bool(known_vaults(chain_id)) == (deployments(chain_id) is not None) == (chain_id in CHAINS)
        if chain_id not in CHAINS:
            status, problem = ask_for(agent, chain_id=chain_id)
            assert (status, problem["code"]) == (422, "CHAIN_NOT_SUPPORTED"), chain_id
