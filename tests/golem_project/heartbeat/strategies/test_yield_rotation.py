"""A token lies where it earns most of the places its owner chose, and moves only where that pays the way."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from archetypes_app.models import Heartbeat
from golem_project.heartbeat.liquidity_plan import Urgency
from golem_project.heartbeat.observation import ObservedToken
from golem_project.heartbeat.strategies.catalog import plan_strategies
from golem_project.heartbeat.strategies.stop_orders import StopOrders
from golem_project.heartbeat.strategies.strategy import SeenPlace, Sight
from golem_project.heartbeat.strategies.target_weights import TargetWeights
from golem_project.heartbeat.strategies.yield_rotation import MOVE_IN, YieldRotation
from golem_project.heartbeat.yield_places import see_places
from permits_app.models import ActionPermit
from permits_app.models.action_record import ActionRecord
from tests.golem_project.heartbeat.loans import include, lend_out
from tests.golem_project.heartbeat.pulses import tick, turn_on
from tests.golem_project.heartbeat.test_rule_planner import done_in
from tests.live_golem import LiveGolem
from tests.tools_app.factories import make_context
from tools_app.apps import load_registry
from tools_app.core import clock
from tools_app.core.errors import InvalidParams
from tools_app.portfolio.holdings import HeldPosition, Holdings
from tools_app.portfolio.read_all_positions import read_positions
from tools_app.protocols.compound_v3.protocol import PROTOCOL as COMPOUND
from tools_app.subsystems.intel.compare_yields import list_offers
from tools_app.toolkit.enums import Phase
from tools_app.toolkit.positions import Leg, Position, PositionRef
from tools_app.toolkit.protocol import SHELF
from tools_app.toolkit.registry import REGISTRY
from tools_app.toolkit.tooldef import WriteTool
from tools_app.toolkit.views import NATIVE, FeedPrice, TokenMeta
from tools_app.toolkit.yields import Door, YieldKind, YieldOffer

COMET = str(COMPOUND.address(31337, "comet_usdc"))
NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)
USD, ETH, GWEI = 10**6, 10**18, 10**9
USDC = TokenMeta(31337, "0x" + "02" * 20, "USDC", 6, "USD Coin", True)
COIN = TokenMeta(31337, NATIVE, "ETH", 18, "Ether", True)
STORED: dict[str, Any] = {"token": "USDC", "places": ["compound_v3", "moonwell"], "most_micro_usd": 4_000 * USD}
ROTATION = YieldRotation.parse(STORED)


@pytest.fixture(autouse=True)
def tools() -> Iterator[None]:
    load_registry()
    yield


def place(name: str, ppm: int | None, held: int = 0, **more: Any) -> SeenPlace:
    doors = {"way_in": Door(f"{name}_supply", {}), "way_out": Door(f"{name}_withdraw", {})}
    tied = more.pop("is_tied", False)
    return SeenPlace(
        YieldOffer(name, name, name, YieldKind.LENDING, ppm, "", **{**doors, **more}), USDC.address, held, tied
    )


def look(*places: SeenPlace, usdc: int = 10_000, gwei: int = 1, **more: Any) -> Sight:
    tokens = (
        ObservedToken(USDC, usdc * USD, FeedPrice("", 10**8, 8, 0, 0, 0)),
        ObservedToken(COIN, ETH, FeedPrice("", 3_000 * 10**8, 8, 0, 0, 0)),
    )
    seen = Sight(now=NOW, account="0x1", phase=Phase.THRIVING, tokens=tokens, places=places, gas_wei=gwei * GWEI)
    return replace(seen, **more)


def wanted(sight: Sight, rotation: YieldRotation = ROTATION) -> list[tuple[str, Any]]:
    return [(each.venue, each.params.get("amount")) for each in rotation.plan(sight)]


def test_it_goes_where_the_rate_is_highest_with_what_its_owner_lets() -> None:
    sight = look(place("compound_v3", 30_000), place("moonwell", 50_000))
    assert wanted(sight) == [("moonwell", str(4_000 * USD))]
    assert wanted(sight, replace(ROTATION, keep_micro_usd=9_000 * USD)) == [("moonwell", str(1_000 * USD))]
    assert wanted(replace(sight, phase=Phase.SURVIVAL)) == []


@pytest.mark.parametrize(
    ("change", "where"),
    [
        ({"yearly_ppm": None}, "compound_v3"),
        ({"closed": "paused"}, "compound_v3"),
        ({"waits_seconds": 60}, "compound_v3"),
        ({"way_out": None}, "compound_v3"),
        ({}, "moonwell"),
    ],
    ids=str,
)
def test_a_place_that_waits_is_closed_or_tells_no_rate_is_passed_over(change: dict[str, Any], where: str) -> None:
    best = place("moonwell", 50_000)
    sight = look(place("compound_v3", 30_000), replace(best, offer=replace(best.offer, **change)))
    assert [venue for venue, _ in wanted(sight)] == [where]


def test_what_lies_where_something_is_owed_is_left_alone() -> None:
    sight = look(place("compound_v3", 30_000, 3_000 * USD, is_tied=True), place("moonwell", 50_000), usdc=0)
    assert wanted(sight) == []


@pytest.mark.parametrize(
    ("better", "gwei", "moves"),
    [
        (4_999, 1, False),
        (5_000, 1, True),
        (20_000, 1, True),
        (20_000, 10, False),
    ],
    ids=["less than half a percent", "half a percent", "two percent", "two percent while gas is dear"],
)
def test_it_moves_where_the_difference_is_asked_for_and_pays_the_way(better: int, gwei: int, moves: bool) -> None:
    """Ten thousand dollars: a month of half a percent is $4.10, and 550,000 gas at a gwei and $3,000 are $1.65."""
    held = replace(ROTATION, most_micro_usd=10_000 * USD)
    sight = look(place("compound_v3", 30_000, 10_000 * USD), place("moonwell", 30_000 + better), usdc=0, gwei=gwei)
    assert wanted(sight, held) == ([("compound_v3", "max")] if moves else [])
    (wish,) = held.plan(sight) if moves else (None,)
    assert wish is None or ("more in 30 days, and the way costs $1.65" in wish.reason and wish.is_leaving)


def test_it_stays_for_a_day_and_where_not_all_can_leave() -> None:
    here, there = place("compound_v3", 30_000, 3_000 * USD), place("moonwell", 90_000)
    assert wanted(look(here, there, usdc=0, last_done={MOVE_IN: NOW - 23 * HOUR})) == []
    assert wanted(look(here, there, usdc=0, last_done={MOVE_IN: NOW - 24 * HOUR})) == [("compound_v3", "max")]
    stuck = replace(here, offer=replace(here.offer, free=2_999 * USD))
    assert wanted(look(stuck, there, usdc=0)) == []


def test_shares_count_what_was_put_to_earn_and_sell_no_more_than_the_wallet_has() -> None:
    """8,000 dollars earn and 500 are in the wallet; a third of all is ether."""
    weights = TargetWeights({"USDC": 5_000, "ETH": 5_000}, most_micro_usd=10_000 * USD)
    sight = look(place("moonwell", 50_000, 8_000 * USD), usdc=500)
    (wish,) = weights.plan(sight)
    assert (wish.params["token_in"], wish.params["amount"]) == (USDC.address, str(500 * USD))
    assert weights.plan(replace(sight, places=()))[0].params["token_in"] == NATIVE, "without them ether would be sold"
    assert weights.plan(look(place("moonwell", 50_000, 8_000 * USD), usdc=9)) == ()


def test_what_earns_comes_back_first_where_its_stop_is_reached_and_nothing_goes_out_again() -> None:
    stop = StopOrders("USDC", "ETH", stop_micro_usd=2 * USD)
    seen = look(place("compound_v3", 90_000), place("moonwell", 50_000, 3_000 * USD), last_done={MOVE_IN: NOW})
    first, *others = plan_strategies((ROTATION, stop), seen)
    assert {first.rank, *(each.rank for each in others)} == {Urgency.STOP}
    assert sorted(each.venue for each in (first, *others) if each.key != "stop_loss") == ["moonwell"]
    assert not [each for each in (first, *others) if each.key == MOVE_IN]


@pytest.mark.parametrize(
    ("legs", "is_tied"),
    [
        ((Leg(USDC.address, 900),), False),
        ((Leg(USDC.address, 900), Leg(NATIVE, 5)), False),
        ((Leg(USDC.address, 900), Leg(NATIVE, -5)), True),
        ((Leg(USDC.address, 900, free_at=2_000_000_000),), True),
    ],
    ids=["alone", "with a reward", "with a debt", "that waits"],
)
def test_a_reward_beside_it_ties_nothing_and_a_debt_or_a_wait_does(legs: tuple[Leg, ...], is_tied: bool) -> None:
    there, elsewhere = ("moonwell", "account", 31337, "0x1"), ("moonwell", "account", 1, "0x1")
    held = Holdings((), tuple(HeldPosition(Position(PositionRef(*each), "", legs), ()) for each in (there, elsewhere)))
    (seen,) = see_places([place("moonwell", 1).offer], USDC.address, held, 31337)
    assert (seen.held, seen.is_tied) == (900, is_tied)


def test_without_a_price_of_gas_nothing_moves() -> None:
    sight = look(place("moonwell", 50_000))
    coinless = tuple(replace(each, price=None) if each.token.address == NATIVE else each for each in sight.tokens)
    assert wanted(replace(sight, tokens=coinless)) == []


@pytest.mark.parametrize(
    ("changes", "wrong"),
    [
        ({"places": []}, "places"),
        ({"places": ["moonwell", "moonwell"]}, "places"),
        ({"places": "moonwell"}, "places"),
        ({"places": [f"p{number}" for number in range(13)]}, "places"),
        ({"most_micro_usd": USD - 1}, "most_micro_usd"),
        ({"better_bps": 0}, "better_bps"),
        ({"pays_back_days": 366}, "pays_back_days"),
    ],
)
def test_one_that_is_not_complete_is_refused_at_its_field(changes: dict[str, Any], wrong: str) -> None:
    with pytest.raises(InvalidParams) as refused:
        YieldRotation.parse({**STORED, **changes})
    assert list(refused.value.data["fields"]) == [wrong]


def test_twelve_places_are_taken_and_one_more_is_not() -> None:
    names = [f"p{number}" for number in range(13)]
    assert len(YieldRotation.parse({**STORED, "places": names[:12]}).places) == 12
    with pytest.raises(InvalidParams):
        YieldRotation.parse({**STORED, "places": names})


LENDERS = pytest.mark.protocols("aave_v3", "spark", "compound_v3", "moonwell", "yearn", "erc4626")


@LENDERS
def test_whoever_says_so_has_places_that_rules_go_in_and_leave_by_tools_that_are_there(live_golem: LiveGolem) -> None:
    reader = make_context(live_golem.world).chain()
    tokens = [live_golem.world.tokens[symbol].address for symbol in ("USDC", "DAI", "WETH")]
    for protocol in SHELF.on(31337):
        if not protocol.has_doors and protocol.name not in ("aave_v3", "spark", "compound_v3"):
            continue
        offers = [each for token in tokens for each in list_offers(reader, protocol, token)]
        doors = [door for each in offers for door in (each.way_in, each.way_out) if door is not None]
        assert doors, protocol.name
        for door in doors:
            tool = REGISTRY.get(door.tool)
            assert isinstance(tool, WriteTool)
            tool.params_model.model_validate({**door.params, door.amount: "1000"})


def rotate(live: LiveGolem, **more: Any) -> None:
    include(live, *(f"{name}_{verb}" for name in ("compound_v3", "moonwell") for verb in ("supply", "withdraw")))
    turn_on(live.golem, rule={}, strategies={"yield_rotation": {**STORED, **more}})


def lies_at(live: LiveGolem) -> dict[str, int]:
    reader, usdc = make_context(live.world).chain(), live.world.tokens["USDC"].address
    positions = read_positions(chain=reader, account=str(live.golem.address))
    return {each.ref.protocol: each.raw_of(usdc) for each in positions}


def make_dear(live: LiveGolem, protocol: str) -> None:
    """A whale borrows there, so that who lends earns more."""
    world, usdc = live.world, live.world.tokens["USDC"].address
    whale, weth = world.new_account(ETH, {"WETH": 3_000 * ETH}), world.tokens["WETH"].address
    if protocol == "compound_v3":
        comet = COMET
        left = world.rpc.read(usdc, "balanceOf(address)", comet, returns="(uint256)")[0]
        world.transact(whale, weth, "approve(address,uint256)", comet, 3_000 * ETH)
        world.transact(whale, comet, "supply(address,uint256)", weth, 3_000 * ETH)
        world.transact(whale, comet, "withdraw(address,uint256)", usdc, left * 8 // 10)
        return
    moonwell = SHELF.get("moonwell")
    at = moonwell.deployments(31337) if moonwell is not None else None
    assert at is not None
    left = world.rpc.read(usdc, "balanceOf(address)", at["market_usdc"], returns="(uint256)")[0]
    world.transact(whale, weth, "approve(address,uint256)", at["market_weth"], 3_000 * ETH)
    world.transact(whale, at["market_weth"], "mint(uint256)", 3_000 * ETH)
    world.transact(whale, at["comptroller"], "enterMarkets(address[])", [at["market_weth"]])
    world.transact(whale, at["market_usdc"], "borrow(uint256)", left * 8 // 10)


@pytest.mark.protocols("compound_v3", "moonwell")
def test_a_golem_lends_where_it_earns_most_and_follows_the_rate_under_permits(live_golem: LiveGolem) -> None:
    rotate(live_golem)
    assert done_in(tick(live_golem.golem))[0][1] == "EXECUTED"
    ((first, lent),) = lies_at(live_golem).items()
    assert abs(lent - 4_000 * USD) < USD
    assert ActionPermit.objects.get(golem=live_golem.golem).status == "COMMITTED"
    assert done_in(tick(live_golem.golem)) == [], "one that pays most keeps it"
    (other,) = {"compound_v3", "moonwell"} - {first}
    make_dear(live_golem, other)
    assert done_in(tick(live_golem.golem)) == [], "it was moved a moment ago"
    ActionRecord.objects.update(created_at=clock.now() - timedelta(hours=24))
    Heartbeat.objects.update(state={})
    record = tick(live_golem.golem)
    assert [state for _, state in done_in(record)] == ["EXECUTED", "EXECUTED"], record.anomalies
    ((second, moved),) = lies_at(live_golem).items()
    assert second == other and abs(moved - 4_000 * USD) < 2 * USD


@pytest.mark.protocols("aave_v3", "moonwell")
def test_a_loan_s_cover_is_touched_by_no_rotation(live_golem: LiveGolem) -> None:
    lend_out(live_golem)
    rotate(live_golem, places=["aave_v3", "moonwell"])
    done = done_in(tick(live_golem.golem))
    assert [state for _, state in done] == ["EXECUTED"]
    assert lies_at(live_golem)["moonwell"] > 3_999 * USD


@pytest.mark.protocols("compound_v3", "moonwell")
def test_a_place_that_does_not_answer_is_told_and_hides_no_other(live_golem: LiveGolem) -> None:
    rotate(live_golem)
    live_golem.world.rpc.call("anvil_setCode", COMET, "0xfe")
    record = tick(live_golem.golem)
    assert any("Compound V3 tells no rate" in str(each) for each in record.anomalies), record.anomalies
