"""What a person meets where something is refused, gone or fails: words, a way on, what they typed, and no secret."""

from __future__ import annotations

from typing import Any

import pytest
from django.core.exceptions import PermissionDenied
from django.test import Client
from django.urls import reverse

from archetypes_app.models import Golem
from archetypes_app.owner_group import ensure_owner_group
from golem_project.pi.problem_pages import server_error
from tests import factories
from tests.factories.golems import PASSWORD

pytestmark = pytest.mark.django_db
TYPED = {"reason": "the market is <b>closing</b>", "password": PASSWORD, "code": "123456", "csrfmiddlewaretoken": "x"}


@pytest.fixture
def golem() -> Golem:
    owner = factories.make_owner()
    owner.groups.add(ensure_owner_group())
    return factories.make_golem(owner=owner)


@pytest.fixture
def browser(golem: Golem) -> Client:
    client = Client(raise_request_exception=False)
    client.force_login(golem.owner)
    return client


def check(answer: Any, status: int, title: str) -> None:
    text = answer.content.decode()
    assert (answer.status_code, title in text) == (status, True)
    assert "the market is &lt;b&gt;closing&lt;/b&gt;" in text
    assert PASSWORD not in text and "123456" not in text


def test_a_form_sent_to_what_is_gone_or_somebody_else_s_comes_back(browser: Client) -> None:
    theirs = factories.make_golem(owner=factories.make_owner(name="ben"), name="Theirs")
    for page in (reverse("admin:archetypes_app_golem_halt", args=[theirs.pk]), "/admin/no-such-page/"):
        answer = browser.post(page, TYPED)
        check(answer, 404, "There is nothing here")
        assert "Theirs" not in answer.content.decode() and reverse("admin:index") in answer.content.decode()


@pytest.mark.parametrize(
    ("failure", "status", "title"),
    [(PermissionDenied(), 403, "Not allowed"), (RuntimeError("secret 123456"), 500, "Something failed here")],
)
def test_a_form_that_is_refused_or_fails_comes_back(
    browser: Client, monkeypatch: pytest.MonkeyPatch, failure: Exception, status: int, title: str
) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise failure

    monkeypatch.setattr("golem_project.alerts.views.list_golems_with", fail)
    answer = browser.post(reverse("alerts"), {"do": "make", **TYPED})
    check(answer, status, title)
    assert ("Nothing was changed" in answer.content.decode()) is (status == 403)
    # Without a form there is nothing to give back, and the page is as friendly.
    plain = browser.get(reverse("alerts"))
    assert (plain.status_code, title in plain.content.decode()) == (status, True)


def test_the_page_of_a_failure_needs_no_database(rf: Any) -> None:
    request = rf.post("/admin/somewhere/", TYPED)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("django.db.backends.utils.CursorWrapper.execute", None)
        check(server_error(request), 500, "Something failed here")
