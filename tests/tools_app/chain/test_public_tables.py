"""What the product knows of public chains without being told, against what is known of these tokens elsewhere."""

from __future__ import annotations

from typing import Final

import pytest

from tools_app.chain.public_tokens import PUBLIC_FEEDS, PUBLIC_SEQUENCER_FEEDS, PUBLIC_TOKENS

ETHER, DOLLARS, BITCOIN = 18, 6, 8
DECIMALS: Final = {"USDC": DOLLARS, "USDT": DOLLARS, "DAI": ETHER, "WBTC": BITCOIN}
# On this chain the bridge gave the dollar tokens eighteen.
OTHERWISE: Final = {(56, "USDC"): ETHER, (56, "USDT"): ETHER}
KNOWN: Final = {
    1: "WETH USDC USDT DAI WBTC USDe USDS",
    10: "WETH USDC USDT DAI WBTC",
    56: "WBNB USDC USDT",
    130: "WETH USDC",
    137: "WPOL USDC USDT DAI WBTC",
    324: "WETH",
    8453: "WETH USDC DAI",
    42161: "WETH USDC USDT DAI WBTC",
    43114: "WAVAX USDC USDT",
    81457: "WETH",
}


@pytest.mark.parametrize("chain_id", KNOWN)
def test_a_public_chain_has_its_wrapped_coin_first_and_each_token_with_its_decimals(chain_id: int) -> None:
    rows = PUBLIC_TOKENS[chain_id]
    assert " ".join(symbol for symbol, _, _, _ in rows) == KNOWN[chain_id]
    for symbol, address, decimals, name in rows:
        assert decimals == OTHERWISE.get((chain_id, symbol), DECIMALS.get(symbol, ETHER)), symbol
        assert len(address) == 42 and int(address, 16) > 2**100 and len(name) >= 8


def test_no_other_chain_is_known_and_no_address_stands_for_two_tokens_of_a_chain() -> None:
    assert set(PUBLIC_TOKENS) == set(KNOWN)
    for rows in PUBLIC_TOKENS.values():
        assert len({address for _, address, _, _ in rows}) == len(rows)


def test_a_rollups_own_wrapped_ether_lies_where_the_rollup_put_it() -> None:
    predeploy = "0x4200000000000000000000000000000000000006"
    wrapped = {chain_id: rows[0][1] for chain_id, rows in PUBLIC_TOKENS.items() if rows[0][0] == "WETH"}
    assert [chain_id for chain_id, address in wrapped.items() if address == predeploy] == [10, 130, 8453]
    assert PUBLIC_TOKENS[10][3][1] == PUBLIC_TOKENS[42161][3][1]


def test_a_feed_is_late_after_an_hour_or_a_day_as_its_operator_says() -> None:
    assert {symbol: seconds for symbol, (_, seconds) in PUBLIC_FEEDS[1].items()} == {
        "ETH": 3_600,
        "USDC": 86_400,
        "USDT": 86_400,
        "DAI": 3_600,
        "USDe": 86_400,
        "USDS": 86_400,
    }
    assert len({address for address, _ in PUBLIC_FEEDS[1].values()}) == 6


def test_the_rollups_whose_sequencer_is_watched_have_a_feed_of_their_own_each() -> None:
    assert set(PUBLIC_SEQUENCER_FEEDS) == {10, 324, 8453, 42161}
    assert len(set(PUBLIC_SEQUENCER_FEEDS.values())) == 4
