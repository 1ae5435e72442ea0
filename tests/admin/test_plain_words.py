"""What an owner calls something carries no hidden characters, and turns no address round beside it."""

from __future__ import annotations

from typing import Any

import pytest
from django import forms
from django.contrib import admin
from django.core.exceptions import FieldDoesNotExist, ValidationError
from django.test import Client, RequestFactory

from archetypes_app.models import Archetype, Golem, ToolProfile
from archetypes_app.owner_group import ensure_owner_group
from golem_project import wiring
from permits_app.approvals.policy_state import describe_entry, name_entry
from permits_app.models import AllowlistEntry, ChangeRequest, KnownAddress
from permits_app.words.address_book import read_book
from tests import factories
from tests.admin.rows import page
from tests.golem_project.pi.test_free_text import CLEAN, DIRTY

pytestmark = pytest.mark.django_db
PAYEE = "0x" + "11" * 20
HEBREW = "\u05e9\u05dc\u05d5\u05dd"
# Checked by a pattern of its own, which the form asks after the field.
NO_WORDS = {
    "address",
    "folder",
    "host",
    "username",
    "host_key",
    "base_asset",
    "token",
    "token_a",
    "token_b",
    "query",
    "venue",
}


@pytest.fixture
def golem() -> Golem:
    owner = factories.make_owner()
    owner.groups.add(ensure_owner_group())
    golem = factories.make_golem(owner=owner)
    factories.make_limits(golem=golem)
    return golem


def list_words(owner: Any) -> list[tuple[str, str, Any, Any]]:
    """Every text field of every form an owner may add or change a row by: model, name, the form's field, the column."""
    request = RequestFactory().get("/")
    request.user = owner
    found = []
    for model, site in admin.site._registry.items():
        if not (site.has_add_permission(request) or site.has_change_permission(request)):
            continue
        read_only = set(site.get_readonly_fields(request))
        for name, field in site.get_form(request).base_fields.items():
            is_text = type(field.widget).__mro__[0] is not forms.HiddenInput and isinstance(field, forms.CharField)
            if is_text and name not in read_only | NO_WORDS:
                try:
                    column: Any = model._meta.get_field(name)
                except FieldDoesNotExist:
                    column = None
                found.append((model.__name__, name, field, column))
    return found


def test_every_word_an_owner_may_type_into_a_row_is_kept_plain(golem: Golem) -> None:
    words = list_words(golem.owner)
    assert {("Golem", "name"), ("AllowlistEntry", "label")} <= {(model, name) for model, name, *_ in words}
    kept = {}
    for model, name, field, column in words:
        try:
            value = field.clean("A\u202eB\u200bC")
            value = column.to_python(value) if column is not None else value
        except ValidationError:
            continue
        if value != "ABC" and value != ["ABC"]:
            kept[model, name] = value
    assert kept == {}


def test_whoever_writes_a_name_hidden_characters_are_gone(golem: Golem) -> None:
    owner = golem.owner
    rows: list[tuple[Any, str]] = [
        (factories.make_golem(owner=owner, name=DIRTY), "name"),
        (AllowlistEntry.objects.create(golem=golem, chain_id=31337, kind="TOKEN", address=PAYEE, label=DIRTY), "label"),
        (KnownAddress.objects.create(owner=owner, address=PAYEE, name=DIRTY, note=DIRTY), "name"),
        (ToolProfile.objects.create(name="p", description=DIRTY, owner=owner), "description"),
        (Archetype.objects.create(name="a", description=DIRTY, category="trading", role=DIRTY), "role"),
    ]
    for row, name in rows:
        row.refresh_from_db()
        assert getattr(row, name) == CLEAN, (row, name)
    Golem.objects.filter(pk=golem.pk).update(name=DIRTY[::-1])
    golem.refresh_from_db()
    assert golem.name == CLEAN[::-1]


def test_a_label_that_would_turn_an_address_round_is_plain_where_it_is_approved(golem: Golem) -> None:
    wiring.configure_networks({31337: ("http://127.0.0.1:9",)})
    Golem.objects.filter(pk=golem.pk).update(is_live=True)
    browser = Client()
    browser.force_login(golem.owner)
    url = page("permits_app.allowlistentry", "add")
    body = {
        "golem": str(golem.pk),
        "chain_id": "31337",
        "kind": "RECIPIENT",
        "address": PAYEE,
        "label": f"Mine \u202e{PAYEE[::-1]}\u202c",
        "_why": "to be paid",
    }
    asked = browser.post(url, body, follow=True).content.decode()
    assert ChangeRequest.objects.count() + AllowlistEntry.objects.count() == 1, asked
    shown = [str(request.shown) + request.title for request in ChangeRequest.objects.all()]
    for text in (asked, *shown, *AllowlistEntry.objects.values_list("label", flat=True)):
        assert not set("\u202a\u202b\u202d\u202e\u2066\u2067") & set(text)


def test_a_name_from_right_to_left_is_set_apart_from_the_address_beside_it(golem: Golem) -> None:
    assert describe_entry(name_entry(31337, "RECIPIENT", PAYEE), HEBREW).endswith(f"\u2068{HEBREW}\u2069 {PAYEE}")
    assert describe_entry(name_entry(31337, "RECIPIENT", PAYEE), "Caf\u00e9").endswith(f"Caf\u00e9 {PAYEE}")
    KnownAddress.objects.create(owner=golem.owner, address=PAYEE, name=HEBREW)
    assert f"\u2068{HEBREW}\u2069" in read_book(golem.owner_id).names.values()
