"""The five jobs of the guide for agents, call by call as they stand there, on the local chain: none is refused."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

import pytest

from archetypes_app.models import ToolProfile
from tests.catalogue.circumstances import CIRCUMSTANCES
from tests.catalogue.door import Door
from tests.catalogue.door import door as door
from tests.how_to import read_block
from tools_app.toolkit.registry import REGISTRY

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.timeout(600)]

JOBS: Final = {
    name: [tuple(line.split(" ", 1)) for line in block.strip().splitlines()]
    for name, block in {
        "swap": read_block("write-an-agent.md", 3),
        "liquidity": read_block("write-an-agent.md", 4),
        "loan": read_block("write-an-agent.md", 5),
        "stake": read_block("write-an-agent.md", 6),
        "order": read_block("write-an-agent.md", 7),
        "plan": read_block("write-an-agent.md", 8),
    }.items()
}


def fill(body: str, known: Mapping[str, Any]) -> dict[str, Any]:
    """The body of a line with what earlier answers told in place of `$name`."""
    said: dict[str, Any] = json.loads(body)
    return {
        name: known[value[1:]] if isinstance(value, str) and value.startswith("$") else value
        for name, value in said.items()
    }


def list_values(value: Any) -> dict[str, Any]:
    """Every named value of an answer, the first of each name."""
    found: dict[str, Any] = {}
    if isinstance(value, Mapping):
        found.update({name: each for name, each in value.items() if not isinstance(each, Mapping)})
    for each in value.values() if isinstance(value, Mapping) else value if isinstance(value, list) else ():
        found = {**list_values(each), **found}
    return found


@pytest.mark.protocols("aave_v3", "lido")
@pytest.mark.parametrize("job", [name for name in JOBS if name != "plan"])
def test_each_call_of_a_job_is_accepted_as_it_stands(job: str, door: Door) -> None:
    known: dict[str, Any] = {"account": door.agent.golem.address}
    door.agent.golem.profiles.set(ToolProfile.objects.filter(name="full"))
    for tool, body in JOBS[job]:
        said = fill(body, known)
        if said.get("action_type") == "claim_withdrawal":
            CIRCUMSTANCES["the queue has paid all requests"](door.stage)
        answer = door.post(tool, said)
        assert answer["http"] == 200, (job, said, answer)
        if tool == "preview_action":
            ended = door.commit(answer)
            assert ended["status"] == "COMMITTED", (job, said, ended["status_reason"], ended["problem"])
            known |= list_values(ended["result"])
        else:
            known |= list_values(answer["data"])


def test_the_plan_of_the_guide_is_one_that_owners_are_asked_about(door: Door) -> None:
    ((tool, body),) = JOBS["plan"]
    answer = door.post(tool, json.loads(body))
    assert (answer["http"], answer["status"]) == (200, "AWAITING_APPROVAL"), answer
    assert "standing" in REGISTRY.get("golem_propose_standing_plan").name
