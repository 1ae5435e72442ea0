"""What the pages about talking to a golem and bringing a tool tell to type runs as they say."""

from __future__ import annotations

import re
import shlex
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from golem_project.heartbeat.thinking import model_planner
from tests.architecture.sources import ROOT
from tests.golem_project.heartbeat.thinking.conftest import make_client
from tests.live_golem import LiveGolem
from tests.scripted_model import say, serve_model
from tools_app.models import ToolDefinition
from tools_app.sandbox.definition import MOST_BYTES
from tools_app.sandbox.owner_http_call import MOST_ANSWER_BYTES
from tools_app.sandbox.owner_toml_definition import MOST_READS


def list_commands(page: str) -> list[str]:
    blocks = re.findall(r"```console\n(.*?)```", (ROOT / "docs" / "how-to" / page).read_text(), re.DOTALL)
    lines = [line.strip() for block in blocks for line in block.splitlines()]
    return [line.removeprefix("python manage.py ") for line in lines if line]


def run(command: str, folder: Path) -> str:
    told = StringIO()
    words = [str(folder) if word.startswith("var/") else word for word in shlex.split(command)]
    call_command(*[str(ROOT / word) if word.startswith("tools_app/") else word for word in words], stdout=told)
    return told.getvalue()


def test_every_command_about_bringing_a_tool_runs(live_golem: LiveGolem, tmp_path: Path) -> None:
    told = {command.split()[1]: run(command, tmp_path) for command in list_commands("bring-a-tool.md")}
    assert (
        "coin_lookup: 0x" in told["check"]
        and "swap_briefing: 0x" in told["check"]
        and "check_code: 0x" in told["check"]
    )
    assert "approve it in the admin" in told["import"]
    assert "approved for 0 golems" in told["list"]
    assert (tmp_path / "swap_briefing.toml").exists()
    assert ToolDefinition.objects.get().owner == live_golem.owner


def test_every_command_about_talking_runs(
    live_golem: LiveGolem, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", StringIO("Hello?\n"))
    with serve_model([say("Hello.")]) as model:
        model_planner.configure(make_client(model.url))
        told = [run(command, tmp_path) for command in list_commands("talk-to-a-golem.md")]
    model_planner.configure(None)
    assert len(told) == 2 and all("Hello." in each and "for this answer" in each for each in told)


def test_the_numbers_on_the_pages_are_those_that_hold(settings: Any) -> None:
    bring = (ROOT / "docs" / "how-to" / "bring-a-tool.md").read_text()
    talk = (ROOT / "docs" / "how-to" / "talk-to-a-golem.md").read_text()
    assert f"at most {MOST_ANSWER_BYTES // 1024} KiB" in bring and MOST_READS == 5 and MOST_BYTES == 16 * 1024
    assert (
        f"{settings.GOLEM_CHAT_ROUNDS} rounds, {settings.GOLEM_THINKING_CALLS} calls, "
        f"{settings.GOLEM_CHAT_LLM_TOKENS:,} tokens, {settings.GOLEM_CHAT_SECONDS} seconds and "
        f"${settings.GOLEM_CHAT_MOST_MICRO_USD // 10**6}"
    ) in talk
    assert settings.GOLEM_CHAT_BESIDE == 4 and settings.GOLEM_CHAT_RETRIES == 2
