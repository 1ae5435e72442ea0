"""The likeliest mistakes with an allowance, each over HTTP: refused with figures, and mended by the answer alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest
from django.test import Client

from archetypes_app.models import ToolOverride
from archetypes_app.models.override import OverrideMode
from permits_app.models import SigningKey
from tests.catalogue.test_mistakes_at_yields import OF_AMOUNTS, OF_HOW_MUCH, TEN, post_what_is_told
from tests.golem_project.pi.conftest import Agent
from tests.golem_project.pi.conftest import tasks_here as tasks_here
from tests.permits_app.tools.allowing import A_DAY, Allowing
from tests.permits_app.tools.allowing import allowing as allowing
from tools_app.standards.safe_allowance import LARGEST_AMOUNT
from tools_app.toolkit.registry import REGISTRY

pytestmark = pytest.mark.protocols("safe_allowance")
TOOL = "session_provision_key"


@dataclass
class Asking:
    """The golem's agent at its door."""

    agent: Agent

    def post(self, tool: str, body: dict[str, Any]) -> dict[str, Any]:
        """The answer with its HTTP status under `http`."""
        response = self.agent.post(tool, body)
        assert response.status_code != 500, response.content
        return {**response.json(), "http": response.status_code}


def list_mistakes(allowing: Allowing) -> list[tuple[dict[str, Any], str]]:
    own = SigningKey.objects.get(golem=allowing.live.golem).address
    return [
        *(({"amount": value}, "INVALID_PARAMS") for value in OF_AMOUNTS),
        ({"amount": "0"}, "INVALID_PARAMS"),
        ({"amount": str(LARGEST_AMOUNT + 1)}, "INVALID_PARAMS"),
        ({"amount": None}, "INVALID_PARAMS"),
        ({"token": None}, "INVALID_PARAMS"),
        ({"token": "ETH"}, "INVALID_PARAMS"),
        ({"token": "NOSUCH"}, "TOKEN_NOT_FOUND"),
        ({"key": None}, "INVALID_PARAMS"),
        ({"key": allowing.safe.owners[0].address}, "INVALID_PARAMS"),
        ({"key": own}, "INVALID_PARAMS"),
        ({"key": "somebody"}, "INVALID_PARAMS"),
    ]


def test_what_is_said_wrongly_of_an_allowance_is_refused_with_figures_and_mended_by_the_answer_alone(
    allowing: Allowing, tasks_here: None
) -> None:
    ToolOverride.objects.get_or_create(
        golem=allowing.live.golem, tool_name=TOOL, defaults={"mode": OverrideMode.INCLUDE}
    )
    tool = REGISTRY.get(TOOL)
    door: Any = Asking(Agent(golem=allowing.live.golem, key=allowing.live.key, client=Client()))
    meant = {"key": allowing.key.address, "token": "USDC", "amount": str(A_DAY)}
    wrong, accepted, tried = [], list[dict[str, Any]](), list_mistakes(allowing)
    for changes, code in tried:
        said = {name: value for name, value in {**meant, **changes}.items() if value is not None}
        problem = door.post("preview_action", {"action_type": "provision_session_key", "venue": "wallet", **said})
        if problem.get("code") != code or not (problem["detail"] and problem["recovery"] and problem["title"]):
            wrong.append(f"{changes} is answered with {problem}")
            continue
        if set(changes) & OF_HOW_MUCH and not any(map(str.isdigit, f"{problem['detail']}{problem.get('fill')}")):
            wrong.append(f"{changes} is refused without a figure: {problem['detail']}")
        if words := post_what_is_told(door, tool, problem, meant, accepted):  # type: ignore[arg-type]
            wrong.append(f"{changes}: {words}: {problem}")
    assert len(tried) >= TEN and not wrong, "\n".join(wrong)
