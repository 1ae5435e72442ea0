"""An agent over HTTP whose tasks run in the calling process, on the real chain; and what its golem may lose."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from django.test import Client

from golem_project.celery import app
from permits_app.models import OutboundTransaction
from tests.golem_project.pi.conftest import SWAP, Agent
from tests.live_golem import LiveGolem

__all__ = ["SWAP"]


@dataclass
class Adversary:
    """Whoever holds the golem's agent token; it wants the golem's money and has nothing but the eight tools."""

    live: LiveGolem
    agent: Agent

    def ask(self, tool: str, body: dict[str, Any], **headers: str) -> tuple[int, dict[str, Any]]:
        """POST to one of the eight tools; status and body."""
        response = self.agent.post(tool, body, **headers)
        return response.status_code, response.json()

    def preview(self, **body: Any) -> tuple[int, dict[str, Any]]:
        """preview_action."""
        return self.ask("preview_action", body)

    def take(self, **body: Any) -> dict[str, Any]:
        """Preview and, if a permit comes of it, commit: the answer that ended it."""
        status, answer = self.preview(**body)
        if status != 200:
            return answer
        return self.ask("commit_action", {"permit_id": answer["permit_id"]})[1]

    def holdings(self) -> dict[str, int]:
        """Everything the golem holds on the chain, in base units, and how many transactions it ever sent."""
        account, world = self.live.golem.address, self.live.world
        coin = int(world.rpc.call("eth_getBalance", account, "latest"), 16)
        tokens = {symbol: self.live.balance(symbol) for symbol in world.tokens}
        return {"ETH": coin, **tokens, "sent": self.live.mined_nonce()}


@pytest.fixture
def adversary(shared_golem: LiveGolem) -> Iterator[Adversary]:
    """The agent's side of a golem that is ready to act."""
    before = app.conf.task_always_eager
    app.conf.task_always_eager = True
    try:
        yield Adversary(shared_golem, Agent(golem=shared_golem.golem, key=shared_golem.key, client=Client()))
    finally:
        app.conf.task_always_eager = before


@pytest.fixture
def robbed(adversary: Adversary) -> Iterator[Adversary]:
    """The same, for an attack that must move nothing: balances and nonce are compared when the test is over."""
    before = adversary.holdings()
    yield adversary
    assert adversary.holdings() == before
    assert not OutboundTransaction.objects.exists()
