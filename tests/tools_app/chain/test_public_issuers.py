"""Who stands behind public tokens, and over which bridge they came, is what their makers' own packages say, pinned by
hash. Without a network the comparison says that it was not run.
"""

from __future__ import annotations

import json
import re
from typing import Final

from golem_project.embedded.npm import Package, load_lock
from golem_project.embedded.token_list import LOCK_FILE
from tests.tools_app.protocols.test_public_addresses import BOOK, fetch
from tools_app.chain.abi import checksum
from tools_app.chain.public_issuers import PUBLIC_BRIDGES, PUBLIC_ISSUERS
from tools_app.chain.public_tokens import PUBLIC_TOKENS

SUPERCHAIN: Final = Package(
    name="@eth-optimism/tokenlist",
    version="10.0.1770",
    integrity="sha512-IU6oOLdbMVdCkIgO4X6oZnddLONozCjFHkt6UfDaxrt1v7RqqC3lkjiQJxYMXV66BOhGomggx4MO5tCjtpzcUA==",
    packed_bytes=466_844,
    keep=("dist/optimism.tokenlist.mjs",),
)
CIRCLE: Final = Package(
    name="@circle-fin/bridge-kit",
    version="1.15.1",
    integrity="sha512-CnMoBmZJL4NXYDZ11uHxdQJ+9/h9JQSJPOXmFw0EJRn45m0NqWJFWJgyOH+1Kmt8csDOcBgNLWii4WSn3wS4qA==",
    packed_bytes=663_808,
    keep=("chains.mjs",),
)
SUPERCHAIN_BRIDGES: Final = {
    10: ("optimismBridgeAddress", "Optimism bridge"),
    8453: ("baseBridgeAddress", "Base bridge"),
}
USDT0: Final = "USDT0 (LayerZero)"
NOT_COMPARED: Final = {(137, "DAI"), (137, "WBTC")}
"""No package of their makers says that these came over Polygon's bridge."""


def read_uniswap_list() -> list[dict[str, object]]:
    package = load_lock(LOCK_FILE)["uniswap_default"]
    rows: list[dict[str, object]] = json.loads((fetch(package) / package.keep[0]).read_text())["tokens"]
    return rows


def ours(chain_id: int) -> dict[str, str]:
    """Symbols of the registered tokens of a chain by their addresses."""
    return {checksum(address): symbol for symbol, address, *_ in PUBLIC_TOKENS[chain_id]}


def test_what_came_over_the_bridges_of_optimism_and_base_is_what_their_list_says() -> None:
    text = (fetch(SUPERCHAIN) / SUPERCHAIN.keep[0]).read_text()
    rows = re.findall(r"chainId: (\d+),\s+address: \"(0x[0-9a-fA-F]{40})\"(.*?)\n  \}", text, re.DOTALL)
    for chain_id, (word, bridge) in SUPERCHAIN_BRIDGES.items():
        known = ours(chain_id)
        listed = {
            known[checksum(at)]: word in rest
            for where, at, rest in rows
            if int(where) == chain_id
            if checksum(at) in known
        }
        assert {"USDC", "DAI"} <= set(listed)
        bridged = {symbol for symbol, is_bridged in listed.items() if is_bridged and symbol != "WETH"}
        told = {symbol for (where, symbol), name in PUBLIC_BRIDGES.items() if where == chain_id and name == bridge}
        assert bridged & {*PUBLIC_ISSUERS, "DAI"} == told, chain_id


def test_circle_issues_the_dollars_that_its_own_kit_lists_and_the_others_came_over_a_bridge() -> None:
    text = (fetch(CIRCLE) / CIRCLE.keep[0]).read_text()
    pairs = re.findall(r"chainId: (\d+),(?:(?!chainId:).)*?usdcAddress: '(0x[0-9a-fA-F]{40})'", text, re.DOTALL)
    native = {int(chain_id): checksum(address) for chain_id, address in pairs}
    assert PUBLIC_ISSUERS["USDC"] == "Circle" and len(native) > 5
    for chain_id in PUBLIC_TOKENS:
        for address, symbol in ours(chain_id).items():
            if symbol == "USDC":
                assert (native.get(chain_id) != address) == ((chain_id, symbol) in PUBLIC_BRIDGES), chain_id


def test_dollars_that_two_lists_call_usdt0_came_over_its_bridge_and_no_others() -> None:
    named = {
        (int(str(row["chainId"])), checksum(str(row["address"])))
        for row in read_uniswap_list()
        if row["symbol"] == "USDT0"
    }
    polygon = (fetch(BOOK) / "dist" / "AaveV3Polygon.mjs").read_text()
    lent = re.search(r"\n  USDT0: \{.*?UNDERLYING: \"(0x[0-9a-fA-F]{40})\"", polygon, re.DOTALL)
    assert lent is not None
    named.add((137, checksum(lent[1])))
    found = {
        (chain_id, symbol)
        for chain_id in PUBLIC_TOKENS
        for address, symbol in ours(chain_id).items()
        if (chain_id, address) in named
    }
    assert found == {key for key, name in PUBLIC_BRIDGES.items() if name == USDT0} != set()


def test_other_bridged_tokens_stand_for_the_one_of_ethereum_as_the_pinned_list_says() -> None:
    home = {str(row["address"]): row for row in read_uniswap_list() if row["chainId"] == 1}
    compared = set()
    for (chain_id, symbol), name in PUBLIC_BRIDGES.items():
        if chain_id in SUPERCHAIN_BRIDGES or name == USDT0 or (chain_id, symbol) in NOT_COMPARED:
            continue
        mainnet = next(at for at, each in ours(1).items() if each == symbol)
        extensions = home[mainnet]["extensions"]
        assert isinstance(extensions, dict)
        assert ours(chain_id)[checksum(extensions["bridgeInfo"][str(chain_id)]["tokenAddress"])] == symbol
        compared.add((chain_id, symbol))
    assert compared == {(56, "USDC"), (56, "USDT"), (42161, "DAI"), (42161, "WBTC")}


def test_issuers_are_named_as_the_pinned_list_names_their_tokens() -> None:
    names = {str(row["symbol"]): str(row["name"]) for row in read_uniswap_list() if row["chainId"] == 1}
    assert PUBLIC_ISSUERS["USDT"] in names["USDT"]
    assert set(PUBLIC_ISSUERS) <= set(names), "who keeps the bitcoin behind WBTC no package says"
