"""The USDC in which answers are sold on public chains is the one that the standard's own clients know."""

from __future__ import annotations

import pytest
from x402.mechanisms.evm.default_assets import DEFAULT_ASSETS

from tools_app.chain.public_tokens import PUBLIC_TOKENS


@pytest.mark.parametrize("chain_id", [1, 137, 8453, 42161, 43114])
def test_the_usdc_of_each_chain_is_the_one_that_the_standards_package_lists(chain_id: int) -> None:
    [listed] = [each for each in DEFAULT_ASSETS[f"eip155:{chain_id}"] if each["symbol"] == "USDC"]
    known = [address for symbol, address, _, _ in PUBLIC_TOKENS[chain_id] if symbol == "USDC"]
    assert (known, listed["decimals"], listed["version"]) == ([listed["asset"]], 6, "2")
