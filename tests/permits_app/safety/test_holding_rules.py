"""What a golem may come to hold: the rules beside exact fractions, and the figures of a refusal."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from permits_app.safety.assets import Portfolio
from permits_app.safety.holding_rules import (
    judge_asset_count,
    judge_concentration,
    judge_dependence,
    judge_failures,
    judge_position,
    judge_range,
    judge_share,
)
from permits_app.safety.predicted_holdings import Dependent, Share
from tools_app.core.errors import Recovery
from tools_app.portfolio.issuer_and_bridge_risk import Dependence, DependenceKind, Failure
from tools_app.toolkit.plan import TxPlan

USD = 1_000_000


def portfolio(before: dict[str, int], after: dict[str, int]) -> Portfolio:
    return Portfolio(before, after, {"w": "WETH", "u": "USDC"}, base_asset="u")


@pytest.mark.parametrize(
    ("value", "total", "share", "most"),
    [
        (300 * USD, 1_000 * USD, "3000 bps (30%)", "$250.00"),
        (1 * USD, 3 * USD, "3334 bps (33.34%)", "$0.75"),
        (5 * USD, 0, "all of it", "$0.00"),
        (3, 1, "30000 bps (300%)", "$0.00"),
    ],
)
def test_a_refused_position_says_its_share_and_what_would_pass(value: int, total: int, share: str, most: str) -> None:
    refusal = judge_position(value_micro_usd=value, total_micro_usd=total, most_bps=2_500)
    assert refusal is not None
    assert (refusal.observed, refusal.limit) == (share, "2500 bps (25%)")
    assert refusal.would_pass == f"a position of at most {most}"
    assert f"would be {share} of the portfolio" in refusal.reason


@pytest.mark.parametrize(
    ("before", "after", "observed", "up_from", "remaining"),
    [
        ({"u": 1_000}, {"u": 600, "w": 400}, "4000 bps (40%)", "0 bps (0%)", "$300.00"),
        ({"u": 800, "w": 200}, {"u": 600, "w": 400}, "4000 bps (40%)", "2000 bps (20%)", "$100.00"),
        ({"u": 100, "w": 900}, {"u": 99, "w": 901}, "9010 bps (90.1%)", "9000 bps (90%)", "$0.00"),
        ({}, {"w": 1_000}, "10000 bps (100%)", "all of it", "$300.00"),
    ],
)
def test_a_refused_concentration_says_what_it_was_what_it_would_be_and_what_remains(
    before: dict[str, int], after: dict[str, int], observed: str, up_from: str, remaining: str
) -> None:
    in_usd = ({asset: value * USD for asset, value in each.items()} for each in (before, after))
    refusal = judge_concentration(portfolio=portfolio(*in_usd), most_bps=3_000)
    assert refusal is not None
    assert (refusal.observed, refusal.limit, refusal.remaining) == (observed, "3000 bps (30%)", remaining)
    assert refusal.reason.endswith(f"up from {up_from}")
    assert refusal.would_pass == "WETH worth at most $300.00 in all"
    assert refusal.data == {"asset": "w"}


_holdings = st.dictionaries(st.sampled_from(["u", "w", "d"]), st.integers(0, 30), max_size=3)


@given(before=_holdings, after=_holdings, most_bps=st.sampled_from([0, 1_000, 3_000, 5_000, 10_000]))
# The least there is, and all of it in one asset before and after.
@example(before={"w": 1}, after={"w": 5}, most_bps=3_000)
def test_concentration_is_refused_where_a_share_is_too_large_and_grows(
    before: dict[str, int], after: dict[str, int], most_bps: int
) -> None:
    total_before, total_after = sum(before.values()), sum(after.values())
    too_large = [
        asset
        for asset, value in after.items()
        if asset != "u"
        and Fraction(value, total_after or 1) > Fraction(most_bps, 10_000)
        and (not total_before or Fraction(value, total_after) > Fraction(before.get(asset, 0), total_before))
    ]
    refusal = judge_concentration(portfolio=portfolio(before, after), most_bps=most_bps)
    assert (refusal.data["asset"] if refusal is not None else None) == (too_large[0] if too_large else None)


def test_too_many_assets_are_told_with_the_room_there_is() -> None:
    refusal = judge_asset_count(count=11, most=10)
    assert refusal is not None
    assert (refusal.observed, refusal.limit) == ("11 assets", "10 assets")


# What was and what would be there, the portfolio and the owner's most; what would fit still, and what at the most.
ROOM = [
    (100 * USD, 400 * USD, 1_000 * USD, 3_000, "$200.00", "$300.00"),
    (300 * USD, 400 * USD, 1_000 * USD, 3_000, "$0.00", "$300.00"),
    (350 * USD, 400 * USD, 1_000 * USD, 3_000, "$0.00", "$300.00"),
    (0, USD, 0, 10_000, "$0.00", "$0.00"),
    (0, USD, -USD, 10_000, "$0.00", "$0.00"),
]


@pytest.mark.parametrize(("before", "after", "total", "most_bps", "remaining", "most"), ROOM)
def test_what_lies_at_one_protocol_is_refused_with_the_room_that_is_left(
    before: int, after: int, total: int, most_bps: int, remaining: str, most: str
) -> None:
    share = Share("aave", "w", before, after)
    refusal = judge_share(share=share, symbol="WETH", total_micro_usd=total, most_bps=most_bps)
    assert refusal is not None
    assert (refusal.remaining, refusal.would_pass) == (remaining, f"at most {most} of WETH in positions at aave")


@pytest.mark.parametrize("kind", list(DependenceKind))
@pytest.mark.parametrize(("before", "after", "total", "most_bps", "remaining", "most"), ROOM)
def test_what_depends_on_one_name_is_refused_with_the_room_that_is_left(
    kind: DependenceKind, before: int, after: int, total: int, most_bps: int, remaining: str, most: str
) -> None:
    dependent = Dependent(kind.value, "Somebody", before, after)
    refusal = judge_dependence(dependent=dependent, total_micro_usd=total, most_bps=most_bps)
    assert refusal is not None
    assert (refusal.rule, refusal.remaining) == (f"policy_cage.max_{kind.value}", remaining)
    assert refusal.would_pass.startswith(f"at most {most} that ")
    assert f"; another {kind.value};" in refusal.would_pass


def test_a_plan_that_says_one_end_of_a_range_is_held_to_none() -> None:
    for end in ("tick_lower", "tick_upper"):
        assert judge_range(TxPlan(31337, (), details={end: 7}), least_ticks=500) is None


@pytest.mark.parametrize("kind", list(DependenceKind))
def test_what_failed_is_entered_no_more_and_what_is_beside_it_is(kind: DependenceKind) -> None:
    failed, sound = Dependence(kind, "Broken"), Dependence(kind, "Sound")
    failures = [Failure(Dependence(kind, "Elsewhere"), "gone"), Failure(failed, "pays nobody")]
    assert judge_failures(failures=failures, entered=frozenset({sound})) is None
    assert judge_failures(failures=failures, entered=frozenset()) is None
    refusal = judge_failures(failures=failures, entered=frozenset({sound, failed}))
    assert refusal is not None
    assert (refusal.rule, refusal.observed) == (f"policy_cage.{kind.value}_failed", "pays nobody")
    assert (refusal.data["name"], refusal.data["recovery"]) == ("Broken", Recovery.WAIT)
