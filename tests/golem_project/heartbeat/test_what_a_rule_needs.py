"""Limits that a rule needs are told when it is saved and while it waits, each with what mends it."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.messages import get_messages
from django.test import Client
from django.urls import reverse

from archetypes_app.models import Golem, Heartbeat
from golem_project.heartbeat.decision_sentences import tell_decision
from golem_project.heartbeat.rule_needs import ON_TOP_BPS, tell_missing, tell_waiting
from permits_app.models import PolicyCage, SpendingLimits
from tests.factories.golems import make_golem, make_owner
from tests.golem_project.heartbeat.pulses import RULE, tick, turn_on
from tests.live_golem import LiveGolem
from tools_app.core import clock
from tools_app.core.units import BPS

THOUSAND = 1_000_000_000


def _keep(target_micro_usd: int, **limits: int) -> Heartbeat:
    golem = make_golem(name="Keeper", owner=make_owner(name="ana"))
    SpendingLimits.objects.create(golem=golem, **limits)
    PolicyCage.objects.create(golem=golem, max_position_bps=10_000)
    Golem.objects.filter(pk=golem.pk).update(address="0x" + "1" * 40)
    golem = Golem.objects.get(pk=golem.pk)
    return turn_on(golem, rule={**RULE, "target_micro_usd": target_micro_usd}, is_live=False)


@pytest.mark.django_db
def test_the_page_says_when_a_rule_is_saved_which_limit_is_too_low_and_how_to_mend_it(client: Client) -> None:
    owner = make_owner(name="ana")
    golem = make_golem(name="Keeper", owner=owner)
    client.force_login(owner)
    form = {
        "golem": str(golem.pk),
        "is_on": "on",
        "planner": "RULE",
        "base_interval_seconds": "30",
        "token_a": "WETH",
        "token_b": "USDC",
        "fee_tier": "500",
        "half_width_bps": "3",
        "target_micro_usd": "8000",
    }
    answer = client.post(reverse("admin:archetypes_app_heartbeat_add"), form)
    told = " ".join(str(each) for each in get_messages(answer.wsgi_request))
    assert "the limit per transaction is $10,000.00" in told
    assert "Set that limit to $12,000.00 or more, or the position of liquidity to $6,666.66 or less" in told
    page = client.get(reverse("admin:archetypes_app_heartbeat_change", args=[golem.pk])).content.decode()
    assert "Set that limit to $12,000.00 or more" in page, "and it stays on the page as long as it is so"


@pytest.mark.django_db
def test_nothing_is_told_where_every_limit_holds() -> None:
    assert tell_missing(_keep(800_000_000)) == []


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("limits", "said"),
    [
        ({"per_transaction_micro_usd": THOUSAND // 2}, "is refused every time: it comes to $800.00"),
        ({"per_transaction_micro_usd": THOUSAND}, "may be refused: it comes to $800.00"),
        ({"per_tick_micro_usd": THOUSAND}, "the limit per tick is $1,000.00"),
        ({"per_session_micro_usd": THOUSAND}, "the limit per session is $1,000.00"),
        ({"per_day_micro_usd": THOUSAND}, "the limit per day is $1,000.00"),
        ({"writes_per_hour": 2}, "takes 3 transactions in one go and the limit is 2 an hour"),
        ({"max_slippage_bps": 10}, "your limit of 10 bps (0.1%) is used"),
    ],
    ids=str,
)
def test_each_limit_that_stands_in_the_way_is_named(limits: dict[str, int], said: str) -> None:
    (line,) = tell_missing(_keep(800_000_000, **limits))
    assert said in line


@pytest.mark.django_db
@pytest.mark.parametrize("target", [THOUSAND, 7 * THOUSAND, 33 * THOUSAND])
def test_what_is_said_to_mend_it_mends_it(target: int) -> None:
    heartbeat = _keep(target, per_transaction_micro_usd=THOUSAND)
    worst = target * (BPS + ON_TOP_BPS) // BPS
    needed = {f"per_{each}_micro_usd": 3 * worst // 2 for each in ("transaction", "tick", "session", "day")}
    SpendingLimits.objects.filter(golem=heartbeat.golem).update(**needed)
    assert tell_missing(Heartbeat.objects.get(pk=heartbeat.pk)) == []
    fits = THOUSAND * BPS // (BPS + ON_TOP_BPS)
    SpendingLimits.objects.filter(golem=heartbeat.golem).update(per_transaction_micro_usd=THOUSAND)
    Heartbeat.objects.filter(pk=heartbeat.pk).update(liquidity_rule={**RULE, "target_micro_usd": fits})
    assert tell_missing(Heartbeat.objects.get(pk=heartbeat.pk)) == []


@pytest.mark.django_db
def test_a_range_or_a_share_that_the_cage_refuses_is_told_before_a_tick_is_refused() -> None:
    heartbeat = _keep(800_000_000)
    PolicyCage.objects.filter(golem=heartbeat.golem).update(min_range_ticks=1_000, max_position_bps=2_500)
    Heartbeat.objects.filter(pk=heartbeat.pk).update(state={"total_micro_usd": "1600000000"})
    lines = tell_missing(Heartbeat.objects.get(pk=heartbeat.pk))
    assert len(lines) == 2
    assert "the least of the cage is 1000: it is refused every time" in lines[0]
    assert "Make it $400.00 or less" in lines[1]


def test_a_rule_that_waits_says_why_until_when_and_what_would_pass(live_golem: LiveGolem) -> None:
    SpendingLimits.objects.filter(golem=live_golem.golem).update(per_transaction_micro_usd=100_000_000)
    heartbeat = turn_on(live_golem.golem)
    record = tick(live_golem.golem)
    heartbeat.refresh_from_db()
    (line,) = tell_waiting(heartbeat, now=clock.now())
    assert line.startswith("Add liquidity waits until ") and "the limit is $100.00" in line
    assert "What would pass: at most $100.00, gas included. Change the rule, or the limit." in line
    assert any("What would pass: at most $100.00" in each for each in tell_decision(record))


def test_a_rule_that_rehearses_is_not_told_to_wait(live_golem: LiveGolem) -> None:
    heartbeat = turn_on(live_golem.golem, is_live=False)
    tick(live_golem.golem)
    heartbeat.refresh_from_db()
    waits: dict[str, Any] = heartbeat.state["waits"]
    assert waits and tell_waiting(heartbeat, now=clock.now()) == []
