"""What an owner reads at a glance: units, empty lists, repeated previews, and an address that holds nothing."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from archetypes_app.models import Golem, Heartbeat
from permits_app.models import ActionPermit
from permits_app.models.permit import PermitStatus
from permits_app.pages.golem_figures import describe_permits
from tests import factories
from tests.admin.rows import MAKERS, make_vitality, page
from tools_app.core import clock
from tools_app.wording.address_names import list_tokens

pytestmark = pytest.mark.django_db


@pytest.fixture
def golem() -> Golem:
    golem: Golem = factories.make_golem(owner=factories.make_owner())
    return golem


@pytest.fixture
def client(golem: Golem) -> Client:
    browser = Client()
    browser.force_login(golem.owner)
    return browser


@pytest.mark.parametrize("model", sorted(MAKERS))
def test_an_address_that_holds_no_key_is_not_found(client: Client, model: str) -> None:
    assert [client.get(page(model, "change", key)).status_code for key in ("zzz", "9" * 30)] == [404, 404]


def test_an_empty_list_says_where_its_rows_come_from_and_a_filtered_one_how_to_see_all(client: Client) -> None:
    empty = client.get(page("permits_app.outcomerecord", "changelist")).content.decode()
    assert "Each receipt is held against its prediction here." in empty
    filtered = client.get(page("permits_app.outcomerecord", "changelist"), {"is_verified__exact": "1"})
    assert "Nothing fits this search and these filters." in filtered.content.decode()


def test_previews_that_were_never_used_are_one_line_and_what_needs_a_person_stays_apart(golem: Golem) -> None:
    for status in (PermitStatus.CANCELLED, PermitStatus.CANCELLED, PermitStatus.UNKNOWN, PermitStatus.UNKNOWN):
        factories.make_permit(golem=golem, status=status)
    lines = describe_permits(ActionPermit.objects.filter(golem=golem), now=clock.now())
    assert [(line.permit.status, line.times) for line in lines] == [
        (PermitStatus.UNKNOWN, 1),
        (PermitStatus.UNKNOWN, 1),
        (PermitStatus.CANCELLED, 2),
    ]
    assert lines[2].permit == ActionPermit.objects.filter(status=PermitStatus.CANCELLED).latest("created_at")


def test_vitality_is_shown_in_percent_and_dollars(client: Client, golem: Golem) -> None:
    row = make_vitality(golem)
    text = client.get(page("archetypes_app.vitalityrecord", "change", row.pk)).content.decode()
    assert "100.0000%" in text
    assert "$1,000.00 of $1,000.00" in text
    assert "1000000000" not in text


def test_a_time_in_a_list_is_written_in_utc_and_says_so(client: Client, golem: Golem) -> None:
    due = datetime(2026, 11, 21, 15, 0, 7, tzinfo=UTC)
    Heartbeat.objects.create(golem=golem, next_tick_at=due)
    assert "2026-11-21 15:00:07 UTC" in client.get(page("archetypes_app.heartbeat", "changelist")).content.decode()


def test_a_person_at_a_wrong_address_finds_the_way_back(client: Client) -> None:
    answer = client.get("/admin/archetypes_app/golem/zzz/change/")
    assert answer.status_code == 404
    assert f'href="{reverse("admin:index")}"' in answer.content.decode()


def test_a_prediction_is_compared_in_units_under_names_people_use(client: Client, golem: Golem) -> None:
    token = list_tokens(31337)[0]
    amount = 5 * 10**token.decimals
    compared = [
        _compared(f"balance_deltas[token {token.symbol} {token.address}].raw", -amount, -amount, 0),
        _compared("fee_wei", 10**15, 2 * 10**15, 10_000),
        _compared("gas_per_call[0]", 46_115, 46_115, 0),
        _compared("block_number", 260, 262, 76),
        _compared("figures.of_another_kind", 1, 2, 10_000),
    ]
    row = factories.make_episode(golem=golem)
    type(row).objects.filter(pk=row.pk).update(reflection={"comparisons": compared}, chain_id=31337)
    shown = client.get(page("memory_app.episode", "change", row.pk)).context["comparisons"]
    assert [(each["what"], each["expected"], each["actual"], each["difference"]) for each in shown] == [
        (token.symbol, f"-5 {token.symbol}", f"-5 {token.symbol}", "none"),
        ("Fee", "0.001 ETH", "0.002 ETH", "100.00%"),
        ("Gas of call 1", "46,115 gas", "46,115 gas", "none"),
        ("Block", "260", "262", ""),
        ("figures.of_another_kind", "1", "2", "100.00%"),
    ]


def _compared(what: str, expected: int, actual: int, difference_bps: int) -> dict[str, Any]:
    return {"what": what, "expected": str(expected), "actual": str(actual), "difference_bps": difference_bps}


def test_no_mark_of_the_error_plot_is_there_twice(client: Client, golem: Golem) -> None:
    factories.make_episode(golem=golem)
    marks = client.get(reverse("admin:memory_app_episode_overview")).context["error_plot"].up
    assert len({mark.text for mark in marks}) == len(marks) == len({mark.y for mark in marks})


def test_an_owner_gets_no_link_to_a_page_they_may_not_open(client: Client, golem: Golem) -> None:
    key = factories.make_api_key(golem=golem).key
    type(key).objects.filter(pk=key.pk).update(created_by=golem.owner)
    text = client.get(page("archetypes_app.apikey", "change", key.pk)).content.decode()
    assert str(golem.owner) in text
    assert reverse("admin:auth_user_change", args=[golem.owner.pk]) not in text
