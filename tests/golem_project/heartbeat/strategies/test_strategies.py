"""What each strategy wishes, in which order, and what no strategy ever does."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from golem_project.heartbeat.liquidity_plan import RuleWish, Urgency
from golem_project.heartbeat.observation import ObservedToken
from golem_project.heartbeat.strategies.catalog import order_by_risk, parse_strategies, plan_strategies
from golem_project.heartbeat.strategies.limit_ladder import LimitLadder
from golem_project.heartbeat.strategies.regular_purchase import RegularPurchase
from golem_project.heartbeat.strategies.stop_orders import StopOrders
from golem_project.heartbeat.strategies.strategy import Sight
from golem_project.heartbeat.strategies.target_weights import TargetWeights
from tools_app.core.errors import InvalidParams
from tools_app.core.units import BPS
from tools_app.toolkit.enums import Phase
from tools_app.toolkit.views import FeedPrice, TokenMeta

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)
USD = 1_000_000
WETH = TokenMeta(31337, "0x" + "01" * 20, "WETH", 18, "Wrapped Ether", True)
USDC = TokenMeta(31337, "0x" + "02" * 20, "USDC", 6, "USD Coin", True)
DAI = TokenMeta(31337, "0x" + "03" * 20, "DAI", 18, "Dai", True)
ALL: dict[str, dict[str, Any]] = {
    "regular_purchase": {"sold": "USDC", "bought": "WETH", "amount_micro_usd": 100 * USD, "every_hours": 24},
    "target_weights": {"weights": {"WETH": 5_000, "USDC": 3_000, "DAI": 2_000}, "band_bps": 500},
    "stop_orders": {
        "token": "WETH",
        "into": "USDC",
        "stop_micro_usd": 2_000 * USD,
        "goal_micro_usd": 4_500 * USD,
        "profit_bps": 2_500,
        "most_micro_usd": 50_000 * USD,
    },
    "limit_ladder": {
        "token": "WETH",
        "against": "USDC",
        "rungs": [
            {"side": "buy", "price_micro_usd": 2_500 * USD, "amount_micro_usd": 500 * USD},
            {"side": "sell", "price_micro_usd": 3_600 * USD, "amount_micro_usd": 500 * USD},
        ],
    },
    "yield_rotation": {"token": "USDC", "places": ["compound_v3", "moonwell"], "most_micro_usd": 4_000 * USD},
    "loan_keeper": {"act_below_bps": 17_000, "keep_bps": 20_000},
}


def held(token: TokenMeta, units: float, price: float | None) -> ObservedToken:
    feed = None if price is None else FeedPrice("", int(price * 10**8), 8, 0, 0, 0)
    return ObservedToken(token, int(units * 10**token.decimals), feed)


def look(weth: float = 2, usdc: float = 6_000, price: float | None = 3_000, **more: Any) -> Sight:
    tokens = (held(WETH, weth, price), held(USDC, usdc, 1), held(DAI, 0, 1))
    return replace(Sight(now=NOW, account="0x1", phase=Phase.THRIVING, tokens=tokens), **more)


def amounts(wishes: tuple[RuleWish, ...]) -> list[tuple[str, str, int]]:
    return [(each.params["token_in"], each.params["token_out"], int(each.params["amount"])) for each in wishes]


PURCHASE = RegularPurchase("USDC", "WETH", 100 * USD, 24)


@pytest.mark.parametrize(("hours", "buys"), [(None, 1), (0, 0), (23, 0), (24, 1), (240, 1)])
def test_a_regular_purchase_is_due_once_a_period_and_what_was_missed_is_not_made_up_for(
    hours: int | None, buys: int
) -> None:
    done = {} if hours is None else {"regular_purchase": NOW - hours * HOUR}
    assert amounts(PURCHASE.plan(look(last_done=done))) == [(USDC.address, WETH.address, 100 * USD)] * buys


@pytest.mark.parametrize(
    "sight",
    [look(usdc=99), look(phase=Phase.SURVIVAL), replace(look(), tokens=(held(WETH, 1, 3_000),))],
    ids=["too little", "a late phase", "not seen"],
)
def test_a_regular_purchase_waits_where_it_cannot_be_made(sight: Sight) -> None:
    assert PURCHASE.plan(sight) == ()


WEIGHTS = TargetWeights({"WETH": 5_000, "USDC": 5_000}, band_bps=500)


@pytest.mark.parametrize(
    ("usdc", "trades"),
    [
        (6_000, []),
        (7_300, []),
        (8_000, [(USDC.address, WETH.address, 1_000 * USD)]),
        (4_000, [(WETH.address, USDC.address, 333_333_333_333_333_333)]),
    ],
)
def test_weights_are_left_alone_within_their_band_and_brought_back_outside(
    usdc: float, trades: list[tuple[str, str, int]]
) -> None:
    assert amounts(WEIGHTS.plan(look(usdc=usdc))) == trades


def test_weights_trade_no_more_at_once_than_their_owner_said_and_nothing_without_a_price() -> None:
    assert amounts(WEIGHTS.plan(look(usdc=30_000))) == [(USDC.address, WETH.address, 1_000 * USD)]
    assert WEIGHTS.plan(look(usdc=30_000, price=None)) == ()


STOP = StopOrders("WETH", "USDC", stop_micro_usd=2_500 * USD, goal_micro_usd=4_000 * USD, profit_bps=2_500)


@pytest.mark.parametrize(
    ("price", "sold"),
    [(2_501, 0), (2_500, 2 * 10**18), (3_999, 0), (4_000, 5 * 10**17), (None, 0)],
)
def test_a_stop_sells_all_at_its_price_and_a_goal_a_part(price: float | None, sold: int) -> None:
    found = STOP.plan(look(price=price))
    assert [int(each.params["amount"]) for each in found] == ([sold] if sold else [])
    assert all(each.is_leaving for each in found), "neither a memory nor a doubt makes it wait"


def test_a_goal_is_taken_once_a_day_and_a_stop_in_every_phase() -> None:
    assert STOP.plan(look(price=4_200, last_done={"take_profit": NOW - 23 * HOUR})) == ()
    assert STOP.plan(look(price=4_200, last_done={"take_profit": NOW - 24 * HOUR})) != ()
    assert STOP.plan(look(price=2_000, phase=Phase.TERMINAL)) != ()


@pytest.mark.parametrize("price", [2_400, 4_000, None])
def test_nothing_buys_a_token_at_its_stop_or_goal_or_whose_price_cannot_be_told(price: float | None) -> None:
    found = plan_strategies((PURCHASE, WEIGHTS, STOP), look(price=price, usdc=20_000))
    assert WETH.address not in {each.params["token_out"] for each in found}


def test_each_rung_is_carried_out_once() -> None:
    ladder = LimitLadder.parse(ALL["limit_ladder"])
    (buy,) = ladder.plan(look(price=2_400))
    assert amounts((buy,)) == [(USDC.address, WETH.address, 500 * USD)]
    assert ladder.plan(look(price=2_400, last_done={buy.key: NOW - 999 * HOUR})) == ()
    assert ladder.plan(look(price=3_000)) == ()
    (sale,) = ladder.plan(look(price=3_700))
    assert sale.is_leaving and sale.params["token_in"] == WETH.address


@given(st.permutations(list(Urgency)))
def test_what_lowers_a_risk_comes_first_whatever_the_order_it_was_said_in(order: list[Urgency]) -> None:
    wishes = [RuleWish(each.name, "v", "swap", {}, "", urgency=each) for each in order]
    assert [each.rank for each in order_by_risk(wishes)] == sorted(Urgency)


@pytest.mark.parametrize(
    ("kind", "changes", "wrong"),
    [
        ("regular_purchase", {"bought": "usdc"}, "bought"),
        ("regular_purchase", {"every_hours": 0}, "every_hours"),
        ("regular_purchase", {"amount_micro_usd": True}, "amount_micro_usd"),
        ("regular_purchase", {"surprise": 1}, "surprise"),
        ("target_weights", {"weights": {"WETH": 5_000, "USDC": 4_000}}, "weights"),
        ("target_weights", {"weights": {"WETH": 5_000, "weth": 5_000}}, "weights"),
        ("target_weights", {"band_bps": 0}, "band_bps"),
        ("stop_orders", {"stop_micro_usd": 0, "goal_micro_usd": 0}, "stop_micro_usd"),
        ("stop_orders", {"goal_micro_usd": 1_000 * USD}, "goal_micro_usd"),
        ("limit_ladder", {"rungs": []}, "rungs"),
        ("limit_ladder", {"rungs": ALL["limit_ladder"]["rungs"] * 2}, "rungs"),
        ("loan_keeper", {"keep_bps": 17_500}, "keep_bps"),
    ],
)
def test_a_strategy_that_is_not_complete_is_refused_at_its_field(kind: str, changes: Any, wrong: str) -> None:
    with pytest.raises(InvalidParams) as refused:
        parse_strategies({kind: {**ALL[kind], **changes}})
    assert list(refused.value.data["fields"]) == [f"{kind}.{wrong}"]


def test_what_is_stored_is_read_back_as_it_was() -> None:
    found = parse_strategies(ALL)
    assert [each.kind for each in found] == [
        "loan_keeper",
        "stop_orders",
        "target_weights",
        "yield_rotation",
        "limit_ladder",
        "regular_purchase",
    ]
    assert parse_strategies({each.kind: each.as_json() for each in found}) == found
    assert all(each.describe().endswith(".") for each in found)


def _rungs(count: int) -> list[dict[str, Any]]:
    return [{"side": "buy", "price_micro_usd": number * USD, "amount_micro_usd": USD} for number in range(1, count + 1)]


def _shares(count: int) -> dict[str, int]:
    names = [f"T{number}" for number in range(count)]
    return {**dict.fromkeys(names, 1_000), names[0]: BPS - 1_000 * (count - 1)}


@pytest.mark.parametrize(
    ("kind", "name", "edge", "beyond"),
    [
        ("limit_ladder", "rungs", _rungs(20), _rungs(21)),
        ("target_weights", "weights", _shares(8), _shares(9)),
        ("regular_purchase", "amount_micro_usd", USD, USD - 1),
        ("regular_purchase", "amount_micro_usd", 10**15, 10**15 + 1),
    ],
)
def test_a_strategy_is_taken_up_to_its_edge_and_refused_beyond(kind: str, name: str, edge: Any, beyond: Any) -> None:
    assert parse_strategies({kind: {**ALL[kind], name: edge}})
    with pytest.raises(InvalidParams):
        parse_strategies({kind: {**ALL[kind], name: beyond}})
