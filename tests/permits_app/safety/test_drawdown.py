"""A fall from the high-water mark: measured exactly, recorded once, lifted by the owner alone."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.test import Client
from hypothesis import given
from hypothesis import strategies as st

from permits_app.actions.acknowledge_drawdown import acknowledge_drawdown
from permits_app.errors import HoldingsImplausible, NothingToAcknowledge, PolicyRejected
from permits_app.models import HighWaterMark
from permits_app.safety.call_records import Mark
from permits_app.safety.drawdown import (
    MARK_STEP,
    MARK_WINDOW,
    Fall,
    breaker_thresholds,
    judge_fall,
    list_marks,
    mark_of,
    measure_fall,
    move_mark,
    read_fall,
    record_value,
)
from tests.factories.golems import make_golem
from tests.live_golem import LiveGolem
from tests.permits_app.safety.calls import NOW
from tools_app.core import clock
from tools_app.core.errors import Recovery
from tools_app.core.models import AuditEntry, OutboxEvent
from tools_app.portfolio.holdings import MOST_PLAUSIBLE_MICRO_USD, is_implausible
from tools_app.toolkit.enums import ActionClass
from tools_app.toolkit.views import FeedPrice, TokenMeta

A = ActionClass
USD = 1_000_000
HOUR = timedelta(hours=1)


@pytest.mark.parametrize(
    ("mark", "value", "bps"),
    [
        (10_000, 10_000, 0),
        (10_000, 10_001, 0),
        (10_000, 9_999, 1),
        (10_000, 8_700, 1_300),
        (3, 2, 3_334),
        (0, 0, 0),
        (1, 0, 10_000),
    ],
)
def test_a_fall_is_rounded_up_so_that_it_is_never_taken_for_smaller(mark: int, value: int, bps: int) -> None:
    assert measure_fall(mark_micro_usd=mark, value_micro_usd=value) == bps


@given(st.integers(1, 10**15), st.integers(0, 10**15))
def test_a_fall_lies_between_nothing_and_everything(mark: int, value: int) -> None:
    assert 0 <= measure_fall(mark_micro_usd=mark, value_micro_usd=value) <= 10_000


@pytest.mark.parametrize(("value", "violates"), [(8_701, False), (8_700, False), (8_699, True)])
def test_the_cage_is_broken_exactly_beyond_its_limit(live_golem: LiveGolem, value: int, violates: bool) -> None:
    pk = live_golem.golem.pk
    record_value(golem_id=pk, value_micro_usd=10_000 * USD, most_bps=1_300, now=NOW)
    fall = record_value(golem_id=pk, value_micro_usd=value * USD, most_bps=1_300, now=NOW)
    assert (fall.violated_at is not None) is violates
    assert read_fall(pk) == fall


@pytest.mark.parametrize(("value", "violates"), [(8_001, False), (8_000, True)])
def test_the_breaker_blocks_from_twenty_percent_on_whatever_the_cage_allows(
    live_golem: LiveGolem, value: int, violates: bool
) -> None:
    pk = live_golem.golem.pk
    record_value(golem_id=pk, value_micro_usd=10_000 * USD, most_bps=5_000, now=NOW)
    fall = record_value(golem_id=pk, value_micro_usd=value * USD, most_bps=5_000, now=NOW)
    assert (fall.violated_at is not None) is violates
    assert fall.paused_until == NOW + HOUR


def test_a_pause_ends_after_its_hour_and_stops_only_growing() -> None:
    fall = Fall(paused_until=NOW + HOUR)
    for now, action_class, passes in (
        (NOW + HOUR - timedelta(microseconds=1), A.NEW_POSITION, False),
        (NOW + HOUR - timedelta(microseconds=1), A.INCREASE_POSITION, False),
        (NOW, A.REBALANCE, True),
        (NOW, A.CLOSE_POSITION, True),
        (NOW + HOUR, A.NEW_POSITION, True),
    ):
        refusal = judge_fall(fall=fall, action_class=action_class, most_bps=5_000, now=now)
        assert (refusal is None) is passes, (now, action_class)


@pytest.mark.parametrize("action_class", list(A))
def test_a_violation_stops_every_write_but_leaving(action_class: ActionClass) -> None:
    refusal = judge_fall(fall=Fall(NOW, 1_400), action_class=action_class, most_bps=1_300, now=NOW + 100 * HOUR)
    assert (refusal is None) is (action_class in (A.DECREASE_POSITION, A.CLOSE_POSITION))


def test_the_mark_rises_by_itself_and_ages_only_while_nothing_is_violated(live_golem: LiveGolem) -> None:
    pk = live_golem.golem.pk

    def mark_after(value: int, hours: int) -> int:
        record_value(golem_id=pk, value_micro_usd=value * USD, most_bps=1_300, now=NOW + hours * HOUR)
        return HighWaterMark.objects.get(golem_id=pk).value_micro_usd // USD

    # Worth 120 from the first hour until the second, when less was measured.
    assert [mark_after(value, at) for value, at in ((100, 0), (120, 1), (110, 2), (112, 26))] == [100, 120, 120, 120]
    assert [mark_after(110, 27), mark_after(110, 50), mark_after(110, 52)] == [112, 112, 110]
    fallen = record_value(golem_id=pk, value_micro_usd=50 * USD, most_bps=1_300, now=NOW + 53 * HOUR)
    later = record_value(golem_id=pk, value_micro_usd=50 * USD, most_bps=1_300, now=NOW + 99 * HOUR)
    assert fallen.violated_at == later.violated_at == NOW + 53 * HOUR


_WALKS = st.lists(st.tuples(st.integers(0, 40 * 60), st.integers(0, 1_000)), min_size=1, max_size=40)


@given(_WALKS)
def test_the_mark_is_the_highest_value_of_its_window_by_time(walk: list[tuple[int, int]]) -> None:
    at, mark = NOW, Mark(walk[0][1], NOW)
    seen = [(NOW, walk[0][1])]
    for minutes, value in walk[1:]:
        at += timedelta(minutes=minutes)
        mark = move_mark(mark=replace(mark, violated_at=None), value_micro_usd=value, most_bps=10_000, now=at)
        seen.append((at, value))
        # Each value stands until the next is measured.
        ends = [*(later for later, _ in seen[1:]), at]
        held = [(each, end) for (_, each), end in zip(seen, ends, strict=True)]
        least = max(each for each, end in held if at - end <= MARK_WINDOW)
        most = max(each for each, end in held if at - end <= MARK_WINDOW + MARK_STEP)
        assert least <= mark.value_micro_usd <= most
        assert len(mark.later) <= MARK_WINDOW / MARK_STEP + 3


def test_a_fall_between_two_looks_days_apart_is_seen(live_golem: LiveGolem) -> None:
    golem, world = live_golem.golem, live_golem.world
    assert live_golem.preview()["status"] == "CREATED"
    ago = clock.now() - timedelta(days=3)
    HighWaterMark.objects.filter(golem=golem).update(reached_at=ago, updated_at=ago)
    world.rpc.call("anvil_setBalance", golem.address, hex(10**18))
    with pytest.raises(PolicyRejected) as refused:
        live_golem.preview(amount="400000000")
    assert refused.value.data["rule"] == "policy_cage.drawdown"


def test_a_real_loss_blocks_a_real_golem_until_its_owner_has_seen_it(live_golem: LiveGolem) -> None:
    golem, world = live_golem.golem, live_golem.world
    assert live_golem.preview()["status"] == "CREATED"
    world.rpc.call("anvil_setBalance", golem.address, hex(10**18))
    with pytest.raises(PolicyRejected) as refused:
        live_golem.preview(amount="400000000")
    assert refused.value.data["rule"] == "policy_cage.drawdown"
    assert live_golem.preview(token_in="WETH", token_out="USDC", amount=str(10**17))["status"] == "CREATED"
    assert AuditEntry.objects.filter(golem_id=golem.pk, event="PolicyCageCheck").count() == 1
    assert OutboxEvent.objects.filter(golem_id=golem.pk, type="policy:violation").count() == 1
    acknowledge_drawdown(golem_id=golem.pk, actor="owner:1", reason="seen", now=clock.now())
    assert live_golem.preview(amount="400000000")["status"] == "CREATED"
    with pytest.raises(NothingToAcknowledge):
        acknowledge_drawdown(golem_id=golem.pk, actor="owner:1", reason="again", now=clock.now())
    assert AuditEntry.objects.filter(golem_id=golem.pk, event="DrawdownAcknowledged").count() == 1


@pytest.mark.parametrize(("beyond", "is_believed"), [(-1, True), (0, True), (1, False)])
def test_a_claim_is_believed_up_to_a_hundred_billion_dollars(beyond: int, is_believed: bool) -> None:
    dollar = FeedPrice("0xfeed", 10**8, 8, 1, 0, 0)
    token = TokenMeta(31337, "0x00d0b34Da709b017641821205fb0eEa972eC1FC3", "USDX", 6, "Dollar", True)
    assert is_implausible(MOST_PLAUSIBLE_MICRO_USD + beyond, token, dollar) is not is_believed


def test_a_token_that_claims_more_than_anybody_holds_moves_no_mark(live_golem: LiveGolem) -> None:
    golem, world = live_golem.golem, live_golem.world
    assert live_golem.preview()["status"] == "CREATED"
    before = HighWaterMark.objects.get(golem=golem)
    world.rpc.call("anvil_setBalance", golem.address, hex(2**255))
    assert live_golem.preview(amount="400000000")["status"] == "CREATED"
    mark = HighWaterMark.objects.get(golem=golem)
    assert (mark.value_micro_usd, mark.violated_at) == (before.value_micro_usd, None)
    with pytest.raises(HoldingsImplausible, match="claims a balance that nobody can hold") as refused:
        live_golem.preview(token_out="ETH")
    assert refused.value.next_step is Recovery.ASK_OWNER


def test_the_owner_acknowledges_on_a_page_of_the_admin(live_golem: LiveGolem) -> None:
    pk = live_golem.golem.pk
    record_value(golem_id=pk, value_micro_usd=100 * USD, most_bps=1_300, now=NOW)
    record_value(golem_id=pk, value_micro_usd=50 * USD, most_bps=1_300, now=NOW)
    owner: Any = live_golem.owner
    owner.is_superuser = True
    owner.save()
    browser = Client()
    browser.force_login(owner)
    page = browser.get(f"/admin/archetypes_app/golem/{pk}/drawdown/")
    assert page.status_code == 200
    assert "fell 50" in page.content.decode()
    assert browser.post(f"/admin/archetypes_app/golem/{pk}/drawdown/", {"reason": "seen"}).status_code == 302
    assert read_fall(pk).violated_at is None


@pytest.mark.parametrize(
    ("after", "thresholds"),
    [
        (None, (1_300, 2_000)),
        (-HOUR, (910, 1_400)),
        (24 * HOUR - timedelta(microseconds=1), (910, 1_400)),
        (24 * HOUR, (1_300, 2_000)),
    ],
)
def test_the_breaker_trips_at_seven_tenths_until_a_day_after_a_pause(
    after: timedelta | None, thresholds: tuple[int, int]
) -> None:
    paused_until = None if after is None else NOW
    assert breaker_thresholds(paused_until=paused_until, now=NOW + (after or HOUR)) == thresholds


@pytest.mark.parametrize(("value", "violates"), [(8_601, False), (8_600, True)])
def test_a_fall_that_goes_on_after_a_pause_blocks_at_fourteen_percent(
    live_golem: LiveGolem, value: int, violates: bool
) -> None:
    pk = live_golem.golem.pk
    record_value(golem_id=pk, value_micro_usd=10_000 * USD, most_bps=5_000, now=NOW)
    assert record_value(golem_id=pk, value_micro_usd=8_700 * USD, most_bps=5_000, now=NOW).paused_until == NOW + HOUR
    fall = record_value(golem_id=pk, value_micro_usd=value * USD, most_bps=5_000, now=NOW + HOUR)
    assert (fall.violated_at is not None) is violates


def test_a_second_pause_comes_with_a_fall_of_nine_percent_from_a_new_mark() -> None:
    mark = Mark(10_000, NOW, paused_until=NOW)
    still = move_mark(mark=mark, value_micro_usd=9_091, most_bps=5_000, now=NOW + HOUR)
    assert (still.value_micro_usd, still.paused_until, still.violated_at) == (10_000, NOW, None)
    again = move_mark(mark=mark, value_micro_usd=9_090, most_bps=5_000, now=NOW + HOUR)
    assert again.paused_until == NOW + 2 * HOUR


@given(st.integers(0, 10**15), st.integers(0, 10**15), st.integers(0, 5_000), st.integers(0, 200))
def test_a_known_mark_moves_as_the_locked_one_does(mark: int, value: int, most_bps: int, hours: int) -> None:
    before = Mark(mark, NOW)
    moved = move_mark(mark=before, value_micro_usd=value, most_bps=most_bps, now=NOW + hours * HOUR)
    assert moved.value_micro_usd in (mark, value)
    assert moved.value_micro_usd >= value
    assert (moved.violated_at is None) == (moved.violated_bps == 0)


def test_a_mark_that_moved_meanwhile_is_not_overwritten(live_golem: LiveGolem) -> None:
    pk = live_golem.golem.pk
    record_value(golem_id=pk, value_micro_usd=100 * USD, most_bps=1_300, now=NOW)
    stale = mark_of(HighWaterMark.objects.get(golem_id=pk))
    record_value(golem_id=pk, value_micro_usd=200 * USD, most_bps=1_300, now=NOW)
    fall = record_value(golem_id=pk, value_micro_usd=150 * USD, most_bps=1_300, now=NOW, known=stale)
    assert fall.violated_at == NOW
    assert HighWaterMark.objects.get(golem_id=pk).value_micro_usd == 200 * USD


def test_only_the_step_that_violates_is_told(live_golem: LiveGolem) -> None:
    pk = live_golem.golem.pk
    for value, told in ((100, 0), (90, 0), (80, 1), (70, 1), (100, 1)):
        record_value(golem_id=pk, value_micro_usd=value * USD, most_bps=1_300, now=NOW)
        assert AuditEntry.objects.filter(golem_id=pk, event="PolicyCageCheck").count() == told
    line = AuditEntry.objects.get(golem_id=pk, event="PolicyCageCheck")
    assert line.data == {
        "rule": "policy_cage.drawdown",
        "observed_bps": "2000",
        "limit_bps": "1300",
        "mark": "$100.00",
        "value": "$80.00",
    }


def test_every_golem_has_a_mark_of_its_own(live_golem: LiveGolem) -> None:
    mine, other = live_golem.golem, make_golem(owner=live_golem.owner, name="Borea")
    record_value(golem_id=other.pk, value_micro_usd=10_000 * USD, most_bps=1_300, now=NOW)
    record_value(golem_id=mine.pk, value_micro_usd=1_000 * USD, most_bps=1_300, now=NOW + HOUR)
    fall = record_value(golem_id=other.pk, value_micro_usd=1_000 * USD, most_bps=1_300, now=NOW + HOUR)
    assert (read_fall(other.pk), read_fall(mine.pk)) == (fall, Fall())
    mark = HighWaterMark.objects.get(golem_id=mine.pk)
    assert (mark.value_micro_usd, mark.updated_at) == (1_000 * USD, NOW + HOUR)
    assert HighWaterMark.objects.get(golem_id=other.pk).value_micro_usd == 10_000 * USD


def test_an_equal_mark_of_another_golem_is_not_moved(live_golem: LiveGolem) -> None:
    mine, other = live_golem.golem, make_golem(owner=live_golem.owner, name="Borea")
    for golem in (mine, other):
        record_value(golem_id=golem.pk, value_micro_usd=100 * USD, most_bps=1_300, now=NOW)
    known = mark_of(HighWaterMark.objects.get(golem_id=mine.pk))
    record_value(golem_id=mine.pk, value_micro_usd=101 * USD, most_bps=1_300, now=NOW + HOUR, known=known)
    marks = {row.golem_id: (row.value_micro_usd, row.updated_at) for row in HighWaterMark.objects.all()}
    assert marks == {mine.pk: (101 * USD, NOW + HOUR), other.pk: (100 * USD, NOW)}


def test_a_known_mark_is_moved_by_one_statement(live_golem: LiveGolem, django_assert_num_queries: Any) -> None:
    pk = live_golem.golem.pk
    record_value(golem_id=pk, value_micro_usd=100 * USD, most_bps=1_300, now=NOW)
    known = mark_of(HighWaterMark.objects.get(golem_id=pk))
    with django_assert_num_queries(0):
        record_value(golem_id=pk, value_micro_usd=100 * USD, most_bps=1_300, now=NOW + HOUR / 61, known=known)
    with django_assert_num_queries(1):
        record_value(golem_id=pk, value_micro_usd=101 * USD, most_bps=1_300, now=NOW + HOUR, known=known)
    assert HighWaterMark.objects.get(golem_id=pk).value_micro_usd == 101 * USD


def test_a_mark_reached_again_is_written_once_a_minute_and_a_higher_one_at_once(live_golem: LiveGolem) -> None:
    golem_id = live_golem.golem.pk

    def record(value: int, at: datetime) -> HighWaterMark:
        row = HighWaterMark.objects.filter(golem_id=golem_id).first()
        known = mark_of(row) if row else None
        record_value(golem_id=golem_id, value_micro_usd=value, most_bps=1_000, now=at, known=known)
        return HighWaterMark.objects.get(golem_id=golem_id)

    second = timedelta(seconds=1)
    record(100, NOW)
    assert record(100, NOW + 59 * second).reached_at == NOW
    assert record(100, NOW + 60 * second).reached_at == NOW + 60 * second
    risen = record(101, NOW + 61 * second)
    assert (risen.value_micro_usd, risen.reached_at) == (101, NOW + 61 * second)


def test_a_value_that_comes_back_takes_the_place_of_the_mark_it_equals() -> None:
    earlier = NOW - HOUR
    mark = Mark(9 * USD, earlier, later=((7 * USD, earlier),))
    marks = list_marks(mark=mark, value_micro_usd=7 * USD, now=NOW)
    assert marks == [(9 * USD, earlier), (7 * USD, NOW)]


def test_a_day_after_a_pause_both_thresholds_are_seven_tenths() -> None:
    day = timedelta(hours=24)
    assert breaker_thresholds(paused_until=None, now=NOW) == (1_300, 2_000)
    assert breaker_thresholds(paused_until=NOW, now=NOW) == (910, 1_400)
    assert breaker_thresholds(paused_until=NOW, now=NOW + day - timedelta(seconds=1)) == (910, 1_400)
    assert breaker_thresholds(paused_until=NOW, now=NOW + day) == (1_300, 2_000)


@pytest.mark.parametrize(("age", "is_kept"), [(86_400, True), (86_401, False)])
def test_a_mark_is_held_against_for_a_day_and_no_second_longer(age: int, is_kept: bool) -> None:
    before = Mark(10 * USD, NOW - timedelta(seconds=age), None, 0, None, ((9 * USD, NOW - timedelta(hours=1)),))
    marks = list_marks(mark=before, value_micro_usd=8 * USD, now=NOW)
    assert [value for value, _ in marks] == [10 * USD, 9 * USD, 8 * USD][0 if is_kept else 1 :]


def test_of_the_marks_of_a_quarter_of_an_hour_the_highest_is_kept_with_the_latest_time() -> None:
    """By the clock's quarters: 11:00 to 11:14:59 are one, 11:15 begins another."""
    at = [datetime(2026, 11, 21, 11, *each, tzinfo=UTC) for each in ((0, 0), (14, 59), (15, 0), (16, 0))]
    values = [10, 9, 8, 7]
    first, *later = zip([value * USD for value in values], at, strict=True)
    before = Mark(first[0], first[1], None, 0, None, (*later, (6 * USD, at[3])))
    marks = list_marks(mark=before, value_micro_usd=5 * USD, now=datetime(2026, 11, 21, 12, tzinfo=UTC))
    assert marks[:2] == [(10 * USD, at[1]), (8 * USD, at[3])]


def test_a_pause_that_ends_as_the_golem_falls_is_followed_by_another() -> None:
    """Until the fall was measured the golem was worth its mark."""
    for paused_until, is_anew in ((NOW, True), (NOW + timedelta(seconds=1), False)):
        before = Mark(100 * USD, NOW - timedelta(hours=2), None, 0, paused_until, ())
        moved = move_mark(mark=before, value_micro_usd=80 * USD, most_bps=9_000, now=NOW)
        assert (moved.paused_until != paused_until) is is_anew


@pytest.mark.parametrize(
    ("value", "most_bps", "is_broken"),
    [(90, 1_000, False), (89, 1_000, True), (81, 9_000, False), (80, 9_000, True), (79, 9_000, True)],
)
def test_a_fall_beyond_the_owners_limit_or_as_deep_as_the_breakers_blocks(
    value: int, most_bps: int, is_broken: bool
) -> None:
    before = Mark(100 * USD, NOW - timedelta(hours=2), None, 0, None, ())
    moved = move_mark(mark=before, value_micro_usd=value * USD, most_bps=most_bps, now=NOW)
    assert (moved.violated_at, moved.violated_bps) == ((NOW, 10_000 - value * 100) if is_broken else (None, 0))
    again = move_mark(mark=moved, value_micro_usd=1 * USD, most_bps=most_bps, now=NOW + timedelta(hours=1))
    assert again.violated_at == (moved.violated_at or NOW + timedelta(hours=1))


def test_a_golem_that_recovered_before_its_owner_looked_keeps_the_time_of_its_mark() -> None:
    """Nothing else is held against it then; what comes after is measured from the same moment."""
    fallen_at = NOW - 2 * HOUR
    mark = Mark(10 * USD, NOW - 3 * HOUR, fallen_at, 2_000)
    assert list_marks(mark=mark, value_micro_usd=8 * USD, now=NOW) == [(10 * USD, NOW - 3 * HOUR), (8 * USD, NOW)]
    assert list_marks(mark=mark, value_micro_usd=10 * USD, now=NOW) == [(10 * USD, NOW)]


def test_of_a_golem_that_never_fell_nothing_is_recorded(live_golem: LiveGolem) -> None:
    fall = read_fall(live_golem.golem.pk)
    assert (fall.violated_at, fall.violated_bps, fall.paused_until) == (None, 0, None)
