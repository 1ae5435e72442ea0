"""Which tests of the families a changed file makes run whole.

A test file runs whole where it changed; where a module changed that it imports, or one of the helpers of the tests that
it imports at any distance, or a `conftest.py` above it; where a file beside it changed that is no test; and where the
changed file lies in the room that its folder is called after. Tests of a protocol run whole where that one changed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path, PurePosixPath
from typing import Final

from tests.drawing.draw import Whole
from tests.drawing.families import FAMILIES, find_family

EVERYTHING: Final = ("requirements.txt", "constraints.txt", "packages.lock", "pyproject.toml", "tests/conftest.py")
"""What every test depends on; with the plugins of the suite."""
_PROTOCOL: Final = re.compile(r"^(?:tools_app/protocols|golem_project/embedded/world/protocols)/([a-z0-9_]+)")
_TESTED_PROTOCOL: Final = re.compile(r"^tests/tools_app/protocols/([a-z0-9_]+)/")
_IMPORT: Final = re.compile(
    r"^[ \t]*(?:from[ \t]+([\w.]+)[ \t]+import[ \t]+(\([^)]*\)|[^\n]*)|import[ \t]+([\w., \t]+))", re.MULTILINE
)
_PLUGIN: Final = re.compile(r'^    "(tests\.[\w.]+)",$', re.MULTILINE)
_ONE_OF_MANY: Final = "mark.one_of_many"
_WORD_OF_A_PAGE: Final = 4
_PAGES: Final = ("templates/", "golem_project/", "permits_app/", "archetypes_app/", "memory_app/")


class Reach:
    """The tests of a checkout and what they import."""

    def __init__(self, checkout: Path) -> None:
        self.checkout = checkout
        self.tests = [
            path for path in _list_tests(checkout) if find_family(path) is not None or self._has_examples(path)
        ]
        self.imports = cache(self._imports)

    def find(self, changed: Iterable[str], *, unchanged_inputs: frozenset[str] = frozenset()) -> Whole:
        """What runs whole because these files changed."""
        files = sorted(set(changed))
        plugins = self._plugins
        everything = next((path for path in files if path in EVERYTHING or path in plugins or _is_of_draw(path)), "")
        families = {
            family.name: path
            for family in FAMILIES
            for path in files
            if path.startswith((*family.whole_when, *family.inputs))
        }
        kinds = frozenset(found[1] for path in files if (found := _PROTOCOL.match(path)))
        paths = frozenset(test for test in self.tests if any(self._is_near(test, path) for path in files))
        return Whole(everything, families, paths, kinds, unchanged_inputs)

    def _has_examples(self, test: str) -> bool:
        return _ONE_OF_MANY in (self.checkout / test).read_text(encoding="utf-8")

    def _is_near(self, test: str, changed: str) -> bool:
        if test == changed:
            return True
        if changed.startswith("tests/"):
            return self._is_helper(test, changed)
        return _is_mirrored(test, changed) or _is_page_of(test, changed) or self._imports_product(test, changed)

    def _is_helper(self, test: str, changed: str) -> bool:
        folder, file = str(PurePosixPath(changed).parent), PurePosixPath(changed).name
        is_above = test.startswith(f"{folder}/")
        if file == "conftest.py" or not file.endswith(".py"):
            return is_above
        return not file.startswith("test_") and changed in self._helpers(test)

    @cache  # noqa: B019 (one for a run)
    def _helpers(self, test: str) -> frozenset[str]:
        """The files of the tests that this one imports, at any distance, with their `conftest.py`."""
        above = [str(folder / "conftest.py") for folder in PurePosixPath(test).parents if folder.name]
        found: set[str] = set()
        waiting = [test, *above]
        while waiting:
            for name in self.imports(waiting.pop()):
                if name.startswith("tests."):
                    for path in (f"{name.replace('.', '/')}.py", f"{name.replace('.', '/')}/__init__.py"):
                        if path not in found and (self.checkout / path).exists():
                            found.add(path)
                            waiting.append(path)
        return frozenset(found)

    def _imports_product(self, test: str, changed: str) -> bool:
        if not changed.endswith(".py"):
            return False
        module = changed.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
        return module in self._modules(test)

    @cache  # noqa: B019 (one for a run)
    def _modules(self, test: str) -> frozenset[str]:
        """The modules of the product that a test names in its imports; of a package that hands on names, all in it."""
        found = set(self.imports(test))
        for name in list(found):
            package, _, last = name.rpartition(".")
            folder = self.checkout.joinpath(*package.split(".")) if package else self.checkout
            is_handed_on = folder.joinpath("__init__.py").exists() and not (
                folder.joinpath(f"{last}.py").exists() or folder.joinpath(last).is_dir()
            )
            if package and is_handed_on:
                found |= {f"{package}.{path.stem}" for path in folder.glob("*.py")} | {package}
        return frozenset(found)

    def _imports(self, path: str) -> frozenset[str]:
        """What a file imports: modules, and names in them."""
        file = self.checkout / path
        if not file.exists():
            return frozenset()
        found: set[str] = set()
        for origin, names, modules in _IMPORT.findall(file.read_text(encoding="utf-8")):
            if origin:
                listed = re.sub(r"#[^\n]*", "", names).strip("() \n").replace("\n", " ").split(",")
                found.add(origin)
                found |= {f"{origin}.{each.split(' as ')[0].strip()}" for each in listed if each.strip()}
            found |= {each.split(" as ")[0].strip() for each in modules.split(",") if each.strip()}
        return frozenset(found)

    @property
    def _plugins(self) -> set[str]:
        """The suite's plugins, whose fixtures any test may name."""
        conftest = self.checkout / "tests" / "conftest.py"
        text = conftest.read_text(encoding="utf-8") if conftest.exists() else ""
        named = {name.replace(".", "/") + ".py" for name in _PLUGIN.findall(text)}
        return named | {"tests/services.py"}


def _is_of_draw(changed: str) -> bool:
    """Whether the draw itself changed: what it leaves out may be another."""
    return changed.startswith("tests/drawing/")


def _is_mirrored(test: str, changed: str) -> bool:
    """Whether a test lies in the folder that the changed file's folder is mirrored by: the app alone is too wide."""
    folder = str(PurePosixPath(changed).parent)
    protocol, tested = _PROTOCOL.match(changed), _TESTED_PROTOCOL.match(test)
    if protocol and tested and (protocol[1].startswith(tested[1]) or tested[1].startswith(protocol[1])):
        return True
    return folder.count("/") > 0 and test.startswith(f"tests/{folder}/")


def _is_page_of(test: str, changed: str) -> bool:
    """Whether a browser test is called after the room, the page or the template that changed."""
    if not test.startswith("tests/browser/") or not changed.startswith(_PAGES):
        return False
    words = _split(PurePosixPath(test).stem.removeprefix("test_"))
    return bool(words & _split("/".join(PurePosixPath(changed).with_suffix("").parts[1:])))


def _split(text: str) -> set[str]:
    """The words of a name without their plural."""
    return {word.removesuffix("s") for word in re.findall(r"[a-z0-9]+", text) if len(word) >= _WORD_OF_A_PAGE} - {
        "page",
        "view",
        "admin",
        "form",
        "test",
        "with",
        "that",
    }


def _list_tests(checkout: Path) -> Mapping[str, None]:
    return dict.fromkeys(
        path.relative_to(checkout).as_posix() for path in sorted((checkout / "tests").rglob("test_*.py"))
    )
