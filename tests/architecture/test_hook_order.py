"""The seven hooks stand in the decided order, and one that raises refuses."""

from __future__ import annotations

from typing import Any

import pytest

from permits_app.errors import PolicyRejected
from permits_app.safety import hook_chain
from permits_app.safety.hook import Allow
from tests.permits_app.safety.calls import plain_call

_DECIDED = (
    "policy_cage",
    "allowlist_guard",
    "spending_limiter",
    "rate_limiter",
    "simulator",
    "hallucination_detector",
    "result_filter",
)


class _Recorder:
    def __init__(self, name: str, seen: list[str]) -> None:
        self.name = name
        self._seen = seen

    def check(self, call: Any) -> Allow:
        self._seen.append(self.name)
        return Allow()


class _Raising:
    name = "raising"

    def check(self, call: Any) -> Allow:
        raise ZeroDivisionError


@pytest.fixture
def seen(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the hooks that were asked, in order."""
    asked: list[str] = []
    recorders = {name: _Recorder(name, asked) for name in _DECIDED}
    monkeypatch.setattr(hook_chain, "_BEFORE_SIMULATION", tuple(recorders[name] for name in _DECIDED[:4]))
    monkeypatch.setattr(hook_chain, "SIMULATOR", recorders["simulator"])
    monkeypatch.setattr(hook_chain, "HALLUCINATION_DETECTOR", recorders["hallucination_detector"])
    return asked


def test_the_seven_hooks_stand_in_the_decided_order() -> None:
    assert hook_chain.SAFETY_HOOKS == _DECIDED
    assert tuple(hook.name for hook in hook_chain._BEFORE_SIMULATION) == _DECIDED[:4]


def test_a_preview_asks_the_first_six_in_that_order(seen: list[str]) -> None:
    hook_chain.run(plain_call())
    assert tuple(seen) == _DECIDED[:6]


def test_a_commit_asks_them_again_and_simulates_only_when_the_block_moved(seen: list[str]) -> None:
    hook_chain.recheck(plain_call(), simulate=False)
    assert tuple(seen) == (*_DECIDED[:4], _DECIDED[5])
    seen.clear()
    hook_chain.recheck(plain_call(), simulate=True)
    assert tuple(seen) == _DECIDED[:6]


def test_a_hook_that_raises_refuses_and_ends_the_chain(seen: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hook_chain, "SIMULATOR", _Raising())
    with pytest.raises(PolicyRejected):
        hook_chain.run(plain_call())
    assert tuple(seen) == _DECIDED[:4]
