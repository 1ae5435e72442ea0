"""Funding: exact amounts, no nonce used up, several at once, and only on the local world."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from golem_project.embedded.errors import EmbeddedError
from golem_project.embedded.world.accounts import derive_account
from golem_project.embedded.world.fund import fund
from golem_project.embedded.world.node import run_node
from golem_project.embedded.world.saved_world import find_anvil
from tests.evm.world import World


def test_funding_adds_exactly_what_was_asked_and_leaves_the_nonce(chain: World) -> None:
    address = derive_account("somebody funded").address
    wanted = {"USDC": 5, "USDT": 6, "DAI": 7, "WBTC": 8, "FEE": 9, "WETH": 10}
    for _ in range(2):
        fund(chain.rpc_url, address, 11, wanted)
    assert int(chain.rpc.call("eth_getBalance", address, "latest"), 16) == 22
    for symbol, amount in wanted.items():
        assert chain.rpc.balance_of(chain.tokens[symbol].address, address) == 2 * amount
    assert chain.rpc.call("eth_getTransactionCount", address, "latest") == "0x0"


def test_more_coins_than_the_owner_has_can_be_given(chain: World) -> None:
    address = derive_account("somebody rich").address
    fund(chain.rpc_url, address, 10**26, {"WETH": 10**26})
    assert int(chain.rpc.call("eth_getBalance", address, "latest"), 16) == 10**26
    assert chain.rpc.balance_of(chain.tokens["WETH"].address, address) == 10**26


def test_eight_fundings_at_once_all_arrive(chain: World) -> None:
    addresses = [derive_account(f"somebody at once {number}").address for number in range(8)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda address: fund(chain.rpc_url, address, 1, {"USDC": 2, "WETH": 3}), addresses))
    for address in addresses:
        assert chain.rpc.balance_of(chain.tokens["USDC"].address, address) == 2
        assert chain.rpc.balance_of(chain.tokens["WETH"].address, address) == 3


@pytest.mark.parametrize(
    ("eth_wei", "tokens", "problem"),
    [(0, {"DOGE": 1}, "No token 'DOGE'"), (-1, {}, "cannot be given"), (0, {"USDC": -1}, "cannot be given")],
)
def test_a_wrong_wish_changes_nothing(chain: World, eth_wei: int, tokens: dict[str, int], problem: str) -> None:
    before = chain.rpc.call("eth_blockNumber")
    with pytest.raises(EmbeddedError, match=problem):
        fund(chain.rpc_url, derive_account("nobody").address, eth_wei, tokens)
    assert chain.rpc.call("eth_blockNumber") == before


def test_a_chain_without_the_world_is_refused(world: World, tmp_path: Path) -> None:
    with run_node(find_anvil(), tmp_path) as url, pytest.raises(EmbeddedError, match="does not hold the local world"):
        fund(url, world.contracts["weth9"], 1, {})


def test_what_a_test_did_is_undone(world: World) -> None:
    address = derive_account("somebody forgotten").address
    snapshot = world.rpc.call("evm_snapshot")
    fund(world.rpc_url, address, 1, {"USDC": 1})
    assert world.rpc.call("evm_revert", snapshot)
    assert world.rpc.balance_of(world.tokens["USDC"].address, address) == 0
