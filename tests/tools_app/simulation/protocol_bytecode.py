"""Creation code of more protocols: out of pinned npm packages, or compiled from their sources."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from golem_project.embedded.errors import EmbeddedError
from golem_project.embedded.npm import Package, fetch_packages, load_lock
from golem_project.embedded.world.protocols import erc4626, morpho

LOCK = Path(__file__).with_name("packages.json")


def fetch_or_skip(packages: Iterable[Package]) -> dict[str, Path]:
    """Package -> folder; without a network the test is skipped, and on the build machine it fails."""
    try:
        return fetch_packages(packages)
    except EmbeddedError as error:
        if os.environ.get("CI"):
            raise
        pytest.skip(f"not run: {error}")


@pytest.fixture(scope="session")
def bytecode() -> dict[str, str]:
    """Contract name -> creation code."""
    packages = load_lock(LOCK)
    folders = fetch_or_skip(packages.values())
    found = {}
    for package in packages.values():
        for name in package.keep:
            if not name.endswith(".json"):
                continue
            artifact = json.loads((folders[package.name] / name).read_text())
            code = artifact["bytecode"]
            found[Path(name).stem] = code["object"] if isinstance(code, dict) else code
    for world in (erc4626.WORLD, morpho.WORLD):
        fetch_or_skip(load_lock(world.lock_file).values())
    found["Vault"] = erc4626.compile_vault(erc4626.WORLD.fetch())
    compiled = morpho.compile_contracts(morpho.WORLD.fetch())
    found |= {name: compiled[name]["bytecode"] for name in ("Morpho", "OracleMock", "IrmMock")}
    return found


class AaveLinker:
    """Deploys Aave V3's contracts with the libraries they call, each library once.

    `create` takes creation code in hex, the types and the values of the constructor, and gives the address.
    """

    def __init__(self, create: Callable[..., str]) -> None:
        package = load_lock(LOCK)["aave_v3"]
        folder = fetch_packages([package])[package.name]
        self._artifacts = {Path(name).stem: json.loads((folder / name).read_text()) for name in package.keep}
        self._create = create
        self._libraries: dict[str, str] = {}

    def deploy(self, name: str, types: str = "()", *values: Any) -> str:
        """The address of a new contract of the package."""
        artifact = self._artifacts[name]
        code = artifact["bytecode"][2:]
        for libraries in artifact["linkReferences"].values():
            for library, places in libraries.items():
                if library not in self._libraries:
                    self._libraries[library] = self.deploy(library)
                for place in places:
                    start = 2 * place["start"]
                    code = code[:start] + self._libraries[library][2:].lower() + code[start + 40 :]
        return self._create(code, types, *values)
