"""Every limit with where its value comes from."""

from __future__ import annotations

import pytest
from django.contrib.auth import get_user_model
from django.test import Client

from archetypes_app.actions.sync_builtins import sync_builtins
from archetypes_app.models import Archetype, Golem, ToolProfile
from archetypes_app.profiles import CONSERVATIVE_WRITES_PER_HOUR
from permits_app.models import PolicyCage, SpendingLimits
from permits_app.pages.effective_limits import FROM_OWNER, FROM_SERVER, EffectiveLimit, list_effective_limits
from tests.golem_project.pi.conftest import Agent
from tests.live_golem import LiveGolem


@pytest.fixture
def golem(db: None) -> Golem:
    sync_builtins()
    owner = get_user_model().objects.create(username="ana")
    return Golem.objects.create(name="g", owner=owner, archetype=Archetype.objects.get(name="trade-executor"))


def limits_of(golem: Golem) -> dict[str, EffectiveLimit]:
    return {limit.name: limit for limit in list_effective_limits(golem)}


def test_a_golem_without_rows_has_the_defaults_and_gets_no_rows(golem: Golem) -> None:
    found = limits_of(golem)
    assert {limit.source for limit in found.values()} == {FROM_SERVER}
    assert found["per_transaction_micro_usd"].value == "$10,000.00"
    assert found["writes_per_hour"].value == "20"
    assert found["permit_ttl_seconds"].value == "1 minute"
    assert found["min_rebalance_interval_seconds"].value == "1 hour"
    assert found["max_position_bps"].value == "25%"
    assert found["allowlist_mode"].value == "only what is listed"
    assert not SpendingLimits.objects.exists()


def test_what_the_owner_set_says_so_beside_the_default(golem: Golem) -> None:
    SpendingLimits.objects.create(golem=golem, per_day_micro_usd=5_000_000_000)
    PolicyCage.objects.create(golem=golem, max_assets=3)
    found = limits_of(golem)
    day = found["per_day_micro_usd"]
    assert (day.value, day.default, day.source) == ("$5,000.00", "$100,000.00", FROM_OWNER)
    assert (found["max_assets"].row, found["max_assets"].source) == ("cage", FROM_OWNER)
    assert found["per_tick_micro_usd"].source == FROM_SERVER


@pytest.mark.parametrize(("configured", "value", "is_capped"), [(20, "10", True), (10, "10", False), (4, "4", False)])
def test_a_conservative_profile_caps_writes_and_is_named(
    golem: Golem, configured: int, value: str, is_capped: bool
) -> None:
    SpendingLimits.objects.create(golem=golem, writes_per_hour=configured)
    golem.profiles.set(ToolProfile.objects.filter(name="conservative"))
    limit = limits_of(golem)["writes_per_hour"]
    assert limit.value == value
    assert ("capped by the profile conservative" in limit.source) == is_capped


def test_an_agent_is_told_the_writes_an_hour_that_a_conservative_profile_leaves(live_golem: LiveGolem) -> None:
    agent = Agent(live_golem.golem, live_golem.key, Client())
    told = agent.post("query_state", {"query": "limits"}).json()["data"]["writes_per_hour"]
    assert told["limit"] == told["remaining"] == 500
    careful = ToolProfile.objects.create(name="careful", categories=["trading"], is_conservative=True)
    live_golem.golem.profiles.add(careful)
    told = agent.post("query_state", {"query": "limits"}).json()["data"]["writes_per_hour"]
    assert told["limit"] == told["remaining"] == CONSERVATIVE_WRITES_PER_HOUR
