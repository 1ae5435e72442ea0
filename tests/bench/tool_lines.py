"""What is written for one tool of a protocol, in lines: read from the files of any checkout, so that two compare.

`python -m tests.bench.tool_lines [CHECKOUT]` prints the medians of writes and of reads. A line counts once: words are
taken out of the declaration and function they stand in.
"""

from __future__ import annotations

import ast
import json
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Final, TypeAlias

KINDS: Final = ("write", "read")
PARTS: Final[Mapping[str, str]] = {
    "code": "its declaration and function, without words",
    "words": "what agents are told: docstring, snippet, guidelines",
    "types": "the classes of its answer or report, and the function that fills a report",
    "case": "its cases",
    "tests": "the tests of its folder that name it, whole",
    "snapshots": "its stored snapshot",
}
_WORDS: Final = ("snippet", "guidelines")
_CASES: Final = ("Case", "ReadCase")
_OPENS_A_SNAPSHOT: Final = re.compile(r'^"(\w+)": \{')

_Defined: TypeAlias = dict[str, list[tuple[Path, ast.ClassDef | ast.FunctionDef]]]


@dataclass(frozen=True, slots=True)
class ToolLines:
    """Lines by part of one tool, which is a `write` or a `read`."""

    name: str
    kind: str
    parts: Mapping[str, int]


def count_tools(checkout: Path) -> list[ToolLines]:
    """Every tool of the protocols' folders of a checkout."""
    home = checkout / "tools_app" / "protocols"
    trees = {path: ast.parse(path.read_text()) for path in [*home.rglob("*.py"), *_shared(checkout)]}
    defined: _Defined = defaultdict(list)
    for path, tree in trees.items():
        for node in tree.body:
            if isinstance(node, ast.ClassDef | ast.FunctionDef):
                defined[node.name].append((path, node))
    declared = [(path, *each) for path, tree in trees.items() if home in path.parents for each in _declared(tree)]
    names = {function.name for _, function, _ in declared}
    cases, tests, snapshots = _count_cases(trees), _count_tests(checkout, names), _count_snapshots(checkout)
    found = []
    for path, function, declaration in declared:
        said = {each.arg: each.value for each in declaration.keywords}
        words = sum(_length(said[each]) for each in _WORDS if each in said) + _docstring(function)
        parts = {
            "code": _length(function) - words,
            "words": words,
            "types": _count_types(path, function, said.get("report"), defined),
            "case": cases[function.name],
            "tests": tests[function.name],
            "snapshots": snapshots[function.name],
        }
        assert isinstance(declaration.func, ast.Attribute)
        found.append(ToolLines(function.name, declaration.func.attr, parts))
    return found


def sum_medians(tools: list[ToolLines], kind: str) -> dict[str, float]:
    """The median of each part over the tools of a kind, and their sum as `all`."""
    medians = {part: float(median(each.parts[part] for each in tools if each.kind == kind)) for part in PARTS}
    return {**medians, "all": sum(medians.values())}


def _shared(checkout: Path) -> Iterator[Path]:
    yield from (checkout / "tools_app" / "standards").rglob("*.py")


def _declared(tree: ast.Module) -> Iterator[tuple[ast.FunctionDef, ast.Call]]:
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            for each in node.decorator_list:
                if isinstance(each, ast.Call) and isinstance(each.func, ast.Attribute) and each.func.attr in KINDS:
                    yield node, each


def _length(node: ast.stmt | ast.expr) -> int:
    first = min([node.lineno, *(each.lineno for each in getattr(node, "decorator_list", []))])
    return (node.end_lineno or node.lineno) - first + 1


def _docstring(function: ast.FunctionDef) -> int:
    return _length(function.body[0]) if ast.get_docstring(function) else 0


def _named(node: ast.AST) -> set[str]:
    return {each.id for each in ast.walk(node) if isinstance(each, ast.Name)} | {
        each.attr for each in ast.walk(node) if isinstance(each, ast.Attribute)
    }


def _count_types(path: Path, function: ast.FunctionDef, report: ast.expr | None, defined: _Defined) -> int:
    seen: set[str] = set()
    lines = 0
    waiting = [(path, name) for node in (function.returns, report) if node is not None for name in _named(node)]
    while waiting:
        home, name = waiting.pop()
        found = _nearest(home, name, defined)
        if name in seen or found is None:
            continue
        seen.add(name)
        where, node = found
        lines += _length(node)
        inside = node if isinstance(node, ast.ClassDef) else node.returns
        waiting += [(where, each) for each in (_named(inside) if inside is not None else ())]
    return lines


def _nearest(path: Path, name: str, defined: _Defined) -> tuple[Path, ast.ClassDef | ast.FunctionDef] | None:
    """What a name means in a file: what stands there, else in its folder, else in what folders share."""
    known = defined.get(name, [])
    beside = [each for each in known if each[0] == path]
    beside += [each for each in known if each[0].parent == path.parent]
    beside += [each for each in known if "standards" in each[0].parts]
    return beside[0] if beside else None


def _count_cases(trees: Mapping[Path, ast.Module]) -> Counter[str]:
    found: Counter[str] = Counter()
    for path, tree in trees.items():
        for node in ast.walk(tree) if path.name == "cases.py" else ():
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _CASES and node.args:
                if isinstance(node.args[0], ast.Constant):
                    found[str(node.args[0].value)] += _length(node)
    return found


def _count_tests(checkout: Path, names: set[str]) -> Counter[str]:
    found: Counter[str] = Counter()
    for path in (checkout / "tests" / "tools_app" / "protocols").rglob("*.py"):
        text = path.read_text()
        lines = text.splitlines()
        for node in ast.parse(text).body:
            if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
                end = node.end_lineno or node.lineno
                body = "\n".join(lines[end - _length(node) : end])
                for name in set(re.findall(r"\w+", body)) & names:
                    found[name] += _length(node)
    return found


def _count_snapshots(checkout: Path) -> Counter[str]:
    found: Counter[str] = Counter()
    for path in (checkout / "tests" / "snapshots" / "tools").glob("*.json"):
        text = path.read_text()
        whole = json.loads(text)
        if isinstance(whole, list):
            # How they were stored once: a list, with every word of a schema on a line of its own.
            for each in whole:
                found[each["tool"]] += len(json.dumps(each, indent=1).splitlines())
            continue
        name = ""
        for line in text.splitlines():
            opened = _OPENS_A_SNAPSHOT.match(line)
            name = opened[1] if opened else name
            found[name] += 1
    return found


if __name__ == "__main__":
    counted = count_tools(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parents[2])
    for each in KINDS:
        print(each, sum_medians(counted, each))  # noqa: T201
