"""Values have types: `Any` stands with its reason, and a key written as text is looked up at an edge.

`untyped_values.toml` holds how many each file still has of before the rule. A file has no more of them than that, one
without a line has none; who takes some away lowers its line with `GOLEM_LOWER_ALLOWANCES=1 pytest` of this file.
"""

from __future__ import annotations

import ast
import io
import os
import tokenize
import tomllib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Final

import pytest

from tests.architecture.sources import ROOT, list_sources

TABLE: Final = ROOT / "tests/architecture/untyped_values.toml"
_HEAD: Final = "# What each file still has of before the rules of test_untyped_values.py; no figure may rise.\n"


def count_any(text: str) -> int:
    """Lines on which `Any` is a type and no comment says why."""
    said = {
        token.start[0]
        for token in tokenize.generate_tokens(io.StringIO(text).readline)
        if token.type == tokenize.COMMENT and "Any: " in token.string
    }
    lines = {node.lineno for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Name) and node.id == "Any"}
    return len(lines - said)


def count_keys(text: str) -> int:
    """`x["key"]` and `x.get("key")`, also where one is written to."""
    return sum(_is_key(node) for node in ast.walk(ast.parse(text)))


def _is_key(node: ast.AST) -> bool:
    if isinstance(node, ast.Subscript):
        return _is_text(node.slice)
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == "get"
        and bool(node.args)
        and _is_text(node.args[0])
    )


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


RULES: Final[Mapping[str, Callable[[str], int]]] = {"any": count_any, "keys": count_keys}


def list_counts(rule: str) -> Iterator[tuple[str, int]]:
    """Each file of the product that has some, with how many."""
    for path in list_sources():
        if count := RULES[rule]((ROOT / path).read_text(encoding="utf-8")):
            yield path, count


def write_table() -> None:
    """Lower what became less; what rose stays as it was, so that the test still says so."""
    allowed = tomllib.loads(TABLE.read_text(encoding="utf-8"))
    parts = [_HEAD]
    for rule in RULES:
        lines = [f'"{path}" = {min(count, allowed[rule].get(path, 0))}' for path, count in sorted(list_counts(rule))]
        parts.append("\n".join([f"\n[{rule}]", *(line for line in lines if not line.endswith(" = 0")), ""]))
    TABLE.write_text("".join(parts), encoding="utf-8")


@pytest.mark.parametrize("rule", RULES)
def test_no_file_has_more_than_it_had(rule: str) -> None:
    if os.environ.get("GOLEM_LOWER_ALLOWANCES"):
        write_table()
    allowed = tomllib.loads(TABLE.read_text(encoding="utf-8"))[rule]
    risen = {path: (allowed.get(path, 0), count) for path, count in list_counts(rule) if count > allowed.get(path, 0)}
    assert risen == {}, f"give the value a type of its own, or say why there is none: {risen}"


@pytest.mark.parametrize("rule", RULES)
def test_every_line_is_of_a_file_that_is_there(rule: str) -> None:
    allowed = tomllib.loads(TABLE.read_text(encoding="utf-8"))[rule]
    assert [path for path in allowed if not Path(ROOT / path).is_file()] == []


def test_an_any_without_its_reason_counts_and_one_with_it_does_not() -> None:
    bare = "x: Any = 1\ny: dict[str, Any] = {}  # what a node answers\n"
    assert count_any(bare) == 2
    assert count_any("x: Any = 1  # Any: what a node answers is of no known shape\n") == 0


def test_a_key_counts_however_it_is_looked_up() -> None:
    assert count_keys("a = x['one']\nb = x.get('two', 0)\nx['three'] = 1\n") == 3
    assert count_keys("a = x[name]\nb = x.get(name)\nc = {'one': 1}\n") == 0
