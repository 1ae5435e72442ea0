"""How much is written for one tool of the shelf: lines of its declaration and function, and of its whole folder."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Final

from tests.bench.figures import Figure, measure
from tools_app.toolkit.registry import REGISTRY
from tools_app.toolkit.tooldef import ReadTool, ToolDef

ROOT: Final = Path(__file__).parents[2]
HOME: Final = ROOT / "tools_app" / "protocols"
_OF_EVERY_TOOL: Final = {
    "reports": "functions that tell what a write came to",
    "hashes": "fields of reports that hold a transaction's hash",
    "chains": "parameters that choose a chain",
}


@measure("text")
def measure_text() -> Iterator[Figure]:
    """Lines a tool, by kind and by folder, and what is written again and again."""
    tools = list_tools()
    for kind, chosen in (
        ("read", [tool for tool in tools if isinstance(tool, ReadTool)]),
        ("write", [tool for tool in tools if not isinstance(tool, ReadTool)]),
    ):
        lines = [count_lines(tool) for tool in chosen]
        what = f"lines of a {kind}'s declaration and function, median of {len(lines)}"
        yield Figure(f"text.{kind}", what, median(lines), "lines")
    of_folder = Counter(folder_of(tool) for tool in tools)
    for folder, count in sorted(of_folder.items()):
        whole = sum(len(path.read_text().splitlines()) for path in (HOME / folder).rglob("*.py"))
        yield Figure(f"text.folder.{folder}", f"lines of the folder a tool, of {count}", whole // count, "lines")
    repeated = count_repeated()
    for name, what in _OF_EVERY_TOOL.items():
        yield Figure(f"text.{name}", what, repeated[name], "")


def list_tools() -> list[ToolDef]:
    """The tools of protocols."""
    return [tool for tool in REGISTRY if tool.handler.__module__.startswith("tools_app.protocols.")]


def folder_of(tool: ToolDef) -> str:
    """The folder in which a tool is written."""
    return str(tool.handler.__module__.split(".")[2])


def count_lines(tool: ToolDef) -> int:
    """Lines from a tool's first decorator to the end of its function."""
    path, _, _ = tool.source.rpartition(":")
    for node in ast.parse(Path(path).read_text()).body:
        if isinstance(node, ast.FunctionDef) and node.name == tool.name:
            first = min([node.lineno, *(each.lineno for each in node.decorator_list)])
            return (node.end_lineno or node.lineno) - first + 1
    raise LookupError(f"{tool.name} is not written in {path}")


def count_repeated() -> Counter[str]:
    """What is written for every tool anew, over all folders and what they share."""
    found: Counter[str] = Counter()
    for path in (
        *HOME.rglob("*.py"),
        *(HOME.parent / "standards").rglob("*.py"),
        *(HOME.parent / "subsystems").rglob("*.py"),
    ):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef):
                found["reports"] += node.name.startswith(("report", "_report"))
                found["chains"] += any(each.arg == "chain_id" and _is_choice(each) for each in node.args.args)
            if isinstance(node, ast.ClassDef):
                found["hashes"] += any(
                    isinstance(each, ast.AnnAssign)
                    and isinstance(each.target, ast.Name)
                    and each.target.id == "tx_hash"
                    for each in node.body
                )
    return found


def _is_choice(argument: ast.arg) -> bool:
    return argument.annotation is not None and "ChainId" in ast.unparse(argument.annotation)
