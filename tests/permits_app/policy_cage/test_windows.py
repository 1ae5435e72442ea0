"""Windows of a day, kept in quarters of an hour: never looser than a day to the second, and stricter by 15 minutes."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from permits_app.policy_cage.contract import SLOT_SECONDS, WINDOW_SECONDS, CageEvent
from permits_app.policy_cage.state import CageState

ASSET = "0x" + "11" * 20
START = 1_800_000_000
steps = st.lists(
    st.tuples(
        st.integers(0, 2 * SLOT_SECONDS) | st.sampled_from((1, 899, 900, 901, 86_399, 86_400, 86_401, 87_300)),
        st.integers(1, 10**30),
    ),
    min_size=1,
    max_size=40,
)


@given(steps=steps, after=st.integers(0, WINDOW_SECONDS + 2 * SLOT_SECONDS))
def test_a_window_is_never_looser_than_a_day_and_stricter_by_less_than_a_quarter_of_an_hour(
    steps: list[tuple[int, int]], after: int
) -> None:
    state, at = CageState(cage=ASSET, account=ASSET, base_asset=ASSET), START
    entries: list[tuple[int, int]] = []
    for seconds, amount in steps:
        at += seconds
        state.apply_event(CageEvent("OutflowCounted", {"asset": ASSET, "amount": amount}, 1, 0), block_time=at)
        entries.append((at, amount))
    now = at + after
    least = sum(amount for time, amount in entries if time > now - WINDOW_SECONDS)
    most = sum(amount for time, amount in entries if time > now - WINDOW_SECONDS - SLOT_SECONDS)
    assert least <= state.spent(ASSET, now=now) <= most


@given(steps=steps)
def test_a_window_that_is_read_later_counts_no_more(steps: list[tuple[int, int]]) -> None:
    state, at = CageState(cage=ASSET, account=ASSET, base_asset=ASSET), START
    for seconds, amount in steps:
        at += seconds
        state.apply_event(CageEvent("OutflowCounted", {"asset": ASSET, "amount": amount}, 1, 0), block_time=at)
    sums = [state.spent(ASSET, now=at + later) for later in range(0, WINDOW_SECONDS + 2 * SLOT_SECONDS, 450)]
    assert sums == sorted(sums, reverse=True)
    assert sums[-1] == 0
