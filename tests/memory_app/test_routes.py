"""Memory prefers the route that filled nearest to its previews: learned from outcomes, bounded, and only a wish."""

from __future__ import annotations

import uuid
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.db import IntegrityError, transaction
from django.test import Client
from django.urls import reverse
from hypothesis import given
from hypothesis import strategies as st

from memory_app.actions.consolidate import consolidate, retune
from memory_app.heuristic_adjustment import shift_cost
from memory_app.memory_adjustments import LEARNED_ROUTE, ROUTE_LEFT_OUT, SoftParams, augment
from memory_app.models import Episode, Insight
from memory_app.models.insight import LARGEST_ROUTE_COST_BPS, Tunable
from memory_app.route_learning import Fill, Preference, choose_route
from permits_app.models import ActionPermit, AllowlistEntry, DeniedCall
from tests.live_golem import LiveGolem
from tests.memory_app.factories import NOW, make_golem, remember
from tools_app.core import clock

SWAP: dict[str, Any] = {
    "token_in": "USDC",
    "token_out": "WETH",
    "chain_id": 31337,
    "slippage_bps": 50,
    "deadline": 300,
    "route": None,
    "amount": "500000000",
}
EXPECTED = 166_580_000_000_000_000


def swapped(
    golem: Any,
    route: str,
    lost_bps: int,
    *,
    number: int,
    now: datetime = NOW,
    token_in: str = "USDC",
    spent: int = 500_000_000,
    **given: Any,
) -> Episode:
    """A verified swap of 500 USDC that received `lost_bps` less than its preview said."""
    token_out = "WETH" if token_in == "USDC" else "USDC"

    def deltas(received: int) -> list[dict[str, str]]:
        return [
            {"token": "0x1", "symbol": token_in, "raw": str(-spent)},
            {"token": "0x2", "symbol": token_out, "raw": str(received)},
        ]

    details = {"route_name": route, "token_in": token_in, "token_out": token_out}
    prediction = {"balance_deltas": deltas(EXPECTED), "details": details, "slippage_bps": 50}
    outcome = {"balance_deltas": deltas(EXPECTED - EXPECTED * lost_bps // 10_000), "succeeded": True}
    return remember(
        golem,
        f"swap {number} through {route}",
        permit_id=uuid.uuid4(),
        now=now,
        **{"prediction": prediction, "outcome": outcome, **given},
    )


def learned(golem: Any, *, worse: str = "v3:500", better: str = "v3:3000", lost: int = 40, now: datetime = NOW) -> None:
    for number in range(3):
        swapped(golem, worse, lost, number=number, now=now)
        swapped(golem, better, 0, number=number, now=now)
    consolidate(golem_id=golem.pk, now=now)


@pytest.mark.django_db
def test_the_route_that_filled_nearer_to_its_previews_is_preferred_with_the_episodes_behind_it() -> None:
    golem = make_golem()
    learned(golem)
    found = augment(golem_id=golem.pk, tool_name="uniswap_execute_swap", params=SWAP, now=NOW)
    assert found.soft_params == SoftParams(route_hint="v3:3000@40")
    assert found.changes == {"route": "v3:3000@40"}
    assert LEARNED_ROUTE in found.note
    assert set(found.behind["route"]) == set(Episode.objects.filter(golem=golem).values_list("pk", flat=True))


@pytest.mark.django_db
def test_a_v4_pool_by_its_id_is_learned_and_a_route_longer_than_what_is_kept_is_not() -> None:
    pool = "v4:0x" + "ab" * 32
    for route, learned in ((pool, True), (f"{pool}>USDC>{pool}", False)):
        golem = make_golem()
        for number in range(3):
            swapped(golem, "v3:500", 30, number=number)
            swapped(golem, route, 2, number=10 + number)
        consolidate(golem_id=golem.pk, now=NOW)
        kept = Insight.objects.filter(golem=golem, parameter=Tunable.ROUTE)
        assert kept.exists() is learned


@pytest.mark.django_db
def test_what_the_agent_names_wins_and_a_tool_without_routes_is_told_none() -> None:
    golem = make_golem()
    learned(golem)
    for params in (SWAP | {"route": "v2"}, {name: value for name, value in SWAP.items() if name != "route"}):
        assert (
            "route" not in augment(golem_id=golem.pk, tool_name="uniswap_execute_swap", params=params, now=NOW).changes
        )


@pytest.mark.django_db
def test_a_route_leads_one_way_for_one_pair_on_one_chain() -> None:
    golem = make_golem()
    learned(golem)
    for change in ({"token_in": "WETH", "token_out": "USDC"}, {"token_out": "DAI"}, {"chain_id": 1}):
        found = augment(golem_id=golem.pk, tool_name="uniswap_execute_swap", params=SWAP | change, now=NOW)
        assert "route" not in found.changes


@pytest.mark.django_db
def test_neither_four_episodes_nor_two_of_a_route_nor_a_small_difference_prefer_anything() -> None:
    for worse, better, lost in ((3, 1, 40), (2, 4, 40), (3, 3, 10)):
        golem = make_golem()
        for number in range(worse):
            swapped(golem, "v3:500", lost, number=number)
        for number in range(better):
            swapped(golem, "v3:3000", 0, number=number)
        consolidate(golem_id=golem.pk, now=NOW)
        assert not Insight.objects.filter(golem=golem, parameter=Tunable.ROUTE).exists()


@pytest.mark.django_db
def test_a_revert_is_blamed_on_the_route_only_when_its_price_moved() -> None:
    moved: dict[str, Any] = {"outcome": {"status": "REVERTED", "revert_reason": "Too little received"}}
    late: dict[str, Any] = {"outcome": {"status": "REVERTED", "revert_reason": "Transaction too old"}}
    for outcome, is_preferred in ((moved, True), (late, False)):
        golem = make_golem()
        for number in range(3):
            swapped(golem, "v3:500", 0, number=number, **outcome)
            swapped(golem, "v3:3000", 0, number=number)
        consolidate(golem_id=golem.pk, now=NOW)
        assert Insight.objects.filter(golem=golem, parameter=Tunable.ROUTE).exists() is is_preferred


@pytest.mark.django_db
def test_a_preference_is_doubted_when_the_fills_turn_and_moves_once_in_four_hours() -> None:
    golem = make_golem()
    learned(golem)
    soon, later = NOW + timedelta(hours=1), NOW + timedelta(hours=5)
    for number in range(20):
        swapped(golem, "v3:500", 0, number=100 + number, now=soon)
        swapped(golem, "v3:3000", 60, number=100 + number, now=soon)
    consolidate(golem_id=golem.pk, now=soon)
    row = Insight.objects.get(golem=golem, parameter=Tunable.ROUTE)
    assert (row.route, row.confidence_percent) == ("v3:3000@40", 60)
    retune(golem_id=golem.pk, now=later)
    row.refresh_from_db()
    assert (row.route, row.confidence_percent) == ("v3:500@60", 60)


@given(st.integers(0, LARGEST_ROUTE_COST_BPS), st.integers(0, 10_000))
def test_what_a_route_may_cost_moves_by_a_tenth_and_never_above_its_bound(cost: int, wanted: int) -> None:
    moved = shift_cost(cost_bps=cost, wanted_bps=wanted)
    assert 0 <= moved <= LARGEST_ROUTE_COST_BPS
    assert abs(moved - cost) <= max(1, cost // 10)
    assert (moved - cost) * (wanted - cost) >= 0


@given(st.lists(st.tuples(st.sampled_from(["v2", "v3:500", "v3:3000"]), st.integers(-10_000, 10_000)), max_size=30))
def test_a_preference_rests_on_three_fills_of_each_of_two_routes(rows: list[tuple[str, int]]) -> None:
    fills = [Fill(uuid.uuid4(), route, lost) for route, lost in rows]
    found = choose_route(fills)
    if found is None:
        return
    counts = {route: sum(1 for fill in fills if fill.route == route) for route in ("v2", "v3:500", "v3:3000")}
    assert len(found.episode_ids) >= 5 and counts[found.route] >= 3
    assert 10 < found.cost_bps <= LARGEST_ROUTE_COST_BPS


@pytest.mark.django_db
def test_dust_steers_no_large_swap_and_small_swaps_steer_small_ones() -> None:
    golem = make_golem()
    for number in range(3):
        swapped(golem, "v3:500", 35, number=number, spent=2_000_000)
        swapped(golem, "v3:3000", 0, number=number, spent=2_000_000)
    consolidate(golem_id=golem.pk, now=NOW)

    def hint(amount: int, **given: Any) -> str | None:
        params = SWAP | {"amount": str(amount)} | given
        return augment(
            golem_id=golem.pk, tool_name="uniswap_execute_swap", params=params, now=NOW
        ).soft_params.route_hint

    assert hint(1_000_000_000) is None
    assert hint(20_000_001) is None
    assert hint(20_000_000) == hint(2_000_000) == "v3:3000@35"
    assert hint(2_000_000, exact_output=True) is None


@pytest.mark.django_db
def test_dust_beside_large_fills_does_not_turn_what_they_showed() -> None:
    golem = make_golem()
    for number in range(3):
        swapped(golem, "v3:500", 0, number=number)
        swapped(golem, "v3:3000", 0, number=number)
        swapped(golem, "v3:500", 60, number=100 + number, spent=2_000_000)
    consolidate(golem_id=golem.pk, now=NOW)
    assert not Insight.objects.filter(golem=golem, parameter=Tunable.ROUTE).exists()


_FILLS = st.lists(
    st.builds(
        Fill,
        episode_id=st.uuids(),
        route=st.sampled_from(["v2", "v3:500"]),
        shortfall_bps=st.integers(-500, 500),
        amount=st.integers(100, 10**12),
        is_measured=st.booleans(),
    ),
    max_size=20,
)


@given(_FILLS, st.lists(st.tuples(st.sampled_from(["v2", "v3:500"]), st.integers(-10_000, 10_000)), max_size=30))
def test_fills_below_a_tenth_of_the_largest_change_nothing(fills: list[Fill], dust: list[tuple[str, int]]) -> None:
    largest = max((fill.amount for fill in fills), default=0)
    tiny = [Fill(uuid.uuid4(), route, lost, largest // 10 - 1) for route, lost in dust if largest >= 20]
    assert choose_route([*tiny, *fills]) == choose_route(fills)


@given(_FILLS)
def test_a_preference_reaches_ten_times_a_fill_of_each_route_and_no_further(fills: list[Fill]) -> None:
    found = choose_route(fills)
    assert found is None or found.most_amount <= 10 * max(fill.amount for fill in fills)


def test_what_only_logs_tell_weighs_half() -> None:
    measured = [Fill(uuid.uuid4(), "v2", 0, 100) for _ in range(2)]
    told = [Fill(uuid.uuid4(), "v2", 90, 100, is_measured=False) for _ in range(3)]
    better = [Fill(uuid.uuid4(), "v3:500", -50, 100) for _ in range(3)]
    found = choose_route([*measured, *told, *better])
    assert found is not None and (found.route, found.cost_bps) == ("v3:500", 50)


def test_a_preference_is_said_as_a_swap_takes_it() -> None:
    assert Preference("v3:500>DAI>v2", 12, ()).as_parameter == "v3:500>DAI>v2@12"


@pytest.mark.django_db
@pytest.mark.parametrize("route", ["", "0xbad", "v3:500; DROP", "v3:500@10000000", "recipient=0xbad", "v5:500", "v2\n"])
def test_the_database_holds_no_route_but_a_route(route: str) -> None:
    golem = make_golem()
    learned(golem)
    rows = Insight.objects.filter(golem=golem, parameter=Tunable.ROUTE)
    with pytest.raises(IntegrityError), transaction.atomic():
        rows.update(route=route)
    with pytest.raises(IntegrityError), transaction.atomic():
        rows.update(factor_bps=9_000)


def test_a_golem_whose_swaps_through_one_tier_fell_short_is_given_another_and_told_why(
    live_golem: LiveGolem, admin_client: Client
) -> None:
    plain = live_golem.permit(live_golem.preview()["permit_id"])
    assert plain.bounds["details"]["route_name"] == "v3:500"
    learned(live_golem.golem, now=clock.now())
    permit = live_golem.permit(live_golem.preview()["permit_id"])
    assert permit.bounds["details"]["route_name"] == "v3:3000"
    assert permit.soft_params["changes"]["route"] == permit.params["route"] == "v3:3000@40"
    behind = {str(pk) for pk in Episode.objects.filter(golem=live_golem.golem).values_list("pk", flat=True)}
    assert set(permit.soft_params["behind"]["route"]) == behind
    # The least that must arrive is that of the best route, with the slippage memory left.
    least = int(plain.bounds["receives"][0]["expected"]) * (10_000 - int(permit.params["slippage_bps"])) // 10_000
    assert int(permit.bounds["receives"][0]["bound"]) == least
    page = admin_client.get(reverse("admin:permits_app_actionpermit_change", args=[permit.pk])).content.decode()
    assert "What memory changed" in page and "v3:3000@40" in page
    for pk in behind:
        assert reverse("admin:memory_app_episode_change", args=[pk]) in page
    done = live_golem.commit(str(permit.pk))
    assert done["status"] == "COMMITTED"


def test_a_preferred_route_gives_way_when_it_costs_more_than_its_fills_were_worth(live_golem: LiveGolem) -> None:
    learned(live_golem.golem, lost=15, now=clock.now())
    permit = live_golem.permit(live_golem.preview()["permit_id"])
    assert permit.soft_params["changes"]["route"] == "v3:3000@15"
    assert permit.bounds["details"]["route_name"] == "v3:500"


@pytest.mark.parametrize("cause", ["unknown pool", "router not allowed"])
def test_a_route_that_is_refused_is_left_out_again_and_is_no_denial(live_golem: LiveGolem, cause: str) -> None:
    learned(live_golem.golem, better="v3:10000" if cause == "unknown pool" else "v2", lost=80, now=clock.now())
    Insight.objects.filter(golem=live_golem.golem).exclude(parameter=Tunable.ROUTE).delete()
    if cause == "router not allowed":
        router = live_golem.world.contracts["uniswap_v2_router"]
        assert AllowlistEntry.objects.filter(golem=live_golem.golem, address__iexact=router).delete()[0]
    answer = live_golem.preview()
    permit = ActionPermit.objects.get(pk=answer["permit_id"])
    assert (permit.status, permit.bounds["details"]["route_name"]) == ("CREATED", "v3:500")
    assert permit.soft_params["changes"] == {} and permit.soft_params["behind"] == {}
    assert ROUTE_LEFT_OUT in permit.soft_params["note"]
    assert not DeniedCall.objects.filter(golem=live_golem.golem).exists()
