"""A token list adds names the committed tokens lack, and never takes one over."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tools_app.chain import token_lists
from tools_app.chain.networks import KNOWN_NETWORKS
from tools_app.chain.public_tokens import PUBLIC_TOKENS
from tools_app.chain.token_lists import choose_listed, configure_token_list, list_listed_tokens
from tools_app.chain.tokens import TokenNotFound, TokenRegistry
from tools_app.toolkit.views import TokenMeta

NEW = "0x1111111111111111111111111111111111111111"
OTHER = "0x2222222222222222222222222222222222222222"
USDC = PUBLIC_TOKENS[1][1]
OWN = (TokenMeta(1, USDC[1], "USDC", 6, "USD Coin", True),)


def row(symbol: str, address: str = NEW, *, chain: int = 1, decimals: int = 18) -> dict[str, object]:
    return {"chainId": chain, "address": address, "symbol": symbol, "name": f"{symbol} token", "decimals": decimals}


@pytest.fixture
def listed(tmp_path: Path) -> Iterator[Path]:
    path = tmp_path / "list.json"
    yield path
    configure_token_list(None)


def load(path: Path, *rows: object) -> list[str]:
    path.write_text(json.dumps({"tokens": rows}))
    configure_token_list(path)
    return [token.symbol for token in choose_listed(OWN, list_listed_tokens(1))]


def test_a_listed_token_is_found_by_symbol_and_address(listed: Path) -> None:
    assert load(listed, row("NEW")) == ["NEW"]
    registry = TokenRegistry(KNOWN_NETWORKS[1], OWN, listed=choose_listed(OWN, list_listed_tokens(1)))
    assert registry.by_symbol("new").address == NEW
    found = registry.by_address(NEW)
    assert found is not None and found.is_registered
    assert registry.tokens == OWN
    assert registry.is_impostor("NEW")


@pytest.mark.parametrize(
    "bad",
    [
        row("USDC"),
        row("usdc"),
        row("UЅDC"),
        row("MINE", USDC[1]),
        row("NEW", chain=10),
        row("NEW", "So11111111111111111111111111111111111111112"),
        row("NEW", decimals=37),
        row("A B"),
        row("A​B"),
        row("X" * 21),
        row(""),
    ],
)
def test_a_row_that_does_not_fit_is_left_out(listed: Path, bad: dict[str, object]) -> None:
    assert load(listed, bad, row("GOOD", OTHER)) == ["GOOD"]


def test_a_symbol_of_two_tokens_names_neither(listed: Path) -> None:
    assert load(listed, row("TWIN"), row("TWIN", OTHER)) == []


@pytest.mark.parametrize("content", ["", "[]", '{"tokens": 3}', '{"tokens": [{"chainId": 1}]}'])
def test_a_broken_list_leaves_the_committed_tokens(listed: Path, content: str) -> None:
    listed.write_text(content)
    configure_token_list(listed)
    assert list_listed_tokens(1) == ()


def test_an_absent_list_is_said_and_the_registry_works(listed: Path, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level("INFO", logger=token_lists.__name__):
        configure_token_list(listed)
    assert "only the committed tokens" in caplog.text
    registry = TokenRegistry(KNOWN_NETWORKS[1], OWN, listed=choose_listed(OWN, list_listed_tokens(1)))
    assert registry.by_symbol("USDC").address == USDC[1]
    with pytest.raises(TokenNotFound):
        registry.by_symbol("NEW")
