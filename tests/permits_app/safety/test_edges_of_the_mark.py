"""The high-water mark of one golem among several, and a mark that is as it was: no write, and nobody else's row."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from archetypes_app.models import Golem
from permits_app.models import HighWaterMark
from permits_app.safety.drawdown import MARK_REACHED_AGAIN, Fall, mark_of, record_value
from tests.factories.golems import make_golem, make_owner
from tests.permits_app.safety.calls import ACCOUNT, NOW, OTHER

pytestmark = pytest.mark.django_db
MOST = 1_500


def own(name: str, address: str) -> Golem:
    golem = make_golem(owner=make_owner(name=f"owner of {name}"), name=name)
    Golem.objects.filter(pk=golem.pk).update(address=address)
    return golem


def mark(golem: Golem) -> HighWaterMark:
    return HighWaterMark.objects.get(golem=golem)


def measure(golem: Golem, value: int, *, account: str, after: timedelta = timedelta(0), is_known: bool = False) -> Fall:
    known = mark_of(mark(golem)) if is_known else None
    return record_value(
        golem_id=golem.pk, value_micro_usd=value, most_bps=MOST, now=NOW + after, known=known, account=account
    )


@pytest.mark.parametrize(
    ("after", "writes"),
    [(timedelta(0), False), (MARK_REACHED_AGAIN - timedelta(microseconds=1), False), (MARK_REACHED_AGAIN, True)],
)
def test_a_mark_reached_again_is_written_only_once_a_minute(after: timedelta, writes: bool) -> None:
    golem = own("A", ACCOUNT)
    measure(golem, 100, account=ACCOUNT)
    known = mark_of(mark(golem))
    with CaptureQueriesContext(connection) as asked:
        record_value(
            golem_id=golem.pk, value_micro_usd=100, most_bps=MOST, now=NOW + after, known=known, account=ACCOUNT
        )
    assert bool(asked.captured_queries) is writes


def test_a_golem_that_goes_on_with_another_account_begins_a_mark_of_its_own_beside_other_golems() -> None:
    neighbour, golem = own("Neighbour", OTHER), own("A", ACCOUNT)
    measure(neighbour, 900, account=OTHER)
    measure(golem, 1_000, account="0x" + "33" * 20)
    HighWaterMark.objects.filter(golem=golem).update(account="0x" + "33" * 20)
    assert measure(golem, 100, account=ACCOUNT) == Fall()
    assert (mark(golem).account, mark(golem).value_micro_usd) == (ACCOUNT, 100)
    assert (mark(neighbour).account, mark(neighbour).value_micro_usd) == (OTHER, 900)


def test_what_was_measured_of_a_former_account_changes_nothing_also_where_the_mark_is_known() -> None:
    golem = own("A", ACCOUNT)
    measure(golem, 1_000, account=ACCOUNT)
    before = mark_of(mark(golem))
    measure(golem, 1_100, account=OTHER, after=timedelta(hours=1), is_known=True)
    assert mark_of(mark(golem)) == before and mark(golem).account == ACCOUNT
