"""The same conversation in a terminal: its steps, its costs, and Ctrl-C."""

from __future__ import annotations

import json
import os
import signal
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from golem_project.chat.terminal import TerminalChat
from permits_app.models import ActionPermit
from tests.golem_project.chat.conftest import Script, Talk
from tests.golem_project.heartbeat.thinking.conftest import make_client
from tests.live_golem import SWAP
from tests.scripted_model import Reply, calls, say, slow


def chat(golem: str, *words: str) -> str:
    told = StringIO()
    call_command("golem", "chat", golem, *words, stdout=told)
    return told.getvalue()


def test_a_question_is_answered_with_its_steps_and_its_cost(talk: Talk, script: Script) -> None:
    script(calls(("preview_action", json.dumps(SWAP))), say("About 0.2 WETH.\x1b[2J"))
    told = chat(str(talk.live.golem.pk), "What", "would", "500", "USDC", "buy?")
    assert "  > preview_action" in told and '"status": "CANCELLED"' in told
    assert "About 0.2 WETH." in told and "\x1b" not in told
    assert "$0.007200 for this answer, $0.007200 in all" in told
    assert ActionPermit.objects.get(golem=talk.live.golem).status == "CANCELLED"


def test_lines_are_one_conversation_and_costs_add_up(
    talk: Talk, script: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = script(say("Alpha."), say("Beta."))
    monkeypatch.setattr("sys.stdin", StringIO("First?\n\nSecond?\n"))
    told = chat(talk.live.golem.name)
    assert "commits nothing" in told and told.count("for this answer") == 2
    assert [each["content"] for each in model.requests[1]["messages"][1:-1]] == ["First?", "Alpha."]


def test_ctrl_c_ends_the_answer_and_not_the_conversation(talk: Talk, script: Script) -> None:
    def write_and_be_interrupted(request: dict[str, Any]) -> Reply:
        os.kill(os.getpid(), signal.SIGINT)
        return slow(60)(request)

    model = script(write_and_be_interrupted, say("Back."))
    told: list[str] = []
    terminal = TerminalChat(talk.live.golem, make_client(model.url), told.append)
    before: Any = signal.getsignal(signal.SIGINT)
    terminal.say("Hello?")
    assert told[-1].startswith("ended early: THINKING_CANCELLED; $")
    assert signal.getsignal(signal.SIGINT) is before
    terminal.say("Are you there?")
    assert told[-2] == "Back."


def test_without_a_model_it_ends_with_the_code(talk: Talk) -> None:
    with pytest.raises(CommandError, match="MODEL_NOT_CONFIGURED"):
        chat(talk.live.golem.name, "Hello?")
