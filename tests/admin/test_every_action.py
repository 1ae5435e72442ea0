"""Every action, button and address of the admin, found in its registry: with one's own rows and with another owner's.

None fails, and none touches a row of somebody else. What a list offers is asked of the list, and what a row's page
offers of its addresses, so that an action that is added tomorrow is driven tomorrow.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from django import forms
from django.apps import apps
from django.contrib import admin
from django.contrib.auth import get_user
from django.http import HttpRequest
from django.test import Client, RequestFactory
from django.urls import NoReverseMatch, reverse

from archetypes_app.models import Golem
from tests import factories
from tests.admin.rows import MAKERS, page
from tools_app.core.models import AuditEntry

pytestmark = pytest.mark.django_db(transaction=True)
MODELS = sorted(name for name in MAKERS if admin.site.is_registered(apps.get_model(name)))
# Their makers make what a person may have once.
ONE_OF_AN_OWNER = {
    "archetypes_app.definitionapproval",
    "permits_app.knownaddress",
    "permits_app.ownerbudget",
    "tools_app.tooldefinition",
    "tools_app.wasmrun",
}
_PLAIN = ("_changelist", "_add", "_change", "_delete", "_history")
_NUMBERS = (forms.IntegerField, forms.FloatField, forms.DecimalField)


class Two:
    """Ana and Ben, each with a golem and rows of the model, and an operator."""

    def __init__(self, model: str) -> None:
        self.ana, self.ben = factories.make_owner(name="ana"), factories.make_owner(name="ben")
        self.operator = factories.make_operator()
        count = 1 if model in ONE_OF_AN_OWNER else 2
        self.mine = [MAKERS[model](factories.make_golem(owner=self.ana, name=f"Of Ana {n}")) for n in range(count)]
        self.golem = factories.make_golem(owner=self.ben, name="Of Ben")
        self.theirs = MAKERS[model](self.golem)
        self.model_admin: Any = admin.site._registry[apps.get_model(model)]

    def look_at_theirs(self) -> Any:
        """What must stay as it is."""
        rows = type(self.theirs)._base_manager.filter(pk=self.theirs.pk).values()
        golem = Golem.objects.filter(pk=self.golem.pk).values()
        return list(rows), list(golem), AuditEntry.objects.filter(golem_id=self.golem.pk).count()


def log_in(person: Any) -> Client:
    browser = Client(raise_request_exception=False)
    browser.force_login(person)
    return browser


def still_in(browser: Client, person: Any) -> Client:
    """The same browser, logged in anew where what it did before has logged its person out."""
    request = HttpRequest()
    request.session = browser.session
    if get_user(request) != person:
        browser.force_login(person)
    return browser


def offered(two: Two, person: Any) -> list[str]:
    """The names of the actions that the list of this model offers `person`."""
    request = RequestFactory().get("/")
    request.user = person
    return sorted(two.model_admin.get_actions(request))


def addresses(two: Two, row: Any) -> Iterator[str]:
    """Every address of the model's admin beside Django's own, about `row` where it names one."""
    for pattern in two.model_admin.get_urls():
        if not pattern.name or pattern.name.endswith(_PLAIN):
            continue
        names = list(pattern.pattern.converters) or re.findall(r"<(\w+)>", str(pattern.pattern))
        try:
            yield reverse(f"admin:{pattern.name}", args=[row.pk for _ in names])
        except NoReverseMatch:
            # It names something else than a row, such as a token or a golem of the same page.
            continue


def fill(form: Any) -> dict[str, Any]:
    """Something plausible for each field of a form."""
    filled: dict[str, Any] = {}
    for name, field in form.fields.items():
        value = form.get_initial_for_field(field, name)
        if value in (None, "", []):
            value = _make_up(field)
        filled[form.add_prefix(name)] = value
    return {name: value for name, value in filled.items() if value is not None}


def _make_up(field: forms.Field) -> Any:
    if isinstance(field, forms.ModelMultipleChoiceField | forms.ModelChoiceField):
        found = field.queryset.first() if field.queryset is not None else None
        return None if found is None else str(found.pk)
    if isinstance(field, forms.MultipleChoiceField | forms.ChoiceField):
        choices: Any = field.choices
        return next((str(value) for value, _ in choices if value not in (None, "")), None)
    if isinstance(field, forms.BooleanField):
        return "on"
    return "1" if isinstance(field, _NUMBERS) else "words"


def press(browser: Client, address: str) -> list[int]:
    """Open it, send it empty, and send it filled in; what was answered."""
    shown = browser.get(address)
    context: Any = shown.context or {}
    form = context.get("form") if hasattr(context, "get") else None
    answers = [shown.status_code, browser.post(address).status_code]
    if isinstance(form, forms.BaseForm):
        answers.append(browser.post(address, fill(form)).status_code)
    return answers


@pytest.mark.parametrize("model", MODELS)
def test_no_action_of_a_list_fails_with_ones_own_rows_and_none_touches_anothers(model: str) -> None:
    two = Two(model)
    for person in (two.ana, two.operator):
        browser, own = log_in(person), [str(row.pk) for row in two.mine]
        for name in offered(two, person):
            before = two.look_at_theirs()
            for chosen in ([], own[:1], own, [*own, str(two.theirs.pk)] if person is two.ana else own, ["x"]):
                for answer in ({}, {"post": "yes"}):
                    told = browser.post(
                        page(model, "changelist"), {"action": name, "_selected_action": chosen, **answer}
                    )
                    assert told.status_code < 500, (name, person.username, chosen)
            assert two.look_at_theirs() == before, f"{name} of {person.username} touched another owner's row"


@pytest.mark.parametrize("model", MODELS)
def test_no_button_of_a_row_fails_for_its_owner_and_none_touches_anothers(model: str) -> None:
    two = Two(model)
    before, browser = two.look_at_theirs(), log_in(two.ana)
    for address in addresses(two, two.theirs):
        assert max(press(still_in(browser, two.ana), address)) < 500, address
        assert two.look_at_theirs() == before, f"{address} touched another owner's row"
    for person in (two.ana, two.operator):
        browser = log_in(person)
        for row in two.mine:
            for address in addresses(two, row):
                assert max(press(still_in(browser, person), address)) < 500, (address, person.username)
    assert two.look_at_theirs() == before


@pytest.mark.parametrize("model", MODELS)
def test_no_page_of_a_row_fails_whoever_deletes_or_changes_it(model: str) -> None:
    two = Two(model)
    before, browser = two.look_at_theirs(), log_in(two.ana)
    for name in ("change", "delete", "history"):
        for row in (two.theirs, two.mine[0]):
            still_in(browser, two.ana)
            address = page(model, name, row.pk)
            assert browser.get(address).status_code < 500, address
            assert browser.post(address, {"post": "yes"}).status_code < 500, address
    assert two.look_at_theirs() == before


def test_every_model_of_the_admin_that_owners_see_is_driven_here() -> None:
    shown = {model._meta.label_lower for model in admin.site._registry}
    assert set(MODELS) == set(MAKERS) & shown
    assert len(MODELS) > 40
