"""memory_search through the runner, as an agent calls it."""

from __future__ import annotations

from typing import Any

import pytest

from archetypes_app.toolset import view_golem
from tests.memory_app.factories import NOW, make_golem, remember
from tools_app import runner
from tools_app.core.errors import InvalidParams
from tools_app.toolkit.enums import Category, PiTool, Requirement
from tools_app.toolkit.registry import REGISTRY
from tools_app.toolkit.tooldef import ReadTool


def search(golem: Any, **params: Any) -> dict[str, Any]:
    tool = REGISTRY.get("memory_search")
    assert isinstance(tool, ReadTool)
    data: dict[str, Any] = runner.run_read(tool=tool, params=params, golem=view_golem(golem), now=NOW).data
    return data


def test_memory_search_is_a_read_behind_query_grimoire_that_requires_memory() -> None:
    tool = REGISTRY.get("search_memory")
    assert tool.name == "memory_search"
    assert (tool.category, tool.pi_tool) == (Category.MEMORY, PiTool.QUERY_GRIMOIRE)
    assert tool.requires == {Requirement.MEMORY}
    assert tool.schema["additionalProperties"] is False
    assert all(prop.get("description") or prop.get("anyOf") for prop in tool.schema["properties"].values())
    assert "Does not" in tool.description


@pytest.mark.django_db
def test_a_search_returns_what_the_specification_names() -> None:
    golem = make_golem()
    episode = remember(golem, "A sandwich attack took 80 basis points", tokens=["USDC", "WETH"])
    remember(golem, "Deposited DAI", tokens=["DAI"])
    found = search(golem, query="front-running", token_pair="weth/usdc", limit=5)
    assert found["total_episodes_searched"] == 1
    assert found["total_insights_searched"] == 0
    assert found["insights_note"]
    [result] = found["results"]
    assert (result["id"], result["source"], result["untrusted"]) == (str(episode.pk), "episode", True)
    assert set(result) == {"source", "id", "untrusted", "content", "relevance_score", "adjusted_score", "metadata"}
    assert float(result["adjusted_score"]) <= float(result["relevance_score"])
    assert result["metadata"]["permit_id"] is None


@pytest.mark.django_db
@pytest.mark.parametrize(
    "params",
    [
        {},
        {"query": "x", "limit": 51},
        {"query": "x", "token_pair": "USDC"},
        {"query": "x", "token_pair": "USDC/usdc"},
        {"query": "x", "store": "dreams"},
        {"query": "x", "golem_id": "another"},
        {"query": "x", "tool": "Drop Table"},
    ],
)
def test_malformed_parameters_are_refused(params: dict[str, Any]) -> None:
    with pytest.raises(InvalidParams):
        search(make_golem(), **params)
