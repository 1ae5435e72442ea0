"""A golem's month and its CSV files: figures that add up, what is not known said so, cells that no spreadsheet runs."""

from __future__ import annotations

import csv
import io
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.test import Client

from archetypes_app.models import Golem
from permits_app.models import ActionPermit, DeniedCall, NavSnapshot, SignedPromise
from permits_app.models.signed_promise import PromiseState
from permits_app.performance.monthly_statement import (
    MOST_FILLED,
    begin_month,
    build_statement,
    find_month,
    list_months,
)
from tests import factories
from tests.admin.rows import page
from tools_app.toolkit.views import NATIVE

pytestmark = pytest.mark.django_db
USD = 10**6
MARCH, APRIL, MAY = (datetime(2026, month, 1, tzinfo=UTC) for month in (3, 4, 5))


@pytest.fixture
def golem() -> Golem:
    golem = factories.make_golem(owner=factories.make_owner(name="ana"), name="Atlas")
    Golem.objects.filter(pk=golem.pk).update(created_at=MARCH + timedelta(days=3))
    golem.refresh_from_db()
    return golem


def _log_in(person: Any) -> Client:
    client = Client()
    client.force_login(person)
    return client


def note(golem: Golem, at: datetime, usd: int, **parts: int) -> None:
    NavSnapshot.objects.create(
        golem=golem,
        at=at,
        chain_id=31337,
        block_number=int(at.timestamp()),
        value_micro_usd=usd * USD,
        parts={name: str(value * USD) for name, value in parts.items()},
    )


def deny(golem: Golem, at: datetime, code: str, usd: int) -> None:
    DeniedCall.objects.create(
        golem=golem,
        denied_at=at,
        tool_name="uniswap_execute_swap",
        action_type="swap",
        venue="uniswap",
        chain_id=31337,
        action_class="INCREASE",
        code=code,
        value_micro_usd=usd * USD,
    )


def sign(golem: Golem, *, ended_at: datetime, state: PromiseState = PromiseState.FILLED) -> SignedPromise:
    row = factories.make_signed_promise(permit=factories.make_permit(golem=golem))
    row.state, row.ended_at = state, ended_at
    row.save()
    return row


def test_a_month_begins_with_the_measure_before_it_and_its_parts_add_up(golem: Golem) -> None:
    note(golem, APRIL - timedelta(days=2), 900)
    note(golem, APRIL - timedelta(hours=1), 1_000, price=100)
    note(golem, APRIL + timedelta(days=3), 1_500, price=30, gas=-5, moved=475)
    note(golem, MAY - timedelta(days=1), 1_520, fees_and_interest=25, slippage=-5)
    note(golem, MAY + timedelta(days=1), 9_999, price=8_479)
    statement = build_statement(golem, begins=APRIL)
    assert (statement.opening, statement.closing) == (1_000 * USD, 1_520 * USD)
    assert statement.is_whole
    assert statement.parts.profit == 45 * USD
    assert statement.opening is not None
    assert statement.opening + statement.parts.profit + statement.parts.moved == statement.closing


def test_a_month_that_was_not_measured_from_its_beginning_says_so(golem: Golem) -> None:
    note(golem, APRIL + timedelta(days=10), 1_000, price=777)
    note(golem, APRIL + timedelta(days=20), 1_100, price=100)
    statement = build_statement(golem, begins=APRIL)
    assert not statement.is_whole
    assert (statement.opening, statement.parts.profit) == (1_000 * USD, 100 * USD)
    shown = _log_in(golem.owner).get(page("archetypes_app.golem", "statement", golem.pk) + "?month=2026-04")
    assert "Measured since 2026-04-11 00:00 UTC only" in shown.content.decode()
    empty = build_statement(golem, begins=MARCH)
    assert (empty.opening, empty.closing, empty.is_measured) == (None, None, False)
    bare = _log_in(golem.owner).get(page("archetypes_app.golem", "statement", golem.pk) + "?month=2026-03")
    assert "was not measured twice" in bare.content.decode() and "$0.00" not in bare.content.decode()


def test_what_was_refused_is_summed_by_rule_within_the_month(golem: Golem) -> None:
    deny(golem, APRIL - timedelta(seconds=1), "SPENDING_LIMIT", 1)
    for usd in (10, 20):
        deny(golem, APRIL + timedelta(days=1), "SPENDING_LIMIT", usd)
    deny(golem, MAY - timedelta(seconds=1), "NOT_ALLOWED", 5)
    deny(golem, MAY, "NOT_ALLOWED", 5)
    refused = [(each.code, each.count, each.worth_micro_usd) for each in build_statement(golem, begins=APRIL).refused]
    assert refused == [("SPENDING_LIMIT", 2, 30 * USD), ("NOT_ALLOWED", 1, 5 * USD)]
    text = _log_in(golem.owner).get(page("archetypes_app.golem", "statement", golem.pk) + "?month=2026-04").content
    assert "$30.00" in text.decode() and "Spending limit" in text.decode() and "SPENDING_LIMIT" not in text.decode()
    DeniedCall.objects.filter(golem=golem).update(rule="spending_limiter.per_transaction")
    text = _log_in(golem.owner).get(page("archetypes_app.golem", "statement", golem.pk) + "?month=2026-04").content
    assert "The limit of one transaction" in text.decode()


def test_without_a_month_it_is_the_last_whole_one_and_none_lies_before_its_life(golem: Golem) -> None:
    now = datetime(2026, 5, 20, 12, tzinfo=UTC)
    months = list_months(golem, now=now)
    assert months == [MAY, APRIL, MARCH]
    assert [find_month(text, months=months) for text in ("", "2026-03", "2027-01", "x")] == [APRIL, MARCH, APRIL, APRIL]
    young = list_months(golem, now=MARCH + timedelta(days=20))
    assert (young, find_month("", months=young)) == ([MARCH], MARCH)
    assert begin_month(datetime(2026, 12, 31, 23, 59, tzinfo=UTC)) == datetime(2026, 12, 1, tzinfo=UTC)


def test_what_others_took_of_what_was_signed_stands_in_its_month_and_its_file(golem: Golem) -> None:
    eve, other = factories.make_owner(name="eve"), factories.make_golem(owner=golem.owner, name="Other")
    moments = {MAY: "next", APRIL: "first", MAY - timedelta(seconds=1): "last", APRIL - timedelta(seconds=1): "before"}
    rows = {name: sign(golem, ended_at=at) for at, name in moments.items()}
    rows["of another"] = sign(other, ended_at=APRIL)
    rows["taken back"] = sign(golem, ended_at=APRIL, state=PromiseState.CANCELLED)
    statement = build_statement(golem, begins=APRIL)
    assert list(statement.filled) == [rows["last"], rows["first"]] and not statement.has_more_filled
    url = page("archetypes_app.golem", "statement", golem.pk) + "?month=2026-04"
    text = _log_in(golem.owner).get(url).content.decode()
    assert str(rows["first"].permit_id) in text and str(rows["taken back"].permit_id) not in text
    assert rows["first"].permit.bounds["recipients"][0] in text
    assert "What others took" not in _log_in(golem.owner).get(url.replace("04", "07")).content.decode()
    taken = page("archetypes_app.golem", "csv", golem.pk, "promises")
    assert _log_in(eve).get(taken).status_code == 404
    answer = _log_in(golem.owner).get(taken)
    told = list(csv.DictReader(io.StringIO(b"".join(answer.streaming_content).decode())))  # type: ignore[attr-defined]
    assert {row["permit_id"]: row["state"] for row in told} == {
        str(row.permit_id): row.state for row in rows.values() if row.golem_id == golem.pk
    }
    assert told[0]["gives"] == f"{10**18} {NATIVE}" and rows["first"].signature not in str(told)


def test_a_month_names_the_fifty_that_others_took_last_and_says_that_there_are_more(golem: Golem) -> None:
    rows = [sign(golem, ended_at=APRIL + timedelta(hours=hour)) for hour in range(MOST_FILLED)]
    assert list(build_statement(golem, begins=APRIL).filled) == rows[::-1]
    newest = sign(golem, ended_at=MAY - timedelta(hours=1))
    statement = build_statement(golem, begins=APRIL)
    assert list(statement.filled) == [newest, *rows[:0:-1]] and statement.has_more_filled
    url = page("archetypes_app.golem", "statement", golem.pk) + "?month=2026-04"
    assert "There are more" in _log_in(golem.owner).get(url).content.decode()


def test_permits_outcomes_and_profit_are_taken_away_as_csv_of_this_golem_alone(golem: Golem) -> None:
    permit = factories.make_permit(golem=golem)
    ActionPermit.objects.filter(pk=permit.pk).update(status_reason='=HYPERLINK("http://x")', value_micro_usd=1_234_567)
    factories.make_outcome(permit=permit)
    note(golem, APRIL, 1_000, gas=-3)
    stranger = factories.make_owner(name="eve")
    for owner in (stranger, golem.owner):
        other = factories.make_golem(owner=owner, name="Other")
        factories.make_outcome(permit=factories.make_permit(golem=other))
        note(other, APRIL, 7)
    browser = _log_in(golem.owner)
    rows = {}
    for what in ("permits", "outcomes", "profit"):
        url = page("archetypes_app.golem", "csv", golem.pk, what)
        assert _log_in(stranger).get(url).status_code == 404
        answer = browser.get(url)
        text = b"".join(answer.streaming_content).decode()  # type: ignore[attr-defined]
        [rows[what]] = csv.DictReader(io.StringIO(text))
    assert rows["permits"]["reason"] == '\'=HYPERLINK("http://x")'
    assert (rows["permits"]["permit_id"], rows["permits"]["worst_case_usd"]) == (str(permit.pk), "1.234567")
    assert rows["outcomes"]["permit_id"] == str(permit.pk)
    assert (rows["profit"]["value_usd"], rows["profit"]["gas_usd"]) == ("1000.000000", "-3.000000")
    assert browser.get(page("archetypes_app.golem", "csv", golem.pk, "keys")).status_code == 404


def test_a_year_is_taken_away_as_csv_and_holds_that_year_alone(golem: Golem) -> None:
    Golem.objects.filter(pk=golem.pk).update(created_at=datetime(2024, 5, 1, tzinfo=UTC))
    edges = {
        "before": datetime(2024, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC),
        "first": datetime(2025, 1, 1, tzinfo=UTC),
        "last": datetime(2025, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC),
        "after": datetime(2026, 1, 1, tzinfo=UTC),
    }
    permits = {}
    for usd, (name, at) in enumerate(edges.items(), start=1):
        permit = factories.make_permit(golem=golem)
        ActionPermit.objects.filter(pk=permit.pk).update(created_at=at)
        permits[name] = str(permit.pk)
        note(golem, at + timedelta(microseconds=usd if name == "first" else 0), usd)
    browser = _log_in(golem.owner)

    def take(what: str, year: str) -> list[dict[str, str]]:
        answer = browser.get(page("archetypes_app.golem", "csv", golem.pk, what), {"year": year})
        assert year in answer["Content-Disposition"]
        text = b"".join(answer.streaming_content).decode()  # type: ignore[attr-defined]
        return list(csv.DictReader(io.StringIO(text)))

    assert [row["permit_id"] for row in take("permits", "2025")] == [permits["first"], permits["last"]]
    assert [row["value_usd"] for row in take("profit", "2025")] == ["2.000000", "3.000000"]
    assert [row["value_usd"] for row in take("profit", "2024")] == ["1.000000"]
    assert take("outcomes", "2025") == []
    for wrong in ("2023", "9999", "x", "-1"):
        url = page("archetypes_app.golem", "csv", golem.pk, "profit")
        assert browser.get(url, {"year": wrong}).status_code == 404
    shown = browser.get(page("archetypes_app.golem", "statement", golem.pk)).content.decode()
    assert "Profit of 2025" in shown and "kept for 731 days" in shown


def test_a_year_has_a_statement_whose_parts_are_those_of_its_months(golem: Golem) -> None:
    note(golem, MARCH + timedelta(days=4), 1_000)
    note(golem, APRIL + timedelta(days=3), 1_500, price=30, gas=-5, moved=475)
    note(golem, MAY + timedelta(days=1), 1_520, fees_and_interest=25, slippage=-5)
    year = build_statement(golem, begins=datetime(2026, 1, 1, tzinfo=UTC), is_year=True)
    months = [build_statement(golem, begins=each) for each in (MARCH, APRIL, MAY)]
    assert (year.opening, year.closing) == (1_000 * USD, 1_520 * USD)
    assert year.parts.profit == sum(each.parts.profit for each in months) == 45 * USD
    shown = _log_in(golem.owner).get(page("archetypes_app.golem", "statement", golem.pk) + "?year=2026")
    told = shown.content.decode()
    assert "the year 2026" in told and "$45.00" in told and "?year=2026" in told
    wrong = _log_in(golem.owner).get(page("archetypes_app.golem", "statement", golem.pk) + "?year=1999")
    assert wrong.status_code == 200 and "the year" not in wrong.content.decode()
