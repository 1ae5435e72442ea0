"""An agent over HTTP whose tasks run in the calling process, on the real chain; and what its golem may lose.

Whatever a test does, when it is over every base unit that left or reached the golem is one that a committed permit
tells of, every transaction is one of ours, and nobody holds a right over its tokens.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from django.test import Client

from golem_project.celery import app
from golem_project.embedded.world.rpc import call_data
from permits_app.models import ActionPermit, OutboundTransaction, OutcomeRecord
from permits_app.models.permit import PermitStatus
from permits_app.models.transaction import IN_A_BLOCK
from tests.golem_project.pi.conftest import SWAP, Agent
from tests.live_golem import LiveGolem
from tools_app.toolkit.views import NATIVE

__all__ = ["SWAP", "THIEF"]

THIEF = "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC"


@dataclass
class Adversary:
    """Whoever holds the golem's agent token; it wants the golem's money and has nothing but the eight tools."""

    live: LiveGolem
    agent: Agent

    def ask(self, tool: str, body: dict[str, Any], **headers: str) -> tuple[int, dict[str, Any]]:
        """POST to one of the eight tools; status and body."""
        response = self.agent.post(tool, body, **headers)
        assert response.status_code != 500, "an attack is refused in words, not by a failure of ours"
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
        world = self.live.world
        coin = int(world.rpc.call("eth_getBalance", self.live.golem.address, "latest"), 16)
        tokens = {symbol: self.live.balance(symbol) for symbol in world.tokens}
        return {"ETH": coin, **tokens, "sent": self.live.mined_nonce()}

    def permitted(self) -> dict[str, int]:
        """What committed permits and their transactions say of the golem's holdings since it was made."""
        symbols = {token.address: symbol for symbol, token in self.live.world.tokens.items()} | {NATIVE: "ETH"}
        moved: Counter[str] = Counter(dict.fromkeys(self.holdings(), 0))
        done = OutcomeRecord.objects.filter(
            permit__golem=self.live.golem, permit__status__in=[PermitStatus.COMMITTED, PermitStatus.REVERTED]
        )
        for outcome in done:
            for delta in outcome.actual["balance_deltas"]:
                moved[symbols[delta["token"]]] += int(delta["raw"])
        mined = OutboundTransaction.objects.filter(sender=self.live.golem.address, state__in=IN_A_BLOCK)
        for row in mined:
            moved["ETH"] -= int(row.fee_wei)
            moved["sent"] += 1
        return dict(moved)

    def rights(self) -> list[tuple[str, str, int]]:
        """(token, who, base units) of every allowance over the golem's tokens, through Permit2 too."""
        world, owner = self.live.world, self.live.golem.address
        permit2 = world.contracts["permit2"]
        asked: dict[tuple[str, str], tuple[str, str]] = {}
        for symbol, token in world.tokens.items():
            for who in (THIEF, *world.contracts.values()):
                asked[symbol, who] = (token.address, call_data("allowance(address,address)", owner, who))
                through = call_data("allowance(address,address,address)", owner, token.address, who)
                asked[symbol, f"{who} by Permit2"] = (permit2, through)
        calls = [("eth_call", [{"to": to, "data": data}, "latest"]) for to, data in asked.values()]
        # How much is the first word of both answers.
        found = [(*right, int(raw[2:66], 16)) for right, raw in zip(asked, world.rpc.call_all(calls), strict=True)]
        return [right for right in found if right[2]]


@pytest.fixture
def adversary(shared_golem: LiveGolem) -> Iterator[Adversary]:
    """The agent's side of a golem that is ready to act; its books are balanced when the test is over."""
    was_eager = app.conf.task_always_eager
    app.conf.task_always_eager = True
    try:
        someone = Adversary(shared_golem, Agent(golem=shared_golem.golem, key=shared_golem.key, client=Client()))
        before = someone.holdings()
        yield someone
        after = someone.holdings()
        assert {name: after[name] - before[name] for name in after} == someone.permitted()
        assert someone.rights() == []
    finally:
        app.conf.task_always_eager = was_eager


@pytest.fixture
def robbed(adversary: Adversary) -> Iterator[Adversary]:
    """The same, for an attack that must move nothing: balances and nonce are compared when the test is over."""
    before = adversary.holdings()
    yield adversary
    assert adversary.holdings() == before
    assert not OutboundTransaction.objects.exists()
    sent = [PermitStatus.COMMITTED, PermitStatus.REVERTED, PermitStatus.UNKNOWN]
    assert not ActionPermit.objects.filter(status__in=sent, is_local=False).exists()
