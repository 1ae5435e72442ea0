"""What the documents name exists: links, tests, commands, paths.

Variables are the matter of `tests/golem_project/embedded/test_env_example.py`.
"""

from __future__ import annotations

import ast
import re
import textwrap
from importlib import import_module

from tests.architecture.badges import list_files
from tests.architecture.sources import PACKAGES, ROOT, list_tracked
from tests.batches import in_batches

DOCUMENTS = sorted(path for path in list_tracked() if path.endswith(".md") and not path.startswith("tests/"))
_PROGRAM = re.compile(r"^ *```python\n(.*?)^ *```", re.DOTALL | re.MULTILINE)
_LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)]*)?\)")


@in_batches("document", DOCUMENTS)
def test_every_relative_link_leads_somewhere(document: str) -> None:
    folder = (ROOT / document).parent
    links = [link for link in _LINK.findall((ROOT / document).read_text()) if "://" not in link]
    assert [link for link in links if not (folder / link).exists()] == []


@in_batches("document", DOCUMENTS)
def test_every_path_in_code_marks_exists(document: str) -> None:
    text = re.sub(r"```.*?```", "", (ROOT / document).read_text(), flags=re.DOTALL)
    roots = "|".join((*PACKAGES, "tests", "docs", "contracts", "templates"))
    named = re.findall(rf"`((?:{roots})/[\w./-]*)`", text)
    assert [path for path in named if not (ROOT / path).exists()] == []


@in_batches("document", DOCUMENTS)
def test_every_name_that_a_program_imports_exists(document: str) -> None:
    absent = []
    for program in _PROGRAM.findall((ROOT / document).read_text()):
        for node in ast.walk(ast.parse(textwrap.dedent(program))):
            if isinstance(node, ast.ImportFrom) and node.module and not _is_its_own(node.module, document):
                module = import_module(node.module)
                absent += [f"{node.module}.{each.name}" for each in node.names if not hasattr(module, each.name)]
    assert absent == []


def _is_its_own(module: str, document: str) -> bool:
    """Whether the document itself tells to write this module."""
    return f"`{module.rpartition('.')[2]}.py`" in (ROOT / document).read_text()


def test_code_cites_only_what_lies_in_the_repository() -> None:
    """A comment that points to a text nobody here can open explains nothing."""
    tracked = set(list_tracked())
    outside, absent = [], []
    for path in tracked:
        if path.endswith(".py") and path.split("/")[0] in PACKAGES:
            text = (ROOT / path).read_text()
            outside += [
                path for _ in re.findall(r"\bSeeds?: |\b[Dd]ecisions, \"|\bdecisions\.md\b|\bfacts [0-9A]", text)
            ]
            absent += [(path, each) for each in re.findall(r"\bdocs/(?!en/)[\w/.-]+\.md", text) if each not in tracked]
    assert (outside, absent) == ([], [])


def test_every_test_that_the_concurrency_page_names_exists() -> None:
    named = set(re.findall(r"`(test_\w+)`", (ROOT / "docs" / "concurrency.md").read_text()))
    defined = set()
    for path in list_tracked():
        if path.startswith("tests/") and path.endswith(".py"):
            defined |= set(re.findall(r"^\s*(?:async )?def (test_\w+)", (ROOT / path).read_text(), re.MULTILINE))
    assert named and named <= defined


def test_every_make_target_that_a_document_names_exists() -> None:
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    named = {
        target
        for document in DOCUMENTS
        for marked in re.findall(r"`([^`\n]+)`|^(make [a-z]+)", (ROOT / document).read_text(), re.MULTILINE)
        for target in re.findall(r"\bmake ([a-z]+)", " ".join(marked))
    }
    assert named and named <= targets


def test_the_newest_version_of_the_changelog_is_that_of_the_project_and_each_entry_is_a_line() -> None:
    version = re.search(r'^version = "([^"]+)"', (ROOT / "pyproject.toml").read_text(), re.MULTILINE)
    lines = (ROOT / "CHANGELOG.md").read_text().splitlines()
    heads = [line for line in lines if line.startswith("## ")]
    assert version and heads[0] == "## [Unreleased]" and heads[1].startswith(f"## [{version.group(1)}] - ")
    assert [head for head in heads[1:] if not re.fullmatch(r"## \[\d+\.\d+\.\d+\] - \d{4}-\d\d-\d\d", head)] == []
    kinds = {line for line in lines if line.startswith("### ")}
    assert kinds <= {f"### {kind}" for kind in ("Added", "Changed", "Deprecated", "Removed", "Fixed", "Security")}
    assert [
        line for line in lines[4:] if line and not (line.startswith(("## ", "### ", "- ")) and len(line) <= 160)
    ] == []


def test_the_badges_of_the_readme_tell_what_the_files_say() -> None:
    assert [path.name for path, text in list_files().items() if path.read_text(encoding="utf-8") != text] == []
    shown = set(re.findall(r"docs/images/(badge-\w+\.svg)", (ROOT / "README.md").read_text()))
    assert shown == {path.name for path in list_files()}
