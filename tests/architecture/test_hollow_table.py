"""docs/history/hollow.md names tests and files that exist."""

from __future__ import annotations

import ast
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "docs/history/hollow.md").read_text(encoding="utf-8")
ROWS = [line.strip("| ").split(" | ") for line in TEXT.splitlines() if re.match(r"\| \d", line)]
# How a test gets at the product: a page, a request, a preview, a commit, a tick, a task, a command, a start.
DOORS = re.compile(
    r"\b(Client|client|browser|agent|tiered|live_golem|shared_golem|live|adversary|think|\w+_task|tick|preview|commit"
    r"|call_command|subprocess|Popen|\w+\.(?:get|post)\()"
)
# What was taken out leaves nothing to go through.
WITHOUT_A_DOOR = {46}


def test_every_test_of_the_table_exists() -> None:
    sources = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("test_*.py"))
    named = [name for row in ROWS for name in re.findall(r"`(test_\w+)`", row[3])]
    assert len(named) >= len(ROWS) > 0
    assert [name for name in named if f"def {name}(" not in sources] == []


def test_every_file_of_the_table_exists() -> None:
    assert [row for row in ROWS if not re.fullmatch(r"`[^`]+`(, `[^`]+`)*", row[2])] == []
    named = [name for row in ROWS for name in re.findall(r"`([^`]+)`", row[2])]
    assert [name for name in named if not (ROOT / name).is_file()] == []


def test_every_line_of_the_audit_has_its_row_or_its_word_under_the_table() -> None:
    assert all(len(row) == 5 for row in ROWS)
    listed = {int(number) for row in ROWS for number in row[0].split(", ")}
    below = TEXT.rpartition("| --- |")[2].split("By decision", 1)[1].split("Of the audit of the tests", 1)[0]
    named = {int(number) for number in re.findall(r"(?<![\d`])(\d{2})(?!\d)", below)}
    assert listed <= set(range(1, 63))
    assert sorted(set(range(1, 63)) - listed - named) == []


def test_of_every_row_it_is_said_why_its_test_fails_on_the_audited_commit() -> None:
    assert [
        row for row in ROWS if not re.match(r"(no (name|file) `[\w.]+`|(read|run|run, as it stands): [\w`])", row[4])
    ] == []
    assert "not known" not in TEXT


def test_every_decision_that_is_named_exists() -> None:
    numbers = set(re.findall(r"\b(0\d{3})\b", TEXT))
    kept = {path.name[:4] for path in (ROOT / "docs/decisions").glob("*.md")}
    assert numbers and numbers <= kept


def _read_tests(named: set[str]) -> dict[str, str]:
    """Each of these tests by name: its text and that of the functions and fixtures of its file that it names."""
    found = {}
    for path in (ROOT / "tests").rglob("test_*.py"):
        source = path.read_text(encoding="utf-8")
        if named.isdisjoint(re.findall(r"^def (test_\w+)\(", source, re.MULTILINE)):
            continue
        functions = {
            node.name: ast.unparse(node) for node in ast.parse(source).body if isinstance(node, ast.FunctionDef)
        }
        for name, text in functions.items():
            if name.startswith("test_"):
                words = set(re.findall(r"\w+", text))
                found[name] = "\n".join((text, *(other for helper, other in functions.items() if helper in words)))
    return found


def test_every_line_has_a_test_that_goes_through_a_door() -> None:
    sources = _read_tests({name for row in ROWS for name in re.findall(r"`(test_\w+)`", row[3])})
    opens: dict[int, bool] = {}
    for row in ROWS:
        tests = re.findall(r"`(test_\w+)`", row[3])
        for number in map(int, row[0].split(", ")):
            opens[number] = opens.get(number, False) or any(DOORS.search(sources[name]) for name in tests)
    assert {number for number, is_open in opens.items() if not is_open} == WITHOUT_A_DOOR
