"""Addresses are data: checksummed, complete on every chain, and on the local chain really contracts."""

from __future__ import annotations

from dataclasses import asdict

import pytest
from eth_utils import is_checksum_address

from tests.evm.world import World
from tests.tools_app.factories import make_context
from tools_app.chain.networks import KNOWN_NETWORKS, ChainNotSupported
from tools_app.protocols.uniswap.addresses import CHAINS, deployment_on
from tools_app.standards.receipts import explorer_url


@pytest.mark.parametrize("chain_id", sorted(CHAINS))
def test_every_address_of_a_chain_is_checksummed_and_used_once(chain_id: int) -> None:
    contracts = {name: value for name, value in asdict(deployment_on(chain_id)).items() if name != "chain_id"}
    assert all(is_checksum_address(address) for address in contracts.values()), contracts
    assert len(set(contracts.values())) == len(contracts)


def test_the_chains_are_those_of_the_product_and_the_local_one() -> None:
    assert frozenset({1, 8453, 130, 42161, 10, 137, 56, 43114, 31337}) == CHAINS
    assert set(KNOWN_NETWORKS) >= CHAINS


def test_an_unknown_chain_is_refused_with_the_known_ones() -> None:
    with pytest.raises(ChainNotSupported) as refused:
        deployment_on(5)
    assert refused.value.data["chains"] == sorted(CHAINS)


def test_the_local_contracts_know_each_other(world: World) -> None:
    reader, found = make_context(world).chain(), deployment_on(31337)
    assert reader.call(found.v3_router, "function factory() view returns (address)")[0] == found.v3_factory
    assert reader.call(found.v3_router, "function factoryV2() view returns (address)")[0] == found.v2_factory
    assert reader.call(found.v2_router, "function WETH() view returns (address)")[0] == found.wrapped_native
    assert reader.call(found.v3_quoter, "function factory() view returns (address)")[0] == found.v3_factory
    assert reader.call(found.v3_position_manager, "function WETH9() view returns (address)")[0] == found.wrapped_native


def test_a_transaction_has_a_page_on_public_chains_only() -> None:
    assert explorer_url(1, "0xabc") == "https://etherscan.io/tx/0xabc"
    assert explorer_url(31337, "0xabc") is None
