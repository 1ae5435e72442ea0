"""The public chains are those of pinned packages; without a network the comparison says that it was not run.

What no package tells is compared with rows of its makers' own lists, kept beside this file with their links.
"""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest

from golem_project.embedded.errors import EmbeddedError
from golem_project.embedded.npm import Package, fetch_packages
from tools_app.chain.abi import checksum
from tools_app.chain.deployments import load_deployment
from tools_app.chain.networks import KNOWN_NETWORKS
from tools_app.protocols.curve.addresses import find_places
from tools_app.protocols.erc4626.addresses import find_savings, known_vaults
from tools_app.protocols.ethena.addresses import find_vault
from tools_app.protocols.lido import addresses as lido_addresses
from tools_app.protocols.morpho_blue import addresses as morpho
from tools_app.protocols.rocketpool import addresses as rocketpool_addresses
from tools_app.protocols.sushi_bar.addresses import find_place
from tools_app.protocols.yearn.addresses import known_vaults as yearn_vaults
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
MORPHO = Package(
    name="@morpho-org/morpho-ts",
    version="2.8.0",
    integrity="sha512-I+fSrYjx8VYHgzaTGUdGmxKM7qDrOWNBM4Yz/6hgum2tlCcgb5MN1sJVgztbO4nOk5C9Ly9I752CiyyYr2oeOg==",
    packed_bytes=184_284,
    keep=("lib/esm/addresses.js", "lib/esm/chain.js"),
)
MORPHO_MARKETS = Package(
    name="@morpho-org/morpho-test",
    version="4.0.3",
    integrity="sha512-0iUZw0d7N/BwSkO8/ffApJENHTOm74cl5FijFeyy/MlGmhyOobOq+rCA/AR4n2y3gVI9PABIewas5C+2Xsnr/Q==",
    packed_bytes=7_086,
    keep=("lib/esm/fixtures/markets.js",),
)
MAKER = Package(
    name="@makerdao/dai-plugin-mcd",
    version="1.8.5",
    integrity="sha512-GRbdNr7zeSlbNLCvxMNqa0GgyO6rHeWCcHuUGHTIJOF23iOR3lK7UDSCrrE21J7GK+pp8nDSDJhSNXJkV3puMg==",
    packed_bytes=3_187_888,
    keep=("contracts/addresses/mainnet.json",),
)
LIDO = Package(
    name="@lido-sdk/constants",
    version="3.5.1",
    integrity="sha512-Cwxeu2uf+enLOQ/WJgnp20JIYRDUyelPIIouSNV7hXrZEs2aTZF+PuWn4o2aTdZfapjM4cw2QBN4KHjdTZw6Qg==",
    packed_bytes=5_170,
    keep=("dist/esm/withdrawal_queue.js",),
)
SUSHI = Package(
    name="@sushiswap/core-sdk",
    version="0.1.2",
    integrity="sha512-z7ks+cVG8nH5jiHMtZp4HzdDcnSLEm/Pd+aNav1ZjfgKrsVNNSAs6a6tjoEvK7GRj6XhM4RFyV772y4mIAkxjQ==",
    packed_bytes=181_346,
    keep=("dist/core-sdk.esm.js",),
)
CURVE = Package(
    name="@curvefi/api",
    version="2.70.1",
    integrity="sha512-Ri+DqW7BISubW1pILxMFuaDKMV5I4wuEdgZy9TM9DJtO7O5CB3o3In4PuFngzw0sxoudLIzv93iCHpB6OE3qow==",
    packed_bytes=279_508,
    keep=("lib/constants/network_constants.js", "lib/constants/pools/ethereum.js"),
)
PENDLE_CHAINS = (1, 56, 8453, 42161)
PENDLE = Package(
    name="@pendle/core-v2",
    version="6.11.0",
    integrity="sha512-Q7h2KaYzYl8kZKNPe5qWKHYtdToVEL9FqCH0/5ab9/H34JBdutQoqo8hcggfaPYlziOOQ79dgbWfvyzMDJNQCw==",
    packed_bytes=2_042_361,
    keep=tuple(f"deployments/{chain_id}-core.json" for chain_id in PENDLE_CHAINS),
)
MORPHO_CHAINS = {
    1: "EthMainnet",
    10: "OptimismMainnet",
    130: "Unichain",
    137: "PolygonMainnet",
    8453: "BaseMainnet",
    42161: "ArbitrumMainnet",
}
MAKER_NAMES = {
    "vat": "MCD_VAT",
    "jug": "MCD_JUG",
    "spot": "MCD_SPOT",
    "join_dai": "MCD_JOIN_DAI",
    "cdp_manager": "CDP_MANAGER",
    "get_cdps": "GET_CDPS",
    "join_eth_a": "MCD_JOIN_ETH_A",
    "join_eth_b": "MCD_JOIN_ETH_B",
    "join_eth_c": "MCD_JOIN_ETH_C",
}
LISTS = json.loads((Path(__file__).parent / "official_lists.json").read_text(encoding="utf-8"))
"""Rows of makers' own lists as they stood at the commit of their link, by protocol, and where that stands for several
makers by theirs behind a colon; keys are those of ours.
"""
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


def list_morpho(package: Path) -> dict[int, str]:
    """The package's rows of addresses by chain, as text."""
    text = (package / "lib" / "esm" / "addresses.js").read_text()
    # A later table of the file has rows of the same names.
    text = text[: text.index("\n};")]
    rows = dict(re.findall(r"^    \[ChainId\.(\w+)\]: \{(.*?)^    \}", text, re.MULTILINE | re.DOTALL))
    return {chain_id: rows[name] for chain_id, name in MORPHO_CHAINS.items()}


def told(row: str, name: str) -> str:
    found = re.search(rf'^        {name}: "(0x[0-9a-fA-F]{{40}})"', row, re.MULTILINE)
    assert found is not None, name
    return found[1]


def test_morpho_lies_where_its_authors_say_and_its_markets_are_theirs() -> None:
    rows, protocol = list_morpho(fetch(MORPHO)), SHELF.get("morpho")
    assert protocol is not None
    for chain_id, row in rows.items():
        found = protocol.deployments(chain_id)
        assert found == {"morpho": told(row, "morpho"), "adaptive_curve_irm": told(row, "adaptiveCurveIrm")}, chain_id
    markets = (fetch(MORPHO_MARKETS) / "lib" / "esm" / "fixtures" / "markets.js").read_text()
    theirs = set(re.findall(r'oracle: "(0x\w{40})",\s+irm: \w+,\s+lltv: parseUnits\("([\d.]+)", 16\)', markets))
    ours = {(oracle, f"{tenths / 10:g}") for _, _, _, oracle, tenths in morpho._PUBLIC_MARKETS}
    assert ours and ours <= theirs


def test_maker_lies_where_its_authors_say() -> None:
    listed = json.loads((fetch(MAKER) / "contracts" / "addresses" / "mainnet.json").read_text())
    protocol = SHELF.get("maker")
    assert protocol is not None
    assert protocol.deployments(1) == {key: checksum(listed[name]) for key, name in MAKER_NAMES.items()}


def test_bridged_stakes_are_those_that_lenders_list() -> None:
    wanted = (
        ("wstETH", lido_addresses.BRIDGED, (10, 56, 137, 8453, 42161)),
        ("rETH", rocketpool_addresses.BRIDGED, (10, 42161)),
    )
    for symbol, bridged, chains in wanted:
        for chain_id in chains:
            book = (fetch(BOOK) / "dist" / f"AaveV3{MARKETS[chain_id]}.mjs").read_text()
            listed = re.findall(rf'  {symbol}: \{{\s+decimals: \d+,\s+id: \d+,\s+UNDERLYING: "(\w+)"', book)
            assert [bridged[chain_id]] == listed, (symbol, chain_id)


def test_receipts_and_the_vault_are_those_that_lenders_list() -> None:
    ethereum = list_morpho(fetch(MORPHO))[1]
    book = (fetch(BOOK) / "dist" / "AaveV3Ethereum.mjs").read_text()
    theirs = dict(re.findall(r'  (\w+): \{\s+decimals: \d+,\s+id: \d+,\s+UNDERLYING: "(\w+)"', book))
    lido, rocketpool, vault = (SHELF.get(name) for name in ("lido", "rocketpool", "erc4626"))
    assert lido is not None and rocketpool is not None and vault is not None
    assert lido.address(1, "steth") == told(ethereum, "stEth")
    assert lido.address(1, "wsteth") == told(ethereum, "wstEth") == theirs["wstETH"]
    assert rocketpool.address(1, "reth") == theirs["rETH"]
    assert vault.address(1, "vault") == told(ethereum, "sDai") == theirs["sDAI"]
    ethena, staked = SHELF.get("ethena"), find_vault(1)
    assert ethena is not None and staked is not None
    assert (ethena.address(1, "susde"), staked.asset) == (theirs["sUSDe"], theirs["USDe"])
    savings = find_savings(1)
    assert savings is not None and savings.asset == theirs["USDS"]


def test_the_queue_and_the_bar_lie_where_their_makers_packages_say() -> None:
    queue = (fetch(LIDO) / "dist" / "esm" / "withdrawal_queue.js").read_text()
    bar = (fetch(SUSHI) / "dist" / "core-sdk.esm.js").read_text()
    lido, sushi = SHELF.get("lido"), find_place(1)
    assert lido is not None and sushi is not None
    assert f"[CHAINS.Mainnet]: '{lido.address(1, 'queue')}'" in queue
    assert f"_BAR_ADDRESS[ChainId.MAINNET] = '{sushi.bar}'" in bar
    assert f"_SUSHI_ADDRESS[ChainId.MAINNET] = '{sushi.token}'" in bar


def test_the_pool_of_three_dollars_and_who_pays_its_gauge_are_those_of_their_makers_package() -> None:
    folder, protocol = fetch(CURVE) / "lib" / "constants", SHELF.get("curve")
    assert protocol is not None
    pools, common = ((folder / name).read_text() for name in ("pools/ethereum.js", "network_constants.js"))
    start = pools.index("'3pool': {")
    row = pools[start : pools.index("gauge_abi", start)]
    for word, key in (("swap", "pool_3pool"), ("token", "lp_3pool"), ("gauge", "gauge_3pool")):
        assert f"{word}_address: '{protocol.address(1, key)}'" in row
    ethereum = common[common.index("ALIASES_ETHEREUM") : common.index("ALIASES_POLYGON")]
    for word, key in (("minter", "minter"), ("gauge_controller", "controller")):
        assert re.search(rf"\"{word}\": ['\"]{protocol.address(1, key)}['\"]", ethereum)
    (place,) = find_places(1)
    assert f'"crv": "{place.reward.address}"' in ethereum


@pytest.mark.parametrize("chain_id", PENDLE_CHAINS)
def test_pendle_lies_where_its_makers_package_says_with_every_factory_it_names(chain_id: int) -> None:
    listed = json.loads((fetch(PENDLE) / "deployments" / f"{chain_id}-core.json").read_text())
    told = {key: checksum(each) for key, each in listed.items() if isinstance(each, str) and each.startswith("0x")}
    wanted = {
        "router": told["router"],
        "limit_router": told["limitRouter"],
        "oracle": told["pyYtLpOracle"],
        "pendle": told["PENDLE"],
        **{
            re.sub("V", "_v", ours + key.removeprefix(theirs)): address
            for theirs, ours in (("yieldContractFactory", "yield_factory"), ("marketFactory", "market_factory"))
            for key, address in told.items()
            if key.startswith(theirs)
        },
    }
    protocol = SHELF.get("pendle")
    assert protocol is not None and dict(protocol.deployments(chain_id) or {}) == wanted


def test_pendle_is_served_where_the_texts_want_it_and_nowhere_else() -> None:
    protocol = SHELF.get("pendle")
    assert protocol is not None
    assert {each for each in KNOWN_NETWORKS if not KNOWN_NETWORKS[each].is_dev and protocol.is_on(each)} == {
        1,
        56,
        8453,
        42161,
    }


@pytest.mark.parametrize("name", sorted(LISTS))
def test_what_no_package_lists_lies_where_its_makers_own_list_says(name: str) -> None:
    told, protocol = LISTS[name], SHELF.get(name.partition(":")[0])
    assert protocol is not None
    assert re.fullmatch(r"https://github\.com/[\w.-]+/[\w.-]+/blob/[0-9a-f]{40}/\S+", told["source"])
    ours = protocol.deployments(told.get("chain", 1)) or {}
    assert told["rows"] == {key: ours.get(key) for key in told["rows"]}


def test_every_public_contract_of_these_protocols_is_compared_with_something() -> None:
    by_package = {
        "lido": {"steth", "wsteth", "queue"},
        "rocketpool": {"reth"},
        "sushi_bar": {"bar"},
        "ethena": {"susde"},
        "erc4626": {"vault"},
        "yearn": set(),
        "eigenlayer": set(),
        "liquid_restaking": {"renzo_queue", "renzo_risk"},
        "moonwell": set(),
    }
    for name, keys in by_package.items():
        protocol = SHELF.get(name)
        assert protocol is not None
        rows = [told for each, told in LISTS.items() if each.partition(":")[0] == name]
        for chain_id in {told.get("chain", 1) for told in rows} or {1}:
            listed = {key for told in rows if told.get("chain", 1) == chain_id for key in told["rows"]}
            # What packages say is of Ethereum.
            assert set(protocol.deployments(chain_id) or {}) == listed | (keys if chain_id == 1 else set())


@pytest.mark.parametrize(("name", "chains"), [("yearn", {1, 137, 8453, 42161}), ("erc4626", {1, 130, 8453, 42161})])
def test_vaults_are_known_where_their_makers_list_them_over_a_registered_asset(name: str, chains: set[int]) -> None:
    known = {"yearn": yearn_vaults, "erc4626": known_vaults}[name]
    assert {
        chain_id for chain_id in KNOWN_NETWORKS if not KNOWN_NETWORKS[chain_id].is_dev and known(chain_id)
    } == chains
    for chain_id in chains:
        tokens = {token.address for token in load_deployment(KNOWN_NETWORKS[chain_id]).tokens}
        assert {vault.asset for vault in known(chain_id)} <= tokens
