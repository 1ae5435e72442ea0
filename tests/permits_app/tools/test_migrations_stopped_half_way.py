"""A migration of everything whose worker dies, or whose golem is halted, after one transfer of three."""

from __future__ import annotations

import time
from typing import Any

import pytest

from permits_app.actions.halt import halt_golem
from permits_app.execution import executor, payloads
from tests.live_golem import LiveGolem
from tests.permits_app.approvals.conftest import two_owners as two_owners
from tests.permits_app.tools.test_wallet_life import OTHER, ask, decide, held_by, register
from tools_app.core import clock


def die_at(monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    """The worker stops right before it sends its transfer of that number."""
    real, sent = payloads.send_payload, list[Any]()

    def send(row: Any, **given: Any) -> bool:
        sent.append(row)
        if len(sent) == number:
            raise KeyboardInterrupt
        return real(row, **given)

    monkeypatch.setattr(executor, "send_payload", send)


def wait_for_gone(live: LiveGolem, had: dict[str, int]) -> set[str]:
    """Which tokens the account has no more, once the chain has mined what was sent."""
    for _ in range(50):
        if gone := {symbol for symbol in had if held_by(live, str(live.golem.address), symbol) == 0}:
            return gone
        time.sleep(0.1)
    return set()


def test_a_migration_whose_worker_dies_half_way_is_finished_by_the_next_one_and_moves_nothing_twice(
    two_owners: tuple[LiveGolem, Any, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    live, _, other = two_owners
    register(live)
    account = live.golem.address
    had = {symbol: held_by(live, account, symbol) for symbol in ("USDC", "WETH", "DAI")}
    there = {symbol: held_by(live, OTHER, symbol) for symbol in had}
    permit = ask(live, "migrate", recipient=OTHER, include_coin=False)
    with monkeypatch.context() as patched:
        die_at(patched, 2)
        with pytest.raises(KeyboardInterrupt):
            decide(permit, other)
    assert len(wait_for_gone(live, had)) == 1, "one of three went"
    live.work(permit["permit_id"])
    assert live.permit(permit["permit_id"]).status == "COMMITTED"
    assert {symbol: held_by(live, OTHER, symbol) - there[symbol] for symbol in had} == had
    assert all(held_by(live, account, symbol) == 0 for symbol in had)


def test_a_migration_that_a_halt_stopped_half_way_leaves_the_rest_and_is_asked_for_again(
    two_owners: tuple[LiveGolem, Any, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    live, _, other = two_owners
    register(live)
    account = live.golem.address
    had = {symbol: held_by(live, account, symbol) for symbol in ("USDC", "WETH", "DAI")}
    there = {symbol: held_by(live, OTHER, symbol) for symbol in had}
    permit = ask(live, "migrate", recipient=OTHER, include_coin=False)
    with monkeypatch.context() as patched:
        die_at(patched, 2)
        with pytest.raises(KeyboardInterrupt):
            decide(permit, other)
    halt_golem(golem=live.golem, reason="enough", actor="owner:1", now=clock.now())
    live.work(permit["permit_id"])
    gone = {symbol for symbol in had if held_by(live, account, symbol) == 0}
    assert len(gone) == 1, "under a halt nothing new is sent"
    for symbol in set(had) - gone:
        assert held_by(live, account, symbol) == had[symbol] and held_by(live, OTHER, symbol) == there[symbol]
    assert live.permit(permit["permit_id"]).status not in ("COMMITTED", "COMMITTING")
