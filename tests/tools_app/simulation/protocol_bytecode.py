"""Creation code of more protocols: out of pinned npm packages, or compiled from their sources."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from pathlib import Path

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
    found |= {name: compiled[name].code for name in ("Morpho", "OracleMock", "IrmMock")}
    return found
