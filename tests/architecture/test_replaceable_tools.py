"""What a text may take the place of is called by nothing of ours: no hook, review, plan, value or heartbeat."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from inspect import unwrap
from pathlib import Path

from tests.architecture.sources import ROOT, list_tracked
from tools_app.sandbox.built_in_replacement import is_replaceable
from tools_app.toolkit.registry import REGISTRY

TOOLS = [tool for tool in REGISTRY if is_replaceable(tool)]
HOMES = {Path(unwrap(tool.handler).__code__.co_filename).relative_to(ROOT) for tool in TOOLS}
MODULES = {str(home.with_suffix("")).replace("/", ".") for home in HOMES}
FAMILY = {str(home.parent) for home in HOMES}
# What makes a tool part of a decision about money: chains, prices, holdings, protocols, simulation.
_OF_MONEY = ("chain", "portfolio", "protocols", "simulation", "standards", "models")
_CALLERS = ("permits_app/", "memory_app/", "archetypes_app/", "golem_project/", "tools_app/")
_WORDS = {"query", "key", "tool", "tool_name"}


def list_sources() -> Iterator[tuple[str, ast.Module]]:
    for path in list_tracked():
        if path.endswith(".py") and path.startswith(_CALLERS) and str(Path(path).parent) not in FAMILY:
            yield path, ast.parse((ROOT / path).read_text(encoding="utf-8"))


def find_uses(tree: ast.Module) -> Iterator[str]:
    names, keys = {tool.name for tool in TOOLS}, {tool.key for tool in TOOLS}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module in MODULES:
            yield f"imports {node.module}"
        if isinstance(node, ast.Constant) and node.value in names:
            yield f"names {node.value}"
        if isinstance(node, ast.Call):
            for word in node.keywords:
                if word.arg in _WORDS and isinstance(word.value, ast.Constant) and word.value.value in keys:
                    yield f"asks for {word.value.value}"


def test_nothing_of_ours_calls_what_may_be_replaced() -> None:
    assert len(TOOLS) == 2 and MODULES
    found = [f"{path} {use}" for path, tree in list_sources() for use in find_uses(tree)]
    # The registry is filled by importing every family; that calls none.
    assert [each for each in found if not each.startswith("tools_app/apps.py")] == []


def test_a_use_would_be_seen() -> None:
    tool = TOOLS[0]
    module = sorted(MODULES)[0]
    for text in (f"REGISTRY.get('{tool.name}')", f"query_state(query='{tool.key}')", f"from {module} import x"):
        assert list(find_uses(ast.parse(text))), text


def test_what_may_be_replaced_reads_no_chain_no_price_and_no_row() -> None:
    for home in sorted({path for folder in FAMILY for path in (ROOT / folder).glob("*.py")}):
        tree = ast.parse(home.read_text(encoding="utf-8"))
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and node.module:
                part = node.module.removeprefix("tools_app.").partition(".")[0]
                assert part not in _OF_MONEY, f"{home} imports {node.module}"
            if isinstance(node, ast.Attribute):
                assert node.attr not in ("chain", "open_chain"), f"{home} opens a chain"
