"""The public door of a live golem and a running server, for clients that are no part of the product."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from golem_project.embedded.npm import npm_environment
from tests.architecture.sources import ROOT
from tests.catalogue.door import door as door
from tests.clients.lossy_line import LossyLine
from tests.clients.npm_package import copy_source, tree_or_skip
from tests.clients.pi_agent import command_of
from tests.golem_project.stream.conftest import web_port as web_port
from tests.how_to import read_block
from tests.once_for_all import one_at_a_time

FOLDER = ROOT / "clients" / "pi"
NEW, OLD = "@earendil-works/pi-coding-agent", "pi-for-node-20"
"""Names under which the tree of `clients/pi` holds the two versions of pi."""

_TOLD = "told.txt"


@dataclass
class Installed:
    """The package where the page puts it, the home that holds it, and what its commands said."""

    home: Path
    package: Path
    told: str


@pytest.fixture(scope="session")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Installed:
    """Built, packed, unpacked and told to pi by the page's own commands, word for word; away from its sources. Once for
    all workers of a run.
    """
    mine = tmp_path_factory.getbasetemp()
    home = (mine.parent if "PYTEST_XDIST_WORKER" in os.environ else mine) / "golem-pi-home"
    with one_at_a_time(home):
        if not (home / _TOLD).exists():
            (home / _TOLD).write_text(_install(home))
    return Installed(home, home / "golem-pi" / "package", (home / _TOLD).read_text())


def _install(home: Path) -> str:
    shutil.rmtree(home, ignore_errors=True)
    source = copy_source(FOLDER, home, has_modules=False)
    pi = home / "bin" / "pi"
    pi.parent.mkdir()
    pi.write_text(f'#!/bin/sh\nexec {" ".join(command_of(tree_or_skip(FOLDER), NEW))} "$@"\n')
    pi.chmod(0o755)
    environment = npm_environment({"HOME": str(home), "PATH": f"{pi.parent}:{os.environ['PATH']}", "PI_OFFLINE": "1"})
    ran = subprocess.run(
        ["sh", "-ec", "\n".join([read_block("use-pi.md", 0), read_block("use-pi.md", 1), "pi list"])],
        cwd=source,
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return ran.stdout


@pytest.fixture(scope="session")
def extension(installed: Installed) -> Path:
    """The folder of the package that every test here runs."""
    return installed.package


@pytest.fixture
def line(live_server: Any) -> Iterator[LossyLine]:
    """A line to the server of this test, which can be cut."""
    found = LossyLine((live_server.thread.host, live_server.thread.port))
    yield found
    found.close()
