"""The session of the page about coding, played over REST: here and by SSH, with the owner approving the one command."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from golem_project.celery import app
from permits_app.models import ChangeRequest
from tests.architecture.sources import ROOT
from tests.coding_agent import CodingAgent, make_coding_agent
from tests.sshd import Sshd
from tests.tools_app.subsystems.coding.test_ssh import public_key
from tools_app.core.models import AuditEntry

PAGE = (ROOT / "docs" / "how-to" / "let-a-golem-code.md").read_text()
SESSION = [
    (tool, json.loads(body))
    for block in re.findall(r"```http\n(.*?)```", PAGE, re.DOTALL)
    for tool, body in re.findall(r"^POST (\w+) (\{.*\})$", block, re.MULTILINE)
]
TEST = """import unittest
from calc import add

class Adds(unittest.TestCase):
    def test_two_and_two_are_four(self):
        self.assertEqual(add(2, 2), 4)
"""


@pytest.fixture
def eager() -> Iterator[None]:
    """Tasks run where they are asked for."""
    before = app.conf.task_always_eager
    app.conf.task_always_eager = True
    yield
    app.conf.task_always_eager = before


def make_repository(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "calc.py").write_text("def add(a, b):\r\n    return a - b\r\n")
    (folder / "test_calc.py").write_text(TEST)


def play(agent: CodingAgent) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Every line of the session: its answers, and the last permit, which waits."""
    answers: list[dict[str, Any]] = []
    permit: dict[str, Any] = {}
    for tool, body in SESSION:
        if tool == "commit_action":
            body = {"permit_id": permit["permit_id"]}
        answers.append(agent._post(tool, body))
        permit = answers[-1] if tool == "preview_action" else permit
    return answers, permit


@pytest.mark.usefixtures("transactional_db", "eager")
@pytest.mark.parametrize("place", ["here", "by SSH"])
def test_an_agent_fixes_a_failing_test_and_the_owner_approves_the_one_command(
    coding_folder: Path, tmp_path: Path, sshd: Sshd, place: str
) -> None:
    agent = make_coding_agent(coding_folder)
    agent.writes_over_rest = True
    agent.choose(needs_owner="COMMANDS")
    agent.ask("find", pattern="*")
    if place == "by SSH":
        agent.folder = tmp_path / "there"
        sshd.authorized.write_text(public_key(agent.golem.pk) + "\n")
        host_key = " ".join(sshd.host_key.split()[:2])
        machine = {"host": "127.0.0.1", "port": sshd.port, "username": sshd.username, "host_key": host_key}
        agent.choose(place="SSH", folder=str(agent.folder), **machine)
    make_repository(agent.folder)
    before = subprocess.run([sys.executable, "-m", "unittest", "-q"], cwd=agent.folder, capture_output=True)
    assert before.returncode == 1

    answers, waiting = play(agent)
    assert "calc.py:1: def add(a, b):" in json.dumps(answers[1])
    assert answers[4]["status"] == "COMMITTED"
    assert (agent.folder / "calc.py").read_bytes() == b"def add(a, b):\r\n    return a + b\r\n"
    assert (waiting["status"], waiting["missing"]) == ("AWAITING_APPROVAL", ["approval"])

    request = ChangeRequest.objects.get(permit_id=waiting["permit_id"])
    [line] = request.shown["differences"]
    assert line["after"] == "python3 -m unittest -q"
    assert ("this server" if place == "here" else "127.0.0.1") in line["words"]
    assert agent.approve(waiting).state == "EXECUTED"

    permit = agent.get(f"permits/{waiting['permit_id']}")
    told = permit["result"]["data"]
    assert (permit["status"], told["untrusted"], told["value"]["exit_code"]) == ("COMMITTED", True, 0)
    events = list(AuditEntry.objects.filter(golem_id=agent.golem.pk).order_by("seq").values_list("event", flat=True))
    story = ["PermitCreated", "PermitConsumed", "PermitCreated", "ChangeRequested", "OwnerDecided", "PermitConsumed"]
    assert [event for event in events if event in story] == story
