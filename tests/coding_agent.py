"""A golem that codes, its owner, and the agent that speaks for it; its folder is on this machine.

Reads go over REST. So do writes in a test whose rows other connections see; in one that is rolled back they are
called where REST calls them, since a web thread gives its connection back while a worker works.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from django.conf import settings
from django.test import Client

from archetypes_app.actions.create_api_key import NewApiKey
from archetypes_app.actions.include_coding_tools import include_coding_tools
from archetypes_app.models import CodingWorkspace, Golem
from golem_project import wiring
from permits_app.actions.commit import commit_permit
from permits_app.actions.execute_change import execute_change
from permits_app.actions.preview import preview_action
from permits_app.actions.start_commit import start_commit
from permits_app.models import ChangeRequest, SpendingLimits
from tests import factories
from tests.permits_app.approvals.people import approve, give_device
from tools_app.core import clock
from tools_app.core.errors import GolemError
from tools_app.subsystems.coding.presets import Preset

PI = "/api/v1/pi"


class Refused(Exception):
    """What REST answered in the place of a permit or an answer: its code, and the whole problem."""

    def __init__(self, problem: dict[str, Any]) -> None:
        super().__init__(f"{problem.get('code')}: {problem.get('detail')}")
        self.code = str(problem.get("code"))
        self.problem = problem


@dataclass
class CodingAgent:
    """Calls of one golem's agent, and what its owner does in between. `folder` is where it works here."""

    golem: Golem
    owner: Any
    key: NewApiKey
    folder: Path
    writes_over_rest: bool = False

    def ask(self, query: str, **params: Any) -> dict[str, Any]:
        """query_state; what the tool answered, which is foreign. Raises Refused."""
        answer = self._post("query_state", {"query": query, "venue": "coding", **params})
        data: dict[str, Any] = answer["data"]
        assert data["untrusted"] is True
        return dict(data["value"])

    def text(self, query: str, **params: Any) -> str:
        """The text of a query's answer."""
        return "\n".join(block.get("text", "") for block in self.ask(query, **params)["content"])

    def preview(self, action_type: str, **params: Any) -> dict[str, Any]:
        """preview_action. Raises Refused."""
        body = {"action_type": action_type, "venue": "coding", **params}
        if self.writes_over_rest:
            return self._post("preview_action", body)
        try:
            return preview_action(golem_id=self.golem.pk, api_key_id=self.key.key.pk, body=body, now=clock.now())
        except GolemError as error:
            raise Refused(error.as_problem()) from error

    def commit(self, permit: dict[str, Any]) -> dict[str, Any]:
        """commit_action; the permit afterwards. Raises Refused."""
        if self.writes_over_rest:
            return self._post("commit_action", {"permit_id": permit["permit_id"]})
        permit_id = UUID(permit["permit_id"])
        try:
            start_commit(golem=self.golem, permit_id=permit_id, actor="key:test", now=clock.now())
        except GolemError as error:
            raise Refused(error.as_problem()) from error
        ended = commit_permit(permit_id=permit_id)
        assert ended is not None
        return ended

    def do(self, action_type: str, **params: Any) -> dict[str, Any]:
        """Preview and commit; what the tool answered. Raises Refused, also for a permit that was blocked."""
        permit = self.commit(self.preview(action_type, **params))
        if permit["status"] != "COMMITTED":
            raise Refused(permit.get("problem") or permit)
        data: dict[str, Any] = permit["result"]["data"]
        assert data["untrusted"] is True
        return dict(data["value"])

    def run(self, command: str, **params: Any) -> dict[str, Any]:
        """A command that waits for nobody."""
        return self.do("bash", command=command, **params)

    def approve(self, permit: dict[str, Any]) -> ChangeRequest:
        """The owner approves what waits, and it is carried out."""
        request = ChangeRequest.objects.get(permit_id=permit["permit_id"])
        approve(request, self.owner)
        execute_change(request_id=request.pk, now=clock.now())
        request.refresh_from_db()
        return request

    def choose(self, **columns: Any) -> CodingWorkspace:
        """The owner sets the workspace."""
        row, _ = CodingWorkspace.objects.update_or_create(golem=self.golem, defaults=columns)
        return row

    def get(self, path: str) -> dict[str, Any]:
        """A GET of the agent's. Raises Refused."""
        answer = Client().get(f"{PI}/{path}", headers={"Authorization": f"Bearer {self.key.token}"})
        told: dict[str, Any] = answer.json()
        if answer.status_code >= 400:
            raise Refused(told)
        return told

    def _post(self, tool: str, body: dict[str, Any]) -> dict[str, Any]:
        answer = Client().post(
            f"{PI}/{tool}",
            json.dumps(body),
            content_type="application/json",
            headers={"Authorization": f"Bearer {self.key.token}"},
        )
        told: dict[str, Any] = answer.json()
        if answer.status_code >= 400:
            raise Refused(told)
        return told


def make_coding_agent(folder: Path, *, name: str = "Coder", preset: Preset = Preset.ALL) -> CodingAgent:
    """A golem with the tools of `preset`, an owner with a second factor, and a key that is shown every tool."""
    owner = factories.make_owner(name=f"owner-of-{name.lower()}")
    give_device(owner)
    golem = factories.make_golem(owner=owner, name=name)
    SpendingLimits.objects.update_or_create(golem=golem, defaults={"writes_per_hour": 500})
    include_coding_tools(golem_id=golem.pk, preset=preset, actor="owner:test", now=clock.now())
    key = factories.make_api_key(golem=golem)
    key.key.most_tools = None
    key.key.save(update_fields=["most_tools"])
    return CodingAgent(golem, owner, key, folder / str(golem.pk) / "work")


@pytest.fixture
def coding_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Path]:
    """Where golems of this test work."""
    monkeypatch.setattr(settings, "GOLEM_CODING_DIR", tmp_path / "coding")
    monkeypatch.setattr(settings, "GOLEM_KEYSTORE_DIR", tmp_path / "keystore")
    wiring.configure()
    yield tmp_path / "coding"
    monkeypatch.undo()
    wiring.configure()


@pytest.fixture
def careful(db: None, coding_folder: Path) -> CodingAgent:
    """A golem whose owner set nothing: everything it writes or runs waits."""
    return make_coding_agent(coding_folder)


@pytest.fixture
def coder(careful: CodingAgent) -> CodingAgent:
    """A golem of which nothing waits."""
    careful.choose(needs_owner="NOTHING")
    return careful
