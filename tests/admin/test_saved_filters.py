"""A person keeps how they look at a list under a name, finds it there, and removes it; it is nobody else's."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.test import Client

from archetypes_app.owner_group import ensure_owner_group
from tests import factories
from tools_app.models import SavedFilter

PERMITS = "/admin/permits_app/actionpermit/"


@pytest.fixture
def ana(db: None) -> Any:
    owner = factories.make_owner(name="ana")
    owner.groups.add(ensure_owner_group())
    factories.make_permit(golem=factories.make_golem(owner=owner, name="Alpha"))
    return owner


@pytest.fixture
def ben(db: None) -> Any:
    owner = factories.make_owner(name="ben")
    owner.groups.add(ensure_owner_group())
    factories.make_permit(golem=factories.make_golem(owner=owner, name="Of ben"))
    return owner


def browse(person: Any) -> Client:
    client = Client()
    client.force_login(person)
    return client


def keep(client: Client, query: str, name: str = "Swaps", where: str = PERMITS) -> str:
    """What the list says afterwards."""
    answer = client.post(f"{where}filters/", {"name": name, "query": query}, follow=True)
    assert answer.status_code == 200
    return answer.content.decode()


def test_a_filter_is_kept_found_again_on_its_list_and_removed(ana: Any) -> None:
    client = browse(ana)
    assert "Keep this filter as" not in client.get(PERMITS).content.decode()
    assert "Keep this filter as" in client.get(f"{PERMITS}?action_type=swap").content.decode()
    told = keep(client, "action_type=swap&q=alpha&o=-6")
    assert "“Swaps” is kept." in told
    [kept] = SavedFilter.objects.all()
    assert kept.params == {"action_type": ["swap"], "q": ["alpha"], "o": ["-6"]}
    page = client.get(PERMITS).content.decode()
    assert f'href="?{kept.query.replace("&", "&amp;")}"' in page and ">Swaps</a>" in page
    shown = client.get(f"{PERMITS}?{kept.query}").content.decode()
    assert "Alpha" in shown
    # It is of this list alone.
    assert ">Swaps</a>" not in client.get("/admin/permits_app/changerequest/").content.decode()
    client.post(f"{PERMITS}filters/{kept.pk}/remove/")
    assert not SavedFilter.objects.exists() and ">Swaps</a>" not in client.get(PERMITS).content.decode()


def test_only_what_the_list_knows_is_kept(ana: Any) -> None:
    client = browse(ana)
    keep(client, "status__exact=COMMITTED&golem__owner__password__startswith=p&next=//evil.example&o=1;drop&_popup=1")
    assert [row.params for row in SavedFilter.objects.all()] == [{"status__exact": ["COMMITTED"]}]
    keep(client, "action_type=swap&p=3&all=&x=1&o=nonsense")
    assert [row.params for row in SavedFilter.objects.all()] == [{"action_type": ["swap"]}]
    assert "Nothing was kept" in keep(client, "", name="Empty")
    assert "Nothing was kept" in keep(client, "action_type=swap", name="")
    assert SavedFilter.objects.count() == 1


def test_a_filter_belongs_to_the_person_and_shows_them_their_own_rows(ana: Any, ben: Any) -> None:
    keep(browse(ana), "action_type=swap")
    [kept] = SavedFilter.objects.all()
    of_ben = browse(ben)
    assert ">Swaps</a>" not in of_ben.get(PERMITS).content.decode()
    assert of_ben.post(f"{PERMITS}filters/{kept.pk}/remove/").status_code == 404
    assert SavedFilter.objects.count() == 1
    shown = of_ben.get(f"{PERMITS}?{kept.query}").content.decode()
    assert "Of ben" in shown and "Alpha" not in shown
    # A filter by somebody else's golem keeps nothing of it either.
    golem = ana.golems.get()
    keep(of_ben, f"of_golem={golem.pk}", name="Spying")
    shown = of_ben.get(f"{PERMITS}?of_golem={golem.pk}").content.decode()
    assert "Alpha" not in shown


def test_who_may_not_see_a_list_keeps_no_filter_of_it(ana: Any) -> None:
    client = browse(get_user_model().objects.create_user("nobody", is_staff=True))
    assert client.post(f"{PERMITS}filters/", {"name": "Swaps", "query": "action_type=swap"}).status_code == 403
    assert Client().post(f"{PERMITS}filters/", {"name": "Swaps", "query": "q=x"}).status_code == 302
    assert browse(ana).get(f"{PERMITS}filters/").status_code == 405
    assert not SavedFilter.objects.exists()


def test_a_name_replaces_itself_and_their_number_has_an_end(ana: Any) -> None:
    client = browse(ana)
    keep(client, "action_type=swap")
    keep(client, "q=alpha")
    assert [row.params for row in SavedFilter.objects.all()] == [{"q": ["alpha"]}]
    for number in range(29):
        keep(client, "q=alpha", name=f"number {number}")
    assert "the most" in keep(client, "q=alpha", name="one more")
    assert SavedFilter.objects.count() == 30
    assert "is kept" in keep(client, "q=beta")


@pytest.mark.parametrize("where", ["archetypes_app/golem", "permits_app/changerequest", "tools_app/outboxevent"])
def test_each_list_of_an_owner_keeps_filters(ana: Any, where: str) -> None:
    client = browse(ana)
    path = f"/admin/{where}/"
    golem = ana.golems.get()
    keep(client, f"of_golem={golem.pk}", where=path)
    assert SavedFilter.objects.get().list_name == where.replace("/", ".")
    assert ">Swaps</a>" in client.get(path).content.decode()
