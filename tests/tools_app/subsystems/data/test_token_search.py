"""Tokens are found by a part of their name, and nothing found that way passes for another."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.evm.world import CHAIN_ID, World
from tests.tools_app.subsystems.data.test_data_tools import read
from tools_app.chain.token_lists import configure_token_list
from tools_app.chain.tokens import TokenNotFound
from tools_app.core.errors import InvalidParams
from tools_app.subsystems.data.token_search import LONGEST_WORDS


@pytest.fixture
def listed(tmp_path: Path) -> Iterator[None]:
    """A published list with two dollars more and one that bears a registered symbol."""
    rows = [
        {"chainId": CHAIN_ID, "address": "0x" + f"{number:040x}", "symbol": symbol, "name": name, "decimals": 18}
        for number, symbol, name in (
            (0x51, "PYUSD", "PayPal Dollar"),
            (0x52, "GUSDX", "Another Dollar"),
            (0x53, "USDC", "USD Coin"),
        )
    ]
    path = tmp_path / "list.json"
    path.write_text(json.dumps({"tokens": rows}), encoding="utf-8")
    configure_token_list(path)
    yield
    configure_token_list(None)


@pytest.mark.usefixtures("listed")
def test_known_tokens_come_first_and_none_that_bears_a_registered_symbol(chain: World) -> None:
    told = read(chain, "data_search_tokens", text="usd", limit=3)
    assert [each["token"]["symbol"] for each in told["tokens"]] == ["USDC", "USDT", "GUSDX"]
    assert [each["source"] for each in told["tokens"]] == ["committed", "committed", "listed"]
    assert told["left_out"] == 1
    assert told["tokens"][0]["token"]["address"] == chain.tokens["USDC"].address
    (by_name,) = read(chain, "data_search_tokens", text="paypal")["tokens"]
    assert by_name["token"]["symbol"] == "PYUSD"


def test_an_address_is_that_token_and_says_whose_word_it_is(chain: World) -> None:
    weth = chain.tokens["WETH"].address
    (told,) = read(chain, "data_search_tokens", text=weth.lower())["tokens"]
    assert (told["token"]["address"], told["source"]) == (weth, "committed")
    with pytest.raises(TokenNotFound):
        read(chain, "data_search_tokens", text="0x" + "11" * 20)
    with pytest.raises(InvalidParams, match="checksum"):
        read(chain, "data_search_tokens", text=weth[:-1] + ("c" if weth[-1] != "c" else "C"))


def test_what_nobody_is_called_and_what_says_nothing_is_refused_with_what_there_is(chain: World) -> None:
    for text in ("no such token", "\u200b"):
        with pytest.raises((TokenNotFound, InvalidParams)) as refused:
            read(chain, "data_search_tokens", text=text)
        assert "USDC" in str(refused.value.data) or refused.value.code == "INVALID_PARAMS"
    assert read(chain, "data_search_tokens", text="Wrapped")["tokens"]
    with pytest.raises(InvalidParams):
        read(chain, "data_search_tokens", text="x" * (LONGEST_WORDS + 1))
