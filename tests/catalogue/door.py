"""A golem's agent over HTTP, whose tasks run in the calling process, and the owners who approve what it asks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import pytest
from django.test import Client

from archetypes_app.models import ToolOverride
from archetypes_app.models.override import OverrideMode
from golem_project.celery import app
from permits_app.actions.execute_change import execute_change
from permits_app.models import ChangeRequest
from tests.catalogue.shelf import Filed, find_write, load_cases
from tests.catalogue.stage import Stage, open_stage
from tests.golem_project.pi.conftest import Agent
from tests.live_golem import LiveGolem
from tests.permits_app.approvals.people import approve, give_device, make_owner_with_device
from tools_app.core import clock
from tools_app.toolkit.case import Case

CASES = load_cases()


@dataclass
class Door:
    """What the outside sees of one golem."""

    stage: Stage
    agent: Agent
    co_owner: Any

    def post(self, tool: str, body: dict[str, Any]) -> dict[str, Any]:
        """The answer's body with its HTTP status under `http`; nothing is answered with a failure of ours."""
        response = self.agent.post(tool, body)
        assert response.status_code != 500
        return {**response.json(), "http": response.status_code}

    def preview(self, case: Case | str, **changes: Any) -> dict[str, Any]:
        """preview_action of a case, with some of its parameters changed."""
        case = self.stage.cases[case].case if isinstance(case, str) else case
        tool = find_write(case)
        return self.post(
            "preview_action",
            {"action_type": tool.key, "venue": tool.venue, **self.stage.params(case, **changes)},
        )

    def commit(self, permit: dict[str, Any]) -> dict[str, Any]:
        """commit_action of a permit, or the approval of owners where it asks for one; the permit as it ended."""
        assert permit["http"] == 200, permit
        if permit["status"] == "AWAITING_APPROVAL":
            request = ChangeRequest.objects.get(permit_id=permit["permit_id"])
            approve(request, self.co_owner)
            execute_change(request_id=request.pk, now=clock.now())
        else:
            self.post("commit_action", {"permit_id": permit["permit_id"]})
        ended: dict[str, Any] = self.agent.get(f"permits/{permit['permit_id']}").json()
        return ended

    def do(self, *names: str) -> None:
        """Carry cases out past every rule: what has to be there before."""
        for name in names:
            case = self.stage.cases[name].case
            self.stage.prepare(Case(case.tool, {}, case.is_a, after=(name,)))


@pytest.fixture
def door(shared_golem: LiveGolem) -> Iterator[Door]:
    """A golem with every tool of the shelf, two owners, and its agent."""
    with open_door(shared_golem, CASES) as opened:
        yield opened


@contextmanager
def open_door(live: LiveGolem, cases: Mapping[str, Filed]) -> Iterator[Door]:
    """The door of a golem that has every tool of these cases and two owners."""
    for tool in {filed.case.tool for filed in cases.values()}:
        ToolOverride.objects.get_or_create(golem=live.golem, tool_name=tool, defaults={"mode": OverrideMode.INCLUDE})
    give_device(live.owner)
    co_owner = make_owner_with_device(name="co-owner")
    live.golem.co_owners.add(co_owner)
    was_eager = app.conf.task_always_eager
    app.conf.task_always_eager = True
    yield Door(open_stage(live, cases), Agent(golem=live.golem, key=live.key, client=Client()), co_owner)
    app.conf.task_always_eager = was_eager
