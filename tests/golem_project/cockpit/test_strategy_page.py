"""An owner tries strategies over the recorded past and sees a picture of each beside holding."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from archetypes_app.models import Golem, Heartbeat
from archetypes_app.owner_group import ensure_owner_group
from tests.factories.golems import make_golem, make_owner
from tests.golem_project.heartbeat.loans import lend_out
from tests.golem_project.heartbeat.pulses import RULE
from tests.live_golem import LiveGolem
from tools_app.core import clock
from tools_app.history.bars import hour_of
from tools_app.models.history import BarSpan, FollowedChain, LogSource, PriceBar, SourceKind

USD = 10**6
PURCHASE = {"sold": "USDC", "bought": "WETH", "amount_micro_usd": 100 * USD, "every_hours": 24}
STOP = {"token": "WETH", "into": "USDC", "stop_micro_usd": 2_500 * USD}
HOUR = timedelta(hours=1)


def record(live: LiveGolem, prices: dict[str, Callable[[int], float]], *, hours: int) -> None:
    """What the feeds of tokens answered in each of the last hours, by how many hours ago it was."""
    now = clock.now()
    chain, _ = FollowedChain.objects.get_or_create(
        chain_id=31337,
        defaults={"next_block": 1, "head_hash": "0x", "head_time": now, "followed_at": now, "spent_since": now},
    )
    for symbol, told in prices.items():
        source = LogSource.objects.create(
            chain_id=chain.chain_id,
            address=live.world.tokens[symbol].feed,
            kind=SourceKind.FEED,
            topics=[],
            added_at=now,
            kept_from=now - hours * HOUR,
        )
        PriceBar.objects.bulk_create(bar(source, hour_of(now) - ago * HOUR, told(ago)) for ago in range(1, hours + 1))


def bar(source: LogSource, starts_at: datetime, dollars: float) -> PriceBar:
    answer = int(dollars * 10**8) * 2**192
    edges = dict.fromkeys(("open_x192", "high_x192", "low_x192", "close_x192"), answer)
    return PriceBar(source=source, span=BarSpan.HOUR, starts_at=starts_at, in0=0, in1=0, trades=1, **edges)


def keep(golem: Golem, rule: dict[str, Any] | None = None, **strategies: Any) -> Heartbeat:
    return Heartbeat.objects.create(golem=golem, liquidity_rule=rule or {}, strategies=strategies)


def try_them(user: Any, golem: Golem, days: str = "30") -> Any:
    user.groups.add(ensure_owner_group())
    client = Client()
    client.force_login(user)
    answer = client.post(reverse("try_strategies", args=[golem.pk]), {"days": days})
    assert answer.status_code == 200
    return answer


def read(answer: Any) -> str:
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", answer.content.decode()))


def test_an_owner_sees_what_each_strategy_would_have_done_its_costs_and_its_end_beside_holding(
    live_golem: LiveGolem,
) -> None:
    """Ether fell from 3,000 to 2,400 dollars over 20 days, and stood at that for ten."""
    record(
        live_golem,
        {
            "WETH": lambda ago: 3_000 if ago > 600 else max(2_400, 2_400 + (ago - 240) * 600 / 360),
            "USDC": lambda ago: 1,
        },
        hours=740,
    )
    keep(live_golem.golem, regular_purchase=PURCHASE, stop_orders=STOP)
    answer = try_them(live_golem.owner, live_golem.golem)
    board = answer.context["board"]
    assert [each.title for each in board.each] == ["Stop and goal", "Buys regularly"]
    stop, purchase = board.each
    assert purchase.actions == 31 or purchase.actions == 30
    assert stop.actions == 1 and stop.trades[0].gave == "2 WETH"
    # Two WETH were sold at 2,500 dollars or a little under, less 0.3% and gas; held they would be worth 4,800.
    gained = float(stop.difference.split(" ")[0].lstrip("+$").replace(",", ""))
    assert 170 < gained < 186 and stop.tone == "good"
    together = board.together
    assert together.actions < purchase.actions + stop.actions, "nothing is bought at the stop"
    assert together.plot is not None and together.plot.beside and len(together.plot.dots) <= 122
    assert answer.content.decode().count('<svg class="gx-plot') == 3
    seen = read(answer)
    assert "beside holding" in seen and "costs of trading and gas" in seen and "A trade is taken to cost 0.3%" in seen


def test_what_is_not_recorded_is_said_and_nothing_is_made_up(live_golem: LiveGolem) -> None:
    keep(live_golem.golem, regular_purchase=PURCHASE)
    record(live_golem, {"USDC": lambda ago: 1}, hours=100)
    answer = try_them(live_golem.owner, live_golem.golem)
    assert answer.context["board"].together is None
    assert "Prices of WETH are not recorded yet" in read(answer)


def test_a_run_begins_where_all_prices_are_known(live_golem: LiveGolem) -> None:
    record(live_golem, {"USDC": lambda ago: 1}, hours=700)
    record(live_golem, {"WETH": lambda ago: 3_000}, hours=50)
    keep(live_golem.golem, regular_purchase=PURCHASE)
    answer = try_them(live_golem.owner, live_golem.golem)
    assert answer.context["board"].together.actions in (2, 3)
    assert "All of the prices are known since" in read(answer)


@pytest.mark.protocols("aave_v3")
def test_the_loan_that_is_owed_now_and_the_position_of_liquidity_are_tried_with_the_rest(live_golem: LiveGolem) -> None:
    """Ether fell by half within the last weeks: the loan would have been lost, and is kept."""
    lend_out(live_golem, borrowed=2_900 * USD)
    record(live_golem, {"WETH": lambda ago: 1_500 + min(ago, 600) * 2.5, "USDC": lambda ago: 1}, hours=740)
    heartbeat = keep(live_golem.golem, RULE, loan_keeper={"act_below_bps": 14_000, "keep_bps": 17_000})
    board = try_them(live_golem.owner, live_golem.golem).context["board"]
    keeper, liquidity = board.each
    assert keeper.title == "Keeps loans" and keeper.actions and not keeper.liquidated
    assert "debt" in keeper.trades[0].got
    assert liquidity.title == "Keeps a position of liquidity" and liquidity.actions >= 2
    assert liquidity.liquidated, "nobody kept the loan there"
    assert not board.together.liquidated
    Heartbeat.objects.filter(pk=heartbeat.pk).update(strategies={}, liquidity_rule={})
    assert "has no strategy" in read(try_them(live_golem.owner, live_golem.golem))


@pytest.mark.protocols("compound_v3", "moonwell")
def test_what_lies_where_it_earns_most_is_tried_with_the_rates_of_now_where_none_are_recorded(
    live_golem: LiveGolem,
) -> None:
    record(live_golem, {"USDC": lambda ago: 1, "WETH": lambda ago: 3_000}, hours=740)
    keep(
        live_golem.golem,
        yield_rotation={"token": "USDC", "places": ["compound_v3", "moonwell"], "most_micro_usd": 10_000 * USD},
    )
    answer = try_them(live_golem.owner, live_golem.golem)
    together = answer.context["board"].together
    assert together.actions == 1 and together.trades[0].got.startswith("10000 USDC at ")
    earned = float(together.earned.lstrip("$").replace(",", ""))
    assert 1 < earned < 100
    assert "is not recorded: it is taken as now" in read(answer)


def test_a_golem_that_holds_nothing_is_tried_with_a_sum_that_is_said(live_golem: LiveGolem) -> None:
    record(live_golem, {"USDC": lambda ago: 1, "WETH": lambda ago: 3_000}, hours=740)
    golem = make_golem(owner=live_golem.owner, name="Empty")
    keep(golem, regular_purchase=PURCHASE)
    answer = try_them(live_golem.owner, golem)
    assert answer.context["board"].together.start == "$10,000.00"
    assert "it is tried with $10,000.00 in equal parts" in read(answer)


@pytest.mark.django_db
def test_the_page_is_its_owner_s_alone_and_the_heartbeat_leads_there(client: Client) -> None:
    golem = make_golem(owner=make_owner(name="ana"))
    keep(golem, regular_purchase=PURCHASE)
    client.force_login(golem.owner)
    page = reverse("try_strategies", args=[golem.pk])
    led = client.get(reverse("admin:archetypes_app_heartbeat_try_over_the_past", args=[golem.pk]))
    assert (led.status_code, led.headers["Location"]) == (302, page)
    seen = read(client.get(page))
    assert "$100.00 of USDC are given for WETH every 24 hours" in seen and "Try" in seen
    assert client.post(page, {"days": "31"}).context["form"].errors
    client.force_login(make_owner(name="bob"))
    assert client.get(page).status_code == 404
    assert client.post(page, {"days": "30"}).status_code == 404
