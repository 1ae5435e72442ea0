"""The ledger's statements beside naive sums, who waits for whom, and what each change of an entry touches."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from itertools import product
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.db import IntegrityError, OperationalError, connection, transaction
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from archetypes_app.actions.sync_builtins import sync_builtins
from archetypes_app.models import ApiKey, Golem, Heartbeat, ToolProfile
from archetypes_app.toolset import view_golem
from permits_app.errors import RateLimited, SpendingLimitExceeded
from permits_app.limits import ledger
from permits_app.limits.key_spends import sum_key_spends
from permits_app.limits.usage import Usage
from permits_app.limits.valuation import PlanValue
from permits_app.models import ActionPermit, CageMirror, OwnerBudget, PolicyCage, SpendEntry, SpendingLimits
from permits_app.models.permit import PermitStatus
from permits_app.safety.load_call_records import read_records
from tests.factories.golems import make_api_key, make_golem, make_owner
from tests.factories.permits import make_permit, make_standing_allowance
from tests.permits_app.safety.calls import plain_call
from tools_app.core import clock

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)
HOUR, DAY, WEEK = timedelta(hours=1), timedelta(hours=24), timedelta(days=7)
MOMENT = timedelta(microseconds=1)
STATES_OF_A_CLAIM = ["RESERVED", "SETTLED", "RELEASED"]
COUNTED_WRITES = {"CREATED", "COMMITTING", "COMMITTED", "REVERTED", "UNKNOWN"}


@dataclass(frozen=True)
class Spend:
    """One permit with its entry, as the reference sees them. Golems and keys are places in a list."""

    golem: int
    key: int | None
    status: str
    state: str
    reserved: int
    settled: int
    counts_per_day: bool
    tick: int
    counted_ago: timedelta
    created_ago: timedelta

    @property
    def amount(self) -> int:
        return self.settled if self.state == "SETTLED" else self.reserved


AGES = [
    timedelta(0),
    HOUR - MOMENT,
    HOUR,
    HOUR + MOMENT,
    DAY - MOMENT,
    DAY,
    DAY + MOMENT,
    WEEK - MOMENT,
    WEEK,
    timedelta(days=9),
]
SPENDS = st.builds(
    Spend,
    golem=st.sampled_from([0, 0, 0, 1]),
    key=st.sampled_from([0, 0, 1, None]),
    status=st.sampled_from(PermitStatus.values),
    state=st.sampled_from(STATES_OF_A_CLAIM),
    reserved=st.integers(10, 1_000),
    settled=st.integers(0, 10),
    counts_per_day=st.booleans(),
    tick=st.sampled_from([0, 5, 5, 6]),
    counted_ago=st.sampled_from(AGES),
    created_ago=st.sampled_from(AGES),
)


@dataclass
class Books:
    """Two golems, two keys of the first."""

    golems: list[Golem]
    keys: list[Any]

    def write(self, spend: Spend) -> ActionPermit:
        key = self.keys[spend.key] if spend.key is not None else None
        permit = ActionPermit.objects.create(
            golem=self.golems[spend.golem],
            api_key=key,
            tool_name="t",
            action_type="t",
            venue="t",
            chain_id=1,
            action_hash=uuid4().hex,
            action_class="REBALANCE",
            risk_tier="STANDARD",
            plan_hash="0x",
            policy_hash="0x",
            status=spend.status,
            expires_at=NOW,
        )
        ActionPermit.objects.filter(pk=permit.pk).update(created_at=NOW - spend.created_ago)
        SpendEntry.objects.create(
            golem=self.golems[spend.golem],
            permit=permit,
            api_key=key,
            state=spend.state,
            reserved_micro_usd=spend.reserved,
            settled_micro_usd=spend.settled if spend.state == "SETTLED" else None,
            counts_per_day=spend.counts_per_day,
            heartbeat_tick=spend.tick,
            counted_at=NOW - spend.counted_ago,
        )
        return permit

    def leave_standing(self, each: Standing, place: int) -> None:
        permit = make_permit(golem=self.golems[each.golem], status="EXPIRED")
        make_standing_allowance(
            permit=permit, worth_micro_usd=each.worth, counted_at=NOW - each.counted_ago, spender=f"0x{place:040x}"
        )
        # Only what it left is looked at here.
        ActionPermit.objects.filter(pk=permit.pk).update(created_at=NOW - timedelta(days=9))


@pytest.fixture
def books(db: None) -> Books:
    owner = make_owner()
    golems = [make_golem(owner=owner, name="Atlas"), make_golem(owner=owner, name="Borea")]
    return Books(golems, [make_api_key(golem=golems[0]).key, make_api_key(golem=golems[0]).key])


@dataclass(frozen=True)
class Standing:
    """An allowance that an ended plan of a golem left, as the reference sees it."""

    golem: int
    worth: int
    counted_ago: timedelta


STANDING = st.builds(
    Standing, golem=st.sampled_from([0, 0, 1]), worth=st.integers(0, 5_000), counted_ago=st.sampled_from(AGES)
)


def add_up(
    spends: list[Spend],
    *,
    golem: int,
    key: int | None,
    tick: int,
    excluded: int | None,
    standing: Sequence[Standing] = (),
) -> Usage:
    """The reference: every window by itself, in words of the limits."""
    left = sum(each.worth for each in standing if each.golem == golem and each.counted_ago >= DAY)
    mine = [spend for place, spend in enumerate(spends) if spend.golem == golem and place != excluded]
    claims = [spend for spend in mine if spend.state != "RELEASED"]
    recent = [spend for spend in claims if spend.counts_per_day and spend.counted_ago < DAY]
    # What is held may still be spent, however long ago it was reserved.
    held = [
        spend for spend in claims if spend.counts_per_day and spend.state == "RESERVED" and spend.counted_ago >= DAY
    ]
    written = [spend for spend in mine if spend.status in COUNTED_WRITES and spend.created_ago < HOUR]
    keyless = [
        spend for spend in claims if spend.key is None and (spend.counted_ago < WEEK or spend.state == "RESERVED")
    ]
    session = keyless if key is None else [spend for spend in claims if spend.key == key]
    oldest = [spend.counted_ago for spend in keyless if key is None and spend.amount > 0]
    return Usage(
        tick_micro_usd=sum(spend.amount for spend in claims if tick > 0 and spend.tick == tick),
        session_micro_usd=sum(spend.amount for spend in session),
        day_micro_usd=sum(spend.amount for spend in (*recent, *held)) + left,
        writes_last_hour=len(written),
        day_resets_at=NOW - max(spend.counted_ago for spend in recent) + DAY if recent else None,
        hour_resets_at=NOW - max(spend.created_ago for spend in written) + HOUR if written else None,
        session_resets_at=NOW - max(oldest) + WEEK if oldest else None,
    )


# One transaction writes and sums, which in the product are several.
@pytest.mark.locks_at_will
@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    spends=st.lists(SPENDS, max_size=7),
    standing=st.lists(STANDING, max_size=4),
    golem=st.sampled_from([0, 0, 0, 1]),
    key=st.sampled_from([0, 0, 1, None]),
    tick=st.sampled_from([0, 5, 5, 6]),
    excluded=st.one_of(st.none(), st.integers(0, 6)),
    is_summed=st.booleans(),
)
# A day old to the microsecond, and still of this session and this tick.
@example(
    spends=[Spend(0, 0, "COMMITTED", "RESERVED", 100, 0, True, 5, DAY, HOUR)],
    standing=[],
    golem=0,
    key=0,
    tick=5,
    excluded=None,
    is_summed=True,
)
# A day old and of another tick: only the session still counts it.
@example(
    spends=[Spend(0, 0, "COMMITTED", "RESERVED", 100, 0, True, 5, DAY, HOUR)],
    standing=[],
    golem=0,
    key=0,
    tick=6,
    excluded=None,
    is_summed=True,
)
@example(
    spends=[Spend(1, None, "COMMITTED", "RESERVED", 100, 0, True, 5, HOUR, HOUR)],
    standing=[],
    golem=0,
    key=0,
    tick=5,
    excluded=None,
    is_summed=True,
)
@example(
    spends=[
        Spend(0, 0, "CREATED", "RESERVED", 10, 0, True, 5, timedelta(0), age)
        for age in (timedelta(0), HOUR - MOMENT, HOUR, HOUR + MOMENT)
    ],
    standing=[],
    golem=0,
    key=0,
    tick=5,
    excluded=None,
    is_summed=True,
)
# What was left a day ago to the microsecond counts by itself; a moment less, and its permit's entry still does.
@example(
    spends=[],
    standing=[Standing(0, 7, DAY - MOMENT), Standing(0, 11, DAY), Standing(1, 13, DAY)],
    golem=0,
    key=0,
    tick=5,
    excluded=None,
    is_summed=True,
)
def test_every_window_is_the_naive_sum_of_what_lies_in_it(
    books: Books,
    spends: list[Spend],
    standing: list[Standing],
    golem: int,
    key: int | None,
    tick: int,
    excluded: int | None,
    is_summed: bool,
) -> None:
    """Whether or not the spends of keys were added to their sums before."""
    with transaction.atomic():
        permits = [books.write(spend) for spend in spends]
        if is_summed:
            old = [each for each in spends if each.key is not None and each.counted_ago > DAY]
            assert sum_key_spends(now=NOW) == sum(each.state == "SETTLED" for each in old)
        for place, each in enumerate(standing):
            books.leave_standing(each, place)
        usage = ledger.read_usage(
            golem_id=books.golems[golem].pk,
            api_key_id=books.keys[key].pk if key is not None else None,
            heartbeat_tick=tick,
            now=NOW,
            exclude_permit_id=permits[excluded].pk if excluded is not None and excluded < len(permits) else None,
        )
        days = ledger.sum_days(golem_ids=[books.golems[golem].pk], now=NOW)
        transaction.set_rollback(True)
    assert usage == add_up(spends, golem=golem, key=key, tick=tick, excluded=excluded, standing=standing)
    everything = add_up(spends, golem=golem, key=None, tick=0, excluded=None, standing=standing)
    assert set(days) <= {books.golems[golem].pk}
    assert days.get(books.golems[golem].pk, 0) == everything.day_micro_usd


LONG_AGO = timedelta(days=9)
_FOUND_ONCE = Spend(0, 1, "COMMITTED", "SETTLED", 100, 7, True, 6, LONG_AGO, DAY)
# Each lies in one window alone, for whoever asks with that key and tick.
FOUND_ONCE: dict[str, tuple[Spend, int | None, int]] = {
    "of the day": (replace(_FOUND_ONCE, counted_ago=HOUR), 0, 5),
    "held for long": (replace(_FOUND_ONCE, state="RESERVED"), 0, 5),
    "of the key": (replace(_FOUND_ONCE, key=0), 0, 5),
    "without a key within a week": (replace(_FOUND_ONCE, key=None, counted_ago=timedelta(days=3)), None, 5),
    "of the tick": (replace(_FOUND_ONCE, tick=5), 0, 5),
}


@pytest.mark.parametrize("window", FOUND_ONCE)
def test_what_lies_in_one_window_alone_is_counted_there_and_nothing_else_is(books: Books, window: str) -> None:
    """Beside another golem's, of the same age and key, and what was given back."""
    spend, key, tick = FOUND_ONCE[window]
    beside = [replace(spend, golem=1, settled=9, reserved=900), replace(spend, state="RELEASED", reserved=300)]
    spends = [spend, *beside]
    for each in spends:
        books.write(each)
    usage = ledger.read_usage(
        golem_id=books.golems[0].pk,
        api_key_id=books.keys[key].pk if key is not None else None,
        heartbeat_tick=tick,
        now=NOW,
    )
    assert usage == add_up(spends, golem=0, key=key, tick=tick, excluded=None)
    assert spend.amount in (usage.day_micro_usd, usage.session_micro_usd, usage.tick_micro_usd)


def test_a_golem_of_which_nothing_can_be_taken_has_no_day(books: Books) -> None:
    books.leave_standing(Standing(golem=0, worth=0, counted_ago=timedelta(days=2)), 0)
    books.leave_standing(Standing(golem=1, worth=1, counted_ago=timedelta(days=2)), 1)
    days = ledger.sum_days(golem_ids=[golem.pk for golem in books.golems], now=NOW)
    assert days == {books.golems[1].pk: 1}


@pytest.mark.parametrize("status", PermitStatus.values)
def test_a_write_counts_by_the_hour_once_it_may_have_happened(books: Books, status: str) -> None:
    spend = Spend(0, 0, status, "RESERVED", 100, 0, True, 5, timedelta(0), timedelta(0))
    books.write(spend)
    usage = ledger.read_usage(golem_id=books.golems[0].pk, api_key_id=None, heartbeat_tick=0, now=NOW)
    assert usage.writes_last_hour == (1 if status in COUNTED_WRITES else 0)


def test_the_hooks_are_told_the_same_usage_as_a_reservation(books: Books) -> None:
    spend = Spend(0, None, "COMMITTED", "SETTLED", 1_000, 900, True, 5, HOUR - MOMENT, HOUR - MOMENT)
    for key in (0, None):
        books.write(replace(spend, key=key))
    golem = books.golems[0]
    golem.heartbeat_tick = 5
    call = plain_call(None, golem=golem, view=view_golem(golem), now=NOW)
    read = ledger.read_usage(golem_id=golem.pk, api_key_id=None, heartbeat_tick=5, now=NOW)
    assert read_records(call).usage == read
    assert (read.tick_micro_usd, read.day_micro_usd, read.session_micro_usd, read.writes_last_hour) == (
        1_800,
        1_800,
        900,
        2,
    )


def test_what_breaks_the_golems_own_limit_is_refused_whatever_is_left_of_its_owners_budget(books: Books) -> None:
    OwnerBudget.objects.create(person=books.golems[0].owner, per_day_micro_usd=10**15)
    SpendingLimits.objects.create(golem=books.golems[0], per_day_micro_usd=100)
    open_one(books, 100)
    with pytest.raises(SpendingLimitExceeded) as refused:
        open_one(books, 1)
    assert refused.value.data["rule"] == "spending_limiter.per_day"


def open_one(books: Books, micro_usd: int = 1) -> None:
    """A reservation as a preview makes it."""
    permit = make_permit(golem=books.golems[0])
    ActionPermit.objects.filter(pk=permit.pk).delete()
    permit._state.adding = True
    with transaction.atomic():
        ledger.reserve(
            permit=permit,
            value=PlanValue(gas_micro_usd=micro_usd),
            counts_per_day=True,
            heartbeat_tick=0,
            now=clock.now(),
        )


def test_a_golem_without_limits_is_held_to_those_of_a_new_one(books: Books) -> None:
    with pytest.raises(SpendingLimitExceeded):
        open_one(books, SpendingLimits().per_transaction_micro_usd + 1)
    assert not ActionPermit.objects.exists()
    open_one(books, SpendingLimits().per_transaction_micro_usd)
    assert SpendingLimits.objects.get().golem == books.golems[0]


def test_a_reservation_beyond_the_writes_of_the_hour_is_refused_under_the_lock(books: Books) -> None:
    SpendingLimits.objects.create(golem=books.golems[0], writes_per_hour=2)
    open_one(books)
    open_one(books)
    with pytest.raises(RateLimited) as refused:
        open_one(books)
    assert (refused.value.data["hook"], refused.value.data["rule"]) == ("rate_limiter", "rate_limiter.per_hour")
    assert refused.value.data["resets_at"] is not None
    assert ActionPermit.objects.count() == 2


def test_a_conservative_profile_caps_the_writes_a_reservation_may_be(books: Books) -> None:
    sync_builtins()
    SpendingLimits.objects.create(golem=books.golems[0], writes_per_hour=500)
    books.golems[0].profiles.set(ToolProfile.objects.filter(name="conservative"))
    for _ in range(10):
        open_one(books)
    with pytest.raises(RateLimited):
        open_one(books)


LATER = NOW + HOUR
CHANGES: dict[str, Callable[[UUID], bool]] = {
    "settle": lambda permit: ledger.settle(permit_id=permit, spent_micro_usd=30, counted_at=LATER),
    "settle above": lambda permit: ledger.settle(permit_id=permit, spent_micro_usd=101, counted_at=LATER),
    "settle at": lambda permit: ledger.settle(permit_id=permit, spent_micro_usd=100, counted_at=LATER),
    "settle nothing": lambda permit: ledger.settle(permit_id=permit, spent_micro_usd=0, counted_at=LATER),
    "settle a gain": lambda permit: ledger.settle(permit_id=permit, spent_micro_usd=-5, counted_at=LATER),
    "reopen": lambda permit: ledger.reopen(permit_id=permit, now=LATER),
    "release": lambda permit: ledger.release(permit_id=permit),
}
# What each change makes of each state; where there is nothing written, nothing happens.
RESULTS: dict[tuple[str, str], tuple[str, int | None, datetime]] = {
    ("settle", "RESERVED"): ("SETTLED", 30, LATER),
    ("settle above", "RESERVED"): ("SETTLED", 101, LATER),
    ("settle at", "RESERVED"): ("SETTLED", 100, LATER),
    ("settle nothing", "RESERVED"): ("SETTLED", 0, LATER),
    ("settle a gain", "RESERVED"): ("SETTLED", 0, LATER),
    ("reopen", "SETTLED"): ("RESERVED", None, LATER),
    ("release", "RESERVED"): ("RELEASED", None, NOW),
}


@pytest.mark.parametrize(("change", "state"), list(product(CHANGES, STATES_OF_A_CLAIM)))
def test_a_change_is_made_once_from_its_own_state_and_to_its_own_entry(books: Books, change: str, state: str) -> None:
    spend = Spend(0, 0, "COMMITTING", state, 100, 7, True, 5, timedelta(0), timedelta(0))
    mine, other = books.write(spend), books.write(spend)
    before = (state, 7 if state == "SETTLED" else None, NOW)
    expected = RESULTS.get((change, state), before)
    assert CHANGES[change](mine.pk) is (expected != before)
    assert _read(mine) == expected
    assert _read(other) == before
    assert CHANGES[change](mine.pk) is False
    assert _read(mine) == expected


@pytest.mark.parametrize("state", STATES_OF_A_CLAIM)
@pytest.mark.parametrize(("least", "held"), [(99, 100), (100, 100), (101, 101)])
def test_what_is_held_beyond_its_permit_is_no_less_than_was_spent_and_nobody_elses(
    books: Books, state: str, least: int, held: int
) -> None:
    spend = Spend(0, 0, "COMMITTING", state, 100, 7, True, 5, timedelta(0), timedelta(0))
    mine, other = books.write(spend), books.write(spend)
    ledger.hold(permit_id=mine.pk, least_micro_usd=least)
    reserved = [SpendEntry.objects.get(permit=each).reserved_micro_usd for each in (mine, other)]
    assert reserved == [held if state == "RESERVED" else 100, 100]
    assert _read(mine) == _read(other) == (state, 7 if state == "SETTLED" else None, NOW)


def _read(permit: ActionPermit) -> tuple[str, int | None, datetime]:
    entry = ActionPermit.objects.get(pk=permit.pk).spend_entry
    return entry.state, entry.settled_micro_usd, entry.counted_at


# One transaction writes and sums, which in the product are several.
@pytest.mark.locks_at_will
@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    spends=st.lists(SPENDS, min_size=1, max_size=4),
    taken_back=st.lists(st.tuples(st.integers(0, 3), st.sampled_from([None, 0, 5, 10, 1_500])), max_size=6),
    key=st.sampled_from([0, None]),
    tick=st.sampled_from([0, 5]),
    summed_at=st.sets(st.integers(0, 6)),
)
def test_every_window_is_the_sum_of_the_lives_that_count_however_often_one_was_taken_back(
    books: Books,
    spends: list[Spend],
    taken_back: list[tuple[int, int | None]],
    key: int | None,
    tick: int,
    summed_at: set[int],
) -> None:
    """Whenever in between the spends of keys were added to their sums."""
    with transaction.atomic():
        permits = [books.write(spend) for spend in spends]
        live = list(spends)
        for step, (place, spent) in enumerate((*taken_back, (len(spends), None))):
            if step in summed_at:
                sum_key_spends(now=NOW)
            if place >= len(live) or not ledger.reopen(permit_id=permits[place].pk, now=NOW):
                continue
            held = max(live[place].reserved, live[place].settled)
            live[place] = replace(live[place], state="RESERVED", reserved=held, counted_ago=timedelta(0))
            if spent is not None:
                ledger.settle(permit_id=permits[place].pk, spent_micro_usd=spent, counted_at=NOW)
                counts = live[place].counts_per_day or spent > held
                live[place] = replace(live[place], state="SETTLED", settled=spent, counts_per_day=counts)
        usage = ledger.read_usage(
            golem_id=books.golems[0].pk,
            api_key_id=books.keys[key].pk if key is not None else None,
            heartbeat_tick=tick,
            now=NOW,
        )
        days = ledger.sum_days(golem_ids=[books.golems[0].pk], now=NOW)
        transaction.set_rollback(True)
    expected = add_up(live, golem=0, key=key, tick=tick, excluded=None)
    assert usage == expected
    assert days.get(books.golems[0].pk, 0) == expected.day_micro_usd


def test_what_is_taken_back_is_the_last_life_of_its_own_permit_and_stands_with_its_reversal(books: Books) -> None:
    """Another permit of the golem has lived longer."""
    spend = Spend(0, 0, "UNKNOWN", "SETTLED", 100, 7, True, 5, timedelta(0), timedelta(0))
    mine, other = books.write(spend), books.write(spend)
    for _ in range(2):
        assert ledger.reopen(permit_id=other.pk, now=LATER)
        assert ledger.settle(permit_id=other.pk, spent_micro_usd=8, counted_at=LATER)
    assert ledger.reopen(permit_id=mine.pk, now=LATER)

    def list_lives(permit: ActionPermit) -> list[tuple[Any, ...]]:
        rows = SpendEntry.objects.filter(permit=permit).order_by("life", "reverses")
        return [(row.life, row.state, row.reserved_micro_usd, row.settled_micro_usd) for row in rows]

    reversal, claim, held = sorted(list_lives(mine), key=lambda each: (each[0], each[1]))
    assert (reversal, claim) == ((1, "REVERSED", 0, -7), (1, "SETTLED", 100, 7))
    assert held == (2, "RESERVED", 100, None)
    assert [each[:2] for each in list_lives(other) if each[1] != "REVERSED"] == [
        (1, "SETTLED"),
        (2, "SETTLED"),
        (3, "SETTLED"),
    ]


@pytest.mark.parametrize("state", ["SETTLED", "REVERSED"])
def test_what_a_sum_counts_is_never_taken_out_of_it(books: Books, state: str) -> None:
    permit = books.write(Spend(0, 0, "UNKNOWN", "SETTLED", 100, 7, True, 5, LONG_AGO, LONG_AGO))
    assert ledger.reopen(permit_id=permit.pk, now=NOW) and sum_key_spends(now=NOW) == 2
    rows = SpendEntry.objects.filter(permit=permit, state=state)
    with pytest.raises(IntegrityError, match="never rewritten"), transaction.atomic():
        rows.update(is_in_key_sum=False)
    assert rows.filter(is_in_key_sum=True).count() == 1


def test_what_is_held_or_was_given_back_enters_no_sum(books: Books) -> None:
    spend = Spend(0, 0, "UNKNOWN", "RESERVED", 100, 7, True, 5, LONG_AGO, LONG_AGO)
    permits = [books.write(replace(spend, state=state)) for state in ("RESERVED", "RELEASED")]
    assert sum_key_spends(now=NOW) == 0
    for permit in permits:
        with pytest.raises(IntegrityError, match="never rewritten"), transaction.atomic():
            SpendEntry.objects.filter(permit=permit).update(is_in_key_sum=True)


def test_a_session_is_read_from_as_few_rows_after_a_thousand_spends_as_after_one(books: Books) -> None:
    """The sums of three runs, and what two keys of one session and a stranger spent."""
    ApiKey.objects.filter(pk=books.keys[1].pk).update(session_id=books.keys[0].session_id)
    spend = Spend(0, 0, "COMMITTED", "SETTLED", 100, 7, True, 5, LONG_AGO, LONG_AGO)
    stranger = make_api_key(golem=books.golems[1]).key
    for number in range(12):
        books.write(replace(spend, key=number % 2))
        if number % 5 == 0:
            sum_key_spends(now=NOW)
    Books(books.golems, [stranger]).write(replace(spend, golem=1))
    assert sum_key_spends(now=NOW) == 2 and sum_key_spends(now=NOW) == 0
    usage = ledger.read_usage(golem_id=books.golems[0].pk, api_key_id=books.keys[1].pk, heartbeat_tick=0, now=NOW)
    assert usage.session_micro_usd == 12 * 7
    assert not SpendEntry.objects.filter(is_in_key_sum=False).exists()


def test_what_only_comes_back_to_the_golem_is_no_part_of_the_hour(books: Books) -> None:
    SpendingLimits.objects.create(golem=books.golems[0], writes_per_hour=1)
    open_one(books)
    way_out = make_permit(golem=books.golems[0], action_class="CLOSE_POSITION")
    for counts_per_day in (False, True):
        with transaction.atomic(), nothing_or_refused(is_refused=counts_per_day):
            ledger.reserve(
                permit=way_out,
                value=PlanValue(gas_micro_usd=1),
                counts_per_day=counts_per_day,
                heartbeat_tick=0,
                now=clock.now(),
            )
            transaction.set_rollback(True)


@contextmanager
def nothing_or_refused(*, is_refused: bool) -> Iterator[None]:
    if not is_refused:
        yield
        return
    with pytest.raises(RateLimited):
        yield


def test_a_tick_ends_with_the_next_one_of_the_golems_own_heartbeat_while_it_beats(books: Books) -> None:
    mine, other = books.golems
    for golem, due in ((mine, NOW + HOUR), (other, NOW + DAY)):
        Heartbeat.objects.update_or_create(golem=golem, defaults={"is_on": True, "next_tick_at": due})

    def read_reset(golem: Golem) -> datetime | None:
        return ledger.read_usage(golem_id=golem.pk, api_key_id=None, heartbeat_tick=5, now=NOW).tick_resets_at

    assert (read_reset(mine), read_reset(other)) == (NOW + HOUR, NOW + DAY)
    Heartbeat.objects.filter(golem=mine).update(is_on=False)
    assert (read_reset(mine), read_reset(other)) == (None, NOW + DAY)


def test_the_day_without_one_permit_is_that_of_all_others(books: Books) -> None:
    spend = Spend(0, 0, "CREATED", "RESERVED", 100, 7, True, 5, timedelta(0), timedelta(0))
    first, second = books.write(spend), books.write(replace(spend, reserved=30))
    asked: dict[str, Any] = {"golem_ids": [books.golems[0].pk], "now": NOW}
    assert ledger.sum_days(**asked) == {books.golems[0].pk: 130}
    assert ledger.sum_days(**asked, exclude_permit_id=first.pk) == {books.golems[0].pk: 30}
    assert ledger.sum_days(**asked, exclude_permit_id=second.pk) == {books.golems[0].pk: 100}


@pytest.mark.parametrize(("spent", "counts"), [(100, False), (101, True)])
def test_what_was_lost_beyond_its_reservation_counts_against_the_day(books: Books, spent: int, counts: bool) -> None:
    permit = books.write(Spend(0, 0, "COMMITTING", "RESERVED", 100, 7, False, 5, timedelta(0), timedelta(0)))
    ledger.settle(permit_id=permit.pk, spent_micro_usd=spent, counted_at=NOW)
    assert SpendEntry.objects.get(permit=permit).counts_per_day is counts
    used = ledger.read_usage(golem_id=permit.golem_id, api_key_id=None, heartbeat_tick=0, now=NOW + HOUR)
    assert used.day_micro_usd == (spent if counts else 0)


def test_a_golem_without_limits_gets_the_defaults_under_the_lock(books: Books) -> None:
    SpendingLimits.objects.create(golem=books.golems[1], per_day_micro_usd=1)
    with transaction.atomic():
        limits = ledger.lock_limits(books.golems[0].pk)
    assert (limits.golem_id, limits.per_day_micro_usd) == (books.golems[0].pk, 100_000_000_000)
    assert SpendingLimits.objects.count() == 2


@pytest.mark.django_db(transaction=True)
def test_who_may_write_limits_and_cage_keeps_nobody_from_writing_what_the_cage_mirrors() -> None:
    mine = make_golem(owner=make_owner(), name="Atlas")
    with transaction.atomic():
        ledger.lock_policy(mine.pk)

    def mirror() -> str:
        try:
            with transaction.atomic(), connection.cursor() as cursor:
                cursor.execute("SET LOCAL lock_timeout = '2s'")
                cage = PolicyCage.objects.get(golem=mine)
                CageMirror.objects.create(cage=cage, chain_id=1, deployed_block=1, block_number=1, block_at=NOW)
                return "wrote"
        except OperationalError:
            return "waits"
        finally:
            connection.close()

    with ThreadPoolExecutor(1) as thread, transaction.atomic():
        limits, cage = ledger.lock_policy(mine.pk)
        assert limits.golem_id == cage.golem_id == mine.pk
        assert thread.submit(mirror).result(timeout=30) == "wrote"


@pytest.mark.parametrize("has_limits", [True, False])
@pytest.mark.django_db(transaction=True)
def test_reservations_of_one_golem_wait_for_each_other_and_for_no_other_golem(has_limits: bool) -> None:
    owner = make_owner()
    mine, other = (make_golem(owner=owner, name=name) for name in ("Atlas", "Borea"))
    if has_limits:
        SpendingLimits.objects.create(golem=mine)
    SpendingLimits.objects.create(golem=other)

    def lock_at_once(golem_id: UUID) -> str:
        try:
            with transaction.atomic(), connection.cursor() as cursor:
                cursor.execute("SET LOCAL lock_timeout = '200ms'")
                return str(ledger.lock_limits(golem_id).golem_id)
        except OperationalError:
            return "waits"
        finally:
            connection.close()

    with ThreadPoolExecutor(1) as thread, transaction.atomic():
        assert ledger.lock_limits(mine.pk).golem_id == mine.pk
        assert thread.submit(lock_at_once, mine.pk).result(timeout=30) == "waits"
        assert thread.submit(lock_at_once, other.pk).result(timeout=30) == str(other.pk)
