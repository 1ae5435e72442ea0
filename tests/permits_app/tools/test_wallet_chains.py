"""Where a golem can act is told with how it is, and an address by the code that is there."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

import permits_app.tools.wallet_chains  # noqa: F401  declares the tools
from golem_project.embedded.world.accounts import derive_account
from tests.evm.world import CHAIN_ID, World
from tests.tools_app.factories import answer_of, make_context
from tools_app.chain.chains import configure_chains
from tools_app.chain.networks import KNOWN_NETWORKS, with_rpc_urls

ETH = 10**18


def test_a_chain_that_answers_is_healthy_and_one_that_does_not_is_down(chain: World) -> None:
    context = make_context(chain)
    here = with_rpc_urls(KNOWN_NETWORKS[CHAIN_ID], [chain.rpc_url])
    configure_chains([here, with_rpc_urls(KNOWN_NETWORKS[8453], ["http://127.0.0.1:9"])])
    try:
        base, local = answer_of(context, "wallet_get_supported_chains")["chains"]
    finally:
        configure_chains([here])
    assert (local["chain_id"], local["rpc_status"], local["reason"]) == (CHAIN_ID, "healthy", None)
    assert local["block_number"] == int(chain.rpc.call("eth_blockNumber"), 16)
    assert local["markets"] == ["uniswap"] and local["is_private"]
    assert (base["chain_id"], base["rpc_status"], base["block_number"]) == (8453, "down", None)
    assert base["reason"] is not None


@pytest.mark.parametrize("seconds", [60, 61])
def test_a_chain_whose_blocks_are_late_is_degraded(chain: World, seconds: int) -> None:
    """Ten times of a block and a minute are waited for; a private chain, which waits for work, is never late."""
    chain.rpc.call("evm_mine")
    context = make_context(chain)
    network = with_rpc_urls(replace(KNOWN_NETWORKS[CHAIN_ID], is_dev=False), [chain.rpc_url])
    made = int(chain.rpc.call("eth_getBlockByNumber", "latest", False)["timestamp"], 16)
    late = 10 * network.block_seconds + seconds
    now = context.now + timedelta(seconds=made + late - context.now.timestamp())
    configure_chains([network])
    try:
        [told] = answer_of(replace(context, now=now), "wallet_get_supported_chains")["chains"]
    finally:
        configure_chains([with_rpc_urls(KNOWN_NETWORKS[CHAIN_ID], [chain.rpc_url])])
    assert told["rpc_status"] == ("healthy" if seconds == 60 else "degraded")
    assert told["reason"] == (None if seconds == 60 else f"its newest block is {late} s old")


def test_an_address_is_told_by_the_code_that_is_there(chain: World) -> None:
    def ask(address: str) -> tuple[str, bool, str | None]:
        told = answer_of(make_context(chain), "wallet_detect_account_type", address=address)
        assert told["code_size"] == (len(chain.rpc.call("eth_getCode", address, "latest")) - 2) // 2
        return told["account_type"], told["has_code"], told["delegates_to"]

    key = derive_account("nobody yet").address
    assert ask(key) == ("eoa", False, None)
    assert ask(chain.tokens["USDC"].address) == ("contract", True, None)
    # An account that runs somebody's code still has its key.
    delegate = chain.tokens["WETH"].address
    chain.rpc.call("anvil_setCode", key, "0xef0100" + delegate[2:].lower())
    assert ask(key) == ("eoa", True, delegate)
    # A contract that names a contract as its entry point: PUSH20, and returned as a word.
    smart = derive_account("a smart account").address
    chain.rpc.call("anvil_setCode", smart, f"0x73{delegate[2:].lower()}60005260206000f3")
    assert ask(smart)[0] == "erc4337"
