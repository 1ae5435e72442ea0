"""What an agent leaves out follows the market its golem measured: stricter, told, bound, and never looser."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.utils.dateparse import parse_datetime

from archetypes_app.models import Heartbeat
from archetypes_app.models.tick import Regime
from permits_app.models import ActionPermit, SpendingLimits
from permits_app.permits.market_defaults import FRESH_FOR
from permits_app.permits.plan_store import decode_plan
from tests.adversary.conftest import SWAP, Adversary
from tests.adversary.conftest import adversary as adversary
from tests.golem_project.heartbeat.pulses import tick, turn_on
from tools_app.core import clock

PLAIN = {"slippage_bps": 50, "deadline": 300}
WISH = {name: value for name, value in SWAP.items() if name not in PLAIN}


def permit_for(adversary: Adversary, **asked: Any) -> ActionPermit:
    status, answer = adversary.preview(**{**WISH, "venue": "uniswap", **asked})
    assert status == 200, answer
    return ActionPermit.objects.get(pk=answer["permit_id"])


def planned(permit: ActionPermit) -> dict[str, int]:
    return {name: permit.params[name] for name in PLAIN}


def look(adversary: Adversary, *, earlier_bps: list[int]) -> Regime:
    """Two ticks of the golem's own heartbeat; between them its memory of prices becomes shares of the one it saw."""
    turn_on(adversary.live.golem, is_live=False)
    tick(adversary.live.golem)
    clock_row = Heartbeat.objects.get(golem=adversary.live.golem)
    price = int(clock_row.state["expected_price"])
    clock_row.state["prices"] = [str(price * share // 10_000) for share in earlier_bps]
    clock_row.save(update_fields=["state"])
    return Regime(tick(adversary.live.golem).regime)


@pytest.mark.parametrize(
    ("earlier_bps", "regime", "expected"),
    [
        ([10_000] * 6, Regime.CALM, {"slippage_bps": 25, "deadline": 300}),
        ([9_950, 10_040, 9_970], Regime.NORMAL, PLAIN),
        ([9_880, 9_900, 9_950], Regime.TRENDING, {"slippage_bps": 50, "deadline": 240}),
        ([10_000, 9_600, 10_000], Regime.VOLATILE, {"slippage_bps": 50, "deadline": 150}),
        ([12_000, 11_000, 10_500], Regime.CRISIS, {"slippage_bps": 50, "deadline": 90}),
    ],
)
def test_what_is_left_out_follows_the_market_and_is_told_with_its_reason(
    adversary: Adversary, earlier_bps: list[int], regime: Regime, expected: dict[str, int]
) -> None:
    assert look(adversary, earlier_bps=earlier_bps) is regime
    permit = permit_for(adversary)
    assert planned(permit) == expected
    told = permit.expected_outcome
    assert {name: told["parameters"][name] for name in PLAIN} == expected
    for name, plain in PLAIN.items():
        word = told["parameters_from"][name]
        if expected[name] == plain:
            assert word == "default"
        else:
            assert word.startswith(f"market {regime.value} at ")
            assert word.endswith(f": {expected[name]}, not the default {plain}")
    assert told["parameters_from"]["amount"] == "asked"
    assert set(told["parameters_from"]) == set(told["parameters"])


def test_the_plan_that_is_signed_holds_what_the_market_made_stricter(adversary: Adversary) -> None:
    look(adversary, earlier_bps=[10_000] * 6)
    permit = permit_for(adversary)
    [flow] = decode_plan(permit).receives
    assert flow.bound >= flow.expected * (10_000 - 25) // 10_000 > flow.expected * (10_000 - 50) // 10_000
    assert permit.expected_outcome["slippage_bps"] == 25
    assert adversary.ask("commit_action", {"permit_id": str(permit.pk)})[1]["status"] == "COMMITTED"


def test_what_the_agent_asked_for_stays_whatever_the_market_does(adversary: Adversary) -> None:
    look(adversary, earlier_bps=[10_000] * 6)
    permit = permit_for(adversary, slippage_bps=60, deadline=600)
    assert planned(permit) == {"slippage_bps": 60, "deadline": 600}
    assert permit.expected_outcome["parameters_from"]["slippage_bps"] == "asked"


@pytest.mark.parametrize("limit", [5, 20, 100])
def test_a_default_of_the_market_is_within_the_owners_limit(adversary: Adversary, limit: int) -> None:
    look(adversary, earlier_bps=[10_000] * 6)
    SpendingLimits.objects.filter(golem=adversary.live.golem).update(max_slippage_bps=limit)
    assert permit_for(adversary).params["slippage_bps"] == min(25, limit)


@pytest.mark.parametrize("left", ["old", "unreadable", "none", "tomorrow"])
def test_a_regime_that_is_old_or_unknown_changes_nothing(adversary: Adversary, left: str) -> None:
    look(adversary, earlier_bps=[10_000] * 6)
    row = Heartbeat.objects.get(golem=adversary.live.golem)
    moment = parse_datetime(row.state["regime_seen_at"])
    assert moment is not None
    row.state["regime_seen_at"] = {
        "old": (moment - FRESH_FOR).isoformat(),
        "unreadable": "yesterday",
        "none": None,
        "tomorrow": (clock.now() + timedelta(days=1)).isoformat(),
    }[left]
    row.save(update_fields=["state"])
    permit = permit_for(adversary)
    assert planned(permit) == PLAIN
    assert permit.expected_outcome["parameters_from"]["deadline"] == "default"


def test_an_action_stays_equal_when_the_market_changes_between_two_asks(adversary: Adversary) -> None:
    calm = adversary.preview(**{**WISH, "venue": "uniswap"})[1]
    look(adversary, earlier_bps=[10_000, 9_600, 10_000])
    again = adversary.preview(**{**WISH, "venue": "uniswap"})[1]
    hashes = set(
        ActionPermit.objects.filter(pk__in=[calm["permit_id"], again["permit_id"]]).values_list(
            "action_hash", flat=True
        )
    )
    assert len(hashes) == 1


def test_a_golem_whose_heartbeat_never_ran_has_the_plain_defaults(adversary: Adversary) -> None:
    assert planned(permit_for(adversary)) == PLAIN
