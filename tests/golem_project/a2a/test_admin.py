"""What an owner sees of other agents' tasks, and how they open a read to strangers."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from archetypes_app.owner_group import ensure_owner_group
from golem_project.a2a.models import OpenedRead, TaskState
from tests import factories
from tools_app.core import clock

LIST, ADD = "admin:a2a_openedread_changelist", "admin:a2a_openedread_add"


@pytest.fixture
def owner(db: None) -> Any:
    """Somebody with a golem."""
    owner = factories.make_owner()
    owner.groups.add(ensure_owner_group())
    return owner


@pytest.fixture
def browser(owner: Any) -> Client:
    """Signed in."""
    client = Client()
    client.force_login(owner)
    return client


def test_a_task_is_told_in_words(owner: Any, browser: Client) -> None:
    golem = factories.make_golem(owner=owner)
    task = factories.make_a2a_task(golem=golem, state=TaskState.INPUT_REQUIRED)
    listed = browser.get(reverse("admin:a2a_task_changelist")).content.decode()
    assert "waits for owners" in listed and f"stranger {task.visitor}" in listed
    page = browser.get(reverse("admin:a2a_task_change", args=[task.pk])).content.decode()
    assert "query_state" in page and "&quot;query&quot;: &quot;golem&quot;" in page


def test_an_owner_opens_a_read_their_golem_has_and_no_other(owner: Any, browser: Client) -> None:
    golem = factories.make_golem(owner=owner)
    refused = browser.post(reverse(ADD), {"golem": golem.pk, "query": "secrets", "venue": "golem"})
    assert "no such read" in refused.content.decode()
    assert not OpenedRead.objects.exists()
    browser.post(reverse(ADD), {"golem": golem.pk, "query": "Limits", "venue": "golem"})
    assert str(OpenedRead.objects.get()) == "limits@golem"


def test_nobody_opens_a_read_of_another_owners_golem(browser: Client) -> None:
    golem = factories.make_golem(owner=factories.make_owner(name="ben"))
    browser.post(reverse(ADD), {"golem": golem.pk, "query": "limits", "venue": "golem"})
    assert not OpenedRead.objects.exists()


def test_an_opened_read_is_closed_by_its_owner_and_by_nobody_else(owner: Any, browser: Client) -> None:
    mine = factories.make_golem(owner=owner)
    theirs = factories.make_golem(owner=factories.make_owner(name="ben"))
    now = clock.now()
    rows = [
        OpenedRead.objects.create(golem=golem, query="limits", venue="golem", created_at=now)
        for golem in (mine, theirs)
    ]
    close = [reverse("admin:a2a_openedread_close", args=[row.pk]) for row in rows]
    assert browser.get(close[0]).status_code == 200
    assert [browser.post(each, {"sure": "on"}).status_code for each in close] == [302, 404]
    assert OpenedRead.objects.get() == rows[1]
