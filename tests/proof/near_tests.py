"""Which test files lie near a mutant: those that are asked about it first."""

from __future__ import annotations

import ast
import re
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from functools import cache
from math import log
from pathlib import Path
from typing import Final

from golem_project.embedded.paths import CHECKOUT
from tests.proof.drawn_record import WORD
from tests.proof.mutants import Mutant

APPS: Final = ("archetypes_app", "golem_project", "memory_app", "permits_app", "tools_app")
# Browsers, toolchains and what the proofs prove themselves take longer than a mutant may.
_NOT_ASKED: Final = (
    *("tests/browser/", "tests/golem_project/proof/"),
    "tests/tools_app/sandbox/test_toolchains.py",
)
# They meet much of the product and take long for each part of it.
_WIDE: Final = ("tests/clients/", "tests/concurrency/", "tests/contracts/", "tests/architecture/", "tests/adversary/")
# A word that more test files hold leads to none of them.
_MOST_HOLD: Final = 15
# What compares a whole kind of tables with what is written down: fields with migrations, errors and tools with theirs.
_MIGRATIONS: Final = "tests/architecture/test_migrations.py"
_ERRORS: Final = "tests/architecture/test_errors.py"
_TOOLS: Final = "tests/golem_project/pi/test_versions.py"
_SERIALIZED: Final = (_TOOLS, "tests/golem_project/pi/test_edges_of_schemas.py")
_SAYS: Final = "tests/admin/test_what_pages_say.py"
_OTHERS_SAY: Final = "tests/admin/test_what_other_pages_say.py"
_PAGES: Final = ("tests/admin/test_what_pages_show.py", "tests/admin/test_what_lists_say.py", _SAYS)
_FORMS: Final = ("tests/admin/test_what_pages_show.py", "tests/admin/test_form_edges.py")
_ROWS: Final = (_MIGRATIONS, "tests/golem_project/test_edges_of_rows.py")
# Where a number is written down with the test that stands on its edge.
_THRESHOLDS: Final = CHECKOUT / "tests/architecture/thresholds.toml"
# Rooms whose tests lie in a folder of another name.
_TESTED_IN: Final = {
    "approval_pages": "tests/permits_app/approvals",
    "cage_set_up": "tests/golem_project",
    "world": "tests/golem_project/world",
}
# What pages are made of.
_OF_PAGES: Final = {"admin", "approval_pages", "owner_pages", "pages", "wording"}
# The HTTP status of an error is said beside its class, wherever that lies.
_STATUS: Final = re.compile(r"module: [45]\d\d -> \d")
# Every case of a protocol, asked of a real chain: a word narrows it to the cases of one.
_CASES: Final = "tests/catalogue/test_cases.py"
_CASES_AFTER: Final = 2
# Every read of a folder, likewise; those of the golem's own are kept with its tools.
_READS: Final = "tests/catalogue/test_reads.py"
_READS_OF_THE_GOLEM: Final = "permits_app.tools"
_STANDARDS: Final = "tools_app.standards."
_MOST_BETWEEN: Final = 3
_SAYS_READS: Final = re.compile(r"^READS\b", re.MULTILINE)
_WORLDS: Final = CHECKOUT / "golem_project/embedded/world/protocols"
_SHELF: Final = CHECKOUT / "tools_app/protocols"
_FIRST_CASE: Final = re.compile(r"\bCase\(\s*\"([a-z0-9]+_)")


@cache
def _read_tests() -> Mapping[str, str]:
    return {
        name: path.read_text(encoding="utf-8")
        for path in sorted((CHECKOUT / "tests").rglob("test_*.py"))
        if not (name := str(path.relative_to(CHECKOUT))).startswith(_NOT_ASKED)
    }


def list_quick() -> list[str]:
    """The files whose quick tests are asked of every mutant they reach; those that read sources run little of it."""
    return [name for name in _read_tests() if not name.startswith("tests/architecture/")]


@cache
def read_product() -> Mapping[str, str]:
    """Module -> its source."""
    return {
        ".".join(path.relative_to(CHECKOUT).with_suffix("").parts): path.read_text(encoding="utf-8")
        for app in APPS
        for path in sorted((CHECKOUT / app).rglob("*.py"))
    }


@cache
def list_users() -> Mapping[str, set[str]]:
    """Module or name in it -> what imports it: modules of the product by name, test files by path."""
    users: dict[str, set[str]] = defaultdict(set)
    for name, source in {**_read_tests(), **read_product()}.items():
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
        edge = {user for each in edge for user in list_users().get(each, ())} - far.keys()
        far |= dict.fromkeys(edge, distance)

    likeness = _compare_words(module_name, mutant)

    def rank(name: str) -> tuple[float, str]:
        stem, source = Path(name).stem, _read_tests()[name]
        if stem == f"test_{leaf}":
            return (0, name)
        is_beside = name.startswith(f"{folder}/")
        like = likeness[name]
        late = 3 * name.startswith(_WIDE)
        if (place and place in source) or far.get(name) == 0:
            return (2 + late - like, name)
        if is_beside or leaf in stem:
            return (3 + late - like, name)
        is_in_wider = name.startswith(f"{folder.rpartition('/')[0]}/")
        return (4 + far.get(name, 4) + (not is_in_wider) + late - like, name)

    near = sorted(_read_tests().keys() - {_CASES, _READS}, key=rank)
    if told := _find_reads(module_name):
        near[_CASES_AFTER:_CASES_AFTER] = [f"{_READS}{WORD}{told}]"]
    if _OF_PAGES & set(module_name.split(".")) or (".models." in module_name and "__str__" in mutant.place):
        near[_CASES_AFTER:_CASES_AFTER] = [_SAYS, _OTHERS_SAY]
    if word := _find_cases(module_name):
        function = mutant.place.partition(".")[0]
        narrowed = dict.fromkeys((function if function.startswith(word) else word, word))
        near[_CASES_AFTER:_CASES_AFTER] = [f"{_CASES}{WORD}{each}" for each in narrowed]
    comparing = () if mutant.is_woven else _list_comparing(module_name, mutant)
    return list(dict.fromkeys((*comparing, *near)))


def _compare_words(module: str, mutant: Mutant) -> Mapping[str, float]:
    """How much each test file is about the same things, from 0 to 2 for the one that is most: by the words of the
    mutant's function and of its module, those that few test files hold before others.
    """
    own = _split_words("\n".join(_list_lines(module, mutant)))
    words = {word: 3.0 if word in own else 1.0 for word in _split_words(read_product()[module])}
    rare = {word: weight * _weigh_words()[word] for word, weight in words.items() if word in _weigh_words()}
    found = {
        name: sum(rare[word] for word in held & rare.keys()) / len(held) ** 0.5
        for name, held in _words_of_tests().items()
    }
    most = max(found.values(), default=0) or 1
    return {name: 2 * each / most for name, each in found.items()}


def _list_lines(module: str, mutant: Mutant) -> list[str]:
    """The lines of the outermost function, class or constant that the mutant lies in."""
    source = read_product()[module]
    for statement in ast.parse(source).body:
        first = min([statement.lineno, *(each.lineno for each in getattr(statement, "decorator_list", ()))])
        if first <= mutant.line <= (statement.end_lineno or first):
            return source.splitlines()[first - 1 : statement.end_lineno]
    return []


def _split_words(source: str) -> set[str]:
    """Names as they stand, and the words that they and the texts are made of."""
    names = set(re.findall(r"[A-Za-z_][A-Za-z_0-9]{3,}", source))
    return names | {part.lower() for name in names for part in re.findall(r"[A-Z]?[a-z0-9]{3,}", name)}


@cache
def _words_of_tests() -> Mapping[str, set[str]]:
    return {name: _split_words(source) | _split_words(name) for name, source in _read_tests().items()}


@cache
def _weigh_words() -> Mapping[str, float]:
    """Word -> how much it says: the fewer test files hold it, the more."""
    held = Counter(word for words in _words_of_tests().values() for word in words)
    return {word: log(len(_words_of_tests()) / count) for word, count in held.items()}


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
    """The tests that compare tables of this one's kind."""
    parts = module_name.split(".")
    bases = _name_bases(module_name, mutant)
    if "models" in parts:
        yield from _ROWS
    if parts[-1].endswith("errors") or _STATUS.match(mutant.name):
        yield _ERRORS
    if "tools" in parts or parts[-1].endswith("tools"):
        yield _TOOLS
    if bases.endswith("Admin") or ("admin" in parts and "Form" not in bases):
        yield from _PAGES
    elif "Form" in bases:
        yield from _FORMS
    elif "Serializer" in bases or "StrictInput" in bases:
        yield from _SERIALIZED


def _name_bases(module: str, mutant: Mutant) -> str:
    """The last word of what the class it lies in is made of, nothing outside of classes."""
    outermost = mutant.place.partition(".")[0]
    for statement in ast.parse(read_product()[module]).body:
        if isinstance(statement, ast.ClassDef) and statement.name == outermost and statement.bases:
            return ast.unparse(statement.bases[-1]).partition("[")[0]
    return ""


@cache
def list_edges() -> Mapping[str, str]:
    """Constant with its module -> the test at its edge, as the table of thresholds names it."""
    tests = tomllib.loads(_THRESHOLDS.read_text(encoding="utf-8"))["tests"]
    return {constant: f"tests/{test}" for constant, test in tests.items()}


@cache
def _find_cases(module: str) -> str:
    """How the names of the cases of its protocol or subsystem begin, nothing where it has none."""
    folder = _find_folder_with_cases(module)
    found = _FIRST_CASE.search((folder / "cases.py").read_text(encoding="utf-8")) if folder else None
    return found[1] if found else ""


@cache
def _find_reads(module: str) -> str:
    """The folder whose reads a module serves, nothing where no case asks any."""
    if module.startswith(f"{_READS_OF_THE_GOLEM}."):
        return "golem"
    folder = _find_folder_with_cases(module)
    return folder.name if folder and _SAYS_READS.search((folder / "cases.py").read_text(encoding="utf-8")) else ""


@cache
def _find_folder_with_cases(module: str) -> Path | None:
    """Of a protocol's or subsystem's module its own folder; of what stands for one on the local chain that protocol's;
    of a standard the folder of whoever uses it: that of its name, or which does most.
    """
    folder = CHECKOUT.joinpath(*module.split(".")).parent
    if folder == _WORLDS:
        leaf = module.rpartition(".")[2]
        beside = [each for each in _SHELF.iterdir() if each.name.startswith(leaf) or leaf.startswith(each.name)]
        return next((each for each in sorted(beside) if (each / "cases.py").exists()), None)
    while folder != CHECKOUT:
        if (folder / "cases.py").exists():
            return folder
        folder = folder.parent
    return _find_user_with_cases(module) if module.startswith(_STANDARDS) else None


def _find_user_with_cases(module: str) -> Path | None:
    own, edge, seen = set(re.split(r"[._]", module)), {module}, {module}
    for _ in range(_MOST_BETWEEN):
        edge = {user for each in edge for user in list_users().get(each, ()) if "/" not in user} - seen
        seen |= edge
        folders = Counter(CHECKOUT.joinpath(*each.split(".")[:3]) for each in edge)
        fit = [folder for folder in folders if (folder / "cases.py").exists()]
        if fit:
            return min(fit, key=lambda each: (not own & set(each.name.split("_")), -folders[each], each.name))
    return None
