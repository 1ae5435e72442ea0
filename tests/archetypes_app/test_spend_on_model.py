"""The daily cap of a golem's thinking: held by the database, whoever races for the last cent."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

import pytest
from django.db import IntegrityError, connection, transaction

from archetypes_app.actions.spend_on_model import reserve_model_cost, settle_model_cost
from archetypes_app.errors import ModelBudgetSpent
from archetypes_app.models import Golem, ModelSpendDay
from tests.factories import make_golem, make_owner

NOW = datetime(2026, 11, 21, 23, 59, tzinfo=UTC)
CAP = 10_000_000


@pytest.fixture
def golem(db: None) -> Golem:
    return make_golem(owner=make_owner())


def read_day(golem: Golem) -> tuple[int, int, int, int]:
    row = ModelSpendDay.objects.get(golem=golem, day=NOW.date())
    return row.reserved_micro_usd, row.spent_micro_usd, row.requests, row.refused


def test_a_request_holds_its_worst_case_until_it_is_settled(golem: Golem) -> None:
    held = reserve_model_cost(golem_id=golem.pk, most_micro_usd=90_000, cap_micro_usd=CAP, now=NOW)
    assert read_day(golem) == (90_000, 0, 1, 0)
    settle_model_cost(reservation=held, cost_micro_usd=2_100)
    assert read_day(golem) == (0, 2_100, 1, 0)


def test_what_does_not_fit_today_is_refused_with_what_is_left(golem: Golem) -> None:
    reserve_model_cost(golem_id=golem.pk, most_micro_usd=9_500_000, cap_micro_usd=CAP, now=NOW)
    with pytest.raises(ModelBudgetSpent) as caught:
        reserve_model_cost(golem_id=golem.pk, most_micro_usd=500_001, cap_micro_usd=CAP, now=NOW)
    assert caught.value.data["left_micro_usd"] == "500000"
    assert caught.value.as_problem()["resets_at"] == "2026-11-22T00:00:00+00:00"
    assert read_day(golem) == (9_500_000, 0, 1, 1)
    reserve_model_cost(golem_id=golem.pk, most_micro_usd=500_000, cap_micro_usd=CAP, now=NOW)


def test_another_day_and_another_golem_have_caps_of_their_own(golem: Golem) -> None:
    reserve_model_cost(golem_id=golem.pk, most_micro_usd=CAP, cap_micro_usd=CAP, now=NOW)
    reserve_model_cost(golem_id=golem.pk, most_micro_usd=CAP, cap_micro_usd=CAP, now=NOW + timedelta(minutes=2))
    other = make_golem(owner=golem.owner, name="Other")
    reserve_model_cost(golem_id=other.pk, most_micro_usd=CAP, cap_micro_usd=CAP, now=NOW)
    assert ModelSpendDay.objects.count() == 3


def test_a_bill_above_its_reservation_fills_the_day_and_ends_thinking(golem: Golem) -> None:
    held = reserve_model_cost(golem_id=golem.pk, most_micro_usd=1_000, cap_micro_usd=CAP, now=NOW)
    settle_model_cost(reservation=held, cost_micro_usd=10**15)
    assert read_day(golem)[:2] == (0, CAP)
    with pytest.raises(ModelBudgetSpent):
        reserve_model_cost(golem_id=golem.pk, most_micro_usd=1, cap_micro_usd=CAP, now=NOW)


def test_a_lowered_cap_holds_from_the_next_request_on(golem: Golem) -> None:
    held = reserve_model_cost(golem_id=golem.pk, most_micro_usd=6_000_000, cap_micro_usd=CAP, now=NOW)
    settle_model_cost(reservation=held, cost_micro_usd=6_000_000)
    with pytest.raises(ModelBudgetSpent):
        reserve_model_cost(golem_id=golem.pk, most_micro_usd=1, cap_micro_usd=5_000_000, now=NOW)


def test_the_database_refuses_more_than_the_cap(golem: Golem) -> None:
    reserve_model_cost(golem_id=golem.pk, most_micro_usd=1, cap_micro_usd=CAP, now=NOW)
    with pytest.raises(IntegrityError, match="model_spend_within_the_cap"), transaction.atomic():
        ModelSpendDay.objects.filter(golem=golem).update(spent_micro_usd=CAP)


@pytest.mark.django_db(transaction=True)
def test_twenty_racing_requests_never_hold_more_than_the_cap() -> None:
    golem = make_golem(owner=make_owner())

    def reserve(_: int) -> bool:
        try:
            reserve_model_cost(golem_id=golem.pk, most_micro_usd=1_500_000, cap_micro_usd=CAP, now=NOW)
        except ModelBudgetSpent:
            return False
        finally:
            connection.close()
        return True

    with ThreadPoolExecutor(8) as pool:
        granted = list(pool.map(reserve, range(20)))
    assert sum(granted) == 6
    assert read_day(golem) == (9_000_000, 0, 6, 14)
