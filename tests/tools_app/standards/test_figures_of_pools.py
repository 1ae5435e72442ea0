"""What is told of a pool like Aave's: rates, an account's summary, how near its end is; and what is read for a verb."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType, SimpleNamespace
from typing import Any, Final

import pytest

from tests.told_reader import ToldReader, refusal_of
from tests.tools_app.standards.made_pool import (
    ACCOUNT,
    DOLLAR,
    HELD,
    KILO,
    ME,
    OPEN,
    ORACLE,
    POOL,
    PROVIDER,
    RESERVE,
    TWO,
    UNIT,
    WHERE,
    configure,
)
from tools_app.core.errors import GolemError
from tools_app.standards.aave_like import figures, signatures
from tools_app.standards.aave_like.reads import (
    ZERO,
    HeldReserve,
    LendingAccount,
    Reserve,
    Stand,
    interest_in,
    read_isolation,
    read_reserve,
    read_stand,
)
from tools_app.standards.aave_like.signatures import RAY, WAD
from tools_app.toolkit.context import ReadCall, ReadOutcome
from tools_app.toolkit.lending import MarketNotFound
from tools_app.toolkit.positions import PositionsUnreadable, drive
from tools_app.toolkit.result import TokenAmount, UsdAmount

ETHER: Final = replace(
    RESERVE,
    asset=KILO.address,
    id=4,
    configuration=configure("active", "borrowable", "stable", decimals=18, ltv=8_000, threshold=8_250),
    price=2_000 * DOLLAR,
)
OWES: Final = HeldReserve(0, 10**17, 9 * 10**17, False)


def _tell_reserve(reserve: Reserve) -> dict[tuple[Any, ...], Any]:
    data = [0] * 15
    told: list[Any] = [*data]
    told[0], told[7], told[14] = reserve.configuration.data, reserve.id, reserve.isolated_debt
    told[8:11] = [reserve.a_token, reserve.stable_debt, reserve.variable_debt]
    totals = (0, 0, reserve.supplied, reserve.stable_owed, reserve.variable_owed)
    return {
        (POOL, signatures.RESERVE, reserve.asset): (tuple(told),),
        (PROVIDER, signatures.RESERVE_TOTALS, reserve.asset): (
            *totals,
            reserve.supply_rate,
            reserve.variable_rate,
            reserve.stable_rate,
        ),
        (ORACLE, signatures.ASSET_PRICE, reserve.asset): (reserve.price,),
        (POOL, signatures.RESERVE_BY_ID, reserve.id): (reserve.asset,),
    }


def _tell_held(asset: str, held: HeldReserve) -> dict[tuple[Any, ...], Any]:
    told = (held.supplied, held.stable_owed, held.variable_owed, 0, 0, 0, 0, 0, held.is_collateral)
    return {(PROVIDER, signatures.USER_RESERVE, asset, ME): told}


def _tell_account(account: LendingAccount) -> dict[tuple[Any, ...], Any]:
    data = (account.collateral, account.debt, account.available, account.threshold_bps, account.ltv_bps, account.health)
    return {
        (POOL, signatures.ACCOUNT_DATA): data,
        (POOL, signatures.USER_E_MODE): (account.e_mode,),
        (POOL, signatures.USER_CONFIGURATION): (account.bitmap,),
    }


def _in_context(reader: ToldReader) -> Any:
    """What a tool asks for its chain."""
    return SimpleNamespace(chain=lambda: reader)


RICH: Final = replace(ACCOUNT, threshold_bps=8_500)


def open_pool(account: LendingAccount = RICH) -> tuple[Any, Any]:
    """A context and a lender: the account has collateral of 10,000 dollars and owes 2,000 in both modes."""
    reader = ToldReader(
        {
            **_tell_reserve(RESERVE),
            **_tell_reserve(ETHER),
            **_tell_account(account),
            **_tell_held(TWO.address, HELD),
            **_tell_held(KILO.address, OWES),
            (POOL, signatures.RESERVES_LIST): ([TWO.address, KILO.address],),
        },
        tokens=[TWO, KILO],
    )
    tokens = {TWO.address: TWO, KILO.address: KILO}
    lender = SimpleNamespace(where=lambda chain_id: WHERE, asset=lambda reader, asset: tokens[asset], label="Pool")
    return _in_context(reader), lender


def test_an_account_is_told_in_dollars_and_percent_of_the_year() -> None:
    ctx, lender = open_pool()
    assert figures.health_factor(ctx, lender, ME) == {
        "account": ME,
        "chain": 1,
        "health_factor": "4.00",
        "total_collateral_usd": UsdAmount(10_000_000_000),
        "total_debt_usd": UsdAmount(2_000_000_000),
        "available_borrows_usd": UsdAmount(5_500_000_000),
        "current_ltv": "20.0000",
        "liquidation_threshold": "85.0000",
        # Of 10,000 dollars 3.0454%, less 8.3287% of 1,800 and 9.4174% of 200, on the 8,000 that are its own.
        "net_apy": "1.6973",
        "e_mode": 0,
        "assets": [
            {"token": TWO, "is_collateral": True, "is_owed": False},
            {"token": KILO, "is_collateral": False, "is_owed": True},
        ],
    }
    assert figures.user_summary(ctx, lender, ME) == {
        "account": ME,
        "chain": 1,
        "supplied": [
            {
                "asset": TWO.address,
                "symbol": "TWO",
                "a_token_balance": TokenAmount(5_000 * UNIT, TWO),
                "balance_usd": UsdAmount(10_000_000_000),
                "supply_apy": "3.0454",
                "used_as_collateral": True,
            }
        ],
        "borrowed": [
            {
                "asset": KILO.address,
                "symbol": "KILO",
                "debt_balance": TokenAmount(owed, KILO),
                "debt_usd": UsdAmount(dollars * 1_000_000),
                "borrow_apy": rate,
                "rate_mode": mode,
            }
            for owed, dollars, rate, mode in (
                (9 * 10**17, 1_800, "8.3287", "variable"),
                (10**17, 200, "9.4174", "stable"),
            )
        ],
        "health_factor": "4.00",
        "net_apy": "1.6973",
    }


def test_what_is_held_without_counting_and_what_owes_all_it_has_is_told_as_that() -> None:
    poor = replace(ACCOUNT, collateral=2_000 * DOLLAR, debt=2_000 * DOLLAR)
    ctx, lender = open_pool(poor)
    told = figures.health_factor(ctx, lender, ME)
    assert told["net_apy"] is None and told["current_ltv"] == "100.0000"
    assert figures.user_summary(ctx, lender, ME)["net_apy"] is None
    idle = _tell_held(TWO.address, replace(HELD, is_collateral=False))
    nothing = replace(ACCOUNT, collateral=0, debt=0)
    reader = ToldReader({**ctx.chain().answers, **_tell_account(nothing), **idle}, tokens=[TWO, KILO])
    free = _in_context(reader)
    told = figures.health_factor(free, lender, ME)
    assert (told["health_factor"], told["current_ltv"]) == (None, "0.0000")
    assets: Any = told["assets"]
    assert [each["token"] for each in assets] == [KILO]
    assert figures.liquidation_risk(free, lender, ME)["collateral_can_fall_pct"] is None
    assert figures.liquidation_risk(free, lender, ME)["liquidation_prices"] == []


@pytest.mark.parametrize(
    ("health", "level", "fall"),
    [
        (4 * WAD, "safe", "75.0000"),
        (3 * WAD, "safe", "66.6666"),
        (14 * WAD // 10, "warning", "28.5714"),
        (11 * WAD // 10, "danger", "9.0909"),
        (WAD // 2, "danger", "0.0000"),
    ],
)
def test_how_far_prices_may_fall_is_rounded_down_and_each_collateral_has_its_own_price(
    health: int, level: str, fall: str
) -> None:
    ctx, lender = open_pool(replace(RICH, health=health))
    told = figures.liquidation_risk(ctx, lender, ME)
    assert (told["risk_level"], told["collateral_can_fall_pct"]) == (level, fall)
    assert told["recommended_action"] == figures.ADVICE[level]
    # 500 dollars of cover lie elsewhere, so that 1,500 of its 8,000 have to be left: three eighths of a dollar a token.
    assert told["liquidation_prices"] == [
        {
            "asset": TWO.address,
            "symbol": "TWO",
            "price_usd": UsdAmount(375_000),
            "price_now_usd": UsdAmount(2_000_000),
        }
    ]


def test_a_reserve_is_told_with_its_rates_room_and_state() -> None:
    ctx, lender = open_pool()
    told = figures.rates(ctx, lender, TWO.address)
    assert told == {
        "asset": TWO.address,
        "symbol": "TWO",
        "supply_apy": "3.0454",
        "variable_borrow_apy": "8.3287",
        "stable_borrow_apy": None,
        "utilization_rate": "60.0000",
        "available_liquidity": TokenAmount(400_000 * UNIT, TWO),
        "total_supplied": TokenAmount(1_000_000 * UNIT, TWO),
        "total_borrowed": TokenAmount(600_000 * UNIT, TWO),
        "ltv": "75.0000",
        "liquidation_threshold": "80.0000",
        "supply_cap_remaining": None,
        "borrow_cap_remaining": None,
        "price_usd": UsdAmount(2_000_000),
        "is_active": True,
        "is_frozen": False,
        "is_paused": False,
        "is_borrowable": True,
        "is_isolated_collateral": False,
        "is_borrowable_in_isolation": True,
        "e_mode_category": None,
    }
    shut = replace(
        RESERVE,
        configuration=configure("frozen", "paused", "stable", ceiling=1, supply_cap=1_000_001, borrow_cap=1, e_mode=2),
        supplied=0,
    )
    reader = ToldReader(_tell_reserve(shut), tokens=[TWO])
    told = figures.rates(_in_context(reader), lender, TWO.address)
    assert [told[name] for name in ("variable_borrow_apy", "stable_borrow_apy", "utilization_rate")] == [
        None,
        "9.4174",
        "0.0000",
    ]
    assert told["supply_cap_remaining"] == TokenAmount(1_000_001 * UNIT, TWO)
    assert told["borrow_cap_remaining"] == told["available_liquidity"] == TokenAmount(0, TWO)
    states = ("is_active", "is_frozen", "is_paused", "is_isolated_collateral", "is_borrowable_in_isolation")
    assert [told[name] for name in states] == [False, True, True, True, False]
    assert told["e_mode_category"] == 2


def test_a_pool_that_does_not_list_its_reserves_is_unreadable_and_an_asset_without_a_reserve_is_not_found() -> None:
    ctx, lender = open_pool()
    broken = ToldReader({**ctx.chain().answers, (POOL, signatures.RESERVES_LIST): "no"}, tokens=[TWO])
    refused = refusal_of(lambda: figures.user_summary(_in_context(broken), lender, ME), PositionsUnreadable)
    assert "does not list" in refused.detail
    unknown = ToldReader(_tell_reserve(replace(RESERVE, a_token=ZERO)), tokens=[TWO])
    refused = refusal_of(lambda: figures.rates(_in_context(unknown), lender, TWO.address), MarketNotFound)
    assert refused.data["asset"] == TWO.address and "Pool has no market" in refused.detail


@pytest.mark.parametrize(("is_absent", "error"), [(True, MarketNotFound), (False, PositionsUnreadable)])
def test_where_there_is_no_pool_there_is_no_market_and_one_that_does_not_tell_is_unreadable(
    is_absent: bool, error: type[GolemError]
) -> None:
    outcomes = [ReadOutcome(False, (), "nothing", is_absent=is_absent), *(ReadOutcome(True, ()),) * 2]
    refused = refusal_of(lambda: read_reserve(TWO.address, outcomes, label="Pool"), error)
    assert ("Pool has no market" in refused.detail) is is_absent


def _read_stand(account: LendingAccount, answers: Mapping[tuple[Any, ...], Any] = MappingProxyType({})) -> Stand:
    ctx, _ = open_pool(account)
    calls = [ReadCall(TWO.address, "balance"), ReadCall(TWO.address, "allowance")]
    wallet = {(TWO.address, "balance"): (11,), (TWO.address, "allowance"): (13,)}
    reader = ToldReader({**ctx.chain().answers, **wallet, **answers})
    return drive(read_stand(WHERE, ME, TWO.address, calls, label="Pool"), reader.call_many)


def test_everything_about_a_verb_is_read_with_its_e_mode_and_the_collateral_that_binds_it() -> None:
    found = _read_stand(ACCOUNT)
    assert found == Stand(POOL, ACCOUNT, RESERVE, HELD, 11, 13)
    assert (found.threshold_bps, found.ltv_bps) == (8_000, 7_500)
    bound = replace(RESERVE, configuration=configure(*OPEN, ceiling=5), isolated_debt=4)
    isolated = _read_stand(ACCOUNT, _tell_reserve(bound))
    assert isolated.isolated_by == bound
    several = replace(ACCOUNT, bitmap=1 << 7 | 1 << 9)
    assert several.collateral_ids == (3, 4)
    assert _read_stand(several, _tell_reserve(bound)).isolated_by is None
    nothing: Any = drive(read_isolation(WHERE, replace(ACCOUNT, bitmap=0)), ToldReader().call_many)
    assert nothing is None


@pytest.mark.parametrize(
    ("collateral", "debt", "expected"),
    [
        (1 << 3, 0, (True, False, 9_300, 9_000)),
        (0, 1 << 3, (False, True, 8_000, 7_500)),
        ("old", "old", (False, False, 8_000, 7_500)),
        (1 << 3, "old", (False, False, 8_000, 7_500)),
    ],
)
def test_an_e_mode_counts_by_its_bitmaps_and_where_there_are_none_by_the_reserves_number(
    collateral: Any, debt: Any, expected: tuple[bool, bool, int, int]
) -> None:
    answers: Any = {
        (POOL, signatures.E_MODE): ((9_000, 9_300),),
        (POOL, signatures.E_MODE_COLLATERALS): collateral if collateral == "old" else (collateral,),
        (POOL, signatures.E_MODE_BORROWABLES): debt if debt == "old" else (debt,),
    }
    found = _read_stand(replace(ACCOUNT, e_mode=7), answers)
    assert found.category is not None and found.category.number == 7
    got = (found.category.has_collateral, found.category.has_debt, found.threshold_bps, found.ltv_bps)
    assert got == expected
    own = replace(RESERVE, configuration=configure(*OPEN, e_mode=7))
    old = {**answers, (POOL, signatures.E_MODE_BORROWABLES): "old", **_tell_reserve(own)}
    found = _read_stand(replace(ACCOUNT, e_mode=7), old)
    assert found.category is not None and found.category.has_collateral and found.category.has_debt


def test_interest_is_rounded_up_with_a_unit_and_another_for_the_pool() -> None:
    year = 31_536_000
    assert interest_in(1_000, RAY // 10, year) == 102
    assert interest_in(1_001, RAY // 10, year) == 103
    assert interest_in(1_000, RAY // 10, year // 2) == 52
    assert interest_in(0, RAY, year) == 2
