"""What tools decide by a number, just below, at and just above it."""

from __future__ import annotations

from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import pytest

from tools_app.chain.token_lists import _read_row
from tools_app.core.errors import InvalidParams
from tools_app.core.guarded_http import AddressRefused, check_url
from tools_app.protocols.erc8004.math import ONE, name_confidence, name_trend, next_threshold, tier_of
from tools_app.protocols.lido.tools.figures import _decide
from tools_app.protocols.maker_sky.tools import _check_price
from tools_app.protocols.morpho_blue.plan_checks import price_market
from tools_app.subsystems.coding.folder_search import PatternRefused, compile_pattern
from tools_app.subsystems.data.health_score import score_tvl, score_volume
from tools_app.subsystems.lending.tools import parse_health, parse_leverage
from tools_app.toolkit.declared_params import DeclarationRefused, build_declared_model
from tools_app.toolkit.lending import risk_level


@pytest.mark.parametrize(
    ("health", "level"),
    [(11_999, "danger"), (12_000, "warning"), (14_999, "warning"), (15_000, "safe"), (None, "none")],
)
def test_a_loan_is_in_danger_under_one_point_two_and_warned_of_under_one_and_a_half(
    health: int | None, level: str
) -> None:
    assert risk_level(health) == level


@pytest.mark.parametrize(
    ("text", "leverage"), [("1", None), ("1.01", Fraction(101, 100)), ("10", Fraction(10)), ("10.01", None)]
)
def test_leverage_is_more_than_one_and_at_most_ten(text: str, leverage: Fraction | None) -> None:
    if leverage is not None:
        assert parse_leverage(text) == leverage
        return
    with pytest.raises(InvalidParams, match="at most 10"):
        parse_leverage(text)


@pytest.mark.parametrize(("text", "bps"), [("1", None), ("1.0001", 10_001), ("100", 1_000_000), ("100.0001", None)])
def test_a_health_factor_is_more_than_one_and_at_most_a_hundred(text: str, bps: int | None) -> None:
    if bps is not None:
        assert parse_health(text) == bps
        return
    with pytest.raises(InvalidParams, match="at most 100"):
        parse_health(text)


@pytest.mark.parametrize(
    ("dollars_cents", "score"),
    [(99_999, 0), (100_000, 0), (1_000_000, 20), (999_999, 19), (10**10, 100), (10**11, 100)],
)
def test_a_pool_scores_from_a_thousand_dollars_on(dollars_cents: int, score: int) -> None:
    assert score_tvl(dollars_cents * 10_000) == score


@pytest.mark.parametrize(("volume", "score"), [(49, 98), (50, 100), (51, 100)])
def test_a_pool_that_trades_half_of_itself_a_day_scores_full(volume: int, score: int) -> None:
    assert score_volume(volume, 100) == score


def test_a_url_has_five_hundred_characters_at_most() -> None:
    start = "https://example.org/"
    assert check_url(start + "a" * (500 - len(start)), allows_private=False).hostname == "example.org"
    with pytest.raises(AddressRefused, match="short"):
        check_url(start + "a" * (501 - len(start)), allows_private=False)


def test_a_pattern_has_a_thousand_characters_at_most() -> None:
    assert compile_pattern("a" * 1_000) is not None
    with pytest.raises(PatternRefused, match="at most 1000"):
        compile_pattern("a" * 1_001)


def test_a_tool_declares_sixteen_parameters_at_most() -> None:
    def declare(count: int) -> Any:
        return build_declared_model("Tool", {f"p{n}": {"kind": "flag", "description": "d"} for n in range(count)})

    assert len(declare(16).model_fields) == 16
    with pytest.raises(DeclarationRefused, match="at most 16"):
        declare(17)


@pytest.mark.parametrize(("longest", "is_taken"), [(0, False), (1, True), (2_000, True), (2_001, False)])
def test_a_declared_text_is_as_long_as_two_thousand(longest: int, is_taken: bool) -> None:
    declared = {"words": {"kind": "text", "description": "d", "longest": longest}}
    if is_taken:
        build_declared_model("Tool", declared)
        return
    with pytest.raises(DeclarationRefused, match="from 1 to 2000"):
        build_declared_model("Tool", declared)


def token_row(**changes: Any) -> dict[str, Any]:
    plain = {"address": "0x" + "11" * 20, "symbol": "A", "name": "A", "decimals": 18, "chainId": 1}
    return {**plain, **changes}


@pytest.mark.parametrize(("symbol", "is_read"), [("A" * 20, True), ("A" * 21, False), ("", False)])
def test_a_listed_symbol_has_twenty_letters_at_most(symbol: str, is_read: bool) -> None:
    assert (_read_row(token_row(symbol=symbol)) is not None) is is_read


def test_a_listed_name_is_cut_at_sixty_four() -> None:
    read = [_read_row(token_row(name="n" * length)) for length in (64, 65)]
    assert [len(each.name) for each in read if each is not None] == [64, 64]


@pytest.mark.parametrize(("clients", "word"), [(2, "low"), (3, "medium"), (19, "medium"), (20, "high")])
def test_what_clients_say_counts_from_three_and_from_twenty(clients: int, word: str) -> None:
    assert name_confidence(clients) == word


def test_every_tier_begins_at_its_points() -> None:
    least = 0
    while (following := next_threshold(least)) is not None:
        assert tier_of(following - 1) is tier_of(least) and tier_of(following) is not tier_of(least)
        least = following
    assert tier_of(least + 1) is tier_of(least)


@pytest.mark.parametrize(("recent", "word"), [(ONE // 2, "stable"), (ONE, "improving"), (0, "declining")])
def test_a_reputation_moves_by_a_step(recent: int, word: str) -> None:
    assert name_trend([ONE // 2], [recent]) == word


@pytest.mark.parametrize(("discount", "word"), [(9, "sell"), (10, "sell"), (11, "queue")])
def test_a_market_within_a_tenth_of_a_percent_is_better_than_a_queue(discount: int, word: str) -> None:
    decision, _ = _decide(10**18, 86_400, discount, is_stalled=False, is_paused=False)
    assert word in decision.lower()


class Prices:
    """Feeds of 2,000 dollars for the collateral and one for the loan, in 8 decimals."""

    def price(self, token: Any) -> Any:
        return SimpleNamespace(answer=token.answer, decimals=8)

    def preload(self, **_: Any) -> None:
        """Nothing to read ahead."""


ETHER = SimpleNamespace(answer=2_000 * 10**8, decimals=18)
DOLLAR = SimpleNamespace(answer=10**8, decimals=18)


@pytest.mark.parametrize(
    ("bps", "is_refused"), [(10_500, False), (10_501, True), (9_500, False), (9_499, True), (10_000, False)]
)
def test_makers_price_may_be_five_percent_from_the_feeds(bps: int, is_refused: bool) -> None:
    vault = SimpleNamespace(kind=SimpleNamespace(price=2_000 * 10**18 * bps // 10_000))
    opened: Any = SimpleNamespace(reader=Prices(), collateral=ETHER, dai=DOLLAR, vault=vault)
    if is_refused:
        with pytest.raises(Exception, match="more than 5%"):
            _check_price(opened)
        return
    assert _check_price(opened) == 2_000 * 10**18 * min(bps, 10_000) // 10_000


@pytest.mark.parametrize(("bps", "is_refused"), [(10_500, False), (10_501, True), (9_500, False), (9_499, True)])
def test_a_markets_oracle_may_be_five_percent_from_the_feeds(bps: int, is_refused: bool) -> None:
    loan: Any = DOLLAR
    collateral: Any = ETHER
    reader: Any = Prices()
    market: Any = SimpleNamespace(id="0x1", price=2_000 * 10**36 * bps // 10_000)
    if is_refused:
        with pytest.raises(Exception, match="at most 500 are trusted"):
            price_market(reader, market, loan, collateral)
        return
    assert price_market(reader, market, loan, collateral).price == 2_000 * 10**36 * min(bps, 10_000) // 10_000
