"""What the money of golems looks like: a course over a week, the assets, loans and ranges; few points and none."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.test import Client
from django.urls import reverse

from archetypes_app.models import Golem
from archetypes_app.owner_group import ensure_owner_group
from permits_app.models import NavSnapshot
from permits_app.pages.money_pictures import POINTS, WEEK, draw_money
from tests import factories
from tests.admin.members import log_in
from tests.admin.rows import page
from tools_app.core import clock

pytestmark = pytest.mark.django_db
USD = 1_000_000


@pytest.fixture
def golem() -> Golem:
    owner = factories.make_owner(name="ana")
    owner.groups.add(ensure_owner_group())
    golem: Golem = factories.make_golem(owner=owner, name="Alpha")
    return golem


@pytest.fixture
def browser(golem: Golem) -> Client:
    return log_in(golem.owner)


def earn(price: int = 0, gas: int = 0, moved: int = 0) -> dict[str, str]:
    return {"price": str(price * USD), "gas": str(gas * USD), "moved": str(moved * USD)}


def keep(golem: Golem, worth: int, hours_ago: float, **columns: object) -> NavSnapshot:
    at = clock.now() - timedelta(hours=hours_ago)
    return factories.make_nav_snapshot(golem=golem, worth=worth * USD, at=at, **columns)


def test_what_was_never_measured_is_said_and_not_drawn(golem: Golem, browser: Client) -> None:
    value, profit = draw_money([golem], now=clock.now()).courses
    assert value.plot is None and profit.plot is None
    for path in (reverse("admin:index"), page("archetypes_app.golem", "change", golem.pk)):
        told = browser.get(path).content.decode()
        assert "Not measured within 7 days." in told and "gx-curve" not in told and "gx-slices" not in told


def test_what_was_measured_once_is_told_in_words(golem: Golem) -> None:
    keep(golem, 1_500, 2)
    value, profit = draw_money([golem], now=clock.now()).courses
    assert value.plot is None and value.instead.startswith("$1,500.00, measured once, 2 h ago")
    assert profit.plot is None and "No profit or loss is known yet" in profit.instead


def test_two_measurements_are_a_line_with_each_value_under_the_pointer(golem: Golem, browser: Client) -> None:
    keep(golem, 1_500, 5, parts=earn(price=999))
    keep(golem, 1_650, 2, parts=earn(price=60, gas=-10, moved=100))
    value, profit = draw_money([golem], now=clock.now()).courses
    assert value.plot is not None and profit.plot is not None
    assert [dot.text.split(",")[0] for dot in value.plot.dots] == ["$1", "$1"]
    assert (value.newest, profit.newest) == ("$1,650.00", "+$50.00"), "what was paid in is no profit"
    told = browser.get(reverse("admin:index")).content.decode()
    assert "<title>$1,650.00, " in told and "<title>USDC: $1,650.00, " in told


def test_golems_and_chains_are_added_up_and_each_keeps_its_value_until_it_is_measured_again(golem: Golem) -> None:
    other = factories.make_golem(owner=golem.owner, name="Beta")
    keep(golem, 1_000, 10)
    keep(other, 300, 9)
    keep(golem, 50, 8, chain_id=31338)
    keep(golem, 1_200, 7, parts=earn(price=200))
    value, profit = draw_money([golem, other], now=clock.now()).courses
    assert value.plot is not None and profit.plot is not None
    assert [dot.text.rsplit(", ", 1)[0] for dot in value.plot.dots] == [
        "$1,000.00",
        "$1,300.00",
        "$1,350.00",
        "$1,550.00",
    ]
    assert profit.newest == "+$200.00"


def test_a_life_of_many_measurements_is_drawn_with_a_bounded_number_of_points(golem: Golem) -> None:
    for number in range(4 * POINTS):
        keep(golem, 1_000 + number, 160 - number / 2, parts=earn(price=1))
    value, profit = draw_money([golem], now=clock.now()).courses
    assert value.plot is not None and profit.plot is not None
    assert POINTS // 2 < len(value.plot.dots) <= POINTS + 1
    assert value.newest == f"${1_000 + 4 * POINTS - 1:,}.00" and profit.newest == f"+${4 * POINTS - 1}.00"


def test_what_is_older_than_a_week_is_not_drawn(golem: Golem) -> None:
    keep(golem, 9_000, WEEK.total_seconds() / 3_600 + 1)
    keep(golem, 1_000, 1)
    value, _ = draw_money([golem], now=clock.now()).courses
    assert value.plot is None and value.newest == "$1,000.00"


def test_assets_are_cut_by_worth_and_the_cuts_fill_the_bar(golem: Golem) -> None:
    row = keep(golem, 100, 1)
    worths = {"USDC": 50, "WETH": 30, "A": 6, "B": 5, "C": 4, "D": 2, "E": 1, "F": 1, "G": 1, "OWED": -7}
    shares = [{"symbol": name, "address": "", "micro_usd": str(worth * USD)} for name, worth in worths.items()]
    NavSnapshot.objects.filter(pk=row.pk).update(holdings={**row.holdings, "shares": shares})
    cut = draw_money([golem], now=clock.now()).slices
    assert [each.symbol for each in cut][:2] == ["USDC", "WETH"] and cut[-1].symbol == "others"
    assert "OWED" not in {each.symbol for each in cut}
    assert sum(each.width for each in cut) == 1_000
    assert [each.begins for each in cut] == [sum(one.width for one in cut[:at]) for at in range(len(cut))]


def test_loans_nearest_to_their_end_come_first_and_liquidity_shows_where_the_price_stands(
    golem: Golem, browser: Client
) -> None:
    factories.make_cage(golem=golem, min_health_bps=15_000)
    row = keep(golem, 100, 1)
    base = {
        "protocol": "Aave V3",
        "is_simulated": False,
        "holds": [],
        "owes": [],
        "micro_usd": "1",
        "debt": "1",
        "free_at": None,
    }
    loans = [
        {**base, "ref": f"aave/{health}", "label": f"Loan {health}", "health_bps": health}
        for health in (40_000, 14_000, 16_000)
    ]
    drawn = {"price": "3,001", "unit": "USDC per WETH", "lower": "2,500", "upper": "3,600", "at": 52, "is_within": True}
    pool = {**base, "ref": "uni/1", "label": "WETH/USDC, no. 7", "health_bps": None, "range": drawn}
    NavSnapshot.objects.filter(pk=row.pk).update(holdings={**row.holdings, "positions": [*loans, pool]})
    pictures = draw_money([golem], now=clock.now())
    assert [(each.label, each.tone, each.percent) for each in pictures.gauges] == [
        ("Loan 14000", "bad", 20),
        ("Loan 16000", "warn", 30),
        ("Loan 40000", "good", 100),
    ]
    assert [(each.label, each.range.at) for each in pictures.ranges] == [("WETH/USDC, no. 7", 52)]
    told = browser.get(page("archetypes_app.golem", "change", golem.pk)).content.decode()
    assert "<title>Health 1.40; your floor is 1.50, at 1.00 it is liquidated</title>" in told
    assert "In range at 3,001 USDC per WETH; 2,500 to 3,600" in told


def test_nobody_sees_the_money_of_another_owner_in_a_picture(golem: Golem) -> None:
    keep(golem, 7_777, 5)
    keep(golem, 7_778, 1)
    stranger = factories.make_owner(name="ben")
    stranger.groups.add(ensure_owner_group())
    assert "7,77" not in log_in(stranger).get(reverse("admin:index")).content.decode()


def test_pictures_ask_no_more_where_there_are_more_golems(golem: Golem, django_assert_max_num_queries: object) -> None:
    golems = [golem, *(factories.make_golem(owner=golem.owner, name=f"more {at}") for at in range(5))]
    for each in golems:
        keep(each, 100, 3)
        keep(each, 110, 1)
    with django_assert_max_num_queries(7):  # type: ignore[operator]
        draw_money(golems, now=clock.now())
