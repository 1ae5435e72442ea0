"""`manage.py client_packages`: builds what pip and npm install of the clients, from copies of their sources."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from argparse import ArgumentParser
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from django.core.management.base import BaseCommand, CommandError

from golem_project.embedded.errors import EmbeddedError
from golem_project.embedded.npm import npm_command, npm_environment
from golem_project.embedded.npm_tree import install_tree
from golem_project.settings.environment import BASE_DIR

CLIENTS: Final = BASE_DIR / "clients"
FOLDER: Final = BASE_DIR / "var" / "packages"
_NPM: Final = ("typescript", "pi")
_LEFT_OUT: Final = shutil.ignore_patterns("node_modules", "dist", "build", "*.egg-info", "__pycache__")
_SECONDS: Final = 300


class Command(BaseCommand):
    """Builds a wheel, a source archive and two npm packages, each with its version, its README and its types."""

    help = "Build the clients' packages for pip and npm into var/packages, or the folder that is named."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("folder", nargs="?", default=str(FOLDER), help="where they are put")

    def handle(self, *args: object, **options: Any) -> None:  # Any: each option has a type of its own
        folder = Path(options["folder"]).resolve()
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix="golem-packages-") as scratch:
            try:
                self._build(Path(scratch), folder)
            except EmbeddedError as error:
                raise CommandError(str(error)) from None
        for path in sorted(folder.iterdir()):
            self.stdout.write(f"built {path.name}")

    def _build(self, scratch: Path, folder: Path) -> None:
        # From copies: both builders write beside their sources.
        source = Path(shutil.copytree(CLIENTS / "python", scratch / "python", ignore=_LEFT_OUT))
        _run(
            [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(folder), str(source)], source, os.environ
        )
        for name in _NPM:
            source = Path(shutil.copytree(CLIENTS / name, scratch / name, ignore=_LEFT_OUT))
            (source / "node_modules").symlink_to(install_tree(CLIENTS / name))
            argv = [*npm_command(), "pack", "--loglevel=error", "--pack-destination", str(folder)]
            _run(argv, source, npm_environment(os.environ))


def _run(argv: Sequence[str], folder: Path, environment: Mapping[str, str]) -> None:
    ran = subprocess.run(  # noqa: S603 (builders of ours over sources of ours)
        argv, cwd=folder, env=dict(environment), capture_output=True, text=True, timeout=_SECONDS, check=False
    )
    if ran.returncode != 0:
        raise EmbeddedError(f"{folder.name} was not built: {(ran.stderr or ran.stdout).strip()[-400:]}")
