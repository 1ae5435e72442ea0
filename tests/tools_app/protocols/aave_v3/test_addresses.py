"""The public chains are those of the pinned packages; without a network the comparison says that it was not run."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from golem_project.embedded.errors import EmbeddedError
from golem_project.embedded.npm import Package, fetch_packages
from tools_app.chain.abi import checksum
from tools_app.toolkit.protocol import SHELF

MARKETS = {
    1: "Ethereum",
    10: "Optimism",
    56: "BNB",
    137: "Polygon",
    324: "ZkSync",
    8453: "Base",
    42161: "Arbitrum",
    42220: "Celo",
    43114: "Avalanche",
}
BOOK = Package(
    name="@bgd-labs/aave-address-book",
    version="4.44.22",
    integrity="sha512-25dt74TdSJxpCu++QbfRcsSlXZJ2HnktkzekVa0n97X/wNDmJx49GxzZLQI3wIAvSsY/iNRGwBMsHq/LTc1qUg==",
    packed_bytes=1_772_172,
    keep=tuple(f"dist/AaveV3{name}.mjs" for name in MARKETS.values()),
)
SECOND = Package(
    name="@oasisdex/addresses",
    version="0.1.92",
    integrity="sha512-cj8xj7PuT9ZEVoF9IhfghRsmrW/ui/Jz3CUyCP2x3gQ5mdf6rKgMe8PPwtrpfVCgcBYWn/wpN0L9JO8EuIy8Zw==",
    packed_bytes=57_564,
    keep=("lib/index.js",),
)
NAMES = {
    "pool": "POOL",
    "addresses_provider": "POOL_ADDRESSES_PROVIDER",
    "oracle": "ORACLE",
    "data_provider": "AAVE_PROTOCOL_DATA_PROVIDER",
    "pool_configurator": "POOL_CONFIGURATOR",
    "acl_manager": "ACL_MANAGER",
}


def fetch(package: Package) -> Path:
    try:
        return fetch_packages([package])[package.name]
    except EmbeddedError as error:
        if os.environ.get("CI"):
            raise
        pytest.skip(f"not run: {error}")


def test_public_chains_are_those_of_the_address_book() -> None:
    folder, protocol = fetch(BOOK), SHELF.get("aave_v3")
    assert protocol is not None
    for chain_id, name in MARKETS.items():
        text = (folder / "dist" / f"AaveV3{name}.mjs").read_text()
        listed = dict(re.findall(r'^var (\w+) = "(0x[0-9a-fA-F]{40})";', text, re.MULTILINE))
        found = protocol.deployments(chain_id)
        assert found == {key: checksum(listed[theirs]) for key, theirs in NAMES.items()}, name
    assert not protocol.is_on(81457)


def test_the_second_lender_of_this_code_lies_where_its_package_says() -> None:
    text, protocol = (fetch(SECOND) / "lib" / "index.js").read_text(), SHELF.get("spark")
    assert protocol is not None
    found = protocol.deployments(1)
    assert found is not None
    for key, name in {"pool": "LendingPool", "oracle": "Oracle", "data_provider": "PoolDataProvider"}.items():
        assert f'name:"{name}",address:"{found[key]}"' in text
