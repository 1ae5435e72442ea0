"""The sources of a drawn mutant that a process of its own runs, and all processes that it starts."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Final

from golem_project.embedded.paths import CHECKOUT
from tests.proof.mutants import Mutant
from tests.proof.near_tests import read_product

# What builds the local world, and what keeps it.
_WORLD: Final = "golem_project.embedded.world."
_SAVED_WORLD: Final = f"{_WORLD}saved_world"
# Read by every interpreter that starts with its folder on the path, so that servers and workers which tests start are
# the mutant's too: a finder that answers names of modules with other code, in the place of their own.
_FINDER: Final = """
import importlib.abc, importlib.machinery, importlib.util, json, os, sys

class Loader(importlib.machinery.SourceFileLoader):
    def get_code(self, name):
        with open(FILES[name][0], "rb") as other:
            return compile(other.read(), self.path, "exec", dont_inherit=True)

class Finder(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name not in FILES:
            return None
        own = FILES[name][1]
        return importlib.util.spec_from_file_location(name, own, loader=Loader(name, own))

FILES = json.loads(os.environ["MUTANT_FILES"])
sys.meta_path.insert(0, Finder())
"""


def source_of(module: str) -> Path:
    """The file of a module."""
    return CHECKOUT / (module.replace(".", "/") + ".py")


def write_sources(module: str, mutant: Mutant, folder: Path) -> dict[str, str]:
    """What to set in the environment of an interpreter, so that it and all it starts run the mutant: `folder` then
    holds the sources. What builds the local world builds one of its own there, for the saved one is from before.
    """
    sources = {module: mutant.source}
    if module.startswith(_WORLD):
        saved = sources.get(_SAVED_WORLD, read_product()[_SAVED_WORLD])
        place = re.compile(r"^WORLD_DIR = .*$", re.MULTILINE)
        assert place.search(saved), "the saved world lies elsewhere"
        sources[_SAVED_WORLD] = place.sub(f"WORLD_DIR = Path({str(folder / 'world')!r})", saved)
    files = {}
    for name, source in sources.items():
        file = folder / f"{name}.py"
        file.write_text(source, encoding="utf-8")
        files[name.removesuffix(".__init__")] = (str(file), str(source_of(name)))
    (folder / "sitecustomize.py").write_text(_FINDER, encoding="utf-8")
    return {"MUTANT_FILES": json.dumps(files), "PYTHONPATH": str(folder)}
