"""A tool's life is told around the commit of what it planned, with its true end."""

from __future__ import annotations

from typing import Any

import pytest

from permits_app.execution import executor
from permits_app.models import ActionPermit
from permits_app.models.permit import PermitStatus
from tests.live_golem import LiveGolem
from tools_app.core import clock
from tools_app.models import OutboxEvent

SWAPPED = "uniswap_execute_swap"


def told(live: LiveGolem, permit_id: str) -> list[tuple[str, bool | None]]:
    rows = OutboxEvent.objects.filter(
        golem_id=live.golem.pk, type__startswith="tool:", payload__permit_id=permit_id
    ).order_by("sequence")
    assert {row.payload["tool_name"] for row in rows} <= {SWAPPED}
    assert len({row.payload["call_id"] for row in rows}) <= 1
    return [(row.type, row.payload.get("success")) for row in rows]


def test_a_commit_is_told_from_its_start_to_its_outcome(live_golem: LiveGolem) -> None:
    permit_id = live_golem.preview()["permit_id"]
    assert told(live_golem, permit_id) == []
    begun = clock.now()
    live_golem.start(permit_id)
    assert told(live_golem, permit_id) == [("tool:start", None)]
    live_golem.work(permit_id)
    took = clock.now() - begun
    assert told(live_golem, permit_id) == [("tool:start", None), ("tool:end", True)]
    end = OutboxEvent.objects.get(golem_id=live_golem.golem.pk, type="tool:end", payload__permit_id=permit_id)
    assert 0 <= end.payload["duration_ms"] <= took.total_seconds() * 1_000


def test_a_revert_is_no_success(live_golem: LiveGolem, monkeypatch: pytest.MonkeyPatch) -> None:
    permit_id = live_golem.preview()["permit_id"]
    live_golem.start(permit_id)
    world, golem, store = live_golem.world, live_golem.golem, executor.store_signed

    def lose_all_and_store(**arguments: Any) -> Any:
        # Between the last judgement and the sending what the swap would spend goes.
        world.rpc.call("anvil_dealERC20", golem.address, world.tokens["USDC"].address, hex(0))
        return store(**arguments)

    monkeypatch.setattr(executor, "store_signed", lose_all_and_store)
    live_golem.work(permit_id)
    assert ActionPermit.objects.get(pk=permit_id).status == PermitStatus.REVERTED
    assert told(live_golem, permit_id)[-1] == ("tool:end", False)


def test_a_refusal_is_an_error_with_its_code(live_golem: LiveGolem) -> None:
    permit_id = live_golem.preview()["permit_id"]
    live_golem.start(permit_id)
    ActionPermit.objects.filter(pk=permit_id).update(plan_hash="0x" + "11" * 32)
    live_golem.work(permit_id)
    rows = OutboxEvent.objects.filter(golem_id=live_golem.golem.pk, type="tool:error", payload__permit_id=permit_id)
    assert [row.payload["error_code"] for row in rows] == ["PLAN_HASH_MISMATCH"]
    assert told(live_golem, permit_id) == [("tool:start", None), ("tool:error", None)]
