"""A tool ends by its budget and by what is left of its tick, with a typed error and its connection closed."""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.db import connection

from archetypes_app.models import Golem
from archetypes_app.toolset import view_golem
from golem_project import wiring
from tests.evm.world import World
from tests.factories.golems import make_golem, make_owner
from tools_app import runner
from tools_app.core import clock
from tools_app.core.clock import Deadline
from tools_app.core.errors import BudgetExceeded
from tools_app.core.models import OutboxEvent
from tools_app.core.statement_watch import ended_by
from tools_app.models import ToolCheckpoint
from tools_app.models.tool_checkpoint import keep_checkpoint, load_checkpoint
from tools_app.portfolio.markets import ChainMarkets
from tools_app.subsystems.data import pool_tools
from tools_app.toolkit.registry import REGISTRY
from tools_app.toolkit.tooldef import ReadTool


@dataclass
class SilentNode:
    """Accepts connections, reads, and never answers; knows how many are open."""

    listener: socket.socket
    asked: int = 0
    open: set[int] = field(default_factory=set)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.listener.getsockname()[1]}"

    def serve(self) -> None:
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self._hold, args=(client,), daemon=True).start()

    def _hold(self, client: socket.socket) -> None:
        key = id(client)
        self.open.add(key)
        with client, contextlib.suppress(OSError):
            while client.recv(65_536):
                self.asked += 1
        self.open.discard(key)

    def wait_until_closed(self) -> bool:
        end = time.monotonic() + 30
        while self.open and time.monotonic() < end:
            time.sleep(0.01)
        return not self.open


@pytest.fixture
def silent_node() -> Iterator[SilentNode]:
    listener = socket.create_server(("127.0.0.1", 0))
    node = SilentNode(listener)
    threading.Thread(target=node.serve, daemon=True).start()
    wiring.configure_networks({31337: (node.url,)})
    yield node
    listener.close()
    wiring.configure_networks({})


TOOL = "data_get_token_price"


@pytest.fixture
def golem(db: None) -> Golem:
    return make_golem(name="budget", owner=make_owner(name="budget owner"))


def _ask_price(golem: Golem) -> Any:
    tool = REGISTRY.get(TOOL)
    assert isinstance(tool, ReadTool)
    return runner.run_read(tool=tool, params={"token": "WETH"}, golem=view_golem(golem), now=clock.now())


def test_a_fast_tool_that_waits_for_a_silent_node_ends_after_a_second(golem: Golem, silent_node: SilentNode) -> None:
    with pytest.raises(BudgetExceeded) as overrun:
        _ask_price(golem)
    # The node says nothing for ever: that the call ends at all is its budget, and it says which one.
    assert overrun.value.data["budget_ms"] == int(REGISTRY.get(TOOL).tick_budget) == 1_000
    assert silent_node.asked >= 1 and silent_node.wait_until_closed(), "a connection was left open"
    error = OutboxEvent.objects.get(type="tool:error")
    assert error.payload["error_code"] == "BUDGET_EXCEEDED"


def test_a_tool_gets_only_what_is_left_of_its_tick(golem: Golem, silent_node: SilentNode) -> None:
    # The words say which bound it was; the node says nothing for ever.
    with runner.bounded_by(Deadline.after_ms(200)), pytest.raises(BudgetExceeded, match="left of its tick"):
        _ask_price(golem)
    assert silent_node.wait_until_closed()


def test_a_tool_is_not_begun_in_a_tick_that_is_over(golem: Golem, silent_node: SilentNode) -> None:
    with runner.bounded_by(Deadline.after_ms(0)), pytest.raises(BudgetExceeded):
        _ask_price(golem)
    assert silent_node.asked == 0


def test_the_tighter_of_two_bounds_holds_and_ends_with_its_block(golem: Golem, silent_node: SilentNode) -> None:
    with runner.bounded_by(Deadline.after_ms(100)):
        with runner.bounded_by(Deadline.after_ms(60_000)), pytest.raises(BudgetExceeded):
            _ask_price(golem)
    with pytest.raises(BudgetExceeded, match="longer than its budget"):
        _ask_price(golem)


def test_a_tool_that_keeps_a_checkpoint_goes_on_where_its_time_was_over(
    golem: Golem, local_chain: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pool_tools, "SCAN_BLOCKS", 40)
    monkeypatch.setattr(pool_tools, "REREAD_BLOCKS", 0)
    tool = REGISTRY.get("data_get_new_pools")
    assert isinstance(tool, ReadTool) and tool.keeps_checkpoint
    scanned: list[tuple[int, int]] = []
    # It stands still but for what is let pass here: how busy the machine is ends nothing.
    at_ms, ends_at_scan = [0.0], [0]
    monkeypatch.setattr(clock, "monotonic_ms", lambda: at_ms[0])
    original = ChainMarkets.created

    def scan_until_it_is_late(self: ChainMarkets, reader: Any, *, from_block: int, to_block: int) -> Any:
        scanned.append((from_block, to_block))
        if len(scanned) == ends_at_scan[0]:
            at_ms[0] += 3_000
        return original(self, reader, from_block=from_block, to_block=to_block)

    monkeypatch.setattr(ChainMarkets, "created", scan_until_it_is_late)

    def ask() -> Any:
        return runner.run_read(tool=tool, params={"hours": 48}, golem=view_golem(golem), now=clock.now())

    whole = ask().data
    ranges = list(scanned)
    assert len(ranges) > 4 and not ToolCheckpoint.objects.exists()
    scanned.clear()
    ends_at_scan[0] = 3
    with runner.bounded_by(Deadline.after_ms(3_000)), pytest.raises(BudgetExceeded):
        ask()
    ends_at_scan[0] = 0
    left = ToolCheckpoint.objects.get(golem_id=golem.pk, tool_name=tool.name)
    assert 0 < left.data["next"] < ranges[-1][0]
    scanned.clear()
    assert ask().data == whole
    assert scanned == [each for each in ranges if each[0] >= left.data["next"]], "it began again"
    assert not ToolCheckpoint.objects.exists()


@pytest.fixture
def slow_statement(transactional_db: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[Golem]:
    """A golem whose price tool asks the database something that takes a minute, behind its first step."""

    def ask_slowly(ctx: Any, **params: Any) -> Any:
        ctx.report_step(tool.progress_steps[0])
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_sleep(60)")

    tool = REGISTRY.get(TOOL)
    assert isinstance(tool, ReadTool)
    slow = replace(tool, handler=ask_slowly, named_steps=tool.progress_steps)
    monkeypatch.setitem(REGISTRY._tools, TOOL, slow)
    wiring.configure_networks({31337: ("http://127.0.0.1:1",)})
    yield make_golem(name="slow", owner=make_owner(name="slow owner"))
    wiring.configure_networks({})


def test_a_statement_that_outlives_its_tool_is_cancelled_in_the_server(slow_statement: Golem) -> None:
    started = time.monotonic()
    with runner.bounded_by(Deadline.after_ms(300)), pytest.raises(BudgetExceeded) as overrun:
        _ask_price(slow_statement)
    assert time.monotonic() - started < 30
    assert overrun.value.data["steps_done"] == [REGISTRY.get(TOOL).progress_steps[0]]
    assert overrun.value.data["goes_on"] is False
    with connection.cursor() as cursor:
        # The connection is as good as before, and nothing of ours runs on in the server.
        cursor.execute("SELECT count(*) FROM pg_stat_activity WHERE state = 'active' AND query LIKE '%pg_sleep(60)%'")
        assert cursor.fetchone()[0] == 1, "only this question itself"
    assert OutboxEvent.objects.get(type="tool:error").payload["error_code"] == "BUDGET_EXCEEDED"


def test_a_statement_behind_the_end_of_a_call_is_not_cancelled(transactional_db: None) -> None:
    with ended_by(Deadline.after_ms(20)), connection.cursor() as cursor:
        cursor.execute("SELECT 1")
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_sleep(0.2)")
        assert cursor.rowcount == 1


def test_a_checkpoint_of_another_golem_or_another_question_is_not_taken(golem: Golem) -> None:
    now = clock.now()
    place: dict[str, Any] = {"golem_id": golem.pk, "tool_name": "data_get_new_pools", "params_hash": "0x1"}
    keep_checkpoint(**place, data={"next": 7}, now=now)
    assert load_checkpoint(**place, now=now) == {"next": 7}
    assert load_checkpoint(**{**place, "params_hash": "0x2"}, now=now) == {}
    assert load_checkpoint(**{**place, "golem_id": uuid4()}, now=now) == {}
    assert load_checkpoint(**place, now=now + timedelta(minutes=11)) == {}
