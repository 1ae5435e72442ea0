"""What previews and rules decide by a number, just below, at and just above it."""

from __future__ import annotations

from datetime import timedelta
from types import SimpleNamespace
from typing import Any

import pytest

from archetypes_app.models.tick import Regime
from permits_app.limits.signed_promises import put_off
from permits_app.permits.market_defaults import SeenRegime, choose_defaults
from permits_app.policy_cage.conditions import Condition, Must
from permits_app.previews.request_words import read_why
from tests.factories.golems import make_golem, make_owner
from tests.factories.permits import make_permit
from tests.factories.requests import make_signed_promise
from tests.permits_app.safety.calls import NOW
from tools_app.core.errors import InvalidParams
from tools_app.toolkit.enums import ActionClass


def choose(regime: Regime, params: dict[str, int], *, age_seconds: int = 0, most: int = 10_000) -> dict[str, int]:
    golem: Any = SimpleNamespace(home_chain_id=1)
    tool: Any = SimpleNamespace(action_class=ActionClass.NEW_POSITION)
    seen = SeenRegime(regime, NOW - timedelta(seconds=age_seconds))
    chosen = choose_defaults(
        golem=golem, tool=tool, params=params, given=frozenset(), seen=seen, most_slippage_bps=most, now=NOW
    )
    return dict(chosen.changes)


@pytest.mark.parametrize(
    ("plain", "stricter"), [(300, 90), (200, 60), (201, 60), (203, 60), (204, 61), (61, 60), (60, None), (59, None)]
)
def test_a_default_deadline_falls_to_a_minute_and_no_further(plain: int, stricter: int | None) -> None:
    assert choose(Regime.CRISIS, {"deadline": plain}).get("deadline") == stricter


@pytest.mark.parametrize(
    ("plain", "stricter"), [(50, 25), (22, 11), (21, 10), (20, 10), (11, 10), (10, None), (9, None)]
)
def test_a_default_slippage_falls_to_ten_basis_points_and_no_further(plain: int, stricter: int | None) -> None:
    assert choose(Regime.CALM, {"slippage_bps": plain}).get("slippage_bps") == stricter


@pytest.mark.parametrize(("most", "stricter"), [(26, 25), (25, 25), (24, 24)])
def test_a_default_slippage_is_never_above_the_owners(most: int, stricter: int) -> None:
    assert choose(Regime.CALM, {"slippage_bps": 50}, most=most)["slippage_bps"] == stricter


@pytest.mark.parametrize(("age", "counts"), [(239, True), (240, False), (241, False), (-1, False)])
def test_a_regime_counts_for_twice_the_longest_wait(age: int, counts: bool) -> None:
    assert bool(choose(Regime.CRISIS, {"deadline": 300}, age_seconds=age)) is counts


@pytest.mark.parametrize("name", ["chain_id", "source_chain"])
@pytest.mark.parametrize(("chain_id", "counts"), [(1, True), (2, False)])
def test_a_regime_counts_on_the_chain_where_it_was_seen(name: str, chain_id: int, counts: bool) -> None:
    assert ("slippage_bps" in choose(Regime.CALM, {"slippage_bps": 50, name: chain_id})) is counts


def test_why_an_agent_wants_it_has_five_hundred_characters_at_most() -> None:
    assert read_why({"why": "a" * 500}) == "a" * 500
    with pytest.raises(InvalidParams, match="at most 500"):
        read_why({"why": "a" * 501})


@pytest.mark.django_db
def test_what_was_not_seen_of_a_promise_is_told_in_as_many_letters_as_fit() -> None:
    permit = make_permit(golem=make_golem(owner=make_owner(name="promising")))
    row = make_signed_promise(permit=permit)
    put_off(row, reason="a" * 300, now=NOW)
    row.refresh_from_db()
    assert row.last_error == "a" * 255 and row.next_check_at > NOW


def test_a_condition_goes_five_steps_deep_at_most() -> None:
    deep = Condition(Must(1), tuple(range(5)))
    assert Condition.unpack(deep.pack()) == deep
    with pytest.raises(ValueError, match="no place"):
        Condition(Must(1), tuple(range(6))).pack()
    assert Condition.unpack(deep.pack() + (1 << 232)) is None


@pytest.mark.parametrize(("step", "group", "is_packed"), [(255, 255, True), (256, 255, False), (255, 256, False)])
def test_a_step_and_a_group_have_eight_bits(step: int, group: int, is_packed: bool) -> None:
    condition = Condition(Must(1), (step,), group=group)
    if is_packed:
        assert Condition.unpack(condition.pack()) == condition
        return
    with pytest.raises(ValueError, match=r"no place|8"):
        condition.pack()
