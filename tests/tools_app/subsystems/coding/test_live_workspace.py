"""The workspace of a live golem: what loosens it waits for its owners, with a second factor; what tightens does not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from archetypes_app.models import CodingWorkspace, Golem
from permits_app.actions.execute_change import execute_change
from permits_app.actions.request_change import request_operation
from permits_app.approval_errors import ChangeStale, OwnRequest, SecondFactorWrong
from permits_app.approval_pages.views import page_of
from permits_app.models import ChangeRequest
from tests.admin.rows import opened_as
from tests.coding_agent import CodingAgent
from tests.permits_app.approvals.people import approve, make_owner_with_device, reject
from tools_app.core import clock
from tools_app.core.errors import InvalidParams
from tools_app.core.models import AuditEntry

LIVE = {"needs_owner": "COMMANDS", "place": "LOCAL", "port": 22}
MACHINE = {"host": "example.com", "username": "coder", "folder": "/home/coder", "host_key": "ssh-rsa AAAA"}


@dataclass
class Page:
    """The page of a live golem's workspace, in its owner's browser."""

    agent: CodingAgent
    row: CodingWorkspace
    browser: Client

    @property
    def url(self) -> str:
        return reverse("admin:archetypes_app_codingworkspace_change", args=[self.row.pk])

    def post(self, **changes: Any) -> Any:
        return self.browser.post(self.url, {**LIVE, **opened_as(self.browser, self.url), **changes})

    def ask(self, **changes: Any) -> ChangeRequest:
        """The form with a reason; what waits for the owners afterwards."""
        answer = self.post(**changes, _why="it works alone at night")
        request = ChangeRequest.objects.get(golem=self.agent.golem, kind="workspace", state="OPEN")
        assert (answer.status_code, answer["Location"]) == (302, page_of(request.pk))
        return request

    def read(self) -> CodingWorkspace:
        return CodingWorkspace.objects.get(pk=self.row.pk)


@pytest.fixture
def live_page(careful: CodingAgent, settings: Any) -> Page:
    settings.GOLEM_CODING_ALLOWS_NETWORK = True
    Golem.objects.filter(pk=careful.golem.pk).update(is_live=True)
    browser = Client()
    browser.force_login(careful.owner)
    return Page(careful, careful.choose(needs_owner="COMMANDS"), browser)


LOOSER: dict[str, tuple[dict[str, Any], str, str]] = {
    "what waits": ({"needs_owner": "NOTHING"}, "Commands", "Nothing"),
    "the network": ({"allows_network": "on"}, "no network", "the network, this server&#x27;s own services included"),
    "another machine": ({"place": "SSH", **MACHINE}, "this server", "coder@example.com:22 /home/coder"),
}


@pytest.mark.parametrize(("change", "before", "after"), LOOSER.values(), ids=LOOSER)
def test_a_live_golem_is_loosened_by_its_owners_with_a_second_factor_and_a_summary(
    live_page: Page, change: dict[str, Any], before: str, after: str
) -> None:
    held = live_page.row.fingerprint
    shown = live_page.post(**change).content.decode()
    assert before in shown and after in shown and "loosens" in shown and "Ask the owners" in shown
    assert not ChangeRequest.objects.exists()
    request = live_page.ask(**change)
    assert (request.risk_tier, request.needs_second_factor, live_page.read().fingerprint) == ("HIGH", True, held)
    page = live_page.browser.get(page_of(request.pk)).content.decode()
    assert before in page and after in page
    with pytest.raises(SecondFactorWrong):
        approve(request, live_page.agent.owner, code="000000")
    approve(request, live_page.agent.owner)
    execute_change(request_id=request.pk, now=clock.now())
    row = live_page.read()
    assert {name: "on" if value is True else value for name, value in row.settings.items()}.items() >= change.items()
    (entry,) = AuditEntry.objects.filter(golem_id=row.golem_id, event="WorkspaceSet")
    assert entry.data["reason"] == "it works alone at night"


def test_without_their_approval_nothing_is_loosened_and_what_tightens_needs_nobody(live_page: Page) -> None:
    reject(live_page.ask(needs_owner="NOTHING"), live_page.agent.owner)
    assert live_page.read().needs_owner == "COMMANDS"
    assert live_page.post(needs_owner="EVERYTHING").status_code == 302
    assert live_page.read().needs_owner == "EVERYTHING"
    assert ChangeRequest.objects.filter(state="OPEN").count() == 0
    Golem.objects.filter(pk=live_page.agent.golem.pk).update(is_live=False)
    assert live_page.post(needs_owner="NOTHING").status_code == 302
    assert live_page.read().needs_owner == "NOTHING"


def test_what_was_changed_since_is_neither_approved_nor_carried_out(live_page: Page) -> None:
    late, owner = live_page.ask(needs_owner="NOTHING"), live_page.agent.owner
    live_page.post(needs_owner="EVERYTHING")
    with pytest.raises(ChangeStale):
        approve(late, owner)
    approved = live_page.ask(needs_owner="NOTHING")
    approve(approved, owner)
    live_page.agent.choose(allows_network=True)
    execute_change(request_id=approved.pk, now=clock.now())
    approved.refresh_from_db()
    assert (approved.state, live_page.read().needs_owner) == ("STALE", "EVERYTHING")


def test_an_approved_network_stays_closed_when_the_operator_closed_it_meanwhile(live_page: Page, settings: Any) -> None:
    request = live_page.ask(allows_network="on")
    approve(request, live_page.agent.owner)
    settings.GOLEM_CODING_ALLOWS_NETWORK = False
    execute_change(request_id=request.pk, now=clock.now())
    request.refresh_from_db()
    assert (request.state, live_page.read().allows_network) == ("STALE", False)


def test_of_two_owners_the_one_who_asked_does_not_decide(live_page: Page) -> None:
    other = make_owner_with_device(name="bo")
    live_page.agent.golem.co_owners.add(other)
    request = live_page.ask(needs_owner="NOTHING")
    with pytest.raises(OwnRequest):
        approve(request, live_page.agent.owner)
    approve(request, other)
    execute_change(request_id=request.pk, now=clock.now())
    assert live_page.read().needs_owner == "NOTHING"


def test_what_was_previewed_before_a_loosening_is_void_after_it(live_page: Page) -> None:
    permit = live_page.agent.preview("write", path="a.txt", content="a")
    request = live_page.ask(needs_owner="NOTHING")
    approve(request, live_page.agent.owner)
    execute_change(request_id=request.pk, now=clock.now())
    assert live_page.agent.commit(permit)["problem"]["code"] == "WORKSPACE_CHANGED"


def test_a_form_with_another_mistake_asks_nobody(live_page: Page) -> None:
    refused = live_page.post(place="SSH", host="example.com", needs_owner="NOTHING", _why="at night")
    assert refused.status_code == 200 and "Another machine needs this." in refused.content.decode()
    assert not ChangeRequest.objects.exists()


def test_a_live_golem_without_a_workspace_gets_a_looser_one_by_its_owners_alone(careful: CodingAgent) -> None:
    Golem.objects.filter(pk=careful.golem.pk).update(is_live=True)
    browser = Client()
    browser.force_login(careful.owner)
    fields = {"golem": str(careful.golem.pk), **LIVE}
    url = reverse("admin:archetypes_app_codingworkspace_add")
    assert "Ask the owners" in browser.post(url, fields).content.decode() and not CodingWorkspace.objects.exists()
    assert browser.post(url, {**fields, "_why": "writes are safe"}).status_code == 302
    request = ChangeRequest.objects.get(golem=careful.golem)
    approve(request, careful.owner)
    execute_change(request_id=request.pk, now=clock.now())
    assert CodingWorkspace.objects.get(golem=careful.golem).needs_owner == "COMMANDS"


def test_a_request_for_a_workspace_that_cannot_be_is_refused(careful: CodingAgent, settings: Any) -> None:
    settings.GOLEM_CODING_ALLOWS_NETWORK = False
    now = CodingWorkspace(golem=careful.golem).settings
    for change in ({"allows_network": True}, {"place": "SSH", **MACHINE, "host": ""}, {"needs_owner": "NEVER"}):
        with pytest.raises(InvalidParams):
            request_operation(
                golem=careful.golem,
                name="workspace",
                arguments={**now, **change},
                owner=careful.owner,
                reason="why not",
                now=clock.now(),
            )


def test_going_live_tells_how_it_codes(careful: CodingAgent) -> None:
    careful.choose(needs_owner="NOTHING", allows_network=True)
    request = request_operation(
        golem=careful.golem, name="live", arguments={}, owner=careful.owner, reason="it is ready", now=clock.now()
    )
    (line,) = [each for each in request.shown["differences"] if "coding" in each["words"]]
    assert (line["after"], line["note"]) == ("Nothing", "on this server, with the network")
