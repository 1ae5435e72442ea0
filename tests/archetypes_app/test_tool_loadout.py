"""What gives way when an agent loads tools: for any tools, any order and any costs."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from archetypes_app.tool_loadout import Loadout

BUDGET = 9
COST = {"swap": 1, "a": 2, "b": 2, "c": 2, "small": 2, "heavy": 5, "huge": 9}
COSTS = st.lists(st.integers(min_value=1, max_value=6), min_size=12, max_size=12)


@pytest.mark.parametrize("asked", [("small", "huge"), ("huge", "small")])
def test_one_that_can_never_fit_keeps_no_other_from_its_room_and_drops_none(asked: tuple[str, ...]) -> None:
    def fits(loadout: Loadout) -> bool:
        return sum(COST[name] for name in loadout.names) <= BUDGET

    loading = Loadout(core=("swap",), loaded=("a", "b", "c")).load(asked, fits=fits)
    assert loading.added == ("small",)
    assert loading.dropped == ()
    assert loading.no_room == ("huge",)
    assert loading.loadout.loaded == ("a", "b", "c", "small")


@given(
    costs=COSTS,
    loaded=st.lists(st.integers(min_value=0, max_value=11), unique=True, max_size=6),
    asked=st.lists(st.integers(min_value=0, max_value=11), max_size=12),
    most=st.integers(min_value=1, max_value=8),
    budget=st.integers(min_value=6, max_value=30),
)
def test_what_is_asked_for_is_shown_was_there_or_found_no_room_and_no_more_gives_way_than_must(
    costs: list[int], loaded: list[int], asked: list[int], most: int, budget: int
) -> None:
    def cost(names: tuple[str, ...]) -> int:
        return sum(costs[int(name)] for name in names)

    def fits(loadout: Loadout) -> bool:
        return cost(loadout.names) <= budget

    before = Loadout(loaded=tuple(map(str, loaded))[:most], most=most)
    while not fits(before):
        before = Loadout(loaded=before.loaded[1:], most=most)
    loading = before.load(map(str, asked), fits=fits)
    after = loading.loadout.loaded
    assert sorted((*loading.added, *loading.already, *loading.no_room)) == sorted(set(map(str, asked)))
    assert set(loading.added) | set(loading.already) <= set(after) and len(after) <= most and cost(after) <= budget
    assert set(loading.dropped) == set(before.loaded) - set(after)
    assert not loading.dropped or loading.added, "nothing gives way for nothing"
    staying = tuple(name for name in after if name not in loading.added and name not in loading.already)
    if loading.dropped:
        one_more = (loading.dropped[-1], *staying, *loading.already, *loading.added)
        assert len(one_more) > most or cost(one_more) > budget, "the last to give way had to"
    kept = set(loading.added) | (set(loading.already) & set(before.loaded))
    for name in loading.no_room:
        alone = (*kept, name)
        assert len(alone) > most or cost(alone) > budget, "who found no room had none beside what was asked for"
