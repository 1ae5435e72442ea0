"""A golem whose owner is signed in, and a scripted model that this process asks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from archetypes_app.models import ChatStep, ChatTurn
from archetypes_app.owner_group import ensure_owner_group
from golem_project.chat.answering import answer_turn
from golem_project.chat.turn_states import ask_golem
from golem_project.heartbeat.thinking import model_planner
from tests.golem_project.heartbeat.thinking.conftest import make_client
from tests.live_golem import LiveGolem
from tests.scripted_model import Answer, ScriptedModel, serve_model
from tools_app.core import clock

Script = Callable[..., ScriptedModel]


@pytest.fixture
def script() -> Iterator[Script]:
    """Sets the model this process asks: `script(*answers)`."""
    with ExitStack() as stack:

        def play(*answers: Answer) -> ScriptedModel:
            model = stack.enter_context(serve_model(answers))
            model_planner.configure(make_client(model.url))
            return model

        yield play
    model_planner.configure(None)


@dataclass
class Talk:
    """One owner's conversation with their golem."""

    live: LiveGolem
    client: Client

    def say(self, words: str, *, begins_anew: bool = False) -> ChatTurn:
        """A message, and the worker's answer to it."""
        turn = ask_golem(
            golem=self.live.golem, owner=self.live.owner, words=words, begins_anew=begins_anew, now=clock.now()
        )
        answer_turn(turn_id=turn.pk, read_now=clock.now)
        turn.refresh_from_db()
        return turn

    def steps(self, turn: ChatTurn) -> list[ChatStep]:
        return list(turn.steps.filter(kind="CALL"))

    def url(self, name: str = "chat") -> str:
        return reverse(name, args=[self.live.golem.pk])

    def page(self) -> str:
        return self.client.get(self.url()).content.decode()


@pytest.fixture
def talk(live_golem: LiveGolem, settings: Any) -> Talk:
    # Threads of reads have connections of their own, which see nothing of a test's transaction.
    settings.GOLEM_CHAT_BESIDE = 1
    live_golem.owner.groups.add(ensure_owner_group())
    client = Client()
    client.force_login(live_golem.owner)
    return Talk(live_golem, client)
