"""An agent stops its own golem at any time, and never sets it going again."""

from __future__ import annotations

from typing import Any

import pytest

from archetypes_app.models import ToolOverride
from archetypes_app.models.override import OverrideMode
from archetypes_app.toolset import view_golem
from permits_app.errors import BreakerResetByOwner
from permits_app.models import ActionPermit, HaltRecord, SpendingLimits
from tests.live_golem import SWAP, LiveGolem, make_live_golem
from tools_app.core import clock
from tools_app.core.errors import GolemError
from tools_app.core.models import AuditEntry
from tools_app.runner import run_read
from tools_app.toolkit.registry import REGISTRY
from tools_app.toolkit.tooldef import ReadTool

_NO_SWAP: dict[str, Any] = dict.fromkeys(SWAP)


@pytest.fixture
def live(live_golem: LiveGolem) -> LiveGolem:
    ToolOverride.objects.create(
        golem=live_golem.golem, tool_name="safety_set_circuit_breaker", mode=OverrideMode.INCLUDE
    )
    return live_golem


def trigger(live: LiveGolem, action: str = "TRIGGER", **params: Any) -> dict[str, Any]:
    return live.preview(**{**_NO_SWAP, "action_type": "circuit_breaker", "action": action, **params})


def status(live: LiveGolem) -> Any:
    tool = REGISTRY.get("check_safety_status")
    assert isinstance(tool, ReadTool) and tool.name == "safety_get_status"
    live.golem.refresh_from_db()
    return run_read(tool=tool, params={}, golem=view_golem(live.golem), now=clock.now()).data


def test_an_agent_stops_its_golem_and_what_was_open_is_over(live: LiveGolem) -> None:
    waiting = live.preview()["permit_id"]
    permit = trigger(live, reason="the pool answers another price than the feed")
    assert not live.golem.is_halted, "a preview stops nothing"
    answer = live.commit(permit["permit_id"])
    assert answer["status"] == "COMMITTED", answer
    assert (answer["result"]["data"]["active"], answer["result"]["data"]["scope"]) == (True, "all")
    live.golem.refresh_from_db()
    assert live.golem.is_halted and "another price than the feed" in live.golem.halt_reason
    assert ActionPermit.objects.get(pk=waiting).status == "CANCELLED"
    assert HaltRecord.objects.get(golem=live.golem).actor == f"golem:{live.golem.pk}"
    assert AuditEntry.objects.filter(golem_id=live.golem.pk, event="HaltStarted").count() == 1
    live.key.key.refresh_from_db()
    assert "COMMIT" not in live.key.key.scopes
    with pytest.raises(GolemError) as refused:
        live.preview()
    assert "HALTED" in refused.value.code


def test_an_agent_cannot_reset_it_and_is_told_who_can(live: LiveGolem) -> None:
    with pytest.raises(BreakerResetByOwner) as refused:
        trigger(live, "RESET")
    assert refused.value.recovery == "ASK_OWNER" and "owner" in refused.value.detail


def test_the_breaker_of_one_golem_leaves_another_alone(live: LiveGolem) -> None:
    other = make_live_golem(live.world, name="Other", owner_name="owner-b")
    live.commit(trigger(live)["permit_id"])
    other.golem.refresh_from_db()
    assert not other.golem.is_halted
    assert status(other)["is_halted"] is False and status(live)["is_halted"] is True


def test_the_status_tells_limits_with_what_is_used_and_keys_by_their_prefix_alone(live: LiveGolem) -> None:
    before = status(live)
    most = SpendingLimits.objects.get(golem=live.golem).per_day_micro_usd // 10**6
    assert before["limits"][2] == {
        "window": "day",
        "limit_usd": f"{most}.000000",
        "used_usd": "0.000000",
        "frees_at": None,
    }
    permit = live.preview()
    told = status(live)
    day = told["limits"][2]
    assert float(day["used_usd"]) >= 500 and day["frees_at"] is not None
    assert (told["permits_waiting"], told["is_halted"], told["halt_reason"]) == (1, False, None)
    assert [key["prefix"] for key in told["keys"]] == [live.key.key.prefix]
    live.commit(permit["permit_id"])
    assert status(live)["permits_waiting"] == 0
