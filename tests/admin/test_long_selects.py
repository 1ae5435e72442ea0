"""A select of every tool is written as any other, and does not make a page of many of them slow."""

from __future__ import annotations

import pytest
from django.test import Client
from django.test.html import parse_html
from unfold.widgets import UnfoldAdminSelectWidget

from archetypes_app.models import ToolOverride
from archetypes_app.models.override import OverrideMode
from tests import factories
from tests.admin.rows import page
from tools_app.pages.many_select import ManySelect
from tools_app.toolkit.registry import REGISTRY

CHOICES = [("", "Choose"), ("a", "A"), ("a<b", 'of "a" & <b>'), ("ab", "AB"), (7, "seven")]


@pytest.mark.parametrize("value", ["a", "a<b", "ab", 7, "7", "", None, "nothing of it"])
def test_it_is_what_the_plain_select_is(value: str | int | None) -> None:
    attrs = {"id": "id_tool", "aria-label": 'a "tool"'}
    plain, many = (each(attrs={"class": "wide"}, choices=CHOICES) for each in (UnfoldAdminSelectWidget, ManySelect))
    assert parse_html(many.render("tool", value, attrs)) == parse_html(plain.render("tool", value, attrs))
    assert many.render("tool", value, attrs).count(" selected") == (value != "nothing of it")


@pytest.mark.django_db
def test_a_golem_with_many_overrides_has_a_page_of_hundreds_of_templates_and_not_of_tens_of_thousands() -> None:
    golem = factories.make_golem(owner=factories.make_operator(), name="Chooser")
    names = sorted(tool.name for tool in REGISTRY)[:20]
    for name in names:
        ToolOverride.objects.create(golem=golem, tool_name=name, mode=OverrideMode.INCLUDE)
    browser = Client()
    browser.force_login(golem.owner)
    answer = browser.get(page("archetypes_app.golem", "settings", golem.pk))
    assert answer.status_code == 200
    shown = answer.content.decode()
    assert all(shown.count(f'<option value="{name}" selected>') == 1 for name in names)
    # Its own row, and the empty one that is copied for another.
    assert shown.count(f'<option value="{names[0]}"') == 2
    assert len(answer.templates) < 5_000
