"""The official client of the protocol, from a golem's card to a verified outcome."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from a2a.types import a2a_pb2 as wire
from google.protobuf.json_format import MessageToDict

from golem_project.embedded.npm import load_lock, wheel_folder
from permits_app.models import OutcomeRecord
from tests.golem_project.a2a.conftest import JSON_RPC, REST, SWAP, Line, answer_of, ask, run, send, state_of
from tests.how_to import read_block, run_in_shell
from tests.tools_app.simulation.protocol_bytecode import fetch_or_skip


@pytest.mark.parametrize(
    ("binding", "version", "is_streaming"),
    [(JSON_RPC, "1.0", False), (REST, "1.0", True), (JSON_RPC, "0.3", True), (REST, "0.3", False)],
)
def test_a_swap_goes_from_the_card_to_its_outcome(line: Line, binding: str, version: str, is_streaming: bool) -> None:
    async def play() -> list[dict[str, Any]]:
        async with line.open(binding=binding, version=version, is_streaming=is_streaming) as client:
            previewed = await send(client, ask("preview_action", SWAP))
            task_id = previewed[0]["task"]["id"]
            permit = answer_of(MessageToDict(await client.get_task(wire.GetTaskRequest(id=task_id))))
            assert permit["status"] == "CREATED"
            committed = await send(client, ask("commit_action", {"permit_id": permit["permit_id"]}))
            last = MessageToDict(await client.get_task(wire.GetTaskRequest(id=committed[0]["task"]["id"])))
            return [*committed, {"task": last}]

    told = run(play())
    assert state_of(told[-1]) == "COMPLETED"
    answer = answer_of(told[-1]["task"])
    assert answer["status"] == "COMMITTED"
    assert OutcomeRecord.objects.get(permit_id=answer["permit"]["permit_id"]).is_verified
    if is_streaming:
        assert [state_of(each) for each in told if state_of(each)][-2:] == ["COMPLETED", "COMPLETED"]
        assert any("artifactUpdate" in each for each in told)


def test_the_program_and_the_command_of_the_page_swap(line: Line, tmp_path: Path) -> None:
    (tmp_path / "swap.py").write_text(read_block("talk-a2a.md", 0))
    told = {"GOLEM_A2A_URL": line.url, "GOLEM_TOKEN": line.token}
    ran = run_in_shell(read_block("talk-a2a.md", 1), folder=tmp_path, environment=told)
    assert ran.stdout.splitlines()[-1:] == ["COMMITTED"], ran.stdout + ran.stderr
    assert "commit_action TASK_STATE_COMPLETED" in ran.stdout


@pytest.mark.parametrize("binding", [JSON_RPC, REST])
def test_the_official_javascript_client_swaps_too(line: Line, binding: str, tmp_path: Path) -> None:
    here = Path(__file__).parent
    for name, folder in fetch_or_skip(load_lock(here / "client_packages.json").values()).items():
        shutil.copytree(folder, tmp_path / "node_modules" / name)
    program = shutil.copy(here / "official_client.mjs", tmp_path)
    wheel = wheel_folder()
    assert wheel is not None
    card = f"{line.url}/.well-known/agent-card.json"
    ran = subprocess.run(
        [wheel / "bin" / "node", program, card, line.token, binding, SWAP["amount"]],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert ran.stdout.split() == ["CREATED", "COMMITTED"], ran.stdout + ran.stderr
