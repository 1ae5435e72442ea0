"""An open page says that an action ended since what it shows was measured, and shows it once it was measured again."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from django.db import connection
from django.db.models import Max
from django.test import Client
from django.urls import reverse

from archetypes_app.models import Golem
from archetypes_app.owner_group import ensure_owner_group
from golem_project.heartbeat.duties.regular_valuation import value_after_outcomes
from permits_app.models import NavSnapshot, OutcomeRecord
from permits_app.pages.freshness import LOOK_BACK, read_freshness
from tests import factories
from tests.architecture.sources import ROOT
from tests.explained import explain_second
from tests.live_golem import LiveGolem
from tools_app.core import clock


def ask(person: object) -> dict[str, object]:
    browser = Client()
    browser.force_login(person)  # type: ignore[arg-type]
    answer: dict[str, object] = browser.get(reverse("freshness")).json()
    return answer


@pytest.mark.django_db
def test_what_is_shown_is_behind_from_an_outcome_until_the_golem_is_measured_again(live_golem: LiveGolem) -> None:
    live_golem.owner.groups.add(ensure_owner_group())
    stranger = factories.make_owner(name="bo")
    value_after_outcomes(now=clock.now())
    assert ask(live_golem.owner)["is_behind"] is False
    live_golem.commit(live_golem.preview()["permit_id"])
    assert ask(live_golem.owner)["is_behind"] is True
    assert ask(stranger) == {"is_behind": False, "measured_at": ""}
    value_after_outcomes(now=clock.now())
    newest = NavSnapshot.objects.filter(golem=live_golem.golem).aggregate(at=Max("at"))["at"]
    assert ask(live_golem.owner) == {"is_behind": False, "measured_at": newest.isoformat()}


@pytest.mark.django_db
def test_an_outcome_that_nobody_could_measure_is_waited_for_an_hour(live_golem: LiveGolem) -> None:
    live_golem.commit(live_golem.preview()["permit_id"])
    ended = OutcomeRecord.objects.get().created_at
    second = timedelta(seconds=1)
    golems = Golem.objects.filter(pk=live_golem.golem.pk)
    assert read_freshness(golems, now=ended + LOOK_BACK - second).is_behind
    assert not read_freshness(golems, now=ended + LOOK_BACK + second).is_behind


@pytest.mark.django_db
def test_years_of_kept_values_are_not_read_to_tell_the_newest() -> None:
    golem, now = factories.make_golem(owner=factories.make_owner(name="ana")), clock.now()
    NavSnapshot.objects.bulk_create(
        NavSnapshot(
            golem=golem,
            at=now - timedelta(minutes=10 * number),
            chain_id=31_337,
            block_number=10_000 - number,
            value_micro_usd=1,
        )
        for number in range(3_000)
    )
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE permits_app_navsnapshot")
    golems = Golem.objects.filter(pk=golem.pk)
    assert read_freshness(golems, now=now).measured_at == now
    assert explain_second(lambda: read_freshness(golems, now=now)).list_long(more_than=20) == []


@pytest.mark.django_db
def test_every_page_brings_what_asks_and_when_it_was_made(client: Client) -> None:
    owner = factories.make_owner(name="ana")
    owner.groups.add(ensure_owner_group())
    golem = factories.make_golem(owner=owner)
    client.force_login(owner)
    for page in (
        reverse("admin:index"),
        reverse("fleet"),
        reverse("cockpit", args=[golem.pk]),
        reverse("admin:archetypes_app_golem_change", args=[golem.pk]),
        reverse("admin:archetypes_app_golem_money", args=[golem.pk]),
    ):
        told = client.get(page).content.decode()
        assert 'id="fresh"' in told and 'data-fresh="/admin/freshness/"' in told and "data-at=" in told, page
        assert "golem/fresh.js" in told, page


def test_an_open_page_asks_more_often_than_every_two_seconds() -> None:
    [every] = re.findall(r"EVERY_MS = (\d+);", (ROOT / "golem_project/static/golem/fresh.js").read_text("utf-8"))
    assert int(every) <= 1_500
