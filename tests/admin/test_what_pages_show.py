"""What each page of a row and each list shows, in which order: as it is written down in `what_pages_show.json`.

A field that goes from a page is otherwise missed by nobody but its reader. `GOLEM_KEEP_PAGES=1` on a run of this file
writes it anew, so that a review sees what changed.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest
from django.test import Client

from permits_app.approval_pages.cage_forms import AssetForm
from tests import factories
from tests.admin.rows import MAKERS, form_page, page
from tests.admin.test_form_edges import list_forms
from tools_app.wording.address_names import list_tokens

WRITTEN: Final = Path(__file__).with_name("what_pages_show.json")
ASKED: Final = Path(__file__).with_name("what_forms_ask.json")

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("model", sorted(MAKERS))
def test_a_page_and_a_list_show_what_is_written_down_in_that_order(model: str) -> None:
    golem = factories.make_golem(owner=factories.make_owner(name="ana"))
    client = Client()
    client.force_login(golem.owner)
    row = MAKERS[model](golem)
    shown = {"page": show_page(client.get(form_page(model, row.pk)).context)}
    shown |= show_list(client.get(page(model, "changelist")).context)
    written: dict[str, Any] = json.loads(WRITTEN.read_text(encoding="utf-8")) if WRITTEN.exists() else {}
    if os.environ.get("GOLEM_KEEP_PAGES") == "1":
        kept = {**written, model: shown}
        WRITTEN.write_text(json.dumps(dict(sorted(kept.items())), indent=1) + "\n", encoding="utf-8")
        return
    assert shown == written[model]


def show_page(context: Any) -> list[str]:
    """The names of its groups and fields."""
    return list(_name_fields(context["adminform"])) if "adminform" in context else []


def _name_fields(form: Any) -> Iterator[str]:
    for fieldset in form:
        if fieldset.name:
            yield f"# {fieldset.name}"
        for line in fieldset:
            for field in line:
                told = field.field
                yield str(told["name"] if isinstance(told, dict) else told.name)


def show_list(context: Any) -> dict[str, Any]:
    """Its columns, what it is filtered and searched by, and how many rows a page holds."""
    shown = context["cl"]
    return {
        "columns": [str(getattr(each, "__name__", each)) for each in shown.list_display],
        "links": [str(each) for each in shown.list_display_links or ()],
        "filters": [str(each.title) for each in shown.filter_specs],
        "searched": [str(each) for each in shown.search_fields],
        "rows": shown.list_per_page,
        "in_order_of": list(shown.get_ordering_field_columns()),
    }


def test_a_form_asks_for_what_is_written_down_in_that_order_and_insists_on_as_much() -> None:
    asked = {f"{each.__module__}.{each.__qualname__}": ask(each) for each in list_forms()}
    written: dict[str, Any] = json.loads(ASKED.read_text(encoding="utf-8")) if ASKED.exists() else {}
    if os.environ.get("GOLEM_KEEP_PAGES") == "1":
        ASKED.write_text(json.dumps(asked, indent=1) + "\n", encoding="utf-8")
        return
    assert asked == written


def ask(form: Any) -> list[str]:
    """Its fields in the order of the page, each with whether it must be filled in and what stands in it at first."""
    try:
        fields = form().fields
    except (TypeError, AttributeError, KeyError, ValueError):
        # It is opened for a certain golem or cage.
        fields = form.base_fields
    return [
        f"{name}{'' if field.required else ' (may be left out)'}"
        + (f" = {field.initial}" if isinstance(field.initial, bool | int | str) and field.initial != "" else "")
        for name, field in fields.items()
    ]


def test_a_token_is_chosen_by_its_name_and_where_it_has_none_by_its_address() -> None:
    mirror = factories.make_cage_mirror(golem=factories.make_golem(owner=factories.make_owner(name="ana")))
    unnamed = mirror.state["base_asset"]
    mirror.state = {**mirror.state, "assets": [unnamed]}
    choices = dict(AssetForm(mirror=mirror).fields["token"].choices)  # type: ignore[attr-defined]
    token = list_tokens(mirror.chain_id)[1]
    assert token.symbol in choices[token.address] and choices[unnamed] == unnamed
