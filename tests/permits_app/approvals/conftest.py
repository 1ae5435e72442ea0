"""Golems with several owners, and a swap that the registry calls privileged: real bytes, another tier."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, replace
from typing import Any

import pytest

from archetypes_app import toolset
from golem_project.celery import app
from tests.live_golem import LiveGolem
from tests.permits_app.approvals.people import give_device, make_owner_with_device, share
from tools_app.toolkit.enums import CapabilityTier, RiskLayer
from tools_app.toolkit.registry import REGISTRY
from tools_app.toolkit.tooldef import PrivilegedTool

SWAP_TOOL = "uniswap_execute_swap"


@pytest.fixture
def critical_swap(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The swap as a privileged tool, so that each one is CRITICAL."""
    tool = REGISTRY.get(SWAP_TOOL)
    columns = {field.name: getattr(tool, field.name) for field in fields(tool)}
    columns["capability"] = CapabilityTier.PRIVILEGED
    yield from _put(monkeypatch, PrivilegedTool(**columns))


@pytest.fixture
def high_swap(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The swap at risk layer 3, so that each one is HIGH."""
    yield from _put(monkeypatch, replace(REGISTRY.get(SWAP_TOOL), risk_layer=RiskLayer.UNBOUNDED))


def _put(monkeypatch: pytest.MonkeyPatch, tool: Any) -> Iterator[None]:
    monkeypatch.setitem(REGISTRY._tools, SWAP_TOOL, tool)
    toolset.resolve.cache_clear()
    yield
    monkeypatch.undo()
    toolset.resolve.cache_clear()


@pytest.fixture
def eager() -> Iterator[None]:
    """Tasks run where they are asked for."""
    before = app.conf.task_always_eager
    app.conf.task_always_eager = True
    yield
    app.conf.task_always_eager = before


@pytest.fixture
def two_owners(live_golem: LiveGolem) -> tuple[LiveGolem, Any, Any]:
    """A live golem, its owner with a second factor, and a co-owner with one."""
    give_device(live_golem.owner)
    other = make_owner_with_device(name="owner-b")
    share(live_golem.golem, other)
    return live_golem, live_golem.owner, other
