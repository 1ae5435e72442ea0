"""What plans and exits of protocols decide by a number, just below, at and just above it."""

from __future__ import annotations

from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import pytest

from tools_app.core.errors import InvalidParams
from tools_app.protocols.lido.positions import LidoExits, request_ref
from tools_app.protocols.lido.tools.sell_earned_yield import _slippage_of
from tools_app.protocols.maker_sky.math import WAD
from tools_app.protocols.maker_sky.positions import MakerExits, MakerPositions, _make, ref_of
from tools_app.protocols.maker_sky.tools import _check_draw
from tools_app.protocols.morpho_blue.errors import SharesTooDear
from tools_app.protocols.morpho_blue.positions import MorphoExits
from tools_app.protocols.morpho_blue.tools.lending import _check_shares
from tools_app.protocols.uniswap.position_changes import Range
from tools_app.protocols.uniswap.v2 import math as v2
from tools_app.standards.aave_like.positions import AccountExits
from tools_app.standards.aave_like.reads import WAD as HEALTH_ONE
from tools_app.standards.aave_like.reads import LendingAccount
from tools_app.standards.rays import RAY
from tools_app.subsystems.data.health_score import recommend
from tools_app.subsystems.lending.loop_plan import LoopPlan
from tools_app.subsystems.lending.loops import draft_way_back
from tools_app.subsystems.testnet.chains import preview_setup
from tools_app.toolkit.lending import LendingPair
from tools_app.toolkit.positions import Act, HealthTooLow, Leg, NeedsTrade, PositionRef, Stuck, Wait

DAI = SimpleNamespace(decimals=18, symbol="DAI")
ME = "0x" + "1" * 40


# ---- lenders like Aave -----------------------------------------------------------------------------------------------


def account(*, health_bps: int = 20_000, collateral: int = 0, debt: int = 1) -> LendingAccount:
    health = health_bps * HEALTH_ONE // 10_000
    return LendingAccount(collateral, debt, 0, 10_000, 10_000, health, 0, 0)


@pytest.mark.parametrize(("bps", "told"), [(10**9 - 1, 10**9 - 1), (10**9, 10**9), (10**9 + 1, 10**9)])
def test_health_is_told_up_to_a_hundred_thousand(bps: int, told: int) -> None:
    assert account(health_bps=bps).health_bps == told
    # Base dollars of cover over ten thousand of debt.
    assert account(collateral=bps, debt=10_000).health_with() == told


@pytest.mark.parametrize(("health", "is_taken"), [(15_101, False), (15_102, True)])
def test_collateral_comes_out_of_an_account_more_than_a_hundred_points_above_its_floor(
    health: int, is_taken: bool
) -> None:
    position: Any = SimpleNamespace(
        ref=SimpleNamespace(chain_id=1),
        legs=[Leg("0xA", 5, cover_bps=8_000), Leg("0xB", -5)],
        facts={},
        health_bps=health,
    )
    step = AccountExits("repay", "withdraw").next_step(position, {}, 0)
    assert isinstance(step, Act if is_taken else NeedsTrade)


# ---- loops -----------------------------------------------------------------------------------------------------------


def pair_of(**changes: Any) -> LendingPair:
    plain: dict[str, Any] = {
        "ref": PositionRef("aave_v3", "account", 1, "account"),
        "market": "m",
        "collateral": "0xA",
        "debt": "0xB",
        "collateral_raw": 20_000,
        "debt_raw": 10_000,
        "rate": Fraction(1),
        "ltv_bps": 10_000,
        "threshold_bps": 10_000,
        "supply_ppm": 0,
        "borrow_ppm": 0,
        "supply_room": 10**9,
        "borrow_room": 10**9,
        "withdraw_room": 10**9,
    }
    return LendingPair(**{**plain, **changes})


class Loop:
    """A loop whose swaps lose nothing; what was taken out is kept."""

    source = None
    slippage_bps = 0
    margin = 0
    clears = False
    most_rounds = 1
    collateral, debt = "0xA", "0xB"
    health_bps: int | None

    def __init__(self, pair: LendingPair) -> None:
        self.pair = pair
        self.collateral_now, self.debt_now = pair.collateral_raw, pair.debt_raw
        self.health_bps = pair.health_bps(collateral=self.collateral_now, debt=self.debt_now)
        self.surplus_bound = 0
        self.taken: list[int] = []

    def read_caution(self) -> Fraction:
        return Fraction(1)

    def withdraw(self, amount: int) -> None:
        self.taken.append(amount)
        self.collateral_now -= amount

    def swap(self, _sold: str, _bought: str, amount: int) -> int:
        self.surplus_bound += amount
        return amount

    def repay(self, amount: int) -> None:
        self.debt_now -= amount


@pytest.mark.parametrize(
    ("collateral", "taken"), [(20_000, 8_500), (12_000, 500), (11_701, 201), (11_700, 850), (11_000, 500)]
)
def test_a_way_back_stays_at_one_point_one_five_between_its_steps_and_halves_what_there_is_below(
    collateral: int, taken: int
) -> None:
    loop: Any = Loop(pair_of(collateral_raw=collateral))
    draft_way_back(loop, repay=9_999, is_partial_enough=True)
    assert loop.taken == [taken]


@pytest.mark.parametrize(("calls", "rounds"), [(1, 6), (4, 6), (5, 6), (6, 5), (30, 1), (31, 0)])
def test_a_loop_has_six_rounds_and_thirty_calls_at_most(calls: int, rounds: int) -> None:
    plan: Any = SimpleNamespace(pair=SimpleNamespace(calls_of_round=calls))
    assert LoopPlan.most_rounds.fget(plan) == rounds  # type: ignore[attr-defined]


# ---- Morpho ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("amount", "gained", "is_fair"),
    [(20_000, 19_998, True), (20_000, 19_997, False), (10, 9, True), (10, 8, False), (29_999, 29_997, True)],
)
def test_lending_loses_one_part_in_ten_thousand_or_a_base_unit(amount: int, gained: int, is_fair: bool) -> None:
    token: Any = DAI
    if is_fair:
        _check_shares("0x1", token, amount, gained)
        return
    with pytest.raises(SharesTooDear):
        _check_shares("0x1", token, amount, gained)


def leave_morpho(*, collateral: int, health: int) -> Any:
    facts = {
        "supplied": "0",
        "collateral": str(collateral),
        "owed": "1000",
        "available_liquidity": "0",
        "loan_token": "0xL",
        "collateral_token": "0xC",
    }
    position: Any = SimpleNamespace(facts=facts, ref=SimpleNamespace(id="0x1", chain_id=1), health_bps=health)
    return MorphoExits().next_step(position, {}, 0)


@pytest.mark.parametrize(("health", "taken"), [(32_000, "500000"), (20_000, "200000")])
def test_collateral_comes_out_of_a_market_down_to_a_health_of_one_point_six(health: int, taken: str) -> None:
    assert leave_morpho(collateral=10**6, health=health).params["amount"] == taken


@pytest.mark.parametrize(("health", "is_taken"), [(16_163, False), (16_164, True)])
def test_a_hundredth_of_the_collateral_is_not_worth_taking_out(health: int, is_taken: bool) -> None:
    # 100 of 10,000 can be spared at 16,163 and 101 at 16,164.
    assert isinstance(leave_morpho(collateral=10_000, health=health), Act if is_taken else NeedsTrade)


# ---- Maker -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("ratio", "room"),
    [
        # Twice what is drawn, and where the kind asks for more, the floor of health and a basis point over that.
        (RAY, 10**8 - 902),
        (2 * RAY, 2 * 10**12 // 30_004 - 902),
    ],
)
def test_what_is_drawn_leaves_twice_its_worth_the_fee_of_a_quarter_of_an_hour_and_the_floor(
    ratio: int, room: int
) -> None:
    kind = SimpleNamespace(ratio=ratio, growth=lambda _amount, seconds: seconds)
    opened: Any = SimpleNamespace(vault=SimpleNamespace(kind=kind, ink=2 * 10**8, owed=0), dai=DAI)
    _check_draw(opened, room, WAD)
    with pytest.raises(HealthTooLow) as refused:
        _check_draw(opened, room + 1, WAD)
    assert refused.value.data["most"] == str(room)


def vault(*, inside: int = 0, owed: int = 0) -> Any:
    kind = SimpleNamespace(
        name="ETH-A",
        ratio=RAY,
        least_debt=0,
        growth=lambda _amount, seconds: seconds,
        health_bps=lambda *_: None,
    )
    return SimpleNamespace(id=1, kind=kind, ink=0, art=0, inside=inside, owed=owed)


def test_a_vault_is_cleared_with_the_fee_of_a_quarter_of_an_hour() -> None:
    assert _make(1, vault(owed=5_000), is_live=True).facts["to_clear"] == "5901"


@pytest.mark.parametrize(("inside", "is_told"), [(10**17 * RAY, True), (10**17 * RAY - 1, False)])
def test_a_tenth_of_a_dai_inside_a_vault_is_told(inside: int, is_told: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    assert len(_make(1, vault(inside=inside), is_live=True).legs) == is_told

    def ask(*_: Any) -> Any:
        yield []
        return [vault(inside=inside)]

    def is_open(*_: Any) -> Any:
        return True
        yield

    monkeypatch.setattr("tools_app.protocols.maker_sky.positions.ask_vaults", ask)
    monkeypatch.setattr("tools_app.protocols.maker_sky.positions.ask_live", is_open)
    reads = MakerPositions().list(1, ME, ())
    next(reads)
    with pytest.raises(StopIteration) as told:
        reads.send([])
    assert len(told.value.value) == is_told


@pytest.mark.parametrize(("held", "is_paid"), [(10**18, True), (10**18 - 1, False)])
def test_a_part_of_a_vaults_debt_is_paid_from_one_dai_on(held: int, is_paid: bool) -> None:
    owed = 5 * 10**18
    facts = {
        "collateral": "1",
        "owed": str(owed),
        "to_clear": str(owed + 1),
        "least_debt": "0",
        "debt_token": "0xD",
    }
    position: Any = SimpleNamespace(facts=facts, ref=ref_of(1, 7))
    assert isinstance(MakerExits().next_step(position, {"0xD": held}, 0), Act if is_paid else NeedsTrade)


# ---- Lido ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("seconds", "is_stuck"), [(60 * 86_400, False), (60 * 86_400 + 1, True)])
def test_a_withdrawal_is_stuck_after_sixty_days(seconds: int, is_stuck: bool) -> None:
    position: Any = SimpleNamespace(
        ref=request_ref(1, 5), facts={"is_final": False, "asked_at": 1_000}, legs=[SimpleNamespace(free_at=None)]
    )
    assert isinstance(LidoExits().next_step(position, {}, 1_000 + seconds), Stuck if is_stuck else Wait)


@pytest.mark.parametrize(("least", "bps"), [(9_001, 999), (9_000, 1_000), (8_999, 1_000), (1, 1_000)])
def test_a_harvest_is_sold_a_tenth_below_the_offer_at_most(least: int, bps: int) -> None:
    assert _slippage_of(10_000, least) == bps


# ---- Uniswap ---------------------------------------------------------------------------------------------------------


def a_range() -> Range:
    pool: Any = SimpleNamespace(token0="0xA", token1="0xB", sqrt_price=2**96)
    ratios: Any = SimpleNamespace(between=lambda *_: None, unpriced=lambda *_: ())
    return Range(pool, -6_000, 6_000, ratios)


def test_legs_of_a_range_stand_for_a_move_of_one_percent_at_least() -> None:
    made = a_range()
    ends = [made._ends(10**18, bps) for bps in (0, 99, 100, 101)]
    assert ends[0] == ends[1] == ends[2] != ends[3]
    assert ends[0] == tuple(zip(made._amounts(10**18, -100), made._amounts(10**18, 100), strict=True))


def test_fees_may_come_out_a_hundred_base_units_otherwise() -> None:
    legs = a_range().shrinks(0, 0, (7, 8), slippage_bps=0, ref=PositionRef("uniswap", "nft", 1, "1"))
    assert [(each.expected, each.bound) for each in legs] == [(-7, -107), (-8, -108)]


@pytest.mark.parametrize(("reserve", "is_counted"), [(2**112 - 2, True), (2**112 - 1, False)])
def test_a_pair_counts_up_to_two_to_the_hundred_and_twelve_less_one(reserve: int, is_counted: bool) -> None:
    def give() -> int:
        return v2.amount_out(1, reserve, 10)

    def take() -> int:
        return v2.amount_in(1, reserve, 2**120)

    if is_counted:
        assert (give(), take()) == (0, 1)
        return
    for ask in (give, take):
        with pytest.raises(ValueError, match="cannot hold"):
            ask()


# ---- pools, chains to try on -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("score", "word"), [(39, "avoid"), (40, "with care"), (69, "with care"), (70, "sound")])
def test_a_pool_is_sound_from_seventy_and_usable_from_forty(score: int, word: str) -> None:
    assert recommend(score).startswith(word)


@pytest.mark.parametrize(("accounts", "is_taken"), [(20, True), (21, False)])
def test_twenty_accounts_of_a_test_chain_are_funded(accounts: int, is_taken: bool) -> None:
    ctx: Any = None
    if is_taken:
        assert "20 funded accounts" in preview_setup(ctx, "mock", None, True, accounts).summary
        return
    with pytest.raises(InvalidParams, match="at most 20"):
        preview_setup(ctx, "mock", None, True, accounts)
