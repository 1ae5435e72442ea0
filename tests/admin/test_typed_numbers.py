"""Numbers as people of every country type them: no form of an owner takes one for another."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse

from archetypes_app.models import Golem
from permits_app.models import OwnerBudget, SpendingLimits
from tests import factories
from tests.admin.rows import opened_as, page

pytestmark = pytest.mark.django_db
LIMITS = {
    "per_transaction_micro_usd": "1,250.50",
    "per_day_micro_usd": "50,000",
    "per_tick_micro_usd": "20,000",
    "per_session_micro_usd": "30000",
    "hot_lane_micro_usd": "500",
    "trading_costs_per_day_micro_usd": "500",
    "trading_costs_per_pair_micro_usd": "500",
    "trading_costs_per_venue_micro_usd": "500",
    "writes_per_hour": "10",
    "most_alike_calls": "12",
    "max_slippage_bps": "0.5",
    "max_price_impact_bps": "2",
    "allowlist_mode": "STRICT",
}
TYPED_ELSEWHERE = [
    ("hot_lane_micro_usd", "500,00", "500.00"),
    ("per_transaction_micro_usd", "2.500,50", "2500.50"),
    ("per_transaction_micro_usd", "1.000,50", "1000.50"),
    ("per_day_micro_usd", "50.000.000", "50000000"),
    ("per_day_micro_usd", "50 000", "gaps"),
    ("max_slippage_bps", "0,5", "0.5"),
    ("max_price_impact_bps", "0,4", "0.4"),
    ("max_slippage_bps", "0,50%", "0.50"),
]


@pytest.fixture
def golem() -> Golem:
    return factories.make_golem(owner=factories.make_owner())


@pytest.fixture
def browser(client: Client, golem: Golem) -> Client:
    client.force_login(golem.owner)
    return client


@pytest.mark.parametrize(("field", "typed", "says"), TYPED_ELSEWHERE)
def test_a_decimal_comma_in_a_limit_is_refused_and_nothing_is_saved(
    browser: Client, golem: Golem, field: str, typed: str, says: str
) -> None:
    row = factories.make_limits(golem=golem)
    before = SpendingLimits.objects.filter(pk=row.pk).values().get()
    url = page("permits_app.spendinglimits", "change", row.pk)
    answer = browser.post(url, {**LIMITS, field: typed} | opened_as(browser, url))
    assert answer.status_code == 200
    (why,) = answer.context["adminform"].form.errors[field]
    assert says in why, "it says what would be understood"
    assert SpendingLimits.objects.filter(pk=row.pk).values().get() == before


@pytest.mark.parametrize(
    ("kind", "text", "answer"),
    [
        ("usd", "50,000", {"read": "$50,000.00"}),
        ("usd", "$1234.5", {"read": "$1,234.50"}),
        ("usd", "0.000001", {"read": "$0.000001"}),
        ("percent", "0.5", {"read": "0.5%"}),
        ("percent", "12%", {"read": "12%"}),
        ("price", "$0.00000012", {"read": "$0.00000012"}),
        ("amount", "1500.25", {"read": "1,500.25"}),
    ],
)
def test_a_page_is_told_what_a_number_is_read_as(browser: Client, kind: str, text: str, answer: dict[str, str]) -> None:
    assert browser.get(reverse("number"), {"kind": kind, "text": text}).json() == answer


def test_a_page_is_told_why_a_number_is_not_understood(browser: Client) -> None:
    told = browser.get(reverse("number"), {"kind": "usd", "text": "500,00"}).json()
    assert list(told) == ["unclear"] and "500.00" in told["unclear"]


def test_nobody_without_a_session_is_answered(client: Client) -> None:
    assert client.get(reverse("number"), {"kind": "usd", "text": "1"}).status_code == 302


@pytest.mark.parametrize("typed", ["500,00", "1.000", "abc", "inf", "1e3", "-1"])
def test_the_command_for_an_owners_budget_reads_numbers_as_the_pages_do(golem: Golem, typed: str) -> None:
    name = golem.owner.get_username()
    if typed == "1.000":
        call_command("owner_budget", name, f"--usd={typed}")
        assert OwnerBudget.objects.get(person=golem.owner).per_day_micro_usd == Decimal(1_000_000)
        return
    with pytest.raises(CommandError):
        call_command("owner_budget", name, f"--usd={typed}")
    assert not OwnerBudget.objects.exists()


def test_a_rule_of_the_heartbeat_takes_no_decimal_comma(browser: Client, golem: Golem) -> None:
    url = page("archetypes_app.heartbeat", "add")
    body: dict[str, Any] = {
        "golem": str(golem.pk),
        "is_on": "",
        "planner": "rule",
        "base_interval_seconds": "60",
        "token_a": "WETH",
        "token_b": "USDC",
        "fee_tier": "3000",
        "target_micro_usd": "1.500,75",
        "half_width_bps": "5",
    }
    answer = browser.post(url, body)
    assert "1500.75" in answer.context["adminform"].form.errors["target_micro_usd"][0]
