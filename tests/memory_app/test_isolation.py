"""Two golems never see each other's rows: every way into memory, one row of a table each."""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from django.conf import settings as django_settings

from archetypes_app.models import Golem
from memory_app import bend_embeddings, embedding
from memory_app.actions.consolidate import consolidate, retune
from memory_app.actions.curate import curate
from memory_app.actions.export_grimoire import export_grimoire
from memory_app.actions.query_grimoire import query_grimoire, reinforce_episodes
from memory_app.actions.search_context import search_context
from memory_app.actions.store_strategy import list_strategies
from memory_app.admin.plots import plot_errors_by_week
from memory_app.ask_memory_worker import request_query_grimoire
from memory_app.filters import EpisodeFilters, select_episodes
from memory_app.heuristic_text import list_heuristics
from memory_app.insights import select_insights
from memory_app.memory_adjustments import augment
from memory_app.models import Episode
from memory_app.retrieval import retrieve_episodes
from memory_app.selectors import count_memory, get_directive
from memory_app.strategy_files import export_files
from tests import factories
from tests.memory_app.calls import read
from tests.memory_app.factories import NOW, make_golem, remember
from tools_app.toolkit.enums import Category, Requirement
from tools_app.toolkit.registry import REGISTRY
from tools_app.toolkit.tooldef import ReadTool

SECRET = "zebracorn"
PERMIT = uuid.UUID(int=77)


@pytest.fixture
def pair(db: None, settings: Any, tmp_path: Path) -> tuple[Golem, Golem]:
    """A golem with one of everything, each naming the secret, and one without anything."""
    settings.GOLEM_GRIMOIRE_DIR = tmp_path / "grimoire"
    settings.GOLEM_AUDIT_KEY_FILE = tmp_path / "audit.pem"
    rich, poor = make_golem("Rich"), make_golem("Poor")
    for number in range(5):
        remember(
            rich,
            f"{SECRET} swap {number}",
            permit_id=uuid.UUID(int=77 + number),
            tokens=[SECRET],
            prediction={"a": "1"},
            outcome={"a": "1", "succeeded": True},
        )
    consolidate(golem_id=rich.pk, now=NOW)
    factories.make_insight(golem=rich, text=f"{SECRET} is scarce")
    factories.make_strategy(golem=rich, name=SECRET)
    factories.make_execution(golem=rich)
    factories.make_dream(golem=rich)
    directive = factories.make_directive(golem=rich)
    type(directive).objects.filter(pk=directive.pk).update(text=f"## {SECRET}\n\n{SECRET}\n", diff=SECRET)
    return rich, poor


def _retrieve(golem: Golem, **given: Any) -> Any:
    found = retrieve_episodes(
        golem_id=golem.pk,
        query=SECRET,
        filters=EpisodeFilters(include_archived=True),
        limit=20,
        now=NOW,
        **({"query_vector": None} | given),
    )
    return [hit.episode.summary for hit in found.hits]


def _by_meaning(golem: Golem) -> Any:
    return _retrieve(golem, query_vector=bend_embeddings.bend(embedding.embed([SECRET]))[0])


def _through_the_index(golem: Golem) -> Any:
    before = django_settings.GOLEM_MEMORY_EXACT_SCAN_ROWS
    django_settings.GOLEM_MEMORY_EXACT_SCAN_ROWS = -1
    try:
        return _by_meaning(golem)
    finally:
        django_settings.GOLEM_MEMORY_EXACT_SCAN_ROWS = before


def _export_files(golem: Golem) -> Any:
    with TemporaryDirectory() as folder:
        return [
            path.read_text() for path in export_files(golem_id=golem.pk, folder=Path(folder), actor="owner:1", now=NOW)
        ]


def _export_archive(golem: Golem) -> Any:
    done = export_grimoire(golem_id=golem.pk, include_decayed=True, min_percent=0, actor="x", now=NOW)
    return done.archive.path.read_text().replace(str(golem.pk), "")


def _augment(golem: Golem) -> Any:
    params = {"token_in": SECRET, "slippage_bps": 50, "chain_id": 31337}
    return augment(golem_id=golem.pk, tool_name="uniswap_execute_swap", params=params, now=NOW).as_dict()


WAYS: dict[str, Callable[[Golem], Any]] = {
    "select_episodes": lambda g: list(select_episodes(golem_id=g.pk, filters=EpisodeFilters()).values("summary")),
    "retrieve by words": _retrieve,
    "retrieve by meaning": _by_meaning,
    "retrieve through the index": _through_the_index,
    "query_grimoire": lambda g: query_grimoire(golem_id=g.pk, query="swap", store="all", now=NOW),
    "request_query_grimoire": lambda g: request_query_grimoire(golem_id=g.pk, query="swap", store="all", now=NOW),
    "select_insights": lambda g: list(select_insights(golem_id=g.pk, filters=EpisodeFilters()).values("text")),
    "list_heuristics": lambda g: [row.text for row in list_heuristics(golem_id=g.pk)],
    "search_context": lambda g: search_context(golem_id=g.pk, query="anything", now=NOW),
    "get_directive": lambda g: getattr(get_directive(golem_id=g.pk), "text", None),
    "list_strategies": lambda g: [row.name for row in list_strategies(golem_id=g.pk)],
    "augment": _augment,
    "export to files": _export_files,
    "export to an archive": _export_archive,
}


@pytest.mark.parametrize("way", WAYS)
def test_a_stranger_sees_nothing_whatever_the_way_in(pair: tuple[Golem, Golem], way: str) -> None:
    rich, poor = pair
    mine, theirs = (json.dumps(WAYS[way](golem), default=str) for golem in (rich, poor))
    ids = {str(pk) for pk in Episode.objects.filter(golem=rich).values_list("pk", flat=True)}
    told = theirs.replace(f'"query": "{SECRET}"', "")
    assert SECRET in mine or any(pk in mine for pk in ids), "the table's row must find what is there"
    assert SECRET not in told
    assert not any(pk in told for pk in ids)


@pytest.mark.django_db
def test_figures_and_writes_reach_one_golem_alone(pair: tuple[Golem, Golem]) -> None:
    rich, poor = pair
    before = list(Episode.objects.filter(golem=rich).order_by("pk").values())
    assert count_memory(golem_id=poor.pk).episodes == 0
    assert plot_errors_by_week(golem_ids=[poor.pk], now=NOW).outcomes == 0
    ids = [row["id"] for row in before]
    assert reinforce_episodes(golem_id=poor.pk, episode_ids=ids, now=NOW) == 0
    assert retune(golem_id=poor.pk, now=NOW) == []
    assert curate(golem_id=poor.pk, actor="x", now=NOW).consolidation.clusters_found == 0
    assert list(Episode.objects.filter(golem=rich).order_by("pk").values()) == before


def test_every_read_tool_of_memory_says_nothing_to_a_stranger(pair: tuple[Golem, Golem]) -> None:
    _, poor = pair
    tools = [tool for tool in REGISTRY if isinstance(tool, ReadTool) and Requirement.MEMORY in tool.requires]
    assert len(tools) >= 10
    assert {tool.category for tool in tools} <= {Category.MEMORY, Category.SELF_IMPROVEMENT}
    for tool in tools:
        needed = tool.schema.get("required", [])
        if {"episode_id", "artifact_id"} & set(needed):
            continue
        given: dict[str, Any] = {"query": "swap"} if "query" in needed else {}
        answer = json.dumps(read(poor, tool.name, **given))
        assert SECRET not in answer, tool.name
