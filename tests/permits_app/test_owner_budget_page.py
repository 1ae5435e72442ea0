"""The page of a person's budget: what it says of each golem, who may open it, and what it takes to loosen it."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from archetypes_app.owner_group import ensure_owner_group
from permits_app.models import OwnerBudget, SpendEntry
from permits_app.pages.budget_lines import MOST_SHOWN, list_share_lines, read_budget
from tests import factories
from tests.permits_app.approvals.people import give_device, next_code
from tools_app.core import clock
from tools_app.core.models import AuditEntry

pytestmark = pytest.mark.django_db
USD = 10**6
PAGE = "/admin/permits_app/ownerbudget/mine/"


class Household:
    """A person with two golems, one of which spent 400 dollars two hours ago and holds 100."""

    def __init__(self) -> None:
        self.person = factories.make_owner(name="ana")
        self.person.groups.add(ensure_owner_group())
        self.spender = factories.make_golem(owner=self.person, name="Spender")
        self.idle = factories.make_golem(owner=self.person, name="Idle one")
        self.browser = Client()
        self.browser.force_login(self.person)
        self.now = clock.now()
        for dollars, state in ((400, "SETTLED"), (100, "RESERVED")):
            entry = factories.make_spend_entry(permit=factories.make_permit(golem=self.spender))
            SpendEntry.objects.filter(pk=entry.pk).update(
                reserved_micro_usd=dollars * USD,
                settled_micro_usd=dollars * USD if state == "SETTLED" else None,
                state=state,
                counted_at=self.now - timedelta(hours=2),
            )

    def look(self, browser: Client | None = None) -> str:
        """The words of the page."""
        answer = (browser or self.browser).get(PAGE)
        assert answer.status_code == 200
        return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", answer.content.decode()))

    def ask(self, **body: str) -> Any:
        """What the page answers to its form."""
        return self.browser.post(PAGE, {"do": "set", **body})

    @property
    def limit(self) -> int | None:
        found = OwnerBudget.objects.filter(person=self.person).first()
        return int(found.per_day_micro_usd) if found is not None else None


@pytest.fixture
def home() -> Household:
    return Household()


def test_the_page_tells_the_limit_what_is_used_by_which_golem_and_when_it_is_free_again(home: Household) -> None:
    assert "You have no budget" in home.look()
    assert home.ask(per_day="800").status_code == 302
    words = home.look()
    frees = home.now + timedelta(hours=22)
    assert "$500.00 of $800.00" in words and "$300.00 left" in words
    assert f"free again at {frees:%H:%M} UTC" in words and f"{frees:%Y-%m-%d %H:%M} UTC" in words
    assert "$100.00 of it is held until its permits and promises end" in words
    assert words.index("Spender") < words.index("Idle one") and "nothing used" in words
    told = read_budget(home.person.pk, now=home.now)
    assert (told.used_micro_usd, told.left_micro_usd) == (500 * USD, 300 * USD)
    assert read_budget(home.person.pk, now=home.now + timedelta(hours=23)).used_micro_usd == 100 * USD


def test_the_first_page_has_a_tile_of_it_once_there_is_one(home: Household) -> None:
    assert 'id="budget"' not in home.browser.get("/admin/").content.decode()
    home.ask(per_day="800")
    page = home.browser.get("/admin/").content.decode()
    assert 'id="budget"' in page and PAGE in page and "All golems in 24 h" in page


def test_what_tightens_counts_at_once_and_what_loosens_takes_a_second_factor(home: Household) -> None:
    home.ask(per_day="800")
    home.ask(per_day="700.50")
    assert home.limit == 700_500_000
    for loosens in ({"per_day": "700.51"}, {"do": "end"}):
        refused = home.ask(**loosens)
        assert refused.status_code == 403 and "econd factor" in refused.content.decode()
    give_device(home.person)
    assert home.ask(per_day="900", old_code="000000").status_code >= 400
    assert home.limit == 700_500_000
    assert home.ask(per_day="900", old_code=next_code(home.person)).status_code == 302
    assert home.limit == 900 * USD
    end = {"do": "end", "end-old_code": next_code(home.person)}
    assert home.ask(**end).status_code == 302
    assert home.limit is None
    assert AuditEntry.objects.filter(event="OwnerBudgetSet", golem_id=home.idle.pk).count() == 4


@pytest.mark.parametrize("typed", ["", "-1", "much", "1000000000000.01"])
def test_what_is_no_amount_sets_no_budget(home: Household, typed: str) -> None:
    assert home.ask(per_day=typed).status_code == 200
    assert home.limit is None


def test_everybody_sees_their_own_budget_and_golems_alone(home: Household) -> None:
    home.ask(per_day="800")
    other = factories.make_owner(name="ben")
    other.groups.add(ensure_owner_group())
    home.spender.co_owners.add(other)
    browser = Client()
    browser.force_login(other)
    words = home.look(browser)
    assert "Spender" not in words and "$800.00" not in words and "You have no budget" in words
    row = reverse("admin:permits_app_ownerbudget_change", args=[home.person.pk])
    assert browser.get(row).status_code == 404
    assert "Spender: $500.00" in home.browser.get(row).content.decode()
    assert Client().get(PAGE).status_code == 302
    assert b"Spender" in home.browser.get(PAGE).content


def test_operators_read_budgets_by_the_person_s_name_and_set_none_of_them(home: Household) -> None:
    for name in ("zoe", "bea"):
        OwnerBudget.objects.create(person=factories.make_owner(name=name), per_day_micro_usd=USD)
    home.ask(per_day="800")
    operator = Client()
    operator.force_login(factories.make_operator())
    listed = operator.get(reverse("admin:permits_app_ownerbudget_changelist")).context["cl"].result_list
    assert [row.person.username for row in listed] == ["ana", "bea", "zoe"]
    row = reverse("admin:permits_app_ownerbudget_change", args=[home.person.pk])
    assert operator.post(row, {"per_day_micro_usd": "1"}).status_code == 403
    assert home.limit == 800 * USD


def test_a_person_with_many_golems_sees_those_that_used_most(home: Household) -> None:
    for number in range(60):
        factories.make_golem(owner=home.person, name=f"Many {number}")
    words = home.look()
    assert "Spender" in words and "and 12 golems more" in words


def test_the_page_has_a_line_for_fifty_golems_and_for_no_more(home: Household) -> None:
    for number in range(MOST_SHOWN):
        factories.make_golem(owner=home.person, name=f"One of many {number}")
    lines = list_share_lines(read_budget(home.person.pk, now=home.now))
    assert (len(lines), lines[0].name) == (MOST_SHOWN, "Spender")
