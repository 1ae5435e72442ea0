"""Calls of memory tools as an agent makes them, with a capability that counts its uses."""

from __future__ import annotations

import uuid
from datetime import datetime
from typing import Any

from archetypes_app.toolset import view_golem
from tests.memory_app.factories import NOW
from tools_app import runner
from tools_app.core.errors import GolemError
from tools_app.toolkit.registry import REGISTRY
from tools_app.toolkit.tooldef import LocalWriteTool, ReadTool


class OneUse:
    """A capability that counts its uses and refuses the second."""

    permit_id = uuid.UUID(int=1)
    plan_hash = "0x00"
    value_limit_micro_usd = 0

    def __init__(self, tool_name: str) -> None:
        self.tool_name = tool_name
        self.bound: dict[str, Any] = {}
        self.uses = 0

    def consume(self, *, tool_name: str, plan_hash: str) -> None:
        if self.uses or tool_name != self.tool_name or plan_hash != self.plan_hash:
            raise GolemError("used")
        self.uses += 1


def write(golem: Any, name: str, *, now: datetime = NOW, **params: Any) -> dict[str, Any]:
    """Preview and commit one local write; its capability is used exactly once."""
    tool = REGISTRY.get(name)
    assert isinstance(tool, LocalWriteTool)
    checked = runner.check_params(tool=tool, params=params)
    capability = OneUse(name)
    runner.preview_local(tool=tool, params=checked, golem=view_golem(golem), now=now)
    assert capability.uses == 0
    answer = runner.run_local_write(
        tool=tool,
        params=checked,
        golem=view_golem(golem),
        capability=capability,
        plan_hash=capability.plan_hash,
        now=now,
        begin=lambda: None,
        close=lambda result: None,
    ).data
    assert capability.uses == 1
    return dict(answer)


def read(golem: Any, name: str, *, now: datetime = NOW, **params: Any) -> dict[str, Any]:
    """Run one read tool."""
    tool = REGISTRY.get(name)
    assert isinstance(tool, ReadTool)
    return dict(runner.run_read(tool=tool, params=params, golem=view_golem(golem), now=now).data)
