"""What leaves a position arrives with the golem, to the base unit, on plain values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

import pytest

from permits_app.hook_rejection import Reject
from permits_app.safety.arrival_rules import judge_arrival
from permits_app.safety.hook import HookCall
from tests.permits_app.safety.test_position_rules import simulated
from tests.tools_app.portfolio.paper_bank import CASH, CHAIN_ID, LOAN, ME, SHARE, Paper, read_paper
from tools_app.simulation.engine import TransferSeen
from tools_app.toolkit.positions import Leg, Position, PositionRef
from tools_app.toolkit.valuation_rules import Shown, Uncounted

REF = PositionRef("lender", "account", CHAIN_ID, ME)
DOLLAR, MICRO_DOLLAR = 10**18, 10**12
AT_PAR = {"CASH": 10**8, "LOAN": 10**8}
TWO_CENTS_A_UNIT = {"CASH": 10**8 * 10**18 // 50}
POINTS = "0x" + "99" * 20


def position(cash: int = 0, loan: int = 0, *, points: int = 0, market: Shown | None = None, **more: Any) -> Position:
    held = (Uncounted(POINTS, points, "PTS", 18, "points", market),) if points else ()
    return Position(REF, "Account", (Leg(CASH.address, cash), Leg(LOAN.address, loan)), uncounted=held, **more)


def judge(
    before: Position | None,
    after: Position | None,
    arrives: Mapping[str, int],
    *,
    prices: Mapping[str, int] = AT_PAR,
    recipients: tuple[str, ...] = (ME,),
    transfers: tuple[TransferSeen, ...] = (),
) -> Reject | None:
    """A golem that may lose 1% to slippage and 2% to price impact."""
    call = SimpleNamespace(
        view=SimpleNamespace(address=ME),
        plan=SimpleNamespace(recipients=recipients),
        limits=SimpleNamespace(max_slippage_bps=100, max_price_impact_bps=200),
    )
    simulation = replace(
        simulated(before, after),
        sender=ME,
        balances_before={(ME, token): 0 for token in arrives},
        balances_after={(ME, token): raw for token, raw in arrives.items()},
        unexpected_transfers=transfers,
    )
    return judge_arrival(cast("HookCall", call), simulation, read_paper(Paper(prices=dict(prices))))


def rule_of(refused: Reject | None) -> str | None:
    return refused.rule if refused is not None else None


@pytest.mark.parametrize(("missing", "passes"), [(3_010_000, True), (3_010_001, False), (0, True), (-5, True)])
def test_a_cent_and_what_an_exchange_may_lose_may_be_missing_and_no_more(missing: int, passes: bool) -> None:
    """Of 100 dollars that leave, 3% and a cent, to the micro-dollar."""
    arrives = {CASH.address: 100 * DOLLAR - missing * MICRO_DOLLAR}
    refused = judge(position(100 * DOLLAR), position(), arrives)
    assert rule_of(refused) == (None if passes else "simulator.value_vanishes")
    if refused is not None:
        assert (refused.observed, refused.reason.startswith("$100.00 would leave")) == ("$3.01", True), refused


def test_what_is_paid_to_others_by_name_is_a_payment() -> None:
    assert judge(position(100 * DOLLAR), position(), {}, recipients=("0x" + "52" * 20,)) is None


def test_value_may_come_back_as_another_token_or_in_another_position() -> None:
    assert judge(position(100 * DOLLAR), position(), {LOAN.address: 97 * 10**6}) is None
    assert rule_of(judge(position(100 * DOLLAR), position(), {LOAN.address: 96 * 10**6})) == "simulator.value_vanishes"
    assert judge(position(100 * DOLLAR), position(0, 98 * 10**6), {}) is None


def test_a_loan_arrives_too() -> None:
    assert rule_of(judge(position(), position(0, -(10**6)), {})) == "simulator.value_vanishes"
    assert judge(position(), position(0, -(10**6)), {LOAN.address: 10**6}) is None


@pytest.mark.parametrize(("lost", "passes"), [(2, True), (3, False)])
def test_rounding_may_take_two_base_units_of_a_token_of_few_decimals(lost: int, passes: bool) -> None:
    """Two base units are worth four cents here, more than may vanish unseen."""
    refused = judge(position(100), position(100 - lost), {}, prices=TWO_CENTS_A_UNIT)
    assert rule_of(refused) == (None if passes else "simulator.value_vanishes")


@pytest.mark.parametrize(("arrives", "passes"), [(968, True), (967, False), (1_000, True)])
def test_what_no_feed_prices_arrives_in_base_units(arrives: int, passes: bool) -> None:
    """Of 1,000 units 30 may be lost to an exchange and two to rounding."""
    refused = judge(position(1_000), position(), {CASH.address: arrives}, prices={})
    assert rule_of(refused) == (None if passes else "simulator.value_vanishes")
    if refused is not None:
        assert refused.observed == f"33 base units of {CASH.address}"
        assert refused.reason.startswith("1000 base units would leave")


def test_what_stands_for_a_position_is_told_by_the_position_alone() -> None:
    before, after = (position(raw, claim_tokens=frozenset({SHARE.address})) for raw in (100 * DOLLAR, 0))
    assert judge(before, after, {CASH.address: 100 * DOLLAR, SHARE.address: -(10**20)}, prices=AT_PAR) is None
    unknown = judge(position(100 * DOLLAR), position(), {CASH.address: 100 * DOLLAR, SHARE.address: -(10**20)})
    assert rule_of(unknown) == "simulator.value_vanishes"


@pytest.mark.parametrize(("token_id", "passes"), [(7, True), (None, False)])
def test_what_is_one_of_a_kind_is_worth_what_its_position_tells(token_id: int | None, passes: bool) -> None:
    seen = TransferSeen(0, SHARE.address, ME, REF.protocol, 5, token_id)
    moved = {CASH.address: 100 * DOLLAR, SHARE.address: -5}
    refused = judge(position(100 * DOLLAR), position(), moved, transfers=(seen,))
    assert (refused is None) is passes


@pytest.mark.parametrize(
    ("sold", "brings", "passes"),
    [
        (100, 49_990_000, True),
        (100, 49_989_999, False),
        (40, 19_990_000, True),
        (40, 19_989_999, False),
        (0, 0, True),
    ],
)
def test_what_never_counts_is_sold_for_half_of_what_is_shown_at_least(sold: int, brings: int, passes: bool) -> None:
    """A hundred points that are shown at 100 dollars; a cent may vanish."""
    market = Shown(CASH.address, 100 * DOLLAR)
    before, after = position(points=100, market=market), position(points=100 - sold, market=market)
    refused = judge(before, after, {CASH.address: brings * MICRO_DOLLAR})
    assert rule_of(refused) == (None if passes else "simulator.sold_for_nothing")
    if refused is not None:
        assert refused.reason.startswith(f"what is shown at ${sold}.00")


def test_a_sale_that_costs_money_brings_nothing() -> None:
    market = Shown(CASH.address, 100 * DOLLAR)
    refused = judge(position(points=100, market=market), position(), {CASH.address: -5_000 * MICRO_DOLLAR})
    assert refused is not None and (refused.rule, refused.observed) == ("simulator.sold_for_nothing", "$0.00")


@pytest.mark.parametrize(("paid", "passes"), [(20_010_000, True), (20_010_001, False)])
def test_what_never_counts_is_bought_for_twice_of_what_is_shown_at_most(paid: int, passes: bool) -> None:
    """Ten points more of a hundred that are shown at 100 dollars then."""
    market = Shown(CASH.address, 100 * DOLLAR)
    before, after = position(points=90, market=market), position(points=100, market=market)
    refused = judge(before, after, {CASH.address: -paid * MICRO_DOLLAR})
    assert rule_of(refused) == (None if passes else "simulator.bought_dearly")
    if refused is not None:
        assert (refused.observed, "shown at $10.00" in refused.reason) == ("$20.01", True)


def test_what_is_shown_at_no_price_is_paid_a_cent_for_at_most() -> None:
    for market in (Shown(LOAN.address, 10**8), Shown(LOAN.address, 0)):
        for paid, rule in ((10_000, None), (10_001, "simulator.bought_dearly")):
            bought = judge(
                None,
                position(points=100, market=market),
                {CASH.address: -paid * MICRO_DOLLAR},
                prices={"CASH": 10**8},
            )
            assert rule_of(bought) == rule


def test_a_gift_of_what_nobody_buys_lets_nothing_else_leave() -> None:
    """Points without a market come in beside a deposit that vanishes."""
    refused = judge(position(100 * DOLLAR), position(points=100), {CASH.address: 90 * DOLLAR})
    assert rule_of(refused) == "simulator.value_vanishes"
    assert judge(position(), position(points=100), {CASH.address: -DOLLAR}) is None


def test_what_comes_into_a_position_makes_no_room_for_what_leaves_it() -> None:
    """A base unit of cash is worth a hundred dollars here; of 104 dollars that leave, 3 may be missing and not 4."""
    refused = judge(position(0, 104 * 10**6), position(1), {}, prices={"CASH": 10**28, "LOAN": 10**8})
    assert rule_of(refused) == "simulator.value_vanishes"


def of_points(*held: Uncounted) -> Position:
    return Position(REF, "Account", (), uncounted=held)


def test_of_one_token_only_what_somebody_buys_is_sold() -> None:
    """A hundred points that nobody buys go, beside a hundred that are shown at 100 dollars and stay."""
    bought = Uncounted(POINTS, 100, "PTS", 18, "points", Shown(CASH.address, 100 * DOLLAR))
    unbought = replace(bought, market=None)
    assert judge(of_points(bought, unbought), of_points(bought), {CASH.address: 0}) is None
    more = replace(bought, raw=150)
    assert judge(of_points(bought, unbought), of_points(more, unbought), {CASH.address: -60 * DOLLAR}) is None


def test_what_stays_in_a_position_is_neither_bought_nor_sold() -> None:
    """A unit of what stays is shown at 100 dollars, one of what comes in at one."""
    stays = Uncounted(POINTS, 1, "PTS", 18, "points", Shown(CASH.address, 100 * DOLLAR))
    comes = Uncounted("0x" + "98" * 20, 1, "PTX", 18, "points", Shown(CASH.address, DOLLAR))
    paid = {CASH.address: -3 * DOLLAR}
    assert rule_of(judge(of_points(stays), of_points(stays, comes), paid)) == "simulator.bought_dearly"
    assert judge(of_points(stays), of_points(stays, comes), {CASH.address: -2 * DOLLAR}) is None
    gone = replace(of_points(stays), legs=(Leg(CASH.address, 10 * DOLLAR),))
    assert rule_of(judge(gone, of_points(stays), {})) == "simulator.value_vanishes"


def test_a_wallet_that_only_pays_leaves_no_position() -> None:
    assert judge(position(5), position(5), {CASH.address: -100 * DOLLAR}) is None
