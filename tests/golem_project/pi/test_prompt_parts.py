"""What models are told of archetypes and tools is there, and as long as it should be."""

from __future__ import annotations

import pytest

from archetypes_app.builtin_archetypes import BUILTIN_ARCHETYPES, BuiltinArchetype
from golem_project.pi.definitions import define_tools
from golem_project.pi.token_count import count_text
from tools_app.toolkit.golem_toolset import Toolset
from tools_app.toolkit.registry import REGISTRY

LEAST, MOST = 20, 50
"""Tokens of a snippet."""


def test_every_snippet_is_as_long_as_a_line_should_be() -> None:
    shown = define_tools(toolset=Toolset.of(REGISTRY, "all"), permit_ttl_seconds=60)
    lines = {tool.name: tool.snippet for tool in (*REGISTRY, *shown)}
    lengths = {name: count_text(text, tokenizer="o200k_base") for name, text in lines.items()}
    assert len(lengths) > 100
    assert {name: length for name, length in lengths.items() if not LEAST <= length <= MOST} == {}


def test_every_tool_says_what_to_heed_besides_what_it_does() -> None:
    """At least one guideline each, at most 50 tokens a line, and none that repeats the snippet or the description."""
    silent = [tool.name for tool in REGISTRY if not tool.guidelines]
    lengths = {line: count_text(line, tokenizer="o200k_base") for tool in REGISTRY for line in tool.guidelines}
    said_twice = [tool.name for tool in REGISTRY if any(line in tool.description for line in tool.guidelines)]
    assert (silent, said_twice) == ([], [])
    assert {line: length for line, length in lengths.items() if length > MOST} == {}
    assert [line for line in lengths if not line.endswith(".") or line != line.strip()] == []


@pytest.mark.parametrize("archetype", BUILTIN_ARCHETYPES, ids=lambda each: each.name)
def test_every_archetype_says_what_it_is_what_it_knows_and_how_it_works(archetype: BuiltinArchetype) -> None:
    for part in (archetype.role, archetype.workflow, archetype.output_format):
        assert 20 <= len(part) <= 400
    for lines in (archetype.expertise, archetype.safety_rules):
        assert len(lines) >= 2 and len(set(lines)) == len(lines)
        assert all(line.strip() == line and line.endswith(".") for line in lines)


def test_no_two_archetypes_know_the_same() -> None:
    known = [line for archetype in BUILTIN_ARCHETYPES for line in archetype.expertise]
    assert len(known) == len(set(known))
