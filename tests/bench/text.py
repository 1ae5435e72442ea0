"""How much is written for one tool of the shelf, by what it is for and beside what it once was; and of its folder."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from tests.bench.figures import Figure, measure
from tests.bench.tool_lines import KINDS, PARTS, count_tools, sum_medians
from tools_app.toolkit.registry import REGISTRY
from tools_app.toolkit.tooldef import ToolDef

ROOT: Final = Path(__file__).parents[2]
HOME: Final = ROOT / "tools_app" / "protocols"
LINES_ONCE: Final = {"write": 229.0, "read": 143.0}
"""What the same count says of commit 7c025da, on which no read had a case."""
_OF_EVERY_TOOL: Final = {
    "reports": "functions that tell what a write came to",
    "hashes": "fields of reports that hold a transaction's hash",
    "chains": "parameters that choose a chain",
}


@measure("text")
def measure_text() -> Iterator[Figure]:
    """Lines a tool, by kind and by folder, and what is written again and again."""
    tools = list_tools()
    counted = count_tools(ROOT)
    for kind in KINDS:
        medians = sum_medians(counted, kind)
        for part, what in PARTS.items():
            yield Figure(f"text.{kind}.{part}", f"lines of a {kind}, median: {what}", medians[part], "lines")
        yield Figure(
            f"text.{kind}.all",
            f"the sum of these medians of {sum(each.kind == kind for each in counted)} tools",
            medians["all"],
            "lines",
            reference=f"half of what it was on 7c025da is {LINES_ONCE[kind] / 2:g};"
            f" without its cases it is {medians['all'] - medians['case']:g}",
        )
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
