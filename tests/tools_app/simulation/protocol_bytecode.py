"""Creation code of more protocols: out of pinned npm packages, or compiled from their sources."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from golem_project.embedded.errors import EmbeddedError
from golem_project.embedded.npm import CACHE_DIR, Package, fetch_packages, load_lock
from golem_project.embedded.world import solidity

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
    found["Vault"] = compile_vault(folders["@openzeppelin/contracts"])
    compiled = compile_morpho(folders["@morpho-org/morpho-blue"])
    found |= {name: compiled[name] for name in ("Morpho", "OracleMock", "IrmMock")}
    return found


VAULT = """
// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;
import {ERC4626, IERC20, ERC20} from "@openzeppelin/contracts/token/ERC20/extensions/ERC4626.sol";
contract Vault is ERC4626 {
    constructor(IERC20 asset) ERC4626(asset) ERC20("Vault", "V") {}
}
"""


def compile_vault(folder: Path) -> str:
    """OpenZeppelin's ERC-4626 over an asset."""
    sources = {
        f"@openzeppelin/contracts/{path.relative_to(folder)}": path.read_text() for path in folder.rglob("*.sol")
    }
    package = load_lock(solidity.LOCK_FILE)["solc"]
    return compile_solidity(package, {"Vault.sol": VAULT, **sources}, solidity.SETTINGS)["Vault"]


def compile_morpho(folder: Path) -> dict[str, str]:
    """Morpho Blue with its own oracle and rate mocks, compiled as its authors do."""
    sources = {str(path.relative_to(folder)): path.read_text() for path in folder.rglob("*.sol")}
    settings = {"optimizer": {"enabled": True, "runs": 999_999}, "viaIR": True, "evmVersion": "paris"}
    return compile_solidity(load_lock(LOCK)["solc_0_8_19"], sources, settings)


def compile_solidity(package: Package, sources: dict[str, str], settings: dict[str, Any]) -> dict[str, str]:
    """Contract name -> creation code; kept under var/cache, because the intermediate language takes its time."""
    request = json.dumps(
        {
            "language": "Solidity",
            "sources": {name: {"content": text} for name, text in sources.items()},
            "settings": {**settings, "outputSelection": {"*": {"*": ["evm.bytecode.object"]}}},
        },
        sort_keys=True,
    )
    kept = CACHE_DIR.parent / "conformance" / f"{hashlib.sha256((package.spec + request).encode()).hexdigest()}.json"
    if not kept.exists():
        compiler = fetch_packages([package])[package.name] / "soljson.js"
        done = subprocess.run(
            [solidity.find_node(), "-e", solidity.COMPILE_SCRIPT, str(compiler)],
            input=request, capture_output=True, text=True, timeout=120, check=True,
        )  # fmt: skip
        answer = json.loads(done.stdout)
        assert "contracts" in answer, answer
        codes = {
            name: contract["evm"]["bytecode"]["object"]
            for contracts in answer["contracts"].values()
            for name, contract in contracts.items()
        }
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_text(json.dumps(codes))
    found: dict[str, str] = json.loads(kept.read_text())
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
