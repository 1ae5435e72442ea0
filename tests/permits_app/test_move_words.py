"""One line says what an action moves: what leaves, and where nothing leaves what arrives."""

from __future__ import annotations

from typing import Any

import pytest

from permits_app.words.move_words import describe_move


def flow(amount: int, symbol: str, decimals: int = 6) -> dict[str, Any]:
    token = {"address": f"0x{1:040x}", "symbol": symbol, "decimals": decimals}
    return {"expected": str(amount), "bound": str(amount), "token": token}


@pytest.mark.parametrize(
    ("action", "bounds", "told"),
    [
        ("swap", {"spends": [flow(500_000_000, "USDC")], "receives": [flow(1, "WETH", 18)]}, "Swap 500 USDC for WETH"),
        ("supply", {"spends": [flow(10**18, "WETH", 18)], "receives": []}, "Supply 1 WETH"),
        ("borrow", {"spends": [], "receives": [flow(300_000_000, "USDC")]}, "Borrow 300 USDC"),
        ("configure_policy", {}, "Configure policy"),
    ],
)
def test_an_action_is_told_by_what_leaves_and_a_loan_by_what_it_brings(
    action: str, bounds: dict[str, Any], told: str
) -> None:
    assert describe_move(action, bounds) == told
