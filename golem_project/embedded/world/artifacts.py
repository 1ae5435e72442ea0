"""Creation code of the real protocol contracts, read from the fetched packages; none of it is in the repository."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from golem_project.embedded.errors import EmbeddedError
from golem_project.embedded.npm import Say, fetch_packages, say_to_stderr
from golem_project.embedded.world.artifact import Artifact, read_artifact
from golem_project.embedded.world.saved_world import world_packages

MULTICALL3_CONSTANT = re.compile(r"multicall3Bytecode = '(0x[0-9a-f]+)'")


class Artifacts:
    """The fetched packages by their short names in `packages.json`."""

    def __init__(self, folders: dict[str, Path]) -> None:
        self._folders = folders

    @property
    def anvil(self) -> Path:
        """The node's binary."""
        return self._folders["anvil"] / "bin" / "anvil"

    def creation_code(self, package: str, file: str) -> bytes:
        """Bytecode of one artefact, of Truffle's or Hardhat's shape, fully linked."""
        return bytes.fromhex(self._find(package, file).code)

    def linked_code(self, package: str, file: str, libraries: dict[str, str]) -> bytes:
        """Bytecode of a Hardhat artefact with library addresses filled in."""
        return bytes.fromhex(self._find(package, file).link(libraries.__getitem__))

    def permit2_runtime(self) -> str:
        """Runtime code of Permit2 with an unset chain id: it computes its domain anew on every call."""
        return "0x" + self._find("permit2", "dist/src/permit2.json").code

    def multicall3_creation_code(self) -> str:
        """Creation code of Multicall3, 0x-prefixed."""
        text = (self._folders["multicall3"] / "_cjs/constants/contracts.js").read_text()
        match = MULTICALL3_CONSTANT.search(text)
        if match is None:
            raise EmbeddedError("No Multicall3 in the fetched viem. Fix: correct `multicall3` in packages.json.")
        return match[1]

    def _find(self, package: str, file: str) -> Artifact:
        return read_artifact(self._read(package, file))

    def _read(self, package: str, file: str) -> dict[str, Any]:  # Any: JSON of whatever shape the package has
        artifact: dict[str, object] = json.loads((self._folders[package] / file).read_text())
        return artifact


def fetch_artifacts(*, say: Say = say_to_stderr) -> Artifacts:
    """Fetch what is missing. Raises EmbeddedError."""
    packages = world_packages()
    folders = fetch_packages(packages.values(), say=say)
    return Artifacts({key: folders[package.name] for key, package in packages.items()})
