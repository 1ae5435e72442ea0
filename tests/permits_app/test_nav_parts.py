"""What made the difference between two values of a golem, in parts that add up to it."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from permits_app.actions.record_nav import record_nav
from permits_app.models import ActionPermit, NavSnapshot
from permits_app.models.record_archive import RecordKeeping
from permits_app.performance.nav_parts import NavState, OwnMoves, Parts, StoredQuote, split_change
from permits_app.performance.profit_days import read_worth, read_worths
from tests.factories.golems import make_golem, make_owner
from tests.permits_app.safety.calls import NOW
from tests.tools_app.portfolio.paper_bank import CASH, CHAIN_ID, LOAN, ME, Paper, act, on_the_shelf, read_paper
from tools_app.portfolio.holdings import Holdings, measure_holdings
from tools_app.toolkit.views import NATIVE, BlockRef

USD = 1_000_000
E18 = 10**18


@pytest.fixture(autouse=True)
def bank_on_the_shelf() -> Iterator[None]:
    with on_the_shelf():
        yield


def measure(paper: Paper) -> Holdings:
    return measure_holdings(chain=read_paper(paper), account=ME)


def split(before: Holdings, after: Holdings, **own: Any) -> Parts:
    return split_change(
        before=NavState.from_json(NavState.of(before).as_json()),
        after=NavState.of(after),
        change=after.nav_micro_usd - before.nav_micro_usd,
        own=OwnMoves(**own),
        coin=NATIVE,
    )


def test_a_price_interest_a_payment_and_gas_are_told_apart() -> None:
    paper = Paper(deposited=10**21, owed=10**8)
    before = measure(paper)
    paper.prices["ETH"] = 3_300 * 10**8
    paper.deposited += 5 * E18
    paper.wallet[LOAN.address] += 10**7
    paper.wallet[NATIVE] -= 10**15
    parts = split(before, measure(paper), fee_wei=10**15)
    assert parts == Parts(price=300 * USD, fees_and_interest=5 * USD, gas=-3_300_000, moved=15 * USD)
    assert parts.profit == 301_700_000


def test_a_deposit_and_a_loan_of_its_own_are_neither_profit_nor_payment() -> None:
    paper = Paper()
    before = measure(paper)
    act(paper, "supply", 10**21)
    act(paper, "borrow", 10**20)
    deltas = {CASH.address: -(10**21), LOAN.address: 10**8}
    assert split(before, measure(paper), deltas=deltas) == Parts()


def test_what_a_trade_lost_is_slippage_and_no_interest() -> None:
    paper = Paper()
    before = measure(paper)
    paper.wallet[CASH.address] -= 300 * E18
    paper.wallet[LOAN.address] += 199 * 10**6
    deltas = {CASH.address: -300 * E18, LOAN.address: 199 * 10**6}
    parts = split(before, measure(paper), deltas=deltas, slippage=-1_500_000)
    assert parts == Parts(slippage=-1_500_000)


AMOUNTS = st.integers(0, 10**24)


@settings(max_examples=100, deadline=None)
@given(AMOUNTS, AMOUNTS, AMOUNTS, AMOUNTS, st.integers(1, 10**12), st.integers(1, 10**12), st.integers(-(10**9), 0))
def test_the_parts_add_up_to_the_change_whatever_happened(
    held: int, later: int, inside: int, inside_later: int, price: int, price_later: int, slippage: int
) -> None:
    before = NavState({"t": held}, {"t": inside}, {"t": StoredQuote(price, 8, 18)})
    after = NavState({"t": later}, {"t": inside_later, "new": 5}, {"t": StoredQuote(price_later, 8, 18)})
    change = after.quotes["t"].value(later + inside_later) - before.quotes["t"].value(held + inside)
    parts = split_change(
        before=before, after=after, change=change, own=OwnMoves({"t": 7}, 10**15, slippage), coin=NATIVE
    )
    assert parts.profit + parts.moved == change


def block(number: int) -> BlockRef:
    return BlockRef(number, "0x" + "0" * 64, 1_800_000_000, 1)


@pytest.mark.django_db
def test_a_value_is_kept_every_ten_minutes_for_as_long_as_is_said_and_the_day_is_summed_from_them(
    settings: Any,
) -> None:
    golem, paper, now = make_golem(owner=make_owner()), Paper(deposited=10**21), NOW

    def keep(number: int) -> NavSnapshot | None:
        return record_nav(golem=golem, chain_id=CHAIN_ID, block=block(number), holdings=measure(paper), now=now)

    first = keep(1)
    assert first is not None and first.parts == {} and read_worth(golem_id=golem.pk, now=now) is not None
    now += timedelta(minutes=10) - timedelta(microseconds=1)
    assert keep(2) is None
    now -= timedelta(minutes=10) - timedelta(microseconds=1)
    for number in (3, 4):
        now += timedelta(minutes=10)
        paper.deposited += E18
        assert keep(number) is not None
    # The same block twice is one value.
    now += timedelta(minutes=10)
    assert keep(4) is None
    day = read_worth(golem_id=golem.pk, now=now)
    assert day is not None and day.has_history
    assert (day.parts, day.value) == (Parts(fees_and_interest=2 * USD), measure(paper).nav_micro_usd)
    assert NavSnapshot.objects.exclude(state={}).count() == 2
    assert read_worths(golem_ids=[golem.pk], now=now + timedelta(hours=25)) == {}
    # Of a span that begins between two measures, what led to the first of them happened before it.
    oldest = NavSnapshot.objects.order_by("at")[1]
    late = read_worth(golem_id=golem.pk, now=now, over=now - oldest.at + timedelta(microseconds=1))
    assert late is not None and late.parts == Parts(fees_and_interest=USD)
    # Two tax years, unless the operator says otherwise, and never less than a month's statement needs.
    kept, ended = NavSnapshot.objects.count(), now
    now = ended + timedelta(days=731) - timedelta(hours=1)
    assert keep(5) is not None and NavSnapshot.objects.count() == kept + 1
    now = ended + timedelta(days=731, hours=1)
    assert keep(6) is not None and NavSnapshot.objects.count() == 2
    settings.GOLEM_VALUES_KEPT_DAYS, ended = 3, now
    now = ended + timedelta(days=69)
    assert keep(7) is not None and NavSnapshot.objects.count() == 3
    now = ended + timedelta(days=70, hours=1)
    assert keep(8) is not None and NavSnapshot.objects.count() == 2
    # An owner who keeps records for longer keeps values for as long.
    RecordKeeping.objects.create(person=golem.owner, days=4_000)
    now = ended + timedelta(days=3_000)
    assert keep(9) is not None and NavSnapshot.objects.count() == 3


@pytest.mark.django_db
def test_nothing_is_kept_while_an_outcome_is_not_seen_or_a_value_cannot_be_compared() -> None:
    golem, paper = make_golem(owner=make_owner()), Paper()
    permit = ActionPermit.objects.create(
        golem=golem,
        chain_id=CHAIN_ID,
        action_hash="x",
        action_class="NEW_POSITION",
        risk_tier="STANDARD",
        status="COMMITTING",
        expires_at=NOW,
        committing_at=NOW,
    )

    def keep() -> NavSnapshot | None:
        return record_nav(golem=golem, chain_id=CHAIN_ID, block=block(1), holdings=measure(paper), now=NOW)

    assert keep() is None
    ActionPermit.objects.filter(pk=permit.pk).update(status="CANCELLED")
    paper.wallet[CASH.address] = 10**40
    assert keep() is None
    paper.wallet[CASH.address] = 10**20
    assert keep() is not None
