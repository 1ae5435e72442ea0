"""Further protocols of the local world: built once, in any order, the same everywhere, resumed when cut off."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from golem_project.embedded.errors import EmbeddedError
from golem_project.embedded.paths import CHECKOUT
from golem_project.embedded.world import protocols
from golem_project.embedded.world.history_writer import Ledger
from golem_project.embedded.world.node import run_node
from golem_project.embedded.world.protocol_deployer import Site
from golem_project.embedded.world.protocols import (
    ProtocolWorld,
    deploy_protocols,
    find_protocol_worlds,
    list_in_run,
    list_plain,
    read_note,
)
from golem_project.embedded.world.rpc import JsonRpc
from golem_project.embedded.world.saved_world import find_anvil
from tests.evm.world import World
from tools_app.toolkit.protocol import SHELF

DECIMALS = "decimals()"


def deploy_pair(site: Site) -> dict[str, str]:
    """Two tokens of ours, and some of them for somebody."""
    first = site.create_ours("SimulatedToken", "(string,string,uint8)", "First", "ONE", 6)
    second = site.create_ours("SimulatedToken", "(string,string,uint8)", "Second", "TWO", 8)
    site.transact(first, "mint(address,uint256)", site.account("holder").address, 5)
    site.give("USDC", 7)
    assert site.read(second, DECIMALS, returns="(uint8)") == (8,)
    return {"first": first, "second": second}


@pytest.fixture
def worlds(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> dict[str, ProtocolWorld]:
    """Made-up protocols in the place of the real ones."""
    found: dict[str, ProtocolWorld] = {}
    monkeypatch.setattr(protocols, "find_protocol_worlds", lambda: found)
    monkeypatch.setattr(protocols, "FOLDER", tmp_path)
    for key in ("apple", "pear"):
        (tmp_path / f"{key}.py").write_text(key)
        found[key] = ProtocolWorld(key, deploy_pair)
    return found


def test_addresses_do_not_depend_on_the_order(chain: World, worlds: dict[str, ProtocolWorld]) -> None:
    built = deploy_protocols(chain.rpc_url, ["pear", "apple"])
    height = chain.rpc.call("eth_blockNumber")
    assert deploy_protocols(chain.rpc_url) == built
    assert chain.rpc.call("eth_blockNumber") == height
    assert len({address for contracts in built.values() for address in contracts.values()}) == 4


def test_apart_on_another_chain_they_get_the_same_addresses(chain: World, worlds: dict[str, ProtocolWorld]) -> None:
    alone = deploy_protocols(chain.rpc_url, ["apple"])
    assert read_note(chain.rpc, "pear") is None
    chain.fund(chain.actors.makers[0].address)
    assert deploy_protocols(chain.rpc_url, ["pear", "apple"])["apple"] == alone["apple"]


def test_what_one_account_does_never_overtakes_what_another_did_before(
    chain: World, worlds: dict[str, ProtocolWorld], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A node may take what it is handed at once in any order; here it is the worst."""
    in_order = JsonRpc.call_all

    def last_first(rpc: JsonRpc, calls: list[tuple[str, list[Any]]]) -> list[Any]:
        return in_order(rpc, calls[::-1])[::-1]

    def deploy(site: Site) -> dict[str, str]:
        token = site.create_ours("SimulatedToken", "(string,string,uint8)", "First", "ONE", 6)
        holder = site.account("holder")
        site.transact(token, "mint(address,uint256)", holder.address, 5)
        site.transact(token, "transfer(address,uint256)", site.deployer.address, 5, sender=holder)
        assert site.read(token, "balanceOf(address)", site.deployer.address, returns="(uint256)") == (5,)
        return {"token": token}

    monkeypatch.setattr(JsonRpc, "call_all", last_first)
    worlds["apple"] = ProtocolWorld("apple", deploy)
    assert deploy_protocols(chain.rpc_url, ["apple"])["apple"].keys() == {"token"}


def test_what_is_needed_comes_first(chain: World, worlds: dict[str, ProtocolWorld]) -> None:
    def deploy(site: Site) -> dict[str, str]:
        assert site.read(site.others["pear"]["first"], DECIMALS, returns="(uint8)") == (6,)
        return {}

    worlds["apple"] = ProtocolWorld("apple", deploy, needs=("pear",))
    assert deploy_protocols(chain.rpc_url, ["apple"]).keys() == {"pear", "apple"}


def test_a_building_that_was_cut_off_goes_on_where_it_stopped(chain: World, worlds: dict[str, ProtocolWorld]) -> None:
    def stop_in_the_middle(site: Site) -> dict[str, str]:
        deploy_pair(site)
        raise KeyboardInterrupt

    whole = worlds["apple"]
    worlds["apple"] = ProtocolWorld("apple", stop_in_the_middle)
    with pytest.raises(KeyboardInterrupt):
        deploy_protocols(chain.rpc_url, ["apple"])
    assert read_note(chain.rpc, "apple") is None
    worlds["apple"] = whole
    built = deploy_protocols(chain.rpc_url, ["apple"])["apple"]
    # Nothing was done twice.
    assert chain.rpc.read(built["first"], "totalSupply()", returns="(uint256)") == (5,)


def test_another_version_of_a_protocol_is_not_taken_for_this_one(
    chain: World, worlds: dict[str, ProtocolWorld], tmp_path: Path
) -> None:
    deploy_protocols(chain.rpc_url, ["apple"])
    (tmp_path / "apple.py").write_text("changed")
    with pytest.raises(EmbeddedError, match="another version"):
        deploy_protocols(chain.rpc_url, ["apple"])


def test_what_reverts_is_named_and_is_not_taken_for_built(chain: World, worlds: dict[str, ProtocolWorld]) -> None:
    def deploy(site: Site) -> dict[str, str]:
        site.transact(site.tokens["USDC"], "mint(address,uint256)", site.deployer.address, 1)
        return {}

    worlds["apple"] = ProtocolWorld("apple", deploy)
    for match in ("mint.* reverted", "failed"):
        with pytest.raises(EmbeddedError, match=match):
            deploy_protocols(chain.rpc_url, ["apple"])
    assert read_note(chain.rpc, "apple") is None


def test_a_history_ends_when_all_of_it_succeeded_and_names_what_reverted(chain: World) -> None:
    reverts = "0x" + "99" * 20
    chain.rpc.call("anvil_setCode", reverts, "0x5f5ffd")
    payer, other = chain.new_account(), chain.new_account()
    # The chain may have been kept for long: its clock is the machine's again from the next block on.
    chain.rpc.call("evm_mine")
    good, bad = (Ledger(chain.rpc, started_at=chain.timestamp() + 1_000) for _ in range(2))
    good.send(payer, other.address, "0x", what="a payment", value=1)
    good.close(ends_at=good.now + 60)
    assert chain.timestamp() == good.now + 60
    bad.move_clock_to(good.now + 61)
    bad.send(other, reverts, "0x", what="a payment nobody takes")
    try:
        with pytest.raises(EmbeddedError, match="a payment nobody takes reverted"):
            bad.close(ends_at=bad.now + 60)
    finally:
        chain.rpc.call("evm_setAutomine", True)


def test_an_unknown_protocol_is_answered_with_the_known_ones(chain: World, worlds: dict[str, ProtocolWorld]) -> None:
    with pytest.raises(EmbeddedError, match="apple, pear"):
        deploy_protocols(chain.rpc_url, ["plum"])


def test_the_command_builds_what_it_is_asked_for(chain: World) -> None:
    command = [sys.executable, "-m", "golem_project.embedded.world", "protocols", "--rpc", chain.rpc_url]
    done = subprocess.run([*command, "--key", "nothing"], cwd=CHECKOUT, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "choose from" in done.stderr


def test_what_make_run_builds_is_everything_that_owners_use_and_no_version_that_only_tests_do() -> None:
    worlds = find_protocol_worlds()
    more = set(list_in_run(worlds)) - set(list_plain(worlds))
    assert more == {"uniswap_mining", "uniswap_v4"}
    assert {worlds[key].version_of for key in more} == {"uniswap"}


def test_the_command_builds_v4_and_the_staker_without_being_told_to(chain: World) -> None:
    command = [sys.executable, "-m", "golem_project.embedded.world", "protocols", "--rpc", chain.rpc_url]
    done = subprocess.run(command, cwd=CHECKOUT, capture_output=True, text=True, check=False, timeout=170)
    assert done.returncode == 0, done.stderr
    for key in ("uniswap_v4", "uniswap_mining"):
        assert read_note(chain.rpc, key) is not None


@pytest.mark.parametrize("key", list_plain(find_protocol_worlds()))
def test_what_is_built_lies_where_the_protocol_says(world: World, key: str) -> None:
    world.provide_protocols(key)
    built, protocol = world.protocols[key], SHELF.get(key)
    assert protocol is not None, f"no protocol is called {key}"
    assert dict(protocol.deployments(31337) or {}) == built
    entry = protocol.address(31337, protocol.entry)
    assert entry is not None and world.rpc.call("eth_getCode", entry, "latest") != "0x"


@pytest.mark.protocols("lido", "rocketpool")
def test_what_stands_for_a_stake_has_gained_what_it_has_on_the_public_chain_and_can_be_sold_back(chain: World) -> None:
    ether = 10**18
    lido, rocketpool = chain.protocols["lido"], chain.protocols["rocketpool"]
    (wrapped,) = chain.rpc.read(lido["wsteth"], "stEthPerToken()", returns="(uint256)")
    assert 118 * ether < 100 * wrapped < 122 * ether
    (rate,) = chain.rpc.read(rocketpool["reth"], "getExchangeRate()", returns="(uint256)")
    assert 112 * ether < 100 * rate < 113 * ether
    (waiting,) = chain.rpc.read(rocketpool["deposit_pool"], "getBalance()", returns="(uint256)")
    assert waiting == 5_000 * ether


def test_a_bare_chain_holds_none_of_them(tmp_path: Path, world: World) -> None:
    with run_node(find_anvil(), tmp_path) as url:
        rpc = JsonRpc(url)
        assert all(read_note(rpc, key) is None for key in find_protocol_worlds())
        rpc.close()
