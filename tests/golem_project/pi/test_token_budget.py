"""What the manifest costs a model, counted by the tokenizers themselves. The budgets of decisions hold here."""

from __future__ import annotations

import io
import json
import socket
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from archetypes_app.builtin_profiles import BUILTIN_PROFILES
from archetypes_app.catalogue_lines import list_categories, list_category
from archetypes_app.loadout import make_loadout
from archetypes_app.toolset import ArchetypeRule, ProfileRule, ToolsetInputs, resolve
from golem_project.management.commands.tokens import list_prices
from golem_project.pi.definitions import define_tools
from golem_project.pi.dialects import Dialect
from golem_project.pi.token_count import TOKENIZERS, count_definitions, count_json
from tests.golem_project.pi.conftest import MakeAgent
from tools_app.toolkit.enums import Category
from tools_app.toolkit.registry import REGISTRY
from tools_app.toolkit.tooldef import ToolDef
from tools_app.toolkit.toolset import Toolset

CORE_BUDGET = 1_200
TWELVE_BUDGET = 2_500
BROWSING_BUDGET = 1_500


def profile(name: str) -> Toolset:
    found = next(each for each in BUILTIN_PROFILES if each.name == name)
    rule = ProfileRule(found.name, found.categories, found.is_read_only, found.is_conservative)
    return resolve(ToolsetInputs(ArchetypeRule("any"), profiles=(rule,)))


def weigh(toolset: Toolset, *, dialect: Dialect, tokenizer: str) -> int:
    tools = define_tools(toolset=toolset, permit_ttl_seconds=60, has_writes=True)
    return count_definitions(tools, dialect=dialect, tokenizer=tokenizer)


@pytest.mark.parametrize("tokenizer", TOKENIZERS)
@pytest.mark.parametrize("dialect", Dialect)
def test_a_trader_with_its_core_costs_at_most_1200_tokens(dialect: Dialect, tokenizer: str) -> None:
    toolset = profile("trader")
    loadout = make_loadout(toolset=toolset, first=())
    assert {REGISTRY.get(name).key for name in loadout.core} >= {"swap", "quote", "token_price"}
    assert weigh(loadout.cut(toolset), dialect=dialect, tokenizer=tokenizer) <= CORE_BUDGET


@pytest.mark.parametrize("each", BUILTIN_PROFILES, ids=lambda each: each.name)
def test_no_profile_s_core_costs_more_than_its_share(each: object) -> None:
    toolset = profile(each.name)  # type: ignore[attr-defined]
    loadout = make_loadout(toolset=toolset, first=())
    assert weigh(loadout.cut(toolset), dialect=Dialect.OPENAI, tokenizer=TOKENIZERS[0]) <= 1_700


def pick_heaviest(pool: Sequence[ToolDef], *, dialect: Dialect, count: int) -> list[ToolDef]:
    """The tools that add most, one after the other."""
    chosen: list[ToolDef] = []
    for _ in range(count):
        rest = [tool for tool in pool if tool not in chosen]
        chosen.append(
            max(
                rest,
                key=lambda tool: weigh(Toolset.of([*chosen, tool], "heavy"), dialect=dialect, tokenizer=TOKENIZERS[0]),
            )
        )
    return chosen


def test_any_twelve_tools_cost_at_most_2500_tokens() -> None:
    alone = sorted(
        REGISTRY,
        key=lambda tool: -weigh(Toolset.of([tool], "one"), dialect=Dialect.OPENAI, tokenizer=TOKENIZERS[0]),
    )
    candidates = [alone[:12], pick_heaviest(alone[:40], dialect=Dialect.OPENAI, count=12)]
    # And twelve of one kind at a time: reads behind one word, writes behind another.
    for pi_tool in {tool.pi_tool for tool in REGISTRY}:
        candidates.append([tool for tool in alone if tool.pi_tool is pi_tool][:12])
        candidates.append([tool for tool in alone if tool.pi_tool is pi_tool][:6] + alone[:6])
    for tools in candidates:
        toolset = Toolset.of(tools, "heavy")
        for dialect in Dialect:
            for tokenizer in TOKENIZERS:
                cost = weigh(toolset, dialect=dialect, tokenizer=tokenizer)
                assert cost <= TWELVE_BUDGET, (sorted(toolset.names()), dialect, tokenizer, cost)


def test_browsing_450_tools_costs_at_most_1500_tokens() -> None:
    """Every category, then the largest of them: 450 tools, dealt over the categories as the real ones are."""
    known = list(REGISTRY)
    copies = [
        replace(known[number % len(known)], name=f"{known[number % len(known)].name}_{number}") for number in range(450)
    ]
    toolset = Toolset.of(copies, "many")
    loadout = make_loadout(toolset=toolset, first=())
    first = list_categories(toolset=toolset, loadout=loadout)
    assert sum(entry["tool_count"] for entry in first["categories"]) == 450
    largest = max(first["categories"], key=lambda entry: entry["tool_count"])["name"]
    pages, cursor = [], None
    page = list_category(toolset=toolset, loadout=loadout, category=largest, cursor=cursor)
    pages.append(page)
    for tokenizer in TOKENIZERS:
        assert count_json(first, tokenizer=tokenizer) + count_json(page, tokenizer=tokenizer) <= BROWSING_BUDGET
    seen = dict(page["tools"])
    while "next_cursor" in page:
        page = list_category(toolset=toolset, loadout=loadout, category=largest, cursor=page["next_cursor"])
        seen.update(page["tools"])
    assert len(seen) == sum(1 for tool in toolset if tool.category == Category(largest))


def count(*arguments: str) -> list[dict[str, Any]]:
    out = io.StringIO()
    call_command("tokens", "--json", *arguments, stdout=out)
    found: list[dict[str, Any]] = json.loads(out.getvalue())
    return found


def test_the_command_weighs_every_profile_without_a_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any) -> None:
        raise AssertionError("a connection was opened")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    rows = count("--tokenizer", TOKENIZERS[0])
    assert {row["subject"] for row in rows} == {each.name for each in BUILTIN_PROFILES}
    trader = {row["shown"]: row for row in rows if row["subject"] == "trader"}
    assert trader["eight with the core"]["definitions"] <= CORE_BUDGET
    assert trader["eight with the core"]["definitions"] < trader["eight over every tool"]["definitions"]
    assert trader["eight with the core"]["saved_percent"] > 50
    assert all(price > 0 for _, _, price in list_prices())


def test_the_command_weighs_one_golem_and_knows_no_stranger(make_agent: MakeAgent) -> None:
    agent = make_agent()
    rows = count("--golem", str(agent.golem.pk), "--tokenizer", TOKENIZERS[0])
    assert {row["subject"] for row in rows} == {agent.golem.name}
    for stranger in ("nobody", "7b0c5a1e-2f10-4c0e-9d64-1f7d2a3b4c5d"):
        with pytest.raises(CommandError, match="no golem has the id"):
            count("--golem", stranger)
