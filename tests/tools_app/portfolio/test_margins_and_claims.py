"""Positions on a margin, claims that are due and what never counts, as they are weighed: on paper, without a chain."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from golem_project.heartbeat.debt_health import Alarm, watch_debts
from tests.tools_app.portfolio.paper_bank import CASH, CHAIN_ID, LOAN, ME, NAME, PROTOCOL, Paper, read_paper
from tools_app.core.ratio import Ratio
from tools_app.portfolio.health import measure_health
from tools_app.portfolio.holdings import Holdings, measure_holdings
from tools_app.portfolio.share_price_donation_guard import BelievedShare, believe
from tools_app.standards.dated_claim_values import ONE, Maturing
from tools_app.standards.pool_maths import reserves_at
from tools_app.subsystems.safety.price_shocks import shock
from tools_app.toolkit.positions import Exposure, Leg, Position, PositionRef, PositionsUnreadable, Reads, ShareIndex
from tools_app.toolkit.protocol import SHELF, ProtocolDef
from tools_app.toolkit.valuation_rules import Due, Uncounted
from tools_app.toolkit.views import LogEntry

UNKNOWN = "0x0000000000000000000000000000000000000C09"
MARGIN = Position(
    ref=PositionRef(NAME, "margin", CHAIN_ID, "1"),
    label="On a margin",
    legs=(Leg(CASH.address, 1_000 * ONE), Leg(CASH.address, -200 * ONE)),
    health_bps=15_000,
    is_margin=True,
)


class Told:
    """Positions that say what a test says."""

    def __init__(self, *positions: Position) -> None:
        self.positions = positions

    def list(self, chain_id: int, account: str, hints: Sequence[PositionRef]) -> Reads[tuple[Position, ...]]:
        yield []
        return self.positions

    def born(self, logs: Sequence[LogEntry], account: str, chain_id: int) -> tuple[PositionRef, ...]:
        return ()


@pytest.fixture
def tell() -> Iterator[Callable[..., Holdings]]:
    """Measures an account of which a protocol tells these positions."""

    def measure(*positions: Position, protocol: ProtocolDef = PROTOCOL) -> Holdings:
        SHELF.remove(NAME)
        SHELF.add(replace(protocol, positions=Told(*positions)))
        return measure_holdings(chain=read_paper(Paper()), account=ME)

    yield measure
    SHELF.remove(NAME)


def value_of(token: str, raw: int) -> int:
    return raw // 10**12


def test_a_loss_so_far_on_a_margin_is_no_health_of_zero(tell: Callable[..., Holdings]) -> None:
    [held] = tell(MARGIN).positions
    assert (held.health_bps, held.micro_usd) == (15_000, 800_000_000)
    # The same legs as a debt that nothing covers are health 0.
    [debt] = tell(replace(MARGIN, is_margin=False)).positions
    assert debt.health_bps == 0


def test_a_margin_is_watched_without_any_loss(tell: Callable[..., Holdings]) -> None:
    gaining = replace(MARGIN, legs=(Leg(CASH.address, 1_000 * ONE), Leg(CASH.address, 70 * ONE)), health_bps=11_000)
    holdings = tell(gaining)
    assert holdings.positions[0].health_bps == 11_000
    [watched] = watch_debts(holdings=holdings, floor_bps=14_000, told={}, remembered=())
    assert watched.alarm is Alarm.UNDER
    assert measure_health(replace(gaining, is_margin=False), value_of) is None


def test_a_margin_that_is_not_told_is_none(tell: Callable[..., Holdings]) -> None:
    assert tell(replace(MARGIN, health_bps=None)).positions[0].health_bps == 0


def test_a_margin_falls_with_what_it_follows_in_a_shock(tell: Callable[..., Holdings]) -> None:
    gaining = replace(MARGIN, legs=(Leg(CASH.address, 1_000 * ONE),), exposure=(Exposure(LOAN.address, 2_000 * 10**6),))
    [held] = tell(gaining).positions
    # 2,000 of what is worth 1.50 falls by a fifth: 600 of the 1,000 are gone.
    after = shock(held, {LOAN.address: 2_000})
    assert (after.net_micro_usd, after.health_bps) == (400_000_000, 6_000)
    assert after.is_liquidated
    assert shock(held, {LOAN.address: 4_000}).health_bps == 0


def test_what_says_it_knows_no_debts_and_tells_one_is_not_believed(tell: Callable[..., Holdings]) -> None:
    innocent = replace(PROTOCOL, traits=frozenset(), no_lending="")
    for position in (MARGIN, replace(MARGIN, is_margin=False), replace(MARGIN, legs=())):
        with pytest.raises(PositionsUnreadable, match="knows none"):
            tell(position, protocol=innocent)
    assert tell(replace(MARGIN, legs=MARGIN.legs[:1], is_margin=False), protocol=innocent).positions


def test_what_has_no_price_and_never_counts_leaves_the_value_whole(tell: Callable[..., Holdings]) -> None:
    plain = replace(MARGIN, legs=MARGIN.legs[:1], health_bps=None, is_margin=False)
    reward = Uncounted(UNKNOWN, 10**30, "RWD", 18, "reward")
    alone, beside = tell(plain), tell(replace(plain, uncounted=(reward,)))
    assert beside.is_complete and beside.is_steady
    assert beside.nav_micro_usd == alone.nav_micro_usd


def test_what_is_owed_always_counts() -> None:
    with pytest.raises(ValueError, match="owed always counts"):
        Uncounted(UNKNOWN, -1, "RWD", 18, "reward")


def test_a_claim_cannot_be_told_at_more_than_its_rule() -> None:
    due = Due(claim=100, symbol="CLM", decimals=18, face=100, at=2_000_000_000, average=95, seconds=900)
    assert Leg(CASH.address, 95, due=due).raw == 95
    for raw in (94, 96, 100):
        with pytest.raises(ValueError, match="lower of its average"):
            Leg(CASH.address, raw, due=due)


@given(st.integers(0, 10**30), st.integers(1, 2 * ONE), st.integers(1, 2 * ONE))
def test_a_claim_never_counts_for_more_than_what_is_due_or_what_it_cost(claims: int, face: int, average: int) -> None:
    leg = Maturing(CASH.address, "CLM", 18, 2_000_000_000, face=face, average=average).leg(claims)
    assert leg.raw <= claims * face // ONE and leg.raw <= claims * average // ONE
    due = Maturing(CASH.address, "CLM", 18, 2_000_000_000, face=face).leg(claims)
    assert due.raw == claims * face // ONE


@given(st.integers(10**18, 10**27), st.integers(10**18, 10**27), st.integers(ONE // 10, ONE), st.integers(1, 10**27))
def test_no_trade_through_a_pool_moves_what_its_parts_count_as(cash: int, claims: int, rate: int, paid: int) -> None:
    ratio = Ratio(rate, ONE)
    before = reserves_at(ratio, claims, cash)
    # Somebody buys claims for `paid`: the product stays, but for rounding in the pool's favour.
    pushed = reserves_at(ratio, -(-cash * claims // (cash + paid)), cash + paid)
    worth, then = (each[1] + each[0] * rate // ONE for each in (before, pushed))
    # One base unit of claims more in the pool is what rounding gives it.
    assert -4 <= then - worth <= 4 + worth // max(1, cash * claims // (cash + paid))


def test_a_share_of_claims_that_became_dearer_at_once_still_counts_as_far_as_it_is_believed() -> None:
    due = Due(claim=100, symbol="CLM", decimals=18, face=100, at=2_000_000_000, average=95, seconds=900)
    leg = Leg(CASH.address, 95, due=due)
    assert leg.with_raw(40) == Leg(CASH.address, 40)
    index = ShareIndex(UNKNOWN, 2 * ONE, 100)
    position = replace(MARGIN, legs=(leg,), health_bps=None, is_margin=False, share_index=index)
    assert believe(position, {}, 0).position == position
    [less] = believe(position, {UNKNOWN: BelievedShare(ONE, 100, 0)}, 0).position.legs
    assert less == Leg(CASH.address, 47)
