"""Whose rows every read of the shelf tells, with every id that an agent may name: two owners, two golems of one.

The reads are found in the registry and the questions about a golem itself in their own list, so that what is added
tomorrow is asked tomorrow. What another golem has is told by texts that its rows hold and no other row does. What lies
in a protocol's folder asks a chain alone, and is left out.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final

import pytest

from archetypes_app.models import Artifact, Golem, ToolProfile
from memory_app.models import Episode, Execution, Insight, Strategy
from permits_app.actions.query import OWN_QUERIES, OWN_VENUE, query_state
from permits_app.models import ActionPermit
from tests.admin.test_whose_rows_in_which_order import Side
from tools_app.core import clock
from tools_app.core.errors import GolemError
from tools_app.toolkit.enums import Category, PiTool
from tools_app.toolkit.registry import REGISTRY
from tools_app.toolkit.tooldef import ReadTool

pytestmark = pytest.mark.django_db

OF_ONE_OWNER: Final = {
    "golem_mine_testaments": "golems of one owner learn from each other's ends",
    "golem_cluster_archetypes": "it compares the golems of one owner",
    "memory_get_sleepwalker_catalog": "what a golem publishes is for its owner's golems",
}
"""Reads that tell of the owner's other golems too, each with the reason."""
_FILLED: Final = {"query": "swap", "text": "USDC", "kind": "risk", "asset": "USDC", "token": "USDC"}


def name_rows(golem: Golem) -> dict[str, str]:
    """What an agent could name a row of `golem` by, by the parameter."""
    newest = {
        "episode_id": Episode.objects.filter(golem=golem),
        "insight_id": Insight.objects.filter(golem=golem),
        "execution_id": Execution.objects.filter(golem=golem),
        "artifact_id": Artifact.objects.filter(golem=golem),
        "permit_id": ActionPermit.objects.filter(golem=golem),
    }
    named = {name: str(rows.order_by("pk").values_list("pk", flat=True)[0]) for name, rows in newest.items()}
    strategy = Strategy.objects.filter(golem=golem).order_by("pk")[0].name
    return {**named, "strategy_name": strategy, "account": golem.address, "owner": golem.address}


def list_questions(tool: ReadTool, theirs: dict[str, str]) -> Iterator[dict[str, Any]]:
    """The least that the tool can be asked with, and each row of the other golem that it can be asked for."""
    properties = tool.schema.get("properties", {})
    named = {name: theirs[name] for name in properties if name in theirs}
    least = {
        name: named.get(name) or _FILLED.get(name) or _make_up(properties[name])
        for name in tool.schema.get("required", [])
    }
    yield least
    for name, row in named.items():
        if name not in least:
            yield {**least, name: row}


def _make_up(schema: dict[str, Any]) -> Any:
    options = schema.get("anyOf", [schema])
    first = next((each for each in options if each.get("type") != "null"), schema)
    if "enum" in first:
        return first["enum"][0]
    return {"integer": 1, "array": [], "boolean": False}.get(str(first.get("type")), "1")


def ask(golem: Golem, query: str, venue: str | None, given: dict[str, Any], pi_tool: PiTool) -> str:
    """The answer as it goes out, or the words of the refusal."""
    try:
        told: Any = query_state(golem=golem, query=query, venue=venue, params=given, now=clock.now(), pi_tool=pi_tool)
    except GolemError as error:
        told = error.as_problem()
    return json.dumps(told, default=str)


def test_no_read_tells_rows_of_another_golem_whatever_row_it_is_asked_for() -> None:
    side = Side()
    profile = ToolProfile.objects.create(name="everything", categories=[each.value for each in Category])
    side.mine.profiles.add(profile)
    golem = Golem.objects.select_related("archetype").get(pk=side.mine.pk)
    reads = [tool for tool in REGISTRY if isinstance(tool, ReadTool) and "/protocols/" not in tool.source]
    wrong: list[tuple[Any, ...]] = []
    answered: set[str] = set()
    for golem_of, foreign in ((side.theirs, side.of_theirs), (side.beside, side.of_beside)):
        named = name_rows(golem_of)
        for tool in reads:
            if golem_of == side.beside and tool.name in OF_ONE_OWNER:
                continue
            for given in list_questions(tool, named):
                told = ask(golem, tool.key, tool.venue, given, tool.pi_tool)
                if '"status":' not in told:
                    answered.add(tool.name)
                asked = json.dumps(given)
                wrong += [(tool.name, given, each) for each in foreign if each in told and each not in asked]
        for own in OWN_QUERIES:
            told = ask(golem, own.key, OWN_VENUE, {}, PiTool.QUERY_STATE)
            wrong += [(own.key, golem_of.name, each) for each in foreign if each in told]
    assert wrong == []
    # The others want a chain, a service or a row that is the golem's own, and say so.
    assert len(answered) > 20, sorted(answered)
