"""A write that is no transaction and the end of its permit: both or neither."""

from __future__ import annotations

from typing import Any

import pytest

from memory_app.actions.manage_insight import manage_insight
from memory_app.models import Insight
from permits_app.models import CapabilityGrant, SpendEntry
from permits_app.models.permit import PermitStatus
from tests.live_golem import LiveGolem
from tools_app.core import clock
from tools_app.core.errors import InvalidParams
from tools_app.core.models import OutboxEvent
from tools_app.toolkit.registry import REGISTRY
from tools_app.toolkit.tooldef import LocalWriteTool

WISH: dict[str, Any] = {
    "action_type": "manage_insight",
    "operation": "ADD",
    "content": "Gas is cheap at night",
    "venue": None,
    "token_in": None,
    "token_out": None,
    "amount": None,
}


def test_a_write_that_took_too_long_has_happened_and_its_permit_says_so(
    live_golem: LiveGolem, monkeypatch: pytest.MonkeyPatch
) -> None:
    permit_id = live_golem.preview(**WISH)["permit_id"]
    now_ms = clock.monotonic_ms

    def slowly(**asked: Any) -> Any:
        done = manage_insight(**asked)
        monkeypatch.setattr(clock, "monotonic_ms", lambda: now_ms() + 10**6)
        return done

    monkeypatch.setattr("memory_app.tools.learning.manage_insight", slowly)
    live_golem.commit(permit_id)
    monkeypatch.setattr(clock, "monotonic_ms", now_ms)
    assert Insight.objects.get().text == WISH["content"]
    permit = live_golem.permit(permit_id)
    assert (permit.status, permit.problem) == (PermitStatus.COMMITTED, {})
    assert permit.result["data"]["insight_id"] == str(Insight.objects.get().pk)


def test_a_write_that_is_refused_leaves_nothing_but_a_blocked_permit_and_its_events(
    live_golem: LiveGolem, monkeypatch: pytest.MonkeyPatch
) -> None:
    permit_id = live_golem.preview(**WISH)["permit_id"]

    def half(**asked: Any) -> Any:
        manage_insight(**asked)
        raise InvalidParams("no", fields={})

    monkeypatch.setattr("memory_app.tools.learning.manage_insight", half)
    live_golem.commit(permit_id)
    permit = live_golem.permit(permit_id)
    assert (permit.status, permit.problem["code"]) == (PermitStatus.BLOCKED, "INVALID_PARAMS")
    assert not Insight.objects.exists()
    assert CapabilityGrant.objects.get(permit=permit).consumed_at is None
    assert SpendEntry.objects.get(permit=permit).state == "RELEASED"
    assert OutboxEvent.objects.filter(type="tool:error").exists()


def test_every_local_write_of_memory_and_policy_is_in_the_database_alone() -> None:
    """What reaches outside: test chains are processes of their own, a delegate may be a language model, files.

    Test money is sent on a chain, and a halt has transactions of its own.
    """
    local = [tool for tool in REGISTRY if isinstance(tool, LocalWriteTool)]
    outside = {tool.name for tool in local if not tool.is_in_database}
    assert len(local) > len(outside) > 0
    assert {name.partition("_")[0] for name in outside} == {"testnet", "golem", "coding", "wallet", "safety"}
    assert {name for name in outside if name.startswith(("wallet", "safety"))} == {
        "wallet_fund",
        "safety_set_circuit_breaker",
    }
