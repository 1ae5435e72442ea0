"""An owner whose account was left no permission meets a refusal at every page that is ours."""

from __future__ import annotations

from typing import Any, Final

import pytest

from tests import factories
from tests.admin.members import log_in
from tests.admin.rows import MAKERS
from tests.admin.test_roles import fill, list_pages, read_database

pytestmark = pytest.mark.django_db

# Django's own pages of each model, which `test_owner_scope.py` asks for; those of kept filters are the same for all.
_PLAIN: Final = ("_changelist", "_add", "_change", "_delete", "_history", "_autocomplete")
_FILTERS: Final = ("_keep_filter", "_remove_filter")
_FILTERS_OF: Final = "permits_app_actionpermit"
# Of one's own account and of the product.
_OPEN: Final = {
    *("login", "logout", "password_change", "password_change_done", "sign_ins", "index", "search", "jsi18n"),
    *("alerts", "app_worker", "services", "find", "freshness", "number", "machinery", "help", "help_index"),
    *("view_on_site", "autocomplete", "archetypes_app_apikey_token"),
    # They take a golem of one's own and no permission: `test_roles.py` asks for them.
    *("cage_set_up", "permits_app_ownerbudget_mine", "archetypes_app_golem_followed"),
    "tools_app_auditentry_verify_chains",
}
# What is said there is the owner's own word, and a filter that is not kept cannot be removed.
_SAID_BY_OWNERS: Final = {"archetypes_app_golem_statement", "permits_app_actionpermit_remove_filter"}
_REFUSED: Final = (403, 405)
_DECIDED: Final = "permits_app_changerequest_"
_OWN_ADD: Final = ("archetypes_app_apikey", "archetypes_app_golem", "stream_webhookendpoint")


@pytest.fixture
def rows(db: None) -> dict[str, Any]:
    """One row of every kind, each of a golem of one owner's."""
    person, made = factories.make_owner(name="ana"), {}
    for label in MAKERS:
        golem = factories.make_golem(owner=person, name=label)
        made[label] = golem if label == "archetypes_app.golem" else MAKERS[label](golem)
    person.groups.clear()
    person.user_permissions.clear()
    return made


def list_addresses(rows: dict[str, Any]) -> list[tuple[str, str]]:
    """Name and address of each page that is ours, about a row of the owner's."""
    found = []
    for name, route in list_pages():
        url = fill(name, route, rows, rows["archetypes_app.golem"])
        is_plain = name.endswith(_PLAIN) and name.removesuffix("_add") not in _OWN_ADD
        is_again = name.endswith(_FILTERS) and not name.startswith(_FILTERS_OF)
        is_open = name in _OPEN or name.startswith(_DECIDED)
        if url is not None and name and not (is_open or is_plain or is_again):
            found.append((name, url))
    assert len(found) > 90
    return found


def test_no_page_is_shown_to_an_owner_who_has_no_permission(rows: dict[str, Any]) -> None:
    browser = log_in(rows["archetypes_app.golem"].owner)
    told = {name: browser.get(url).status_code for name, url in list_addresses(rows)}
    assert {name: status for name, status in told.items() if status not in _REFUSED} == {}


def test_nothing_is_done_for_an_owner_who_has_no_permission(rows: dict[str, Any]) -> None:
    browser, before = log_in(rows["archetypes_app.golem"].owner), read_database()
    told = {name: browser.post(url, {"reason": "mine"}).status_code for name, url in list_addresses(rows)}
    assert {name for name, status in told.items() if status not in _REFUSED} == _SAID_BY_OWNERS
    assert read_database() == before
