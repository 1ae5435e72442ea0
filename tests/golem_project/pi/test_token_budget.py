"""What the manifest costs a model, counted by the tokenizers themselves. The budgets of decisions hold here."""

from __future__ import annotations

import io
import json
import random
import re
import socket
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from archetypes_app.builtin_profiles import BUILTIN_PROFILES, BuiltinProfile
from archetypes_app.catalogue_lines import list_categories, list_category, list_everything
from archetypes_app.tool_loadout import make_loadout
from archetypes_app.toolset import ArchetypeRule, ProfileRule, ToolsetInputs, resolve
from golem_project.management.commands.tokens import list_prices
from golem_project.pi.definitions import AS_DATA, MORE_TOOLS, define_tools
from golem_project.pi.pi_tool import PiToolDef
from golem_project.pi.provider_tool_formats import Dialect, render_tools
from golem_project.pi.shorten_schema import SHORT
from golem_project.pi.token_count import FEWEST_BYTES, TOKENIZERS, count_definitions, count_json, count_text
from tests.golem_project.pi.conftest import MakeAgent
from tools_app.toolkit.enums import Category, PiTool
from tools_app.toolkit.golem_toolset import Toolset
from tools_app.toolkit.registry import REGISTRY
from tools_app.toolkit.tooldef import ToolDef

CORE_BUDGET = 1_200
TWELVE_BUDGET = 2_500
BROWSING_BUDGET = 1_500


def profile(name: str) -> Toolset:
    found = next(each for each in BUILTIN_PROFILES if each.name == name)
    rule = ProfileRule(found.name, found.categories, found.is_read_only, found.is_conservative)
    return resolve(ToolsetInputs(ArchetypeRule("any"), profiles=(rule,)))


def weigh(toolset: Toolset, *, dialect: Dialect, tokenizer: str) -> int:
    tools = define_tools(toolset=toolset, permit_ttl_seconds=60, has_writes=True, has_more=True)
    return count_definitions(tools, dialect=dialect, tokenizer=tokenizer)


def test_a_trader_s_core_is_what_it_trades_with() -> None:
    loadout = make_loadout(toolset=profile("trader"), first=())
    assert {REGISTRY.get(name).key for name in loadout.core} >= {"swap", "quote", "token_price"}


@pytest.mark.parametrize("each", BUILTIN_PROFILES, ids=lambda each: each.name)
def test_every_profile_s_core_costs_at_most_1200_tokens_in_every_dialect(each: BuiltinProfile) -> None:
    toolset = profile(each.name)
    cut = make_loadout(toolset=toolset, first=()).cut(toolset)
    costs = {
        (dialect, tokenizer): weigh(cut, dialect=dialect, tokenizer=tokenizer)
        for dialect in Dialect
        for tokenizer in TOKENIZERS
    }
    assert {way: cost for way, cost in costs.items() if cost > CORE_BUDGET} == {}


@pytest.mark.parametrize("dialect", Dialect)
def test_every_dialect_says_that_more_tools_exist_how_they_are_called_and_that_texts_are_data(dialect: Dialect) -> None:
    toolset = profile("trader")
    cut = make_loadout(toolset=toolset, first=()).cut(toolset)
    for has_more in (True, False):
        tools = define_tools(toolset=cut, permit_ttl_seconds=60, has_writes=True, has_more=has_more)
        told = json.dumps(render_tools(dialect, tools))
        assert (MORE_TOOLS in told) is has_more
        assert AS_DATA in told


@pytest.mark.parametrize("dialect", Dialect)
def test_no_list_of_words_keeps_a_tool_out_that_is_not_shown(dialect: Dialect) -> None:
    toolset = profile("full")
    cut = make_loadout(toolset=toolset, first=()).cut(toolset)
    tools = define_tools(toolset=cut, permit_ttl_seconds=60, has_writes=True, has_more=True)
    written = json.dumps(render_tools(dialect, tools))
    for word in ("action_type", "query", "read", "venue"):
        assert not re.search(rf'"{word}": {{[^{{}}]*"enum"', written), (dialect, word)
    assert '"enum"' in written, "other lists stay"


class Heaviest:
    """Looks for the twelve tools that cost most: one after the other, then each against every other until none gains.

    What a tool costs depends on which stand beside it behind the same of the eight, so those are weighed apart.
    """

    def __init__(self) -> None:
        self._known: dict[frozenset[str], int] = {}

    def weigh(self, tools: Sequence[ToolDef]) -> int:
        return sum(self._weigh_one(pi_tool, tools) for pi_tool in {tool.pi_tool for tool in REGISTRY})

    def _weigh_one(self, pi_tool: PiTool, tools: Sequence[ToolDef]) -> int:
        behind = [tool for tool in tools if tool.pi_tool is pi_tool]
        names = frozenset({pi_tool.value, *(tool.name for tool in behind)})
        if names not in self._known:
            every = define_tools(toolset=Toolset.of(behind, "some"), permit_ttl_seconds=60, has_writes=True)
            one = [tool for tool in every if tool.name is pi_tool]
            self._known[names] = count_definitions(one, dialect=Dialect.OPENAI, tokenizer=TOKENIZERS[0])
        return self._known[names]

    def find(self, count: int) -> list[ToolDef]:
        chosen: list[ToolDef] = []
        for _ in range(count):
            chosen = max(self._with_one_more(chosen), key=self.weigh)
        while True:
            better = max(
                (
                    each
                    for left in chosen
                    for each in self._with_one_more([tool for tool in chosen if tool is not left])
                ),
                key=self.weigh,
            )
            if self.weigh(better) <= self.weigh(chosen):
                return chosen
            chosen = better

    @staticmethod
    def _with_one_more(chosen: Sequence[ToolDef]) -> list[list[ToolDef]]:
        return [[*chosen, tool] for tool in REGISTRY if tool not in chosen]


def test_any_twelve_tools_cost_at_most_2500_tokens() -> None:
    alone = sorted(
        REGISTRY,
        key=lambda tool: -weigh(Toolset.of([tool], "one"), dialect=Dialect.OPENAI, tokenizer=TOKENIZERS[0]),
    )
    candidates = [alone[:12], Heaviest().find(12)]
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


def test_every_dozen_that_is_not_counted_is_short_enough_for_any_tokenizer() -> None:
    """What load_tools takes as fitting by its length alone; draws of one to twelve."""
    draw, known = random.Random(12), list(REGISTRY)
    for _ in range(150):
        toolset = Toolset.of(draw.sample(known, draw.randint(1, 12)), "drawn")
        tools = define_tools(toolset=toolset, permit_ttl_seconds=60, has_writes=True)
        written = json.dumps(render_tools(Dialect.OPENAI, tools), ensure_ascii=False, separators=(",", ":"))
        for tokenizer in TOKENIZERS:
            assert count_text(written, tokenizer=tokenizer) * FEWEST_BYTES <= len(written.encode())


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


@pytest.mark.parametrize("tokenizer", TOKENIZERS)
def test_one_answer_with_every_word_there_is_costs_at_most_1500_tokens_at_400_tools(tokenizer: str) -> None:
    toolset = Toolset.of(REGISTRY, "all")
    answer = list_everything(toolset=toolset)
    told = {word.partition("@")[0] for line in answer["words"].values() for word in line.split()}
    assert told == {tool.key for tool in REGISTRY}
    assert count_json(answer, tokenizer=tokenizer) / len(REGISTRY) * 400 <= BROWSING_BUDGET


def test_no_line_of_a_category_is_cut() -> None:
    toolset = Toolset.of(REGISTRY, "all")
    loadout = make_loadout(toolset=toolset, first=())
    lines = [
        line
        for category in {tool.category for tool in REGISTRY}
        for line in list_category(toolset=toolset, loadout=loadout, category=category)["tools"].values()
    ]
    assert [line for line in lines if "…" in line] == []


def list_descriptions(schema: Any) -> Iterator[str]:
    """Every description in a schema."""
    if isinstance(schema, Mapping):
        if isinstance(schema.get("description"), str):
            yield schema["description"]
        for each in schema.values():
            yield from list_descriptions(each)
    elif isinstance(schema, list):
        for each in schema:
            yield from list_descriptions(each)


def test_every_short_word_stands_for_a_description_that_is_there() -> None:
    tools = define_tools(toolset=Toolset.of(REGISTRY, "all"), permit_ttl_seconds=60)
    known = {text for tool in (*REGISTRY, *tools) for text in list_descriptions(_schema_of(tool))}
    assert [full for full in SHORT if not any(full in text for text in known)] == []


def _schema_of(tool: ToolDef | PiToolDef) -> Any:
    return tool.parameters if isinstance(tool, PiToolDef) else tool.schema


def count(*arguments: str) -> list[dict[str, Any]]:
    out = io.StringIO()
    call_command("tokens", "--json", *arguments, stdout=out)
    found: list[dict[str, Any]] = json.loads(out.getvalue())
    return found


@pytest.mark.parametrize("tokenizer", TOKENIZERS)
def test_the_command_weighs_every_profile_without_a_network(monkeypatch: pytest.MonkeyPatch, tokenizer: str) -> None:
    def refuse(*_: Any) -> None:
        raise AssertionError("a connection was opened")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    rows = count("--tokenizer", tokenizer)
    assert {row["subject"] for row in rows} == {each.name for each in BUILTIN_PROFILES}
    assert {row["tokenizer"] for row in rows} == {tokenizer}
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
