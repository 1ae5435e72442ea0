"""The fetched packages of one protocol's part of the local world."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from golem_project.embedded.errors import EmbeddedError
from golem_project.embedded.npm import Package
from golem_project.embedded.world.artifact import Artifact, read_artifact


@dataclass(frozen=True)
class Fetched:
    """The fetched packages by their short names in the lock file."""

    packages: Mapping[str, Package]
    folders: Mapping[str, Path]

    def contract(self, package: str, file: str) -> Artifact:
        """The contract of an artefact. Raises EmbeddedError for a file that is none."""
        return read_artifact(self.artifact(package, file))

    def artifact(self, package: str, file: str) -> dict[str, Any]:  # Any: JSON of whatever shape the package has
        """A JSON file of a package."""
        found: dict[str, object] = json.loads((self.folders[package] / file).read_text())
        return found

    def text(self, package: str, file: str) -> str:
        """A text file of a package."""
        return (self.folders[package] / file).read_text()

    def sources(self, package: str, *, under: str = "") -> dict[str, str]:
        """Every Solidity file that is kept of a package: `under` + its path -> its text."""
        kept = [name for name in self.packages[package].keep if name.endswith(".sol")]
        return {under + name: self.text(package, name) for name in kept}

    def find(self, package: str, contract: str) -> str:
        """The kept artefact of a contract. Raises EmbeddedError."""
        for name in self.packages[package].keep:
            if Path(name).stem == contract:
                return name
        raise EmbeddedError(f"No artefact of {contract} in {package}. Fix: add it to `keep` of the lock file.")
