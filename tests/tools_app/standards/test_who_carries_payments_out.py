"""The account that carries payments out: what it has to hold for one settlement, and a node that does not answer."""

from __future__ import annotations

from typing import Any, Final

import pytest

from tools_app.chain.node_errors import RpcUnavailable
from tools_app.chain.rpc import RpcEndpoint, RpcReply
from tools_app.core.taint import Secret
from tools_app.standards.x402.facilitator import NO_COINS, NOBODY_ANSWERS, Facilitator

PRICE: Final = 7
GAS: Final = 500_000
"""What the standard's package lets a settlement use."""


def say_away(monkeypatch: pytest.MonkeyPatch, *replies: RpcReply) -> str:
    monkeypatch.setattr(RpcEndpoint, "send", lambda *_, **__: list(replies))
    url = Secret("http://127.0.0.1:1")
    facilitator = Facilitator(key=Secret("0x" + "11" * 32), chain_id=1, rpc_url=url, wait_seconds=1)
    return facilitator.say_away("0x" + "12" * 20)


@pytest.mark.parametrize(("missing", "told"), [(0, ""), (1, NO_COINS)])
def test_it_holds_what_one_settlement_may_cost_or_is_away(
    missing: int, told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert say_away(monkeypatch, RpcReply(hex(GAS * PRICE - missing)), RpcReply(hex(PRICE))) == told


def test_a_node_that_answers_half_of_it_answers_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    failed: Any = RpcReply(error=RpcUnavailable("nobody is there"))
    assert say_away(monkeypatch, RpcReply(hex(GAS * PRICE)), failed) == NOBODY_ANSWERS
