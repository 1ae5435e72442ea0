"""Three reads of one answer really run at once: each in its thread, on a connection of its own to the real database."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any

import pytest
from django.db import connection

from archetypes_app.models.chat import ChatState
from golem_project.chat.answering import answer_turn
from golem_project.chat.turn_states import ask_golem
from tests.coding_agent import make_coding_agent
from tests.golem_project.chat.conftest import Script
from tests.scripted_model import call, calls, say
from tests.tools_app.subsystems.coding.test_six_tools import put
from tools_app.core import clock
from tools_app.subsystems.coding import reads
from tools_app.subsystems.coding.presets import Preset

MET_WITHIN_SECONDS = 10


@pytest.mark.usefixtures("transactional_db")
def test_reads_of_one_answer_meet_each_on_a_connection_of_its_own_and_answer_in_order(
    coding_folder: Path, script: Script, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.GOLEM_CHAT_BESIDE = 3
    agent = make_coding_agent(coding_folder, preset=Preset.READ_ONLY)
    for name in "abc":
        put(agent, f"{name}.txt", f"this is {name}")
    meeting, met, parse = threading.Barrier(3), set[int](), reads.parse_path

    def parse_when_all_are_here(path: str, *, root: str) -> Any:
        # A read that ran alone would wait here for the others until the barrier breaks.
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_backend_pid()")
            met.add(cursor.fetchone()[0])
        meeting.wait(MET_WITHIN_SECONDS)
        return parse(path, root=root)

    monkeypatch.setattr(reads, "parse_path", parse_when_all_are_here)
    wanted = [
        ("query_state", json.dumps({"query": "read", "venue": "coding", "path": f"{name}.txt"})) for name in "cab"
    ]
    model = script(call("query_state", query="load_tools", tools=["coding_read"]), calls(*wanted), say("read"))
    turn = ask_golem(golem=agent.golem, owner=agent.owner, words="Read.", begins_anew=False, now=clock.now())
    answer_turn(turn_id=turn.pk, read_now=clock.now)
    turn.refresh_from_db()
    assert (turn.state, turn.said, turn.calls) == (ChatState.DONE, "read", 4)
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        assert len(met - {cursor.fetchone()[0]}) == 3
    told = [message["content"] for message in model.requests[2]["messages"] if message["role"] == "tool"][1:]
    assert [f"this is {name}" in text for name, text in zip("cab", told, strict=True)] == [True] * 3
