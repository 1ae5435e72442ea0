"""The clients' packages are built by one command, and what pip and npm install of them runs the swap loop."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from archetypes_app.models import ApiKey
from archetypes_app.tool_loadout import MOST_TOOLS
from golem_project.embedded.npm import find_node, npm_command, npm_environment
from permits_app.models import ActionPermit
from tests.architecture.sources import ROOT
from tests.catalogue.door import Door
from tests.clients.lossy_line import LossyLine
from tests.clients.npm_package import tree_or_skip
from tests.how_to import read_block

# Whichever test is first waits for the npm registry.
pytestmark = pytest.mark.timeout(600)

SWAP_LOOP = """
import { createGolemClient, waitForOutcome } from "golem-client";
const golem = createGolemClient(process.env.GOLEM_URL, process.env.GOLEM_TOKEN);
const body = { action_type: "swap", token_in: "USDC", token_out: "WETH", amount: "500000000" };
const permit = await golem.POST("/api/v1/pi/preview_action", { body });
const sent = await golem.POST("/api/v1/pi/commit_action", { body: { permit_id: permit.data.permit_id } });
console.log((await waitForOutcome(golem, sent.data.permit.permit_id)).status);
"""


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that the command filled."""
    for name in ("typescript", "pi"):
        tree_or_skip(ROOT / "clients" / name)
    folder = tmp_path_factory.mktemp("packages")
    call_command("client_packages", str(folder))
    return folder


@pytest.fixture
def line(live_server: Any, door: Door) -> Iterator[LossyLine]:
    """A line to the server; the golem's key is an ordinary one."""
    ApiKey.objects.filter(pk=door.agent.key.key.pk).update(most_tools=MOST_TOOLS, loaded_tools=[])
    found = LossyLine((live_server.thread.host, live_server.thread.port))
    yield found
    found.close()


def _find(folder: Path, pattern: str) -> Path:
    (found,) = (path for path in folder.iterdir() if re.fullmatch(pattern, path.name))
    return found


def test_each_package_has_its_version_its_readme_and_its_types(built: Path) -> None:
    names = sorted(path.name for path in built.iterdir())
    assert len(names) == 4, names
    with zipfile.ZipFile(_find(built, r"golem_client-[0-9.]+-py3-none-any\.whl")) as wheel:
        inside = wheel.namelist()
        (metadata,) = (name for name in inside if name.endswith(".dist-info/METADATA"))
        assert "golem_client/py.typed" in inside
        assert (ROOT / "clients/python/README.md").read_text() in wheel.read(metadata).decode()
    for name in (r"golem-client-[0-9.]+\.tgz", r"golem-pi-[0-9.]+\.tgz"):
        with tarfile.open(_find(built, name)) as archive:
            inside = archive.getnames()
        assert {"package/README.md", "package/dist/index.js", "package/package.json"} <= set(inside)
        assert not any(each.startswith("package/src") for each in inside)
    with tarfile.open(_find(built, r"golem-client-[0-9.]+\.tgz")) as archive:
        assert "package/dist/index.d.ts" in archive.getnames()


def test_what_pip_installs_of_the_built_file_swaps(built: Path, line: LossyLine, door: Door, tmp_path: Path) -> None:
    argv = [sys.executable, "-m", "pip", "install", "--no-deps", "--no-index", "--quiet", "--target", str(tmp_path)]
    subprocess.run([*argv, str(_find(built, r".*\.whl"))], check=True, timeout=90)
    environment = {"PYTHONPATH": str(tmp_path), "GOLEM_URL": line.url, "GOLEM_TOKEN": door.agent.key.token}
    program = [sys.executable, "-c", read_block("use-the-python-client.md", 1)]
    ran = subprocess.run(program, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=90)
    assert ran.stdout.splitlines()[-1:] == ["COMMITTED"], ran.stdout + ran.stderr
    assert ActionPermit.objects.get().status == "COMMITTED"


def test_what_npm_installs_of_the_built_file_swaps(built: Path, line: LossyLine, door: Door, tmp_path: Path) -> None:
    (tmp_path / "package.json").write_text('{"type": "module"}')
    told = npm_environment({"HOME": str(tmp_path), "PATH": os.environ["PATH"]})
    argv = [*npm_command(), "install", "--ignore-scripts", "--no-audit", str(_find(built, r"golem-client-.*\.tgz"))]
    ran = subprocess.run(argv, cwd=tmp_path, env=told, capture_output=True, text=True, timeout=170)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    (tmp_path / "swap.mjs").write_text(SWAP_LOOP)
    environment = {"GOLEM_URL": line.url, "GOLEM_TOKEN": door.agent.key.token}
    argv = [find_node(), "swap.mjs"]
    ran = subprocess.run(argv, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=90)
    assert ran.stdout.split() == ["COMMITTED"], ran.stdout + ran.stderr
    assert ActionPermit.objects.get().status == "COMMITTED"
