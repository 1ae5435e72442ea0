"""Which test files lie near a mutant: those that are asked about it first."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Final

from golem_project.embedded.paths import CHECKOUT
from tests.proof.drawn_record import WORD
from tests.proof.mutants import Mutant

APPS: Final = ("archetypes_app", "golem_project", "memory_app", "permits_app", "tools_app")
# Browsers, toolchains and what the proofs prove themselves take longer than a mutant may.
_NOT_ASKED: Final = (
    *("tests/browser/", "tests/golem_project/proof/", "tests/contracts/"),
    "tests/tools_app/sandbox/test_toolchains.py",
)
# They meet much of the product and take long for each part of it.
_WIDE: Final = ("tests/clients/", "tests/concurrency/", "tests/architecture/", "tests/adversary/")
# A word that more test files hold leads to none of them.
_MOST_HOLD: Final = 15
# What compares a whole kind of tables with what is written down: fields with migrations, errors and tools with theirs.
_MIGRATIONS: Final = "tests/architecture/test_migrations.py"
_ERRORS: Final = "tests/architecture/test_errors.py"
_TOOLS: Final = "tests/golem_project/pi/test_versions.py"
# Rooms whose tests lie in a folder of another name.
_TESTED_IN: Final = {
    "approval_pages": "tests/permits_app/approvals",
    "cage_set_up": "tests/golem_project",
    "world": "tests/golem_project/world",
}
# Every case of a protocol, asked of a real chain: a word narrows it to the cases of one.
_CASES: Final = "tests/catalogue/test_cases.py"
_CASES_AFTER: Final = 2
_FIRST_CASE: Final = re.compile(r"\bCase\(\s*\"([a-z0-9]+_)")


@cache
def _read_tests() -> Mapping[str, str]:
    return {
        name: path.read_text(encoding="utf-8")
        for path in sorted((CHECKOUT / "tests").rglob("test_*.py"))
        if not (name := str(path.relative_to(CHECKOUT))).startswith(_NOT_ASKED)
    }


@cache
def _list_users() -> Mapping[str, set[str]]:
    """Module -> what imports it: modules of the product by name, test files by path."""
    users: dict[str, set[str]] = defaultdict(set)
    sources = dict(_read_tests())
    for app in APPS:
        for path in (CHECKOUT / app).rglob("*.py"):
            sources[".".join(path.relative_to(CHECKOUT).with_suffix("").parts)] = path.read_text(encoding="utf-8")
    for name, source in sources.items():
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.ImportFrom) and node.module:
                users[node.module].add(name)
                for each in node.names:
                    users[f"{node.module}.{each.name}"].add(name)
            elif isinstance(node, ast.Import):
                for each in node.names:
                    users[each.name].add(name)
    return users


def list_near(module_name: str, mutant: Mutant) -> list[str]:
    """Test files, the nearest first: named after the module, or by how many imports lie between, then by folder."""
    module = module_name.removesuffix(".__init__")
    package, _, leaf = module.rpartition(".")
    place = _name_place(mutant.place)
    folder = _find_folder(package)
    far: dict[str, int] = {}
    edge = {module}
    for distance in range(4):
        edge = {user for each in edge for user in _list_users().get(each, ())} - far.keys()
        far |= dict.fromkeys(edge, distance)

    def rank(name: str) -> tuple[int, str]:
        stem, source = Path(name).stem, _read_tests()[name]
        late = 3 * name.startswith(_WIDE)
        if stem == f"test_{leaf}":
            return (0, name)
        is_beside = name.startswith(f"{folder}/")
        if (place and place in source) or far.get(name) == 0:
            return (1 + late, name)
        if is_beside or leaf in stem:
            return (2 + late, name)
        is_in_wider = name.startswith(f"{folder.rpartition('/')[0]}/")
        return (3 + far.get(name, 4) + (not is_in_wider) + late, name)

    near = sorted(_read_tests().keys() - {_CASES}, key=rank)
    if word := _find_cases(module_name):
        function = mutant.place.partition(".")[0]
        narrowed = dict.fromkeys((function if function.startswith(word) else word, word))
        near[_CASES_AFTER:_CASES_AFTER] = [f"{_CASES}{WORD}{each}" for each in narrowed]
    return [*(() if mutant.is_woven else _list_comparing(module_name, mutant)), *near]


@cache
def _name_place(place: str) -> str:
    """The word of its place that leads to tests: of a method with a name of Python's own the class, and nothing where
    many tests hold that word.
    """
    words = [word for word in place.split(".") if not word.startswith("__")]
    is_telling = bool(words) and len(words[-1]) > 4
    return words[-1] if is_telling and sum(words[-1] in text for text in _read_tests().values()) <= _MOST_HOLD else ""


def _find_folder(package: str) -> str:
    """Where the tests of a package lie: under its name, that of a package around it, or where its pages are tested."""
    parts = package.split(".")
    if "admin" in parts:
        return "tests/admin"
    elsewhere = [_TESTED_IN[part] for part in parts if part in _TESTED_IN]
    while not elsewhere and len(parts) > 1 and not CHECKOUT.joinpath("tests", *parts).is_dir():
        parts.pop()
    return elsewhere[0] if elsewhere else "/".join(("tests", *parts))


def _list_comparing(module_name: str, mutant: Mutant) -> Iterator[str]:
    """The test that compares tables of this one's kind."""
    parts = module_name.split(".")
    if "models" in parts:
        yield _MIGRATIONS
    if parts[-1].endswith("errors") or "http_status" in mutant.name:
        yield _ERRORS
    if "tools" in parts or parts[-1].endswith("tools"):
        yield _TOOLS


@cache
def _find_cases(module: str) -> str:
    """How the names of the cases of its protocol or subsystem begin, nothing where it has none."""
    folder = CHECKOUT.joinpath(*module.split(".")).parent
    while folder != CHECKOUT:
        if (folder / "cases.py").exists():
            found = _FIRST_CASE.search((folder / "cases.py").read_text(encoding="utf-8"))
            return found[1] if found else ""
        folder = folder.parent
    return ""
