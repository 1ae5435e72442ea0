"""Who must agree and how long a loosening waits, as pure rules."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from permits_app.approvals.approval_rules import (
    COOLING_LARGE_SECONDS,
    COOLING_MEDIUM_SECONDS,
    COOLING_SMALL_SECONDS,
    WARDEN_DELAY_SECONDS,
    cool_off,
    find_quorum,
    measure_loosening,
)
from tools_app.toolkit.enums import RiskTier


@pytest.mark.parametrize(
    ("tier", "owners", "asker", "key_maker", "required", "barred"),
    [
        (RiskTier.HIGH, [1, 2], None, 1, 1, None),
        (RiskTier.HIGH, [1, 2], 1, None, 1, 1),
        (RiskTier.CRITICAL, [1, 2], None, 1, 1, 1),
        (RiskTier.CRITICAL, [1, 2], 1, None, 1, 1),
        (RiskTier.CRITICAL, [1, 2, 3], 1, None, 2, 1),
        (RiskTier.CRITICAL, [1, 2, 3], None, 9, 2, None),
        (RiskTier.CRITICAL, [1, 2], None, None, 2, None),
        (RiskTier.CRITICAL, [1], 1, None, 1, 1),
    ],
)
def test_the_quorum_of_a_request(
    tier: RiskTier, owners: list[int], asker: int | None, key_maker: int | None, required: int, barred: int | None
) -> None:
    quorum = find_quorum(tier=tier, owner_ids=owners, asker_id=asker, key_maker_id=key_maker)
    assert (quorum.required, quorum.barred_owner_id) == (required, barred)
    assert quorum.is_single_owner == (len(owners) == 1)
    assert quorum.needs_second_factor


@given(
    tier=st.sampled_from([RiskTier.HIGH, RiskTier.CRITICAL]),
    owners=st.sets(st.integers(1, 6), min_size=1),
    asker=st.none() | st.integers(1, 6),
    maker=st.none() | st.integers(1, 6),
)
def test_a_quorum_can_always_be_reached_and_never_by_who_asked(
    tier: RiskTier, owners: set[int], asker: int | None, maker: int | None
) -> None:
    quorum = find_quorum(tier=tier, owner_ids=owners, asker_id=asker, key_maker_id=maker)
    eligible = owners if quorum.is_single_owner else owners - {quorum.barred_owner_id}
    assert 1 <= quorum.required <= len(eligible)
    if len(owners) > 1 and asker in owners:
        assert asker not in eligible
    if tier is RiskTier.CRITICAL and len(owners) > 2:
        assert quorum.required == 2


@pytest.mark.parametrize(
    ("after", "seconds"),
    [
        (1_001, COOLING_SMALL_SECONDS),
        (1_250, COOLING_SMALL_SECONDS),
        (1_251, COOLING_MEDIUM_SECONDS),
        (2_000, COOLING_MEDIUM_SECONDS),
        (2_001, COOLING_LARGE_SECONDS),
    ],
)
def test_a_limit_cools_off_by_how_much_looser_it_gets(after: int, seconds: int) -> None:
    assert cool_off(measure_loosening(before=1_000, after=after, looser_is_higher=True)) == seconds


@pytest.mark.parametrize(
    ("after", "seconds"),
    [
        (800, COOLING_SMALL_SECONDS),
        (500, COOLING_MEDIUM_SECONDS),
        (499, COOLING_LARGE_SECONDS),
        (0, COOLING_LARGE_SECONDS),
    ],
)
def test_a_minimum_that_falls_is_measured_the_other_way_round(after: int, seconds: int) -> None:
    assert cool_off(measure_loosening(before=1_000, after=after, looser_is_higher=False)) == seconds


def test_what_was_forbidden_and_becomes_allowed_waits_longest() -> None:
    assert measure_loosening(before=0, after=1, looser_is_higher=True) is None
    assert cool_off(None) == 48 * 3_600


def test_the_warden_waits_as_decided() -> None:
    assert list(WARDEN_DELAY_SECONDS.values()) == [0, 600, 3_600, 86_400, 172_800]
