"""The TypeScript client: compiled by the pinned compiler from what npm packs, and run against the live server."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from archetypes_app.models import ApiKey
from archetypes_app.tool_loadout import MOST_TOOLS
from golem_project.embedded.npm import find_node, npm_environment
from permits_app.models import ActionPermit, OutcomeRecord
from tests.architecture.sources import ROOT
from tests.catalogue.door import Door
from tests.clients.lossy_line import LossyLine
from tests.clients.npm_package import copy_source, tree_or_skip
from tests.how_to import read_block
from tests.permits_app.approvals.conftest import critical_swap as critical_swap

# Whichever test is first waits for the npm registry.
pytestmark = pytest.mark.timeout(600)

FOLDER = ROOT / "clients" / "typescript"
PAGE = ROOT / "docs" / "how-to" / "use-the-typescript-client.md"
OPTIONS = ["--target", "es2022", "--module", "nodenext", "--strict", "--types", "node", "--skipLibCheck"]


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Somebody's project that has the client by the page's own commands, and a compiler."""
    scratch = tmp_path_factory.mktemp("typescript")
    tree = tree_or_skip(FOLDER)
    folder = scratch / "project"
    folder.mkdir()
    (folder / "package.json").write_text('{"type": "module"}')
    told = {"HOME": str(scratch), "PATH": os.environ["PATH"], "MY_PROJECT": str(folder)}
    ran = subprocess.run(
        ["sh", "-ec", read_block("use-the-typescript-client.md", 0)],
        cwd=copy_source(FOLDER, scratch, has_modules=False),
        env=npm_environment(told),
        capture_output=True,
        text=True,
        timeout=170,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    modules = folder / "node_modules"
    assert (modules / "golem-client" / "dist" / "index.js").is_file() and (modules / "openapi-fetch").is_dir()
    for each in tree.iterdir():
        if not (modules / each.name).exists():
            (modules / each.name).symlink_to(each)
    return folder


@pytest.fixture
def line(live_server: Any, door: Door) -> Iterator[LossyLine]:
    """A line to the server; the golem's key is an ordinary one."""
    ApiKey.objects.filter(pk=door.agent.key.key.pk).update(most_tools=MOST_TOOLS, loaded_tools=[])
    found = LossyLine((live_server.thread.host, live_server.thread.port))
    yield found
    found.close()


def compile_program(project: Path, name: str, program: str) -> subprocess.CompletedProcess[str]:
    (project / f"{name}.ts").write_text(program)
    compiler = project / "node_modules" / "typescript" / "bin" / "tsc"
    argv = [find_node(), str(compiler), *OPTIONS, f"{name}.ts"]
    return subprocess.run(argv, cwd=project, capture_output=True, text=True, timeout=90)


def run_program(project: Path, name: str, program: str, line: LossyLine, door: Door) -> str:
    compiled = compile_program(project, name, program)
    assert compiled.returncode == 0, compiled.stdout
    environment = {"GOLEM_URL": line.url, "GOLEM_TOKEN": door.agent.key.token}
    argv = [find_node(), f"{name}.js"]
    ran = subprocess.run(argv, cwd=project, env=environment, capture_output=True, text=True, timeout=90)
    assert ran.returncode == 0, ran.stderr
    assert door.agent.key.token not in ran.stdout + ran.stderr
    return ran.stdout


def test_the_commands_and_the_program_of_the_page_go_from_the_manifest_to_the_outcome(
    project: Path, line: LossyLine, door: Door
) -> None:
    program = read_block("use-the-typescript-client.md", 1)
    printed = run_program(project, "page", program, line, door)
    assert printed.splitlines()[-1] == "COMMITTED"
    assert OutcomeRecord.objects.get(permit=ActionPermit.objects.get()).is_verified


def test_a_client_nobody_here_wrote_goes_from_the_manifest_over_the_owners_to_the_outcome(
    project: Path, line: LossyLine, door: Door, critical_swap: None
) -> None:
    asked = """
import createClient from "openapi-fetch";
const headers = { Authorization: `Bearer ${process.env.GOLEM_TOKEN}` };
const golem = createClient<any>({ baseUrl: process.env.GOLEM_URL!, headers });
const manifest = await golem.GET("/api/v1/pi/manifest", {});
const swap = { action_type: "swap", token_in: "USDC", token_out: "WETH", amount: "500000000" };
const permit = await golem.POST("/api/v1/pi/preview_action", { body: swap });
const early = await golem.POST("/api/v1/pi/commit_action", { body: { permit_id: permit.data.permit_id } });
console.log(JSON.stringify([manifest.data.tools.length, permit.data, early.error.code]));
"""
    told = run_program(project, "asked", asked, line, door)
    count, permit, early = json.loads(told)
    assert (count, permit["status"], early) == (8, "AWAITING_APPROVAL", "PERMIT_NOT_COMMITTABLE")
    door.commit({**permit, "http": 200})
    looked = f"""
import createClient from "openapi-fetch";
const headers = {{ Authorization: `Bearer ${{process.env.GOLEM_TOKEN}}` }};
const golem = createClient<any>({{ baseUrl: process.env.GOLEM_URL!, headers }});
const permit = await golem.GET("/api/v1/pi/permits/{permit["permit_id"]}", {{}});
console.log(permit.data.status, permit.data.transactions.length > 0);
"""
    assert run_program(project, "looked", looked, line, door).split() == ["COMMITTED", "true"]
    assert OutcomeRecord.objects.get(permit=ActionPermit.objects.get()).is_verified


def test_answers_that_are_lost_are_given_again_and_a_refusal_is_told_once(
    project: Path, line: LossyLine, door: Door
) -> None:
    program = """
import { createGolemClient, GolemProblem, GolemUnreachable } from "golem-client";
const sleep = async () => {};
const golem = createGolemClient(process.env.GOLEM_URL!, process.env.GOLEM_TOKEN!, { sleep });
const swap = { action_type: "swap", token_in: "USDC", token_out: "WETH", amount: "500000000" };
const { data } = await golem.POST("/api/v1/pi/preview_action", { body: swap });
const told: unknown[] = [data?.permit_id];
const ask = golem.POST("/api/v1/pi/query_state", { body: { query: "gas_prices" } });
await ask.catch((error) => told.push(error instanceof GolemProblem && error.members.code));
const dead = createGolemClient("http://127.0.0.1:1", process.env.GOLEM_TOKEN!, { sleep, attempts: 2 });
const halt = dead.POST("/api/v1/pi/emergency_halt", { body: { reason: "x" } });
await halt.catch((error) => told.push(error instanceof GolemUnreachable && error.idempotencyKey.length));
console.log(JSON.stringify(told));
"""
    line.loses = 2
    told = json.loads(run_program(project, "lossy", program, line, door))
    assert line.requests == 4
    assert told == [str(ActionPermit.objects.get().pk), "UNKNOWN_ACTION", 36]


def test_the_compiler_refuses_a_path_a_field_and_a_type_that_are_not_there(project: Path) -> None:
    program = """
import { createGolemClient } from "golem-client";
const golem = createGolemClient("http://127.0.0.1", "x");
await golem.POST("/api/v1/pi/commit_actoin", {});
await golem.POST("/api/v1/pi/commit_action", { body: { permit: "x" } });
await golem.POST("/api/v1/pi/commit_action", { body: { permit_id: 1 } });
"""
    refused = compile_program(project, "wrong", program).stdout
    assert sorted({text.split("(")[1].split(",")[0] for text in refused.splitlines() if text.startswith("wrong")}) == [
        "4",
        "5",
        "6",
    ]
