"""`.env.example` is the list of variables; a variable that is read and not listed is a surprise."""

from __future__ import annotations

import re

from golem_project.embedded.paths import CHECKOUT

PACKAGES = ("golem_project", "tools_app", "archetypes_app", "memory_app", "permits_app")
READ = re.compile(
    r"""(?:read_(?:text|flag|integer|secret|optional_secret|url)\(|environ(?:ment)?(?:\.get\(|\[))\s*"([A-Z][A-Z0-9_]+)\""""
)
# Not ours to explain: the shell's, Python's, of a library we switch off, or said by one process of ours to its child.
FOREIGN = {"PATH", "HOME", "HF_HUB_OFFLINE", "PYTHONPATH", "PYTHONHOME", "LD_LIBRARY_PATH", "ETH_HASH_BACKEND"}
FOREIGN |= {"MUTANT_MODULE", "MUTANT_FILE"}


def variables_read() -> set[str]:
    found = set()
    for package in PACKAGES:
        for path in (CHECKOUT / package).rglob("*.py"):
            found.update(READ.findall(path.read_text()))
    return found - FOREIGN


def variables_listed() -> list[str]:
    text = (CHECKOUT / ".env.example").read_text()
    return re.findall(r"^#?([A-Z][A-Z0-9_]+)=", text, re.MULTILINE)


def test_every_variable_that_is_read_is_listed_once() -> None:
    listed = variables_listed()
    assert len(listed) == len(set(listed))
    assert {"DATABASE_URL", "GOLEM_WEB_PORT", "PG_BIN_DIR"} <= variables_read()
    assert variables_read() - set(listed) == set()


def test_nothing_in_the_example_is_active() -> None:
    lines = (CHECKOUT / ".env.example").read_text().splitlines()
    assert [line for line in lines if line and not line.startswith("#")] == []
