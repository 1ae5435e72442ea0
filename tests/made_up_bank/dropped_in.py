"""A protocol that is on the shelf for one test: its folder found as every start finds protocols, gone afterwards."""

from __future__ import annotations

import importlib
import shutil
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import tools_app.protocols
from archetypes_app.toolset import resolve
from tools_app.toolkit.family import FAMILIES
from tools_app.toolkit.protocol import SHELF
from tools_app.toolkit.registry import REGISTRY


@contextmanager
def dropped_in(name: str, source: Path, files: Sequence[str], tmp_path: Path) -> Iterator[dict[str, Any]]:
    """The modules of the folder by their names. Its tools are registered once the block is entered."""
    package = f"tools_app.protocols.{name}"
    folder = tmp_path / "protocols"
    (folder / name).mkdir(parents=True)
    for each in files:
        shutil.copy(source / f"{each}.py", folder / name)
    known = len(FAMILIES)
    tools_app.protocols.__path__.append(str(folder))
    try:
        # As every start finds protocols: by their folders.
        tools_app.protocols.load_protocols()
        modules = {each: importlib.import_module(f"{package}.{each}") for each in files[1:]}
        _open_registry([tool for family in FAMILIES[known:] for tool in family.tools])
        yield modules
    finally:
        SHELF.remove(name)
        for tool in [tool for family in FAMILIES[known:] for tool in family.tools]:
            REGISTRY._tools.pop(tool.name, None)
        resolve.cache_clear()
        del FAMILIES[known:]
        tools_app.protocols.__path__.remove(str(folder))
        for each in [each for each in sys.modules if each == package or each.startswith(f"{package}.")]:
            del sys.modules[each]


def _open_registry(tools: list[Any]) -> None:
    REGISTRY._frozen = False
    try:
        REGISTRY.add_all(tools)
    finally:
        REGISTRY.freeze()
        # Toolsets are kept by process, and the protocol of another test was another one.
        resolve.cache_clear()
