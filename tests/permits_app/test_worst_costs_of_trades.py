"""What a trade may cost at worst: with prices, without them, and of what is no trade."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from permits_app.limits.reserved_parts import SPEND
from permits_app.limits.trading_costs import is_trade, measure_trade, name_pair
from tools_app.chain.feeds import PriceUnavailable


def flow(token: str, bound: int = 0) -> Any:
    return SimpleNamespace(token=SimpleNamespace(address=token, symbol=token), bound=bound)


def plan(**changes: Any) -> Any:
    usual = {
        "spends": (flow("0xB", 1),),
        "receives": (flow("0xA", 1),),
        "changes": (),
        "principals": (),
        "slippage_bps": 50,
        "price_impact_bps": 150,
        "chain_id": 31337,
    }
    return SimpleNamespace(**{**usual, **changes})


class Unpriced:
    def price(self, token: Any) -> Any:
        raise PriceUnavailable("no feed", token=token.address)


VALUE: Any = SimpleNamespace(
    parts=(
        SimpleNamespace(role=SPEND, micro_usd=1_000_000),
        SimpleNamespace(role=SPEND, micro_usd=3_000_000),
        SimpleNamespace(role="gas", micro_usd=7),
    )
)


@pytest.mark.parametrize(
    ("changes", "cost"),
    [
        ({}, 80_000),
        ({"price_impact_bps": None}, 20_000),
        ({"slippage_bps": None}, 60_000),
        ({"slippage_bps": None, "price_impact_bps": None}, 0),
        ({"slippage_bps": 9_000, "price_impact_bps": 9_000}, 4_000_000),
    ],
)
def test_what_has_no_price_is_taken_at_slippage_and_impact_of_all_that_is_spent(
    changes: dict[str, Any], cost: int
) -> None:
    chain: Any = Unpriced()
    measured = measure_trade(plan=plan(**changes), value=VALUE, venue="uniswap", chain=chain)
    assert measured is not None and (measured.micro_usd, measured.venue) == (cost, "uniswap")


@pytest.mark.parametrize(
    "changes",
    [{"spends": ()}, {"receives": ()}, {"changes": (1,)}, {"principals": (1,)}],
    ids=["spends nothing", "brings nothing", "a position", "somebody else's"],
)
def test_what_is_no_trade_costs_nothing_by_trading(changes: dict[str, Any]) -> None:
    chain: Any = Unpriced()
    assert is_trade(plan()) and not is_trade(plan(**changes)) and not is_trade(None)
    assert measure_trade(plan=plan(**changes), value=VALUE, venue="uniswap", chain=chain) is None
    assert measure_trade(plan=plan(), value=VALUE, venue="uniswap", chain=None) is None


def test_a_pair_is_named_by_its_tokens_in_order_and_three_tokens_by_a_digest() -> None:
    assert name_pair(plan()) == "31337:0xA/0xB"
    three = plan(receives=(flow("0xA"), flow("0xC")))
    assert name_pair(three).startswith("31337:") and len(name_pair(three)) == 6 + 32
