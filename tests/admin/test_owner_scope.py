"""Who sees, edits and reaches what in the admin: model x owner A, owner B, operator; lists, pages, choosers, popups."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib import admin
from django.test import Client

from archetypes_app.models import Golem
from permits_app.models import AllowlistEntry, SpendingLimits
from tests import factories
from tests.admin.rows import EDITED_BY_OWNERS, MAKERS, SEEN_BY_OPERATORS_ALONE, form_page, page

pytestmark = pytest.mark.django_db

READ_ONLY_MODELS = sorted(set(MAKERS) - EDITED_BY_OWNERS)


class People:
    """Owner A with a golem, owner B with another, and an operator; each with a logged-in client."""

    def __init__(self) -> None:
        self.owner_a = factories.make_owner(name="ana")
        self.owner_b = factories.make_owner(name="benedikta")
        self.operator = factories.make_operator()
        self.golem_a = factories.make_golem(owner=self.owner_a, name="Golem of Ana")
        self.golem_b = factories.make_golem(owner=self.owner_b, name="Golem of Ben")
        self.a, self.b, self.root = (_log_in(user) for user in (self.owner_a, self.owner_b, self.operator))


def _log_in(user: Any) -> Client:
    client = Client()
    client.force_login(user)
    return client


@pytest.fixture
def people() -> People:
    return People()


@pytest.mark.parametrize("model", sorted(MAKERS))
def test_an_owner_sees_lists_and_reaches_their_own_row_and_nobody_elses(people: People, model: str) -> None:
    """The page, the list and every word on it, history, deletion and a posted change: of one's own and of another's."""
    row, theirs = MAKERS[model](people.golem_a), MAKERS[model](people.golem_b)
    url = page(model, "change", row.pk)
    assert people.a.get(url).status_code == 200
    assert people.root.get(url).status_code == 200
    assert people.b.get(url).status_code == 404

    listed = people.a.get(page(model, "changelist"))
    found = {each.pk for each in listed.context["cl"].result_list}
    everything = {each.pk for each in people.root.get(page(model, "changelist")).context["cl"].result_list}
    assert row.pk in found
    assert theirs.pk not in found
    assert {row.pk, theirs.pk} <= everything
    text = listed.content.decode()
    assert "Golem of Ben" not in text
    # A name that no random word of the page holds by chance.
    assert "benedikta" not in text

    before = type(row).objects.filter(pk=row.pk).values().get()
    assert people.b.get(page(model, "history", row.pk)).status_code == 404
    assert people.b.get(page(model, "delete", row.pk)).status_code in (403, 404)
    assert people.b.post(page(model, "delete", row.pk), {"post": "yes"}).status_code in (403, 404)
    assert people.b.post(url, {"name": "taken", "label": "taken"}).status_code in (403, 404, 405)
    assert type(row).objects.filter(pk=row.pk).values().get() == before


@pytest.mark.parametrize("model", READ_ONLY_MODELS)
def test_records_cannot_be_edited_or_deleted_even_by_an_operator(people: People, model: str) -> None:
    row = MAKERS[model](people.golem_a)
    assert people.root.post(page(model, "change", row.pk), {}).status_code in (403, 405)
    assert people.root.post(page(model, "delete", row.pk), {"post": "yes"}).status_code == 403
    assert type(row).objects.filter(pk=row.pk).exists()


@pytest.mark.parametrize("model", sorted(EDITED_BY_OWNERS))
def test_an_owner_may_edit_what_is_theirs(people: People, model: str) -> None:
    row = MAKERS[model](people.golem_a)
    answer = people.a.get(form_page(model, row.pk))
    assert answer.context["has_change_permission"]


@pytest.mark.parametrize("model", SEEN_BY_OPERATORS_ALONE)
def test_accounts_and_schedules_are_for_operators(people: People, model: str) -> None:
    assert people.root.get(page(model, "changelist")).status_code == 200
    assert people.a.get(page(model, "changelist")).status_code == 403


@pytest.mark.parametrize("model", ["archetypes_app.archetype", "archetypes_app.toolprofile"])
@pytest.mark.parametrize("is_builtin", [True, False])
def test_builtin_and_shared_rows_are_read_by_owners_and_edited_by_operators(
    people: People, model: str, is_builtin: bool
) -> None:
    make = factories.make_archetype if model.endswith("archetype") else factories.make_profile
    row = make(name="of-all", is_builtin=is_builtin)
    url = page(model, "change", row.pk)
    assert not people.a.get(url).context["has_change_permission"]
    assert people.a.post(url, {"name": "mine-now"}).status_code == 403
    assert people.a.post(page(model, "delete", row.pk), {"post": "yes"}).status_code == 403
    assert people.root.get(url).context["has_change_permission"]


@pytest.mark.parametrize("model", ["archetypes_app.archetype", "archetypes_app.toolprofile"])
def test_a_copy_belongs_to_the_owner_who_made_it(people: People, model: str) -> None:
    make = factories.make_archetype if model.endswith("archetype") else factories.make_profile
    row = make(name="of-all", is_builtin=True)
    url = page(model, "make_my_copy", row.pk)
    asked = people.a.get(url)
    answer = people.a.post(url)
    copy = type(row).objects.get(name="of-all-ana")
    assert (asked.status_code, answer.status_code) == (200, 302)
    assert (copy.owner, copy.is_builtin) == (people.owner_a, False)
    assert people.a.get(page(model, "change", copy.pk)).context["has_change_permission"]
    assert people.b.get(page(model, "change", copy.pk)).status_code == 404


def test_an_owners_private_copy_cannot_be_copied_by_another(people: People) -> None:
    private = factories.make_archetype(name="secret-kind", owner=people.owner_a)
    assert people.b.get(page("archetypes_app.archetype", "make_my_copy", private.pk)).status_code == 404


@pytest.mark.parametrize(
    "model", ["permits_app.allowlistentry", "permits_app.spendinglimits", "permits_app.policycage"]
)
def test_a_chooser_offers_only_ones_own_golems(people: People, model: str) -> None:
    text = people.a.get(page(model, "add")).content.decode()
    assert "Golem of Ana" in text
    assert "Golem of Ben" not in text


def test_a_popup_is_scoped_like_the_page(people: People) -> None:
    url = page("permits_app.allowlistentry", "add") + "?_popup=1"
    assert "Golem of Ben" not in people.a.get(url).content.decode()
    theirs = factories.make_allowlist_entry(golem=people.golem_b)
    popup = page("permits_app.allowlistentry", "change", theirs.pk) + "?_popup=1&_to_field=id"
    assert people.a.get(popup).status_code == 404


def test_an_owner_cannot_hand_a_row_to_another_owners_golem(people: People) -> None:
    address = "0x" + "22" * 20
    body = {"golem": str(people.golem_b.pk), "chain_id": "31337", "kind": "TOKEN", "address": address, "label": ""}
    people.a.post(page("permits_app.allowlistentry", "add"), body)
    assert not AllowlistEntry.objects.filter(golem=people.golem_b).exists()


def test_autocomplete_answers_nothing_of_other_owners(people: People) -> None:
    limits = SpendingLimits._meta.get_field("golem")
    query = {"app_label": "permits_app", "model_name": "spendinglimits", "field_name": limits.name, "term": "Golem"}
    text = people.a.get("/admin/autocomplete/", query).content.decode()
    assert "Golem of Ben" not in text


def test_a_filter_by_another_owners_golem_shows_nothing(people: People) -> None:
    factories.make_permit(golem=people.golem_b)
    url = page("permits_app.actionpermit", "changelist") + f"?of_golem={people.golem_b.pk}"
    answer = people.a.get(url)
    assert list(answer.context["cl"].result_list) == []


def test_an_owner_cannot_give_a_golem_away(people: People) -> None:
    url = page("archetypes_app.golem", "settings", people.golem_a.pk)
    assert 'name="owner"' not in people.a.get(url).content.decode()
    assert 'name="owner"' in people.root.get(url).content.decode()


def test_an_owner_cannot_use_another_owners_private_profile_or_archetype(people: People) -> None:
    factories.make_profile(name="private-to-ben", owner=people.owner_b)
    factories.make_archetype(name="kind-of-ben", owner=people.owner_b)
    for url in (page("archetypes_app.golem", "settings", people.golem_a.pk), page("archetypes_app.golem", "add")):
        text = people.a.get(url).content.decode()
        assert "private-to-ben" not in text
        assert "kind-of-ben" not in text


GOLEM_ACTIONS = ("halt", "resume", "set_up_wallet", "set_up_limits", "set_up_token")


@pytest.mark.parametrize("action", GOLEM_ACTIONS)
def test_another_owners_golem_can_be_neither_halted_nor_set_up(people: People, action: str) -> None:
    url = page("archetypes_app.golem", action, people.golem_a.pk)
    assert people.b.get(url).status_code == 404
    assert people.b.post(url, {"reason": "mine", "scopes": "read", "source": "create"}).status_code == 404
    assert not Golem.objects.get(pk=people.golem_a.pk).is_halted


PERMIT_ACTIONS = ("cancel", "block", "shorten", "note")


@pytest.mark.parametrize("action", PERMIT_ACTIONS)
def test_another_owners_permit_can_be_neither_ended_nor_annotated(people: People, action: str) -> None:
    permit = factories.make_permit(golem=people.golem_a)
    url = page("permits_app.actionpermit", action, permit.pk)
    assert people.b.post(url, {"reason": "x", "seconds_left": "0", "note": "x"}).status_code == 404
    permit.refresh_from_db()
    assert (permit.status, permit.owner_note) == ("CREATED", "")


@pytest.mark.parametrize("action", ["rotate", "revoke"])
def test_another_owners_key_can_be_neither_rotated_nor_revoked(people: People, action: str) -> None:
    key = factories.make_api_key(golem=people.golem_a).key
    assert people.b.post(page("archetypes_app.apikey", action, key.pk)).status_code == 404
    key.refresh_from_db()
    assert key.revoked_at is None


def test_another_owners_wallet_cannot_be_backed_up(people: People) -> None:
    wallet = factories.make_wallet(golem=people.golem_a)
    answer = people.b.post(page("permits_app.wallet", "back_up", wallet.pk), {"password": factories.golems.PASSWORD})
    assert answer.status_code == 404


def test_someone_who_is_not_staff_reaches_nothing(people: People) -> None:
    stranger = type(people.owner_a).objects.create_user(username="stranger", password="a long password")
    client = _log_in(stranger)
    for model in sorted(MAKERS):
        assert client.get(page(model, "changelist")).status_code == 302


def test_every_model_of_ours_is_in_the_admin_and_in_this_table() -> None:
    ours = {"tools_app", "archetypes_app", "memory_app", "permits_app", "stream", "a2a"}
    registered = {model._meta.label_lower for model in admin.site._registry if model._meta.app_label in ours}
    assert registered == set(MAKERS) | {
        "permits_app.knowncontract",
        "permits_app.noncecursor",
        "permits_app.chainmark",
    }
